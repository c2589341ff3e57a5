"""An HTTP or HTTPS server for the tests of the real tools: it accepts exactly the access tokens that are good now."""

import base64
import contextlib
import http.server
import os
import ssl
import subprocess
import threading

from toolbox import Failure, digest


def certificate(folder, names="IP:127.0.0.1,DNS:localhost"):
    """Makes an own authority and a server's certificate by openssl; their paths (authority, certificate, key)."""
    def openssl(*arguments):
        done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failure(f"openssl {arguments[0]}: {done.stderr.strip()}")
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
            "-subj", "/CN=Authority of the tests", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    openssl("req", *new_key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    with open(os.path.join(folder, "extensions"), "w", encoding="utf-8") as file:
        file.write(f"subjectAltName={names}\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-out", "server.pem", "-days", "2", "-extfile", "extensions")
    return tuple(os.path.join(folder, name) for name in ["ca.pem", "server.pem", "server.key"])


class APIServer:
    """A server on a free port; a context manager. Override `answer` for what an accepted request gets.

    `seen` has one entry for each request: (method, path, scheme, user name, verdict), verdict being `accepted`,
    `refused` or `anonymous`. `digests` tells how many tokens there were. No token is kept or printed.
    """

    # What the server offers with 401.
    challenges = ['Bearer realm="tests"', 'Basic realm="tests"']
    # The schemes that it takes.
    schemes = ("Bearer", "Basic")
    # The user names that it takes with Basic; None: any.
    usernames = None

    def __init__(self, broker, tls=True):
        self.broker, self.tls = broker, tls
        self.refused, self.refuses_all, self.seen, self.lock = set(), False, [], threading.Lock()
        self.digests = set()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Hands every request to the server above."""

            protocol_version = "HTTP/1.1"

            def handle_one(self):
                """One request."""
                owner.handle(self)

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = handle_one

            def log_message(self, *arguments):
                """Nothing is logged: `seen` has it."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.ca = None
        if tls:
            self.ca, chain, key = certificate(broker.folder("tls"))
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(chain, key)
            self.server.socket = context.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"{'https' if tls else 'http'}://{self.host}"

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()
        return self

    def __exit__(self, *arguments):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    # MARK: Which tokens are good

    def refuse(self, token):
        """Refuses a token from now on, although the provider believes in it."""
        self.refused.add(digest(token))

    def accepts(self, token):
        """Whether a token is good here."""
        return not self.refuses_all and digest(token) not in self.refused and self.broker.is_current(token)

    def credential(self, header):
        """The scheme, user name and token of an `Authorization` header; the token is None where it cannot be read."""
        scheme, _, rest = header.partition(" ")
        if scheme.lower() != "basic":
            return scheme, "", rest
        with contextlib.suppress(ValueError):
            user, _, password = base64.b64decode(rest, validate=True).decode().partition(":")
            return "Basic", user, password
        return "Basic", "", None

    def verdict(self, header):
        """The scheme and user name of a header, and what is made of it."""
        if not header:
            return "", "", "anonymous"
        scheme, user, token = self.credential(header)
        if token:
            self.digests.add(digest(token))
        known = scheme in self.schemes and (scheme != "Basic" or self.usernames is None or user in self.usernames)
        return scheme, user, "accepted" if known and token and self.accepts(token) else "refused"

    # MARK: Requests

    def handle(self, request):
        """Judges a request, remembers it, and answers."""
        body = self.body(request)
        scheme, user, verdict = self.verdict(request.headers.get("Authorization", ""))
        with self.lock:
            self.seen.append((request.command, request.path, scheme, user, verdict))
        if verdict == "accepted" or self.is_public(request):
            status, headers, content = self.answer(request, body)
        else:
            status, headers, content = 401, [("WWW-Authenticate", each) for each in self.challenges], b"unauthorised\n"
        request.send_response(status)
        for name, value in headers:
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(content)

    def body(self, request):
        """The content of a request, with a length or in chunks."""
        if request.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return request.rfile.read(int(request.headers.get("Content-Length") or 0))
        content = b""
        while size := int(request.rfile.readline().split(b";")[0], 16):
            content += request.rfile.read(size)
            request.rfile.readline()
        while request.rfile.readline().strip():
            pass
        return content

    def is_public(self, request):
        """Whether a request needs no token."""
        return False

    def answer(self, request, body):
        """Status, headers and content of the answer to an accepted request."""
        return 200, [("Content-Type", "application/json")], b"{}\n"

    # MARK: What was seen

    def count(self, verdict=None):
        """The number of requests, or of those with a verdict."""
        with self.lock:
            return sum(1 for entry in self.seen if verdict in (None, entry[4]))

    def forget(self):
        """Counts from now."""
        with self.lock:
            self.seen.clear()
            self.digests.clear()

    def summary(self):
        """What was seen, in a few words."""
        names = ["anonymous", "refused", "accepted"]
        schemes = sorted({entry[2] for entry in self.seen if entry[2]})
        counts = ", ".join(f"{self.count(name)} {name}" for name in names if self.count(name))
        return f"{counts or 'no request'} ({'/'.join(schemes) or 'no credential'})"
