"""A server of the Model Context Protocol, made of the package `mcp`, that protects itself and registers its clients.

    mcpserver.py PORT CALLS-FILE

`GET /control/end-access` ends every access token, `/control/forget` every client. What it was asked is a line of
CALLS-FILE each.
"""

import secrets
import sys
import time

from mcp.server.auth.provider import (
    AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthToken
from starlette.responses import PlainTextResponse

PORT = int(sys.argv[1])
ORIGIN = f"http://127.0.0.1:{PORT}"
SCOPE = "tools"


class Accounts:
    """Everything that the package leaves to its user: clients, codes and tokens, in memory."""

    def __init__(self):
        """Nobody is known."""
        self.clients, self.codes, self.access, self.refresh = {}, {}, {}, {}

    def note(self, *words):
        """Writes down what was asked."""
        with open(sys.argv[2], "a", encoding="utf-8") as calls:
            print(*words, file=calls)

    async def get_client(self, client_id):
        """A registered client."""
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        """Keeps a client."""
        self.note("register", client_info.token_endpoint_auth_method, *client_info.grant_types)
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        """Consents at once."""
        self.note("authorize", params.resource, *(params.scopes or []))
        code = AuthorizationCode(
            code=secrets.token_urlsafe(32), scopes=params.scopes or [SCOPE], expires_at=time.time() + 60,
            client_id=client.client_id, code_challenge=params.code_challenge, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly, resource=params.resource,
            subject="ann")
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state, iss=ORIGIN)

    async def load_authorization_code(self, client, authorization_code):
        """A code that was not used yet."""
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        """Tokens for a code, once."""
        self.note("code", authorization_code.resource)
        del self.codes[authorization_code.code]
        return self.tokens(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client, refresh_token):
        """A refresh token that was not used yet."""
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        """Other tokens; the refresh token is used up."""
        self.note("refresh", refresh_token.resource)
        del self.refresh[refresh_token.token]
        return self.tokens(client, scopes or refresh_token.scopes, refresh_token.resource)

    async def load_access_token(self, token):
        """An access token that is good."""
        return self.access.get(token)

    async def revoke_token(self, token):
        """Ends a token."""
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def tokens(self, client, scopes, resource):
        """Two new tokens."""
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        known = {"client_id": client.client_id, "scopes": scopes, "resource": resource, "subject": "ann"}
        self.access[access] = AccessToken(token=access, expires_at=int(time.time()) + 600, **known)
        self.refresh[refresh] = RefreshToken(token=refresh, **known)
        return OAuthToken(access_token=access, expires_in=600, refresh_token=refresh, scope=" ".join(scopes))


accounts = Accounts()
server = MCPServer(
    "notes", auth_server_provider=accounts,
    auth=AuthSettings(
        issuer_url=ORIGIN, resource_server_url=ORIGIN + "/mcp", required_scopes=[SCOPE], validate_token_resource=True,
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=[SCOPE], default_scopes=[SCOPE]),
        revocation_options=RevocationOptions(enabled=True)))


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.custom_route("/control/end-access", methods=["GET"])
async def end_access(_request):
    """Ends every access token."""
    accounts.access.clear()
    return PlainTextResponse("")


@server.custom_route("/control/forget", methods=["GET"])
async def forget(_request):
    """Forgets every client."""
    accounts.clients.clear()
    return PlainTextResponse("")


server.run("streamable-http", host="127.0.0.1", port=PORT)
