"""What other agents need to give a cached secret, over their socket and as a process, in the same run as the broker."""

import contextlib
import http.server
import json
import os
import shutil
import socket
import ssl
import statistics
import struct
import subprocess
import threading
import time

SECRET = "not-a-real-secret-of-the-benchmark"
ACCOUNT = "bench"
# What oidc-gen encrypts the account with; it protects a made-up token in a folder that is removed.
PASSWORD = "not-a-real-password-1"


class Provider(http.server.BaseHTTPRequestHandler):
    """An OpenID provider with one client: discovery, and a token for every refresh token."""

    protocol_version = "HTTP/1.1"

    def reply(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        here = f"https://localhost:{self.server.server_port}"
        self.reply({"issuer": here, "authorization_endpoint": here + "/authorize", "token_endpoint": here + "/token",
                    "jwks_uri": here + "/keys", "response_types_supported": ["code"],
                    "grant_types_supported": ["refresh_token", "authorization_code"],
                    "scopes_supported": ["openid", "offline_access"], "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["RS256"]})

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.reply({"access_token": "x" * 900, "token_type": "Bearer", "expires_in": 36000,
                    "refresh_token": "not-a-real-refresh-token", "scope": "openid offline_access"})

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def provider(folder):
    """Serves it over TLS, with a certificate of its own; gives the issuer and the certificate's file."""
    certificate, key = os.path.join(folder, "provider.pem"), os.path.join(folder, "provider.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://localhost:{server.server_port}", certificate
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def exchange(path, request, holds, is_whole, count=200, kept=True):
    """The median of a question on a Unix socket in µs: over one connection, or with one for each question.

    An answer that does not hold some bytes ends the run, so that refusals are not measured.
    """
    times = []

    def connect():
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(20)
        connection.connect(path)
        return connection

    connection = connect() if kept else None
    for _ in range(count):
        began = time.perf_counter()
        current = connection or connect()
        current.sendall(request)
        if not kept:
            current.shutdown(socket.SHUT_WR)
        have = b""
        while not is_whole(have):
            got = current.recv(65536)
            if not got:
                break
            have += got
        if not kept:
            current.close()
        if holds not in have:
            raise SystemExit(f"bench: not what was asked for on {path}: {have[:80]!r}")
        times.append(time.perf_counter() - began)
    if connection:
        connection.close()
    return statistics.median(times) * 1e6


def agent_variables(text):
    """The variables that an agent prints for a shell."""
    pairs = (line.split(";")[0].split("=", 1) for line in text.splitlines() if "=" in line)
    return {name.strip(): value for name, value in pairs}


def spawned(bench, environment, *program, question="/dev/null"):
    """The median of some processes in µs, as `load` measures ours."""
    before, bench.environment = bench.environment, environment
    try:
        found = bench.load("spawn", "--count", 20, "--input", question, "--", *program)
    finally:
        bench.environment = before
    return found["p50"] if found else None


def median(times):
    """The median of what could be measured; None where nothing could."""
    known = [time for time in times if time is not None]
    return statistics.median(known) if known else None


class Turns:
    """The broker and its peers in turn, so that what else the machine does meets all of them alike."""

    def __init__(self, bench, broker):
        self.bench, self.broker, self.count = bench, broker, 3 if bench.quick else 10
        self.rows = {name: ([], []) for name in ("static C program, of the broker", "authbroker, kept connection",
                                                 "authbroker, a connection each")}

    def ours(self):
        least, kept, each = self.rows.values()
        for row, is_kept in ((kept, True), (each, False)):
            row[0].append(exchange(self.broker.path, b'{"jsonrpc":"2.0","id":1,"method":"getAccessToken"}\n', b'"accessToken"',
                                   lambda have: have.endswith(b"\n"), kept=is_kept))
        least[1].append(spawned(self.bench, self.bench.environment, self.bench.tools["ask"], "token"))
        kept[1].append(spawned(self.bench, self.bench.environment, self.bench.command, "token"))

    def take(self, *ways):
        """Calls the ways of a peer and asks the broker in turn; returns the median of each way."""
        found = [[] for _ in ways]
        for _ in range(self.count):
            self.ours()
            for way, times in zip(ways, found):
                times.append(way())
        return [median(times) for times in found]

    def table(self):
        return [(name, *map(median, found)) for name, found in self.rows.items()]


def ssh_agent(bench, turns, folder, environment):
    path = os.path.join(folder, "ssh.sock")
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL)
    try:
        while not os.path.exists(path):
            time.sleep(0.01)
        key = os.path.join(folder, "ssh-key")
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        environment = environment | {"SSH_AUTH_SOCK": path}
        subprocess.run(["ssh-add", "-q", key], check=True, env=environment)
        # SSH_AGENTC_REQUEST_IDENTITIES (draft-miller-ssh-agent, section 4.4).
        return turns.take(
            lambda: exchange(path, struct.pack(">IB", 1, 11), b"ssh-ed25519",
                             lambda have: len(have) > 4 and len(have) >= 4 + struct.unpack(">I", have[:4])[0]),
            lambda: spawned(bench, environment, "ssh-add", "-l"))
    finally:
        agent.terminate()
        agent.wait()


def git_cache(bench, turns, folder, environment):
    path = os.path.join(folder, "git-cache", "socket")
    question = os.path.join(folder, "git-question")
    answer = f"protocol=https\nhost=git.example.test\nusername=bench\npassword={SECRET}\n\n"
    with open(question, "w", encoding="utf-8") as file:
        file.write("protocol=https\nhost=git.example.test\nusername=bench\n\n")
    command = ["git", "credential-cache", f"--socket={path}"]
    subprocess.run([*command, "--timeout=3600", "store"], input=answer, text=True, check=True, env=environment)
    try:
        request = b"action=get\ntimeout=3600\nprotocol=https\nhost=git.example.test\nusername=bench\n"
        # Its daemon takes one question a connection, which the client's end of writing completes.
        return turns.take(lambda: exchange(path, request, SECRET.encode(), lambda have: False, kept=False),
                          lambda: spawned(bench, environment, *command, "get", question=question))
    finally:
        subprocess.run([*command, "exit"], check=False, env=environment)


def oidc_agent(bench, turns, folder, environment):
    environment = environment | {"OIDC_CONFIG_DIR": os.path.join(folder, "oidc"), "OIDC_ENCRYPTION_PW": PASSWORD}
    os.mkdir(environment["OIDC_CONFIG_DIR"], 0o700)
    with provider(folder) as (issuer, certificate):
        said = subprocess.run(["oidc-agent"], check=True, capture_output=True, text=True, env=environment).stdout
        variables = agent_variables(said)
        environment |= {name: variables[name] for name in ("OIDC_SOCK", "OIDCD_PID")}
        try:
            subprocess.run(["oidc-gen", ACCOUNT, f"--issuer={issuer}", "--client-id=bench", "--client-secret=", "--rt-env",
                            "--scope=openid offline_access", "--redirect-uri=http://localhost:4242", f"--cp={certificate}",
                            "--pw-env", "--no-url-call", "--confirm-default"], check=True, capture_output=True, text=True,
                           timeout=60, env=environment | {"OIDC_REFRESH_TOKEN": "not-a-real-refresh-token"})
            request = json.dumps({"request": "access_token", "account": ACCOUNT, "min_valid_period": 0}).encode()
            return turns.take(
                lambda: exchange(environment["OIDC_SOCK"], request, b"access_token", lambda have: have.rstrip(b"\0\n").endswith(b"}"),
                                 kept=False),
                lambda: spawned(bench, environment, "oidc-token", ACCOUNT))
        finally:
            os.kill(int(variables["OIDCD_PID"]), 15)


def gnome_keyring(bench, turns, folder, environment):
    """In a message bus of its own; `secret-tool` is its client on a command line, and there is no plain socket."""
    script = ('printf %s "$1" | gnome-keyring-daemon --unlock --components=secrets >/dev/null && '
              'printf %s "$2" | secret-tool store --label=bench bench token >/dev/null && shift 2 && "$@"')
    tool = [bench.tools["load"], "spawn", "--count", "50", "--", "secret-tool", "lookup", "bench", "token"]
    done = subprocess.run(["dbus-run-session", "--", "sh", "-c", script, "sh", PASSWORD, SECRET, *tool], capture_output=True, text=True,
                          timeout=120, check=False, env=environment | {"XDG_DATA_HOME": folder, "XDG_RUNTIME_DIR": folder})
    if done.returncode != 0:
        raise SystemExit(f"bench: gnome-keyring: {done.stderr[-300:]}")
    return None, json.loads(done.stdout)["p50"]


def run(bench, broker):
    """Prints one table: a question on the socket and a process, of the broker, of a C program, and of each peer."""
    folder = os.path.join(bench.folder, "peers")
    os.mkdir(folder, 0o700)
    environment = bench.environment | {"HOME": folder}
    turns, rows = Turns(bench, broker), []
    for name, peer in (("ssh-agent (list of keys)", ssh_agent), ("git credential-cache, a connection each", git_cache),
                       ("oidc-agent, a connection each", oidc_agent), ("gnome-keyring (secret-tool)", gnome_keyring)):
        try:
            rows.append((name, *peer(bench, turns, folder, environment)))
        except (SystemExit, OSError, subprocess.SubprocessError) as error:
            bench.failed = True
            detail = getattr(error, "stderr", None) or ""
            print(f"  could not measure {name}: {error} {detail[-300:]}", flush=True)
    print(f"\n{'a cached secret (asked from Python)':<44} {'socket':>12} {'process':>12}")
    for name, asked, process in turns.table() + rows:
        shown = ["—" if value is None else f"{value:,.0f} µs" for value in (asked, process)]
        print(f"{name:<44} {shown[0]:>12} {shown[1]:>12}", flush=True)
        bench.rows.append({"name": name, "unit": "µs", "socket": asked, "process": process})
    shutil.rmtree(folder, ignore_errors=True)
