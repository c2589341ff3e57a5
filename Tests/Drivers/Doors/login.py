"""A client's own OAuth never starts at a door: what no token heals is 502 with JSON, and its authorization server is asked nothing."""

import json
import os

from ledger import Ledger
from stage import BIN, Broker, Home

SECRET = "made-up-secret-of-the-server"
CLIENT = '''
import asyncio, sys, httpx2
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

class Storage:
    async def get_tokens(self): return None
    async def set_tokens(self, tokens): pass
    async def get_client_info(self): return None
    async def set_client_info(self, info): pass

async def browse(address):
    print("BROWSER", address)

async def come_back():
    raise RuntimeError("nobody comes back")

async def main():
    url = sys.argv[1] + "/mcp"
    metadata = OAuthClientMetadata(client_name="tests", redirect_uris=["http://127.0.0.1:9/callback"])
    auth = OAuthClientProvider(url, metadata, Storage(), browse, come_back)
    async with httpx2.AsyncClient(auth=auth, headers={"Authorization": "Bearer " + sys.argv[2]}) as http:
        async with streamable_http_client(url, http_client=http) as streams:
            async with ClientSession(*streams[:2]) as session:
                await asyncio.wait_for(session.initialize(), 20)
asyncio.run(main())
'''


def login(programs, rows):
    """The MCP SDK's client with its OAuth, at a door that passes a final 401 on, and at one that does not."""
    with Home() as home, Ledger(SECRET) as ledger, Ledger() as authorization:
        secret = home.file("secret", SECRET)

        def answer(status, value, *fields):
            body = json.dumps(value)
            head = "".join(f"{field}\r\n" for field in (*fields, "Content-Type: application/json", f"Content-Length: {len(body)}"))
            return f"HTTP/1.1 {status} x\r\n{head}\r\n{body}".encode()
        metadata = f"{ledger.origin}/.well-known/oauth-protected-resource/mcp"
        ledger.answers["/mcp"] = lambda request: answer(401, {}, f'WWW-Authenticate: Bearer resource_metadata="{metadata}"')
        endpoints = {f"{name}_endpoint": f"{authorization.origin}/{name}" for name in ("authorization", "token", "registration")}
        authorization.answers["/.well-known/oauth-authorization-server"] = lambda request: answer(200, {
            "issuer": authorization.origin, **endpoints, "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]})
        authorization.answers["/registration"] = lambda request: answer(201, {
            "client_id": "tests", "redirect_uris": ["http://127.0.0.1:9/callback"], "token_endpoint_auth_method": "none"})
        rule = {"origin": ledger.origin, "methods": ["GET", "POST", "DELETE"]}
        profiles = {"api": {"provider": "static", "secret": {"file": secret}, "requests": {"allow": [rule]}}}
        with Broker(programs, profiles) as broker:
            for words, starts in (([], False), (["--pass-unauthorized"], True)):
                door = broker.open("-p", "api", "--port", "0", *words)
                for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
                    ledger.answers[path] = lambda request, url=door.url: answer(
                        200, {"resource": url + "/mcp", "authorization_servers": [authorization.origin]})
                ledger.taken(), authorization.taken()
                done = home.run(os.path.join(BIN, "python3"), home.file("c.py", CLIENT), door.url, door.placeholder)
                came, asked = ledger.taken(), authorization.taken()
                has_begun = bool(asked) or "BROWSER" in done.stdout
                seen = f"{len(came)} requests at the API, {len(asked)} at its authorization server {[one.path for one in asked]}: {(done.stdout + done.stderr)[-120:]}"
                what = "a door that passes 401 on: the client's own OAuth starts" if starts else "a door as it is: it does not start"
                rows.add(what, bool(came) and has_begun == starts, seen)
            done = home.run("curl", "-sS", "-i", "-H", broker.doors[0].slot, broker.doors[0].url + "/mcp")
            is_right = done.stdout.startswith("HTTP/1.1 502 ") and "www-authenticate" not in done.stdout.lower() and '"error"' in done.stdout
            rows.add("the answer is 502 with JSON, and no challenge", is_right, done.stdout[-250:])
