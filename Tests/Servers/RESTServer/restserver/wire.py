"""HTTP/1.1 on a raw socket: just enough to read any client's request, and to answer it in ways that no HTTP library
allows."""

import json
import select
import socket
import struct

from .clock import http_date

MAX_HEAD = 64 * 1024  # what common servers allow for a request's head, and more than any client of ours sends
MAX_BODY = 16 * 1024 * 1024  # generous: a client that sends more is itself the bug
REASONS = {
    100: "Continue",
    200: "OK",
    201: "Created",
    202: "Accepted",
    204: "No Content",
    206: "Partial Content",
    301: "Moved Permanently",
    302: "Found",
    303: "See Other",
    304: "Not Modified",
    307: "Temporary Redirect",
    308: "Permanent Redirect",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    407: "Proxy Authentication Required",
    408: "Request Timeout",
    409: "Conflict",
    410: "Gone",
    415: "Unsupported Media Type",
    422: "Unprocessable Content",
    423: "Locked",
    425: "Too Early",
    429: "Too Many Requests",
    500: "Internal Server Error",
    501: "Not Implemented",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    511: "Network Authentication Required",
}


class MalformedRequest(Exception):
    """The bytes are no HTTP request that this server reads."""


class Hangup(Exception):
    """The connection is gone, or a misbehaviour has ended it."""


class Request:
    """One request, with header names in lower case."""

    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        self.path, _, self.query = target.partition("?")

    @property
    def content_type(self):
        """The media type without parameters, in lower case; empty where there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def wants_close(self):
        """Whether the client will not send another request on this connection."""
        return "close" in self.headers.get("connection", "").lower()

    def bearer(self):
        """The token of an `Authorization: Bearer` header, or None."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" and token.strip() else None

    def authorization_scheme(self):
        """How the request authenticates itself, for the ledger, which never holds the credential."""
        return self.headers.get("authorization", "none").partition(" ")[0].lower()


class Reply:
    """A reply before it becomes bytes. `payload` is the JSON value behind `body`, so that misbehaviours can alter
    it."""

    def __init__(self, status, payload=None, headers=(), body=None, content_type="application/json"):
        self.status, self.payload, self.headers = status, payload, list(headers)
        self.content_type = content_type
        self.body = body if body is not None else b"" if payload is None else json.dumps(payload).encode()
        self.reason = REASONS.get(status, "Unassigned")

    def head(self, now, length=True):
        """The status line and header section; `length=False` leaves the framing to the caller."""
        lines = [f"HTTP/1.1 {self.status} {self.reason}"]
        named = {name.lower() for name, _ in self.headers}
        if "date" not in named:
            lines.append(f"Date: {http_date(now)}")
        if self.content_type and "content-type" not in named and self.body:
            lines.append(f"Content-Type: {self.content_type}")
        if length and "content-length" not in named and self.status not in (204, 304):
            lines.append(f"Content-Length: {len(self.body)}")
        lines += [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n"


class Connection:
    """One client's connection, plain or TLS, that counts the application bytes both ways in its ledger record."""

    def __init__(self, raw, record):
        self.socket, self.record = raw, record
        self.buffer = b""
        self.ended, self.asked_to_end = False, None

    def readable(self):
        """Waits until the client has sent a part of a request, without taking a byte of it; False when it has gone
        away."""
        if self.buffer or (hasattr(self.socket, "pending") and self.socket.pending()):
            return True
        try:
            # `select` has a descriptor limit, `poll` has none.
            waiter = select.poll()
            waiter.register(self.socket, select.POLLIN)
            waiter.poll()
            if self.asked_to_end:
                self.asked_to_end()
            # The method of the plain socket, for a TLS one too: a look at the record, which stays where it is.
            start = socket.socket.recv(self.socket, 5, socket.MSG_PEEK)
        except (OSError, ValueError):
            start = b""
        if start and not (self.record["tls"] and self._is_goodbye(start)):
            return True
        self.record["closedBy"] = self.record["closedBy"] or "peer"
        return False

    @staticmethod
    def _is_goodbye(start):
        """Whether a TLS record is an alert: by its type, or in TLS 1.3, which hides that, by its length (RFC 8446
        section 5.2)."""
        kind, length = start[0], int.from_bytes(start[3:5], "big")
        return kind == 21 or (kind == 23 and len(start) == 5 and length <= 2 + 1 + 16)

    def end_from_outside(self, reset):
        """Lets the connection's own thread end it: a close by another thread would not reach the client while one is
        reading."""
        self.asked_to_end = self.reset if reset else self.close
        self.record["closedBy"] = "server reset" if reset else "server"
        try:
            socket.socket.shutdown(self.socket, socket.SHUT_RD)  # wakes the thread, and tells the client nothing
        except OSError:
            pass

    def receive(self, at_most=65536):
        """Takes more bytes from the client; raises `Hangup` at the end of its stream."""
        try:
            data = self.socket.recv(at_most)
        except (OSError, ValueError) as error:
            self.record["closedBy"] = self.record["closedBy"] or f"peer ({type(error).__name__})"
            raise Hangup from error
        if not data:
            self.record["closedBy"] = self.record["closedBy"] or "peer"
            if self.asked_to_end:
                self.asked_to_end()
            raise Hangup
        self.record["applicationBytesReceived"] += len(data)
        self.buffer += data

    def read_request(self):
        """Reads one whole request."""
        while b"\r\n\r\n" not in self.buffer:
            if len(self.buffer) > MAX_HEAD:
                raise MalformedRequest("the head is too long")
            self.receive()
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").lstrip("\r\n").split("\r\n")
        parts = first.split(" ")
        if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
            raise MalformedRequest("no request line")
        headers = {}
        for line in rest:
            name, colon, value = line.partition(":")
            if not colon or name != name.strip():
                raise MalformedRequest("no header field")
            headers[name.lower()] = value.strip()
        if headers.get("expect", "").lower() == "100-continue":
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        return Request(parts[0], parts[1], headers, self._read_body(headers))

    def _read_body(self, headers):
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return self._read_chunks()
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MAX_BODY:
            raise MalformedRequest("the length of the body")
        return self._take(int(length))

    def _read_chunks(self):
        body = b""
        while True:
            while b"\r\n" not in self.buffer:
                self.receive()
            line, _, self.buffer = self.buffer.partition(b"\r\n")
            try:
                size = int(line.partition(b";")[0], 16)
            except ValueError:
                raise MalformedRequest("a chunk's size") from None
            if len(body) + size > MAX_BODY:
                raise MalformedRequest("the body is too long")
            body += self._take(size)
            if self._take(2) != b"\r\n":
                raise MalformedRequest("a chunk's end")
            if size == 0:
                return body

    def _take(self, count):
        while len(self.buffer) < count:
            self.receive()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def send(self, data):
        """Writes all of it; raises `Hangup` where the client has gone away."""
        if self.asked_to_end:
            self.asked_to_end()
            raise Hangup
        view = memoryview(data)
        while view:
            try:
                count = self.socket.send(view)
            except (OSError, ValueError) as error:
                self.record["closedBy"] = self.record["closedBy"] or f"peer ({type(error).__name__})"
                raise Hangup from error
            self.record["applicationBytesSent"] += count
            view = view[count:]

    def close(self):
        """Ends the connection in the ordinary way (FIN)."""
        self._end("server", linger=False)

    def reset(self):
        """Ends the connection with a reset (RST): closing with a linger time of zero drops what is unsent
        (socket(7))."""
        self._end("server reset", linger=True)

    def _end(self, by, linger):
        if self.ended:
            return
        self.ended = True
        self.record["closedBy"] = self.record["closedBy"] or by
        try:
            if linger:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                self._say_goodbye()
                # A plain close with unread bytes would become a reset.
                self.socket.shutdown(socket.SHUT_RDWR)
        except (OSError, ValueError):
            pass
        self.socket.close()

    def _say_goodbye(self):
        """Sends TLS's close_notify without waiting for the other's, so that an end of stream is not taken for a
        truncation."""
        if self.record["tls"]:
            try:
                self.socket.settimeout(0)
                self.socket.unwrap()
            except (OSError, ValueError):
                pass
