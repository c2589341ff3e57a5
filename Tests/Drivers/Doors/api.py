"""An API in the shapes that real clients expect; it lets in whoever has its token, and notes each request."""

import hashlib
import io
import json
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = "made-up-secret-of-the-api"
CHAT = ["one ", "two ", "three"]


def wheel():
    """A package for pip: its file's name, and its bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("demo_of_a_door.py", "ANSWER = 42\n")
        info = "demo_of_a_door-1.0.dist-info/"
        file.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: demo-of-a-door\nVersion: 1.0\n")
        file.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(info + "RECORD", f"demo_of_a_door.py,,\n{info}METADATA,,\n{info}WHEEL,,\n{info}RECORD,,\n")
    return "demo_of_a_door-1.0-py3-none-any.whl", buffer.getvalue()


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        """Says nothing."""

    def is_let_in(self):
        """Whether the request has the token, as a bearer token or an API key; it is noted."""
        given, key = self.headers.get_all("authorization", []), self.headers.get_all("x-api-key", [])
        is_good = (given, key) in ((["Bearer " + SECRET], []), ([], [SECRET]))
        self.server.requests.append((self.command, self.path, self.headers.get("user-agent", ""), is_good, str(self.headers)))
        if is_good:
            return True
        self.reply({"message": "Bad credentials"}, 401, [("WWW-Authenticate", 'Bearer realm="api"')])
        return False

    def reply(self, value, status=200, fields=()):
        """Sends JSON, or bytes."""
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        kind = "application/octet-stream" if isinstance(value, bytes) else "application/json"
        self.send_response(status)
        for name, field in [*fields, *([] if any(name == "Content-Type" for name, _ in fields) else [("Content-Type", kind)])]:
            self.send_header(name, field)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events):
        """Sends server-sent events, in chunks."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for name, event in events:
            text = (f"event: {name}\n" if name else "") + f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n"
            self.wfile.write(f"{len(text.encode()):x}\r\n{text}\r\n".encode())
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self):  # noqa: N802
        """Accounts, and the index of packages."""
        if not self.is_let_in():
            return
        path = self.path.partition("?")[0]
        name, data = wheel()
        if path in ("/user", "/api/v3/user", "/v1/user"):
            self.reply({"login": "ada", "id": 1})
        elif path == "/simple/demo-of-a-door/":
            self.reply(f'<a href="../../files/{name}#sha256={hashlib.sha256(data).hexdigest()}">{name}</a>'.encode(), 200, [("Content-Type", "text/html")])
        elif path == "/files/" + name:
            self.reply(data)
        elif path == "/v1/models":
            self.reply({"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "t"}]})
        else:
            self.reply({"message": "Not Found"}, 404)

    def do_POST(self):  # noqa: N802
        """Chats."""
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        if not self.is_let_in():
            return
        wanted = json.loads(body or b"{}")
        if self.path == "/v1/chat/completions":
            base = {"id": "c", "created": 1, "model": "m"}
            if wanted.get("stream"):
                parts = [("", {**base, "object": "chat.completion.chunk", "choices": [
                    {"index": 0, "delta": {"content": text}, "finish_reason": None}]}) for text in CHAT]
                return self.stream([*parts, ("", "[DONE]")])
            return self.reply({**base, "object": "chat.completion", "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "".join(CHAT)}}]})
        if self.path == "/v1/messages":
            message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None,
                       "usage": {"input_tokens": 1, "output_tokens": 1}}
            if wanted.get("stream"):
                return self.stream([
                    ("message_start", {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}),
                    ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                    *(("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
                      for text in CHAT),
                    ("content_block_stop", {"type": "content_block_stop", "index": 0}),
                    ("message_delta", {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 3}}),
                    ("message_stop", {"type": "message_stop"})])
            return self.reply({**message, "content": [{"type": "text", "text": "".join(CHAT)}], "stop_reason": "end_turn"})
        return self.reply({"message": "Not Found"}, 404)


class API:
    """The server, on a thread of its own; a context manager."""

    def __enter__(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.requests, self.server.daemon_threads = [], True
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *arguments):
        self.server.shutdown()
        self.server.server_close()

    def taken(self):
        """The requests since the last time."""
        taken, self.server.requests = self.server.requests, []
        return taken
