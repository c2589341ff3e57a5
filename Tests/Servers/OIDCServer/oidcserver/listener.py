"""The HTTP side: HTTP/1.1 with or without TLS in front of a WSGI application."""

import http.server
import io
import json
import socket
import socketserver
import ssl
import sys

from .ledger import endpoint_of
from .possession import Possession


class Lost(Exception):
    """The reply is not sent, as a test wants it."""


class Listener(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Listens from its creation on, and answers once it has an application."""

    daemon_threads, request_queue_size, allow_reuse_address = True, 128, True
    application = ledger = faults = settings = certificates = None

    def __init__(self, port=0, certificates=None):
        super().__init__(("127.0.0.1", port), Handler)
        self.certificates = certificates
        self.possession = Possession(self)
        self.base = f"http{'s' if certificates else ''}://127.0.0.1:{self.server_address[1]}"

    def finish_request(self, request, client_address):
        """Shakes hands in the connection's own thread: nobody waits for a slow client."""
        request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        request.settimeout(300)
        if self.certificates:
            context = self.certificates.context(self.settings["tlsMode"])
            try:
                request = context.wrap_socket(request, server_side=True)
            except (ssl.SSLError, OSError) as error:
                reason = getattr(error, "reason", None) or type(error).__name__
                self.ledger.add({"endpoint": "handshake", "error": reason, "delivery": "none"})
                return
        try:
            self.RequestHandlerClass(request, client_address, self)
        finally:
            request.close()

    def handle_error(self, request, client_address):
        """A client that goes away is no error; anything else is a fault of this server."""
        if not isinstance(sys.exc_info()[1], (OSError, ssl.SSLError)):
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    """The exchanges of one connection."""

    protocol_version = "HTTP/1.1"

    def exchange(self):
        """Reads a request, lets the application answer, writes the reply, notes both."""
        server = self.server
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fields = {name.lower(): value for name, value in self.headers.items()}
        fault = server.faults.take(endpoint_of(path)) or {}
        status, reply, headers, delivery, known = 0, b"", [], "dropped", {}
        try:
            status, headers, reply, delivery, known = self.answer(fault, path, query, fields, body)
        except Lost:
            self.close_connection = True
        # Noted before it is sent: who has the reply finds the entry.
        server.ledger.described(self.command, path, query, fields, body, status, reply, delivery, known)
        if delivery != "dropped":
            self.deliver(status, headers, reply)

    def answer(self, fault, path, query, fields, body):
        """Status, fields, body and delivery of the reply, and what the ledger is to know besides."""
        kind = fault.get("kind")
        if kind == "hold":
            self.server.faults.released.wait(900)
        if kind == "drop-before":
            raise Lost
        if kind == "answer":
            reply = fault["body"] if isinstance(fault["body"], str) else json.dumps(fault["body"])
            headers = {"Content-Type": "application/json", **fault["fields"]}
            return fault["status"], list(headers.items()), reply.encode(), "replaced", {}
        status, headers, reply, known = self.server.possession.answer(
            self.command, path, query, fields, body, lambda fields: self.run(path, query, fields, body))
        if endpoint_of(path) == "discovery" and status == 200:
            reply = self.announced(reply)
        delivery = "written"
        if kind == "drop-after-commit":
            self.close_connection, delivery = True, "dropped"
        return status, headers, reply, delivery, known

    def run(self, path, query, fields, body):
        """Calls the application (PEP 3333)."""
        host, port = self.server.server_address[:2]
        environ = {
            "REQUEST_METHOD": self.command, "SCRIPT_NAME": "", "PATH_INFO": path, "QUERY_STRING": query,
            "SERVER_NAME": host, "SERVER_PORT": str(port), "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
            "wsgi.version": (1, 0), "wsgi.url_scheme": self.server.base.partition(":")[0], "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr, "wsgi.multithread": True, "wsgi.multiprocess": False, "wsgi.run_once": False,
        }
        for name, value in fields.items():
            if name not in ("content-type", "content-length"):
                environ["HTTP_" + name.upper().replace("-", "_")] = value
        said = []
        pieces = self.server.application(environ, lambda status, headers, _=None: said.extend((status, headers)))
        try:
            reply = b"".join(pieces)
        finally:
            pieces.close()
        return int(said[0].split()[0]), said[1], reply

    def announced(self, reply):
        """The metadata with what a test wants in it."""
        settings, metadata = self.server.settings, json.loads(reply)
        if settings["announceAll"]:
            metadata["device_authorization_endpoint"] = self.server.base + "/o/device-authorization/"
            metadata["revocation_endpoint"] = self.server.base + "/o/revoke_token/"
        if settings["authorizationResponseIss"]:
            metadata["authorization_response_iss_parameter_supported"] = True
        if settings["dpop"] != "off":
            metadata["dpop_signing_alg_values_supported"] = ["ES256"]
        if settings["announcedIssuer"] is not None:
            metadata["issuer"] = settings["announcedIssuer"]
        return json.dumps(metadata).encode()

    def deliver(self, status, headers, reply):
        """Writes a reply."""
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply)

    def date_time_string(self, timestamp=None):
        """The server's own time."""
        return super().date_time_string(self.server.possession.now() if timestamp is None else timestamp)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = exchange

    def log_message(self, *arguments):
        """Says nothing: the ledger does."""
