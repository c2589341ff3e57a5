"""What the self-tests need: the server as a process, its control interface, and a client that reports what the wire
shows."""

import json
import os
import socket
import ssl
import subprocess
import sys
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WAIT = 900.0  # seconds; nothing in the tests takes so long, however busy the machine is, unless it hangs


class RestServer:
    """The server as tests start it: a pipe to its standard input keeps it alive."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "rest-server"), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.where = json.loads(self.process.stdout.readline())
        self.url, self.control_url = self.where["url"], self.where["controlUrl"]
        self.address = (urllib.parse.urlsplit(self.url).hostname, urllib.parse.urlsplit(self.url).port)

    def control(self, method, path, body=None):
        """One call of the control interface."""
        data = None if body is None and method == "GET" else json.dumps({} if body is None else body).encode()
        request = urllib.request.Request(self.control_url + path, data=data, method=method)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=WAIT) as reply:
            return json.load(reply)

    def ledger(self, event=None, after=0, wait=0):
        """The entries of the ledger."""
        query = f"?after={after}&waitSeconds={wait}" + (f"&event={event}" if event else "")
        return self.control("GET", "/ledger" + query)["entries"]

    def stop(self):
        """Closes the pipe, as a test that dies does; returns the exit status."""
        self.process.stdin.close()
        status = self.process.wait(WAIT)
        self.process.stdout.close()
        return status


class Seen:
    """What a client sees of one reply: every byte, and how it ended (`open`, `closed`, `reset`, `timeout`)."""

    def __init__(self, data, end):
        self.data, self.end = data, end
        self.head, _, self.body = data.partition(b"\r\n\r\n")
        words = self.head.split(b"\r\n")[0].split(b" ")
        self.status = int(words[1]) if len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit() else None

    def headers(self, name):
        """All values of a header field."""
        lines = [line.partition(b":") for line in self.head.split(b"\r\n")[1:]]
        return [value.strip().decode("latin-1") for found, _, value in lines if found.lower() == name.lower().encode()]

    @property
    def json(self):
        """The body's JSON value."""
        return json.loads(self.body)


def connect(address, authority=None, timeout=WAIT):
    """A connection, TLS if there is an authority."""
    raw = socket.create_connection(address, timeout=timeout)
    if authority is None:
        return raw
    context = ssl.create_default_context(cafile=authority)
    return context.wrap_socket(raw, server_hostname=address[0], suppress_ragged_eofs=False)


def request_bytes(method, path, body=b"", headers=()):
    """A request as bytes."""
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def _complete(data):
    """Whether a head and the body that its Content-Length announces are there."""
    blank = data.find(b"\r\n\r\n")
    if blank < 0:
        return False
    head = bytes(data[:blank])
    lengths = [
        line.partition(b":")[2].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
    ]
    if head.startswith((b"HTTP/1.1 204", b"HTTP/1.1 304")):
        return True
    return len(lengths) == 1 and lengths[0].isdigit() and len(data) - blank - 4 >= int(lengths[0])


def receive(connection, whole=False, limit=16 * 1024 * 1024, patience=WAIT):
    """Reads one reply; `whole` reads to the end of the connection, or to a pause of `patience` seconds."""
    data = bytearray()
    connection.settimeout(patience)
    while whole or not _complete(data):
        try:
            more = connection.recv(1 << 18)
        except (
            ConnectionResetError,
            ssl.SSLEOFError,
        ):  # Python shows a reset under TLS so; this server's ordinary end says goodbye first
            return Seen(bytes(data), "reset")
        except TimeoutError:
            return Seen(bytes(data), "timeout")
        except ssl.SSLError as error:
            return Seen(bytes(data), f"tls {error.reason}")
        if not more:
            return Seen(bytes(data), "closed")
        data += more
        if len(data) > limit:
            return Seen(bytes(data), "limit")
    return Seen(bytes(data), "open")


class Client:
    """A connection that is kept alive and opened anew when it has ended."""

    def __init__(self, server, authority=None):
        self.server, self.authority, self.connection = server, authority, None

    def send(self, method, path, value=None, headers=(), form=False, whole=False, patience=WAIT):
        """Sends a request with a JSON (or form) body and returns what is seen."""
        body = b"" if value is None else urllib.parse.urlencode(value).encode() if form else json.dumps(value).encode()
        kind = "application/x-www-form-urlencoded" if form else "application/json"
        headers = [*headers, *([("Content-Type", kind)] if value is not None else [])]
        try:
            if self.connection is None:
                self.connection = connect(self.server.address, self.authority)
            self.connection.sendall(request_bytes(method, path, body, headers))
            seen = receive(self.connection, whole, patience=patience)
        except (ConnectionResetError, BrokenPipeError):
            seen = Seen(b"", "reset")
        if seen.end != "open" or whole:
            self.close()
        return seen

    def post(self, path, value, **options):
        """A POST of a JSON object."""
        return self.send("POST", path, value, **options)

    def close(self):
        """Ends the connection."""
        if self.connection:
            self.connection.close()
            self.connection = None
