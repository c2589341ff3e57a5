"""Glewlwyd as a real server for pushed requests and clients with a key, from Debian's package.

It is run where it is installed, or from the folder GLEWLWYD_ROOT into which the package was unpacked; the database is a new one.
"""

import gzip
import http.cookiejar
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from stage import PATIENCE, free_port

ROOT = os.environ.get("GLEWLWYD_ROOT", "")
PROGRAM = ROOT + "/usr/bin/glewlwyd"
DOCUMENTS = ROOT + "/usr/share/doc/glewlwyd/"


def key():
    """A new key of the curve P-256, and its public half."""
    made = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], capture_output=True, text=True, check=True)
    public = subprocess.run(["openssl", "pkey", "-pubout"], input=made.stdout, capture_output=True, text=True, check=True)
    return made.stdout, public.stdout


class Glewlwyd:
    """The server, with a client that shows its key, and pushed requests required.

    It takes an assertion only for the very endpoint that is asked. Where it `binds` tokens to keys, the client is a public one, and
    every proof needs a nonce.
    """

    def __init__(self, binds=False):
        self.binds = binds

    def __enter__(self):
        self.folder, port = tempfile.mkdtemp(prefix="ab-", dir="/tmp"), free_port()
        self.url = f"http://127.0.0.1:{port}/"
        database = sqlite3.connect(self.folder + "/db")
        database.executescript(self.document("database/init.sqlite3.sql.gz"))
        database.close()
        with open(self.folder + "/conf", "w", encoding="utf-8") as file:
            file.write(self.configuration(port))
        environment = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": ROOT + "/usr/lib/x86_64-linux-gnu"}
        with open(self.folder + "/log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "--config-file=" + self.folder + "/conf"], env=environment, stdout=log, stderr=log)
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), jar)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.ask("api/auth/", {"username": "admin", "password": "password"})
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        self.prepare()
        return self

    def __exit__(self, *arguments):
        self.process.terminate()
        self.process.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def document(name):
        """A compressed file of the package."""
        with gzip.open(DOCUMENTS + name, "rt", encoding="utf-8") as file:
            return file.read()

    def configuration(self, port):
        """The sample, with places and ports of its own."""
        text = self.document("glewlwyd.conf.sample.gz")
        for old, new in [
            ("port=4593", f'port={port}\nbind_address="127.0.0.1"'), ('external_url="http://localhost:4593"', f'external_url="{self.url}"'),
            ('cookie_domain="localhost"', 'cookie_domain="127.0.0.1"'), ("cookie_secure=1", "cookie_secure=0"),
            ("/usr/share/glewlwyd", ROOT + "/usr/share/glewlwyd"), ("/usr/lib/glewlwyd", ROOT + "/usr/lib/glewlwyd"),
            ("/var/cache/glewlwyd/glewlwyd.db", self.folder + "/db"),
        ]:
            text = text.replace(old, new)
        return text

    def ask(self, path, value=None, method=None):
        """Calls its interface for administrators."""
        data = None if value is None else json.dumps(value).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        with self.opener.open(request, timeout=PATIENCE) as answer:
            return answer.read()

    def prepare(self):
        """Makes the provider, a scope and the client."""
        own, public = key()
        self.client_key, client_public = key()
        self.issuer = self.url + "api/oidc"
        self.ask("api/mod/plugin/", {"module": "oidc", "name": "oidc", "display_name": "oidc", "parameters": {
            "iss": self.issuer, "jwt-type": "ecdsa", "jwt-key-size": "256", "key": own, "cert": public, "code-duration": 600,
            "access-token-duration": 3600, "refresh-token-duration": 1209600, "refresh-token-rolling": True, "allow-non-oidc": True,
            "auth-type-code-enabled": True, "auth-type-token-enabled": True, "auth-type-id-token-enabled": True,
            "auth-type-none-enabled": False, "auth-type-password-enabled": False, "auth-type-client-enabled": True,
            "auth-type-refresh-enabled": True, "auth-type-implicit-enabled": False, "pkce-allowed": True, "oauth-par-allowed": True,
            "oauth-par-required": True, "oauth-par-duration": 90, "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
            "request-parameter-allow": True, "request-maximum-exp": 3600, "client-pubkey-parameter": "pubkey",
            "client-jwks-parameter": "jwks", "client-jwks_uri-parameter": "jwks_uri", "refresh-token-one-use": "always", "scope": [],
            "oauth-dpop-allowed": self.binds, "oauth-dpop-iat-duration": 60,
            "oauth-dpop-nonce-mandatory": self.binds, "oauth-dpop-nonce-counter": 5}})
        self.ask("api/scope/", {"name": "read", "display_name": "read", "description": "reads", "password_required": False, "scheme": {}})
        self.ask("api/user/admin", {"name": "admin", "enabled": True, "scope": ["g_admin", "g_profile", "read", "openid"]}, "PUT")
        self.ask("api/client/", {
            "client_id": "cli", "name": "cli", "confidential": not self.binds, "enabled": True,
            "token_endpoint_auth_method": ["none" if self.binds else "private_key_jwt"],
            "pubkey": client_public, "redirect_uri": ["http://127.0.0.1:18400/callback"],
            "authorization_type": ["code", "client_credentials", "refresh_token"], "scope": ["read", "openid"]})

    def approve(self, address, scope="read"):
        """Logs in as the administrator in a browser of its own, and returns the address that it is sent to."""
        class Stay(urllib.request.HTTPRedirectHandler):
            """Follows no redirect."""

            def redirect_request(self, *arguments):
                """None."""
                return None

        self.ask("api/auth/grant/cli", {"scope": scope}, "PUT")
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), *[each for each in self.opener.handlers if isinstance(each, urllib.request.HTTPCookieProcessor)],
            Stay())
        try:
            with opener.open(address + "&g_continue", timeout=PATIENCE) as answer:
                return answer.geturl()
        except urllib.error.HTTPError as answer:
            return answer.headers.get("Location", "")
