"""A server that writes down each request byte for byte, and answers with the bytes that a scene wants."""

import re
import socket
import threading


class Request:
    """A request as it came."""

    def __init__(self, head, body):
        self.head, self.body = head, body
        self.line = head.partition(b"\r\n")[0].decode("latin-1")
        self.method, _, rest = self.line.partition(" ")
        self.target = rest.rpartition(" ")[0]
        self.path = self.target.partition("?")[0]

    def values(self, name):
        """The values of a header field."""
        return [value.strip().decode("latin-1") for field, _, value in (line.partition(b":") for line in self.head.split(b"\r\n")[1:])
                if field.lower() == name.encode()]

    @property
    def mark(self):
        """The number that the client has put into the query."""
        found = re.search(r"[?&]n=(\d+)", self.target)
        return found[1] if found else ""


class Stream:
    """Reads a connection."""

    def __init__(self, connection):
        self.connection, self.buffer = connection, b""

    def more(self):
        """Reads what has come; false at the end."""
        piece = self.connection.recv(1 << 16)
        self.buffer += piece
        return bool(piece)

    def until(self, mark):
        """Everything up to a mark, which is taken too; None at the end."""
        while mark not in self.buffer:
            if not self.more():
                return None
        text, _, self.buffer = self.buffer.partition(mark)
        return text

    def exactly(self, count):
        """So many bytes; None at the end."""
        while len(self.buffer) < count:
            if not self.more():
                return None
        text, self.buffer = self.buffer[:count], self.buffer[count:]
        return text

    def chunks(self):
        """A body in chunks, with its trailers passed over; None at the end."""
        body = b""
        while True:
            line = self.until(b"\r\n")
            if line is None:
                return None
            size = int(line.partition(b";")[0], 16)
            if size == 0:
                while True:
                    trailer = self.until(b"\r\n")
                    if not trailer:
                        return body if trailer is not None else None
            piece = self.exactly(size + 2)
            if piece is None:
                return None
            body += piece[:-2]


class Ledger:
    """The server; a context manager. `answers` are functions of a path: of the request they make the bytes of the answer."""

    def __init__(self, secret=""):
        self.secret, self.answers, self.requests, self.lock = secret, {}, [], threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        # Bytes that broke the framing of what had come before them.
        self.faults = []

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *arguments):
        self.listener.close()

    def accept(self):
        """Serves each connection on a thread of its own."""
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        """One request after the other, until the client leaves."""
        stream = Stream(connection)
        with connection:
            try:
                while self.serve_next(connection, stream):
                    pass
            except (OSError, ValueError) as error:
                self.faults.append(str(error))

    def serve_next(self, connection, stream):
        """One request; whether another may follow."""
        head = stream.until(b"\r\n\r\n")
        if head is None:
            if stream.buffer:
                self.faults.append(repr(stream.buffer[:80]))
            return False
        request = Request(head, b"")
        if request.values("expect"):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = request.values("content-length")
        body = stream.chunks() if request.values("transfer-encoding") else stream.exactly(int(length[0]) if length else 0)
        if body is None:
            return False
        request.body = body
        with self.lock:
            self.requests.append(request)
        answer = self.answers.get(request.path, self.plain)(request)
        if answer is None:
            return False
        connection.sendall(answer)
        # An answer that has more or other lengths than its body ends with its connection.
        return not any(said in answer for said in (b"Length: 20\r\n", b"Length: 40\r\n", b"101 "))

    def plain(self, request):
        """The usual answer: the mark of the request, and the token wherever a server may show it."""
        given = (request.values("authorization") or ["none"])[0]
        body = f"answer {request.mark}".encode()
        return (f"HTTP/1.1 200 OK\r\nX-Mark: {request.mark}\r\nX-Given: {given}\r\nLocation: /next?token={self.secret}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + (b"" if request.method == "HEAD" else body)

    def taken(self):
        """The requests since the last time."""
        with self.lock:
            taken, self.requests = self.requests, []
        return taken


class Answer:
    """An answer as a client reads it."""

    def __init__(self, status, head, body):
        self.status, self.head, self.body = status, head, body

    def value(self, name):
        """The value of a header field."""
        found = re.search(rb"(?im)^" + name.encode() + rb":[ \t]*([^\r\n]*)", self.head)
        return found[1].decode("latin-1") if found else ""


def answers(data, methods):
    """All answers in the bytes of a connection that has ended; `methods` are those of the requests.

    Raises: ValueError where they do not follow RFC 9112.
    """
    class Given:
        """The bytes."""

        def __init__(self):
            self.left = data

        def recv(self, count):
            """The next of them."""
            piece, self.left = self.left[:count], self.left[count:]
            return piece

    stream, found = Stream(Given()), []
    while True:
        head = stream.until(b"\r\n\r\n")
        if head is None:
            if stream.buffer:
                raise ValueError(f"no answer: {stream.buffer[:100]!r}")
            return found
        start = re.match(rb"HTTP/1\.[01] (\d{3})(?: [^\r\n]*)?(?:\r\n|$)", head)
        if not start:
            raise ValueError(f"no answer: {head[:100]!r}")
        status = int(start[1])
        if status < 200:
            continue
        method = methods[len(found)] if len(found) < len(methods) else "GET"
        answer = Answer(status, head, b"")
        length = answer.value("content-length")
        if method == "HEAD" or status in (204, 304):
            body = b""
        elif answer.value("transfer-encoding"):
            body = stream.chunks()
        elif length:
            body = stream.exactly(int(length))
        else:
            while stream.more():
                pass
            body, stream.buffer = stream.buffer, b""
        answer.body = body
        answer.is_whole = body is not None
        found.append(answer)
        if body is None:
            return found
