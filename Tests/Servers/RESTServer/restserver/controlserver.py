"""What carries a control interface: JSON over HTTP on a port of its own. The OpenID Connect server of the tests has it
too."""

import http.server
import json
import threading
import urllib.parse


def find(control, method, target):
    """The call of a request, which is the method named `METHOD_path`, or None; and the query."""
    path, _, query = target.partition("?")
    act = getattr(control, f"{method}_{path.strip('/').replace('-', '_')}", None)
    return act, dict(urllib.parse.parse_qsl(query))


def no_such_call(control):
    """The answer to what is no call: those that there are."""
    calls = [name.replace("_", " /", 1).replace("_", "-") for name in dir(control) if name.split("_")[0].isupper()]
    return 404, {"error": "no such call", "calls": sorted(calls)}


def serve(control, port=0):
    """Starts a control interface, whose `call` gets method, target and body; returns its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        """One call."""

        protocol_version = "HTTP/1.1"

        def respond(self):
            """Reads the body, makes the call, writes the answer."""
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, answer = control.call(self.command, self.path, raw)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_DELETE = respond

        def log_message(self, *arguments):
            """Says nothing: standard error is for bugs."""

    class Listener(http.server.ThreadingHTTPServer):
        """Many tests at once may ask."""

        daemon_threads, request_queue_size = True, 128

    listener = Listener(("127.0.0.1", port), Handler)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{listener.server_address[1]}"
