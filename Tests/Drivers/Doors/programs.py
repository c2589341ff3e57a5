"""Real programs and SDKs behind a door: they hold a placeholder, and the API sees its token alone."""

import os
import shutil

from api import CHAT, SECRET, API
from servers import Program, apache
from stage import BIN, Broker, Home, free_port

PYTHON = os.path.join(BIN, "python3")
TEXT = "".join(CHAT)

REQUESTS = '''
import sys, requests, requests_unixsocket, urllib.parse
url, placeholder, path = sys.argv[1:]
session = requests.Session()
session.headers["Authorization"] = "Bearer " + placeholder
print(session.get(url + "/v1/user").json()["login"], session.get(url + "/none").status_code)
print(requests.get(url + "/v1/user", auth=("x", placeholder)).json()["login"])
print(requests_unixsocket.Session().get("http+unix://" + urllib.parse.quote(path, safe="") + "/v1/user").json()["login"])
'''

OPENAI = '''
import openai
client = openai.OpenAI(max_retries=0)
asked = {"model": "m", "messages": [{"role": "user", "content": "count"}]}
print(client.chat.completions.create(**asked).choices[0].message.content)
print("".join(part.choices[0].delta.content for part in client.chat.completions.create(**asked, stream=True)))
print(client.models.list().data[0].id)
'''

ANTHROPIC = '''
import anthropic
client = anthropic.Anthropic(max_retries=0)
asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "count"}]}
print(client.messages.create(**asked).content[0].text)
with client.messages.stream(**asked) as stream:
    print("".join(stream.text_stream))
'''

MCP_SERVER = '''
import sys, uvicorn
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings

class Verifier:
    async def verify_token(self, token):
        with open(sys.argv[2]) as file:
            return AccessToken(token=token, client_id="tests", scopes=[]) if token == file.read() else None

url = "http://127.0.0.1:" + sys.argv[1]
server = MCPServer("tests", token_verifier=Verifier(), auth=AuthSettings(issuer_url=url, resource_server_url=url + "/mcp", required_scopes=[]))

@server.tool()
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b

uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
'''

MCP_CLIENT = '''
import asyncio, sys, httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

async def main():
    async with httpx2.AsyncClient(headers={"Authorization": "Bearer " + sys.argv[2]}) as http:
        async with streamable_http_client(sys.argv[1] + "/mcp", http_client=http) as streams:
            async with ClientSession(*streams[:2]) as session:
                await session.initialize()
                for _ in range(3):
                    print((await session.call_tool("add", {"a": 40, "b": 2})).content[0].text)
asyncio.run(main())
'''


class Judge:
    """Adds rows of programs: what they printed, and that no token was in it."""

    def __init__(self, api, rows):
        self.api, self.rows = api, rows

    def __call__(self, what, done, wanted, least=1):
        """A program that has ended; at least so many of its requests have come with the token, and none without."""
        taken = self.api.taken()
        said = done.stdout + done.stderr
        is_right = done.returncode == 0 and wanted in done.stdout and SECRET not in said
        is_right = is_right and len(taken) >= least and all(one[3] for one in taken)
        self.rows.add(what, is_right, f"exit {done.returncode}, {len(taken)} requests: {said[-380:] if not is_right else done.stdout}")


def of_shells(home, judge, port, at_socket, key):
    """curl and gh."""
    ask = ["curl", "-sS", "--fail-with-body"]
    judge("curl, a port", home.run(*ask, "--oauth2-bearer", port.placeholder, port.url + "/user"), '"ada"')
    judge("curl, basic credentials", home.run(*ask, "-u", "x:" + port.placeholder, port.url + "/user"), '"ada"')
    judge("curl, a socket", home.run(*ask, "--unix-socket", at_socket.path, "http://door/user"), '"ada"')
    judge("curl, a key in a field of its own", home.run(*ask, "-H", "X-Api-Key: " + key.placeholder, key.url + "/user"), '"ada"')
    judge("curl, HTTP/1.0", home.run(*ask, "-0", "--unix-socket", at_socket.path, "http://door/user"), '"ada"')
    if shutil.which("gh") is None:
        return judge.rows.skip("gh", "it is not installed")
    home.folder("gh")
    home.file("gh/config.yml", f"version: 1\nhttp_unix_socket: {at_socket.path}\n")
    done = home.run(
        "gh", "api", "user", "--jq", ".login", GH_CONFIG_DIR=home.path + "/gh", GH_TOKEN=at_socket.placeholder, GH_NO_UPDATE_NOTIFIER="1")
    judge("gh, http_unix_socket", done, "ada")


def of_python(home, broker, judge, port, at_socket):
    """requests, pip, and the SDKs of model providers by `door run`."""
    script = home.file("r.py", REQUESTS)
    judge("Python requests, a port and a socket", home.run(PYTHON, script, port.url, port.placeholder, at_socket.path), "ada 404\nada\nada", 4)
    index = port.url.replace("//", f"//x:{port.placeholder}@") + "/simple/"
    done = home.run(
        PYTHON, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "download", "--no-deps", "-d", home.folder("downloads"), "--index-url",
        index, "demo-of-a-door", limit=120)
    judge("pip, an index with user name and password", done, "Successfully downloaded", 2)
    for name, text, prefix, variables in (
            ("OpenAI's SDK", OPENAI, "sk-", ["--url-env", "OPENAI_BASE_URL=/v1", "--token-env", "OPENAI_API_KEY"]),
            ("Anthropic's SDK", ANTHROPIC, "sk-ant-", ["--url-env", "ANTHROPIC_BASE_URL", "--token-env", "ANTHROPIC_AUTH_TOKEN"])):
        done = broker.run("door", "run", "-p", "api", "--placeholder", prefix, *variables, judge.api.origin, "--", PYTHON, home.file("s.py", text))
        judge(f"{name}, whole and streamed", done, f"{TEXT}\n{TEXT}", 2)


def of_git(home, broker, rows, port, root):
    """git, at its own server program behind Apache."""
    door = broker.open("-p", "git", "--port", "0", f"http://127.0.0.1:{port}", "--pass-unauthorized")
    header = ["-c", "http.extraHeader=" + door.slot]
    variables = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
                 "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com"}

    def git(*words):
        return home.run("git", *words, limit=120, **variables)
    clone = home.path + "/clone"
    done = git(*header, "clone", "-q", door.url + "/git/demo.git", clone)
    rows.add("git clone, the field http.extraHeader", done.returncode == 0, done.stderr)
    with open(clone + "/large", "wb") as file:
        file.write(os.urandom(3 << 20))
    git("-C", clone, "add", "large")
    git("-C", clone, "commit", "-qm", "large")
    done = git("-C", clone, *header, "push", "-q", "origin", "HEAD:main")
    there = git("-C", root + "/demo.git", "rev-parse", "main").stdout
    here = git("-C", clone, "rev-parse", "HEAD").stdout
    rows.add("git push of 3 MiB, in chunks", done.returncode == 0 and there == here != "", done.stderr)
    done = git("-C", clone, *header, "fetch", "-q", "origin")
    rows.add("git fetch", done.returncode == 0, done.stderr)
    plain = git("ls-remote", door.url.replace("//", f"//x:{door.placeholder}@") + "/git/demo.git")
    rows.add("git ls-remote, user name and password in the address", plain.returncode == 0, plain.stderr or "a list")


def git_server(home, port):
    """Apache with `git http-backend`, for whoever has the token."""
    root = home.folder("repositories")
    for words in (["init", "-q", "--bare", "-b", "main", root + "/demo.git"], ["-C", root + "/demo.git", "config", "http.receivepack", "true"]):
        home.run("git", *words)
    text = f"""SetEnv GIT_PROJECT_ROOT {root}
SetEnv GIT_HTTP_EXPORT_ALL 1
ScriptAlias /git/ /usr/lib/git-core/git-http-backend/
ScriptSock {home.path}/cgi.sock
<Location />
  Require expr "%{{HTTP:Authorization}} == 'Bearer {SECRET}'"
  ErrorDocument 403 "no"
</Location>
"""
    return apache(home, port, text, ["cgid"]), root


def of_mcp(home, broker, rows, port):
    """The MCP SDK's own client at the SDK's own server."""
    door = broker.open("-p", "mcp", "--port", "0", f"http://127.0.0.1:{port}")
    done = home.run(PYTHON, home.file("m.py", MCP_CLIENT), door.url, door.placeholder)
    is_right = done.returncode == 0 and done.stdout.split() == ["42"] * 3
    rows.add("the MCP SDK, streamable HTTP, three calls in one session", is_right, done.stdout + done.stderr[-300:])


def programs(folder, rows):
    """All of them."""
    with Home() as home, API() as api:
        secret, (git_port, mcp_port) = home.file("secret", SECRET), (free_port(), free_port())
        base = {"provider": "static", "secret": {"file": secret}}

        def rule(origin):
            return {"requests": {"allow": [{"origin": origin, "methods": ["GET", "POST", "DELETE"]}]}}
        profiles = {
            "api": {**base, **rule(api.origin)}, "key": {**base, "header": "X-Api-Key", **rule(api.origin)},
            "git": {**base, **rule(f"http://127.0.0.1:{git_port}")}, "mcp": {**base, **rule(f"http://127.0.0.1:{mcp_port}")}}
        server, root = git_server(home, git_port)
        with Broker(folder, profiles) as broker:
            judge = Judge(api, rows)
            port, at_socket = broker.open("-p", "api", "--port", "0"), broker.open("-p", "api")
            of_shells(home, judge, port, at_socket, broker.open("-p", "key", "--port", "0"))
            of_python(home, broker, judge, port, at_socket)
            with server:
                of_git(home, broker, rows, git_port, root)
            with Program(home, mcp_port, PYTHON, home.file("ms.py", MCP_SERVER), str(mcp_port), secret):
                of_mcp(home, broker, rows, mcp_port)
