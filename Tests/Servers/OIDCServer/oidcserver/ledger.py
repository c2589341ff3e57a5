"""What happened at the server: who asked for what, and what became of it. No token stands in it, only names of tokens."""

import base64
import binascii
import hashlib
import json
import threading
import time
import urllib.parse

# The part of a path that tells the endpoint.
ENDPOINTS = {
    "/o/.well-known/openid-configuration": "discovery",
    "/.well-known/oauth-authorization-server/o": "discovery",
    "/o/token/": "token",
    "/o/authorize/": "authorize",
    "/o/revoke_token/": "revoke",
    "/o/introspect/": "introspect",
    "/o/userinfo/": "userinfo",
    "/o/device-authorization/": "deviceAuthorization",
    "/o/logout/": "endSession",
    "/o/.well-known/jwks.json": "keys",
    "/accounts/login/": "loginPage",
}


def endpoint_of(path):
    """The endpoint's name; `page` for what people see."""
    return ENDPOINTS.get(path, ENDPOINTS.get(path.rstrip("/"), "page" if path.startswith("/o/device") else "other"))


class Ledger:
    """Entries in the order in which their replies were made."""

    def __init__(self):
        self.entries, self.names, self.changed = [], {}, threading.Condition()

    def clear(self):
        """Forgets all entries; tokens keep their names."""
        with self.changed:
            self.entries = []

    def name(self, kind, token):
        """What a token is called: `R1` is the first refresh token that was seen. Nothing for no token."""
        if not token:
            return None
        digest = hashlib.sha256(token.encode()).digest()
        with self.changed:
            if digest not in self.names:
                count = sum(1 for name in self.names.values() if name[0] == kind)
                self.names[digest] = f"{kind}{count + 1}"
            return self.names[digest]

    def add(self, entry):
        """Writes an entry."""
        with self.changed:
            entry = {"sequence": len(self.entries) + 1, "time": time.time(), **entry}
            self.entries.append({name: value for name, value in entry.items() if value is not None})
            self.changed.notify_all()

    def since(self, after, endpoint, wait):
        """Entries after a sequence, of one endpoint if wanted; waits for the first one."""
        def found():
            return [one for one in self.entries if one["sequence"] > after and endpoint in (None, one["endpoint"])]

        with self.changed:
            self.changed.wait_for(found, wait)
            return found()

    def described(self, method, path, query, fields, body, status, reply, delivery, known=None):
        """Writes the entry of one exchange."""
        endpoint = endpoint_of(path)
        values = dict(urllib.parse.parse_qsl(body.decode("utf-8", "replace")))
        asked = dict(urllib.parse.parse_qsl(query))
        client, way = client_of(fields.get("authorization", ""), values)
        answer = parsed(reply)
        scheme = fields.get("authorization", "").partition(" ")[0].lower()
        self.add({
            "endpoint": endpoint,
            "method": method,
            "path": path,
            "status": status,
            "delivery": delivery,
            "userAgent": fields.get("user-agent"),
            "authorization": scheme or None,
            "queryNames": sorted(asked) or None,
            "bodyNames": sorted(values) if endpoint not in ("loginPage", "page") and values else None,
            "clientId": client or asked.get("client_id"),
            "clientAuth": way,
            "grantType": values.get("grant_type"),
            "scope": values.get("scope") or asked.get("scope"),
            "redirectUri": values.get("redirect_uri") or asked.get("redirect_uri"),
            "challengeMethod": asked.get("code_challenge_method"),
            "refreshToken": self.name("R", values.get("refresh_token")),
            "token": self.name("T", values.get("token")) if not self.known(values.get("token")) else
            self.known(values.get("token")),
            "newRefreshToken": self.name("R", answer.get("refresh_token")),
            "newAccessToken": self.name("A", answer.get("access_token")),
            "error": answer.get("error") if isinstance(answer.get("error"), str) else None,
            **(known or {}),
        })

    def known(self, token):
        """The name of a token that has one."""
        with self.changed:
            return self.names.get(hashlib.sha256(token.encode()).digest()) if token else None


def parsed(reply):
    """The object of a reply; an empty one where there is none."""
    try:
        answer = json.loads(reply)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def client_of(authorization, values):
    """Who the client says it is, and how (RFC 6749, section 2.3.1)."""
    scheme, _, rest = authorization.partition(" ")
    if scheme.lower() == "basic":
        try:
            name = base64.b64decode(rest, validate=True).decode().partition(":")[0]
        except (binascii.Error, UnicodeDecodeError):
            return None, "malformed"
        return urllib.parse.unquote_plus(name), "basic"
    if "client_secret" in values:
        return values.get("client_id"), "post"
    return (values["client_id"], "none") if "client_id" in values else (None, None)
