"""The service for SMS: takes forms as Twilio does, and answers as it was told."""

import base64
import http.server
import json
import threading
import urllib.parse


class Service:
    """Every form that came, and the answer to the next ones."""

    def __init__(self):
        self.lock = threading.Lock()
        self.reset()

    def reset(self):
        """Forgets everything."""
        self.forms, self.answers = [], []

    def take(self, path, authorization, body):
        """Keeps a form; status and body of the answer."""
        kind, _, value = (authorization or "").partition(" ")
        user = base64.b64decode(value).decode() if kind == "Basic" else None
        with self.lock:
            fields = dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
            self.forms.append({"path": path, "login": user, "fields": fields})
            return self.answers.pop(0) if self.answers else (201, {"sid": "SM0", "status": "queued"})


def start(service):
    """Listens; the address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        """One form."""

        protocol_version = "HTTP/1.1"

        def do_POST(self):
            """Reads a form and answers."""
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, answer = service.take(self.path, self.headers.get("Authorization"), body)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments):
            """Says nothing: standard error is for bugs."""

    listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{listener.server_address[1]}/2010-04-01/Accounts/AC0/Messages.json"
