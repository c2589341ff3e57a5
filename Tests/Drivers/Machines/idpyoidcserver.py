"""idpyoidc as a real server: a client that shows its key, a login in a browser, and an exchange of its token.

It runs on a thread of this process, and takes an assertion only for the very endpoint that is asked, once.
"""

import http.server
import json
import shutil
import tempfile
import threading
import urllib.parse

from idpyoidc.server import Server
from idpyoidc.server.configure import ASConfiguration

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
KEYS = {"key_defs": [{"type": "OCT", "use": ["enc"], "kid": name} for name in ("password", "salt")]}
ENCRYPTION = {"kwargs": {"keys": KEYS, "iterations": 1}}
OAUTH = "idpyoidc.server.oauth2."


def configuration(issuer):
    """Its endpoints, and what its tokens may be used for."""
    methods = {"client_authn_method": ["private_key_jwt"]}
    token = {"class": "idpyoidc.server.token.jwt_token.JWTToken", "kwargs": {"lifetime": 3600, "aud": ["https://api.example"]}}
    minting = {"supports_minting": ["access_token", "refresh_token"]}
    rules = {
        "authorization_code": {**minting, "max_usage": 1, "expires_in": 120}, "access_token": {**minting, "expires_in": 600},
        "refresh_token": {**minting, "expires_in": 3600}}
    return {
        "issuer": issuer, "httpc_params": {"verify": True, "timeout": 1},
        "preference": {"grant_types_supported": ["authorization_code", "refresh_token", "client_credentials", EXCHANGE]},
        "cookie_handler": {"class": "idpyoidc.server.cookie_handler.CookieHandler", "kwargs": {
            "keys": {"key_defs": [{"type": "oct", "kid": "sig", "use": ["sig"]}, {"type": "oct", "kid": "enc", "use": ["enc"]}]}}},
        "key_conf": {"uri_path": "jwks.json", "key_defs": [{"type": "EC", "crv": "P-256", "use": ["sig"]}]},
        "endpoint": {
            "provider_info": {
                "path": ".well-known/oauth-authorization-server", "class": OAUTH + "server_metadata.ServerMetadata",
                "kwargs": {"client_authn_method": None}},
            "authorization": {
                "path": "authorization", "class": OAUTH + "authorization.Authorization",
                "kwargs": {"client_authn_method": None, "response_types_supported": ["code"]}},
            "token": {"path": "token", "class": OAUTH + "token.Token", "kwargs": methods}},
        "add_on": {"pkce": {"function": OAUTH + "add_on.pkce.add_support", "kwargs": {"essential": True, "code_challenge_method": "S256"}}},
        "authentication": {"anyone": {
            "acr": "urn:oasis:names:tc:SAML:2.0:ac:classes:InternetProtocolPassword",
            "class": "idpyoidc.server.user_authn.user.NoAuthn", "kwargs": {"user": "diana"}}},
        "userinfo": {"class": "idpyoidc.server.user_info.UserInfo", "kwargs": {"db": {"diana": {}}}},
        "authz": {"class": "idpyoidc.server.authz.AuthzHandling", "kwargs": {"grant_config": {"usage_rules": rules, "expires_in": 3600}}},
        "token_handler_args": {
            "key_conf": {"key_defs": [{"type": "oct", "kid": "code", "use": ["enc"]}]},
            "code": {"lifetime": 600, "kwargs": {"crypt_conf": ENCRYPTION}}, "token": token, "refresh": token},
        "session_params": {"encrypter": ENCRYPTION}}


class Idpyoidc:
    """The server, with one client, whose public key is given."""

    redirect = "http://127.0.0.1:18401/callback"

    def __init__(self, public):
        """`public`: the client's public key, as a JSON Web Key."""
        self.answers, self.is_bearer = [], True
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """One request."""

            def log_message(self, *arguments):
                """Says nothing."""

            def do_GET(self):
                """The metadata, or a login, which asks no one."""
                place = urllib.parse.urlsplit(self.path)
                if place.path == "/authorization":
                    return outer.send(self, 302, "", outer.authorize(dict(urllib.parse.parse_qsl(place.query))))
                if place.path.startswith("/.well-known/"):
                    return outer.send(self, 200, outer.server.context.provider_info)
                return outer.send(self, 404, {})

            def do_POST(self):
                """Tokens."""
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                return outer.send(self, *outer.tokens(dict(urllib.parse.parse_qsl(body)), dict(self.headers)))

        self.listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.listener.server_address[1]}"
        self.folder = tempfile.mkdtemp(prefix="ab-", dir="/tmp")
        self.server = Server(ASConfiguration(conf=configuration(self.issuer), base_path=self.folder), cwd=self.folder)
        self.server.context.map_supported_to_preferred()
        self.server.context.cdb["cli"] = {
            "client_id": "cli", "client_salt": "x", "redirect_uris": [(self.redirect, None)], "response_types_supported": ["code"],
            "client_authn_method": ["private_key_jwt"], "allowed_scopes": ["read", "write", "offline_access"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials", EXCHANGE]}
        self.server.keyjar.import_jwks({"keys": [public]}, "cli")
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    def close(self):
        """Ends it."""
        self.listener.shutdown()
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def send(handler, status, value, place=None):
        """Sends JSON, or to another place."""
        data = json.dumps(dict(value), default=str).encode() if place is None else b""
        handler.send_response(status)
        if place is not None:
            handler.send_header("Location", place)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def authorize(self, query):
        """Where the browser of a user goes on who is always logged in."""
        endpoint = self.server.get_endpoint("authorization")
        request = endpoint.parse_request(query)
        result = endpoint.process_request(request)
        return endpoint.do_response(request=request, **result)["response"]

    def tokens(self, form, headers):
        """The answer of the token endpoint: its status, and what it says."""
        endpoint = self.server.get_endpoint("token")
        try:
            request = endpoint.parse_request(form, http_info={"headers": headers})
            result = request if "error" in request else endpoint.process_request(request)
        except Exception as error:  # noqa: BLE001: what its web server would make a status of.
            self.answers.append((form, {"error": repr(error)}))
            return 401, {"error": "invalid_client"}
        if "error" in result:
            answer = {key: result[key] for key in ("error", "error_description") if key in result}
            self.answers.append((form, answer))
            return 400, answer
        answer = json.loads(endpoint.do_response(request=request, **result)["response"])
        self.answers.append((form, dict(answer)))
        if form["grant_type"] == "client_credentials" and self.is_bearer:
            # It calls the type of such a token "access_token".
            answer["token_type"] = "Bearer"
        return 200, answer
