"""Proof of possession (RFC 9449) in front of the toolkit, which has none: checks proofs, and binds tokens to their keys.

Signatures are verified by jwcrypto, and nothing here is shared with what makes them.
"""

import base64
import hashlib
import json
import re
import secrets
import threading
import time
import urllib.parse

from jwcrypto import jwk, jws
from jwcrypto.common import JWException

from .ledger import endpoint_of

# What a header of a proof may have, and must (section 4.2).
HEADER = {"alg", "jwk", "typ"}
CLAIMS = {"jti", "htm", "htu", "iat"}
# Endpoints that issue or end tokens, and those that take them: each kind has its own nonces (sections 8 and 9).
ISSUING = ("token", "revoke")
TAKING = ("userinfo",)


class Refused(Exception):
    """A request that is not passed on: status and error."""

    def __init__(self, error, why, status=400):
        super().__init__(why)
        self.error, self.why, self.status = error, why, status


def encoded(data):
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def digest(text):
    """The name under which a token is remembered, and `ath` of a token."""
    return encoded(hashlib.sha256(text.encode()).digest())


class Possession:
    """The keys of tokens and codes, the nonces, and the proofs that were seen."""

    def __init__(self, listener):
        self.listener, self.lock = listener, threading.Lock()
        self.clear()

    def clear(self):
        """Forgets everything."""
        with self.lock:
            self.tokens, self.codes, self.seen, self.uses = {}, {}, set(), {}
            self.nonces = {"issuing": secrets.token_urlsafe(12), "taking": secrets.token_urlsafe(12)}

    def replace_nonces(self):
        """Every nonce that was given is too old now."""
        with self.lock:
            for kind in self.nonces:
                self.nonces[kind] = secrets.token_urlsafe(12)

    @property
    def settings(self):
        return self.listener.settings

    def now(self):
        """The server's own time."""
        return time.time() + self.settings["clockAheadSeconds"]

    def answer(self, command, path, query, fields, body, run):
        """Lets a request through whose proof is good; `run` gets the fields and asks the toolkit.

        Returns status, fields and body of the reply, and what the ledger is to know."""
        endpoint = endpoint_of(path)
        if self.settings["dpop"] == "off":
            return *run(fields), {}
        if endpoint == "authorize":
            self.remember_code(query)
        kind = "issuing" if endpoint in ISSUING else "taking" if endpoint in TAKING else None
        if kind is None:
            return *run(fields), {}
        try:
            key, claims = self.proof(command, path, fields, kind)
            values = dict(urllib.parse.parse_qsl(body.decode("utf-8", "replace")))
            if kind == "taking":
                fields = self.shown(fields, key, claims)
            else:
                self.check_binding(values, key)
        except Refused as refusal:
            return self.refuse(refusal, kind)
        status, headers, reply = run(fields)
        if endpoint == "token" and status == 200:
            reply = self.bound(reply, key)
        known = {"proof": {"key": key, "nonce": claims.get("nonce"), "iat": claims["iat"]}}
        return status, headers + self.next_nonce(kind), reply, known

    def next_nonce(self, kind):
        """A good answer renews the nonce after so many uses (section 8.2)."""
        uses = self.settings["dpopNonceUses"]
        if not uses:
            return []
        with self.lock:
            self.uses[kind] = self.uses.get(kind, 0) + 1
            if self.uses[kind] % uses:
                return []
            self.nonces[kind] = secrets.token_urlsafe(12)
            return [("DPoP-Nonce", self.nonces[kind])]

    def refuse(self, refusal, kind):
        """The reply to a request that is not passed on."""
        headers = [("Content-Type", "application/json")]
        if refusal.error == "use_dpop_nonce":
            headers.append(("DPoP-Nonce", self.nonces[kind]))
        if kind == "taking":
            status = 401
            headers.append(("WWW-Authenticate", f'DPoP error="{refusal.error}", algs="ES256"'))
        else:
            status = self.settings["dpopRefusalStatus"]
        body = json.dumps({"error": refusal.error, "error_description": refusal.why})
        known = {"refusal": refusal.why, "nextNonce": dict(headers).get("DPoP-Nonce")}
        return status, headers, body.encode(), {name: value for name, value in known.items() if value}

    def proof(self, command, path, fields, kind):
        """The thumbprint of the key of a request's proof, and its claims (section 4.3)."""
        text = fields.get("dpop")
        if not text:
            raise Refused("invalid_dpop_proof", "there is no proof")
        if "," in text:
            raise Refused("invalid_dpop_proof", "there are two proofs")
        try:
            token = jws.JWS()
            token.deserialize(text)
            header = json.loads(token.objects["protected"])
            key = jwk.JWK(**header["jwk"])
            if set(header) != HEADER or header["typ"] != "dpop+jwt" or header["alg"] != "ES256":
                raise Refused("invalid_dpop_proof", f"the header has {sorted(header)}")
            if key.has_private or header["jwk"].get("crv") != "P-256":
                raise Refused("invalid_dpop_proof", "the key is no public key of P-256")
            token.verify(key, alg="ES256")
            claims = json.loads(token.payload)
        except (JWException, ValueError, KeyError, TypeError) as error:
            raise Refused("invalid_dpop_proof", f"it is no good signature: {type(error).__name__}") from error
        self.check_claims(claims, command, path, kind)
        return key.thumbprint(), claims

    def check_claims(self, claims, command, path, kind):
        """What a proof says of its request."""
        if not CLAIMS <= set(claims):
            raise Refused("invalid_dpop_proof", f"the claims are {sorted(claims)}")
        if claims["htm"] != command or claims["htu"] != self.listener.base + path:
            raise Refused("invalid_dpop_proof", "it is for another request")
        if abs(self.now() - claims["iat"]) > self.settings["dpopToleranceSeconds"]:
            raise Refused("invalid_dpop_proof", "it is of another time")
        with self.lock:
            if claims["jti"] in self.seen or len(claims["jti"]) < 16:
                raise Refused("invalid_dpop_proof", "its jti was used before")
            self.seen.add(claims["jti"])
            nonce = self.nonces[kind]
        if self.settings["dpopNonceUses"] and claims.get("nonce") != nonce:
            raise Refused("use_dpop_nonce", "another nonce is wanted")
        if kind == "issuing" and "ath" in claims:
            raise Refused("invalid_dpop_proof", "it goes with an access token")

    def shown(self, fields, key, claims):
        """The fields for the toolkit, which knows bearer tokens alone."""
        scheme, _, token = fields.get("authorization", "").partition(" ")
        if scheme != "DPoP":
            raise Refused("invalid_token", "the token is bound to a key", 401)
        if claims.get("ath") != digest(token):
            raise Refused("invalid_dpop_proof", "it goes with another token")
        with self.lock:
            if self.tokens.get(digest(token)) != key:
                raise Refused("invalid_token", "the token is bound to another key", 401)
        return {**fields, "authorization": "Bearer " + token}

    def remember_code(self, query):
        """The key that a code will be bound to (section 10), by the challenge of the same request."""
        values = dict(urllib.parse.parse_qsl(query))
        if "dpop_jkt" in values and re.fullmatch("[A-Za-z0-9_-]{43}", values["dpop_jkt"]):
            with self.lock:
                self.codes[values.get("code_challenge")] = values["dpop_jkt"]

    def check_binding(self, values, key):
        """A code or a token goes with its own key alone."""
        with self.lock:
            if values.get("grant_type") == "authorization_code":
                wanted = self.codes.get(digest(values.get("code_verifier", "")))
                if wanted is None:
                    raise Refused("invalid_dpop_proof", "the code is bound to no key")
            else:
                wanted = self.tokens.get(digest(values.get("refresh_token") or values.get("token") or ""))
        if wanted not in (None, key):
            raise Refused("invalid_dpop_proof", "it is bound to another key")

    def bound(self, reply, key):
        """The reply with tokens that are bound to a key."""
        answer = json.loads(reply)
        if self.settings["dpopTokenType"] == "DPoP":
            with self.lock:
                for name in ("access_token", "refresh_token"):
                    if name in answer:
                        self.tokens[digest(answer[name])] = key
        answer["token_type"] = self.settings["dpopTokenType"]
        return json.dumps(answer).encode()
