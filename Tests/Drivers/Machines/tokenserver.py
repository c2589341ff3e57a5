"""A token endpoint that takes clients by their assertions alone, and verifies them with PyJWT.

It listens on a free port of this machine. Every request is kept in `requests`; a request with HTTP Basic is a failure.
"""

import http.server
import json
import threading
import urllib.parse

import jwt


class TokenServer:
    """The endpoint, and what it was sent."""

    def __init__(self):
        self.requests, self.keys, self.lifetime = [], [], 3600
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """One request."""

            def log_message(self, *arguments):
                """Says nothing."""

            def do_GET(self):
                """The metadata."""
                outer.answer(self, 200, {
                    "issuer": outer.issuer, "token_endpoint": outer.issuer + "/token",
                    "authorization_endpoint": outer.issuer + "/authorize", "response_types_supported": ["code"],
                    "pushed_authorization_request_endpoint": outer.issuer + "/par",
                    "require_pushed_authorization_requests": True,
                    "token_endpoint_auth_methods_supported": ["private_key_jwt"]})

            def do_POST(self):
                """Tokens, or a reference to a pushed request."""
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                form = dict(urllib.parse.parse_qsl(body, keep_blank_values=True))
                form["-path"], form["-authorization"] = self.path, self.headers.get("Authorization", "")
                outer.requests.append(form)
                if self.path == "/par":
                    return outer.answer(self, 201, {"request_uri": "urn:example:1", "expires_in": 60})
                if form["-authorization"] or not outer.is_known(form.get("client_assertion", "")):
                    return outer.answer(self, 401, {"error": "invalid_client"})
                return outer.answer(self, 200, {
                    "access_token": f"at-{len(outer.requests)}", "token_type": "Bearer", "expires_in": outer.lifetime})

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @staticmethod
    def answer(handler, status, value):
        """Sends JSON."""
        data = json.dumps(value).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def is_known(self, assertion):
        """Whether one of the keys has signed an assertion of the client for this issuer alone; all are taken without keys."""
        if not self.keys:
            return bool(assertion)
        for key in self.keys:
            try:
                claims = jwt.decode(
                    assertion, key, algorithms=["ES256", "RS256"], audience=self.issuer,
                    options={"require": ["iss", "sub", "aud", "jti", "iat", "exp"]})
            except jwt.InvalidTokenError:
                continue
            if claims["iss"] == claims["sub"] == "cli" and claims["aud"] == self.issuer:
                return jwt.get_unverified_header(assertion).get("typ") == "client-authentication+jwt"
        return False

    def assertions(self):
        """The assertions so far."""
        return [form.get("client_assertion") for form in self.requests]
