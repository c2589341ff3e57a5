"""Proofs of possession (DPoP, RFC 9449) of requests by a door and by `sendRequest`, as pydpop and mod_oauth2 verify them."""

import json
import os

from pydpop.verifier import DPoPError, MemoryJtiStore, verify_proof

from ledger import Ledger
from servers import apache
from stage import Broker, Home, free_port

SECRET, TOKEN, NONCE = "made-up-secret-of-the-client", "made-up-token-that-is-bound", "made-up-nonce"
MODULE = "/usr/lib/apache2/modules/mod_oauth2.so"


def answer(status, value, *fields):
    """JSON."""
    body = json.dumps(value)
    head = "".join(f"{field}\r\n" for field in (*fields, "Content-Type: application/json", f"Content-Length: {len(body)}"))
    return f"HTTP/1.1 {status} x\r\n{head}\r\n{body}".encode()


class Issuer:
    """An authorization server that binds its token to the key of the proof, and tells of it by introspection (RFC 7662)."""

    def __init__(self, ledger):
        self.ledger, self.thumbprint, self.seen, self.faults = ledger, "", MemoryJtiStore(), []
        names = {"token_endpoint": "/token", "authorization_endpoint": "/authorize", "jwks_uri": "/keys", "introspection_endpoint": "/introspect"}
        metadata = {"issuer": ledger.origin, "dpop_signing_alg_values_supported": ["ES256"], "response_types_supported": ["code"],
                    "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
                    **{name: ledger.origin + path for name, path in names.items()}}
        for path in ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"):
            ledger.answers[path] = lambda request: answer(200, metadata)
        ledger.answers["/token"], ledger.answers["/introspect"] = self.token, self.introspect

    def proof(self, request, token=None, nonce=None, origin=None):
        """Verifies the proof of a request; its thumbprint, or None, with the fault kept."""
        try:
            found = verify_proof(
                proof=(request.values("dpop") or [""])[0], htm=request.method, htu=(origin or self.ledger.origin) + request.path, access_token=token,
                expected_nonce=nonce, jti_store=self.seen)
            return found["jwk_thumbprint"]
        except DPoPError as error:
            self.faults.append(str(error))
            return None

    def token(self, request):
        """The token, for whoever has a sound proof."""
        self.thumbprint = self.proof(request)
        if not self.thumbprint:
            return answer(400, {"error": "invalid_dpop_proof"})
        return answer(200, {"access_token": TOKEN, "token_type": "DPoP", "expires_in": 3600})

    def introspect(self, request):
        """What it knows of the token."""
        is_known = TOKEN.encode() in request.body
        return answer(200, {"active": is_known, "token_type": "DPoP", "cnf": {"jkt": self.thumbprint}, "client_id": "tests", "sub": "tests", "exp": 4_000_000_000})


def guarded(issuer, api):
    """An API that takes the token with a proof of its key alone, and demands a nonce."""
    def reply(request):
        if request.values("authorization") != ["DPoP " + TOKEN]:
            return answer(401, {}, "WWW-Authenticate: DPoP")
        claims_nonce = NONCE if api.demands else None
        found = issuer.proof(request, TOKEN, claims_nonce, api.origin)
        if found and found == issuer.thumbprint:
            return answer(200, {"let": "in"})
        return answer(401, {}, 'WWW-Authenticate: DPoP error="use_dpop_nonce"', f"DPoP-Nonce: {NONCE}")
    return reply


def proofs(programs, rows):
    """A door, `sendRequest`, a demanded nonce, and Apache with mod_oauth2."""
    with Home() as home, Ledger(TOKEN) as at_issuer, Ledger(TOKEN) as api:
        issuer, port = Issuer(at_issuer), free_port()
        api.demands = False
        api.answers["/guarded"] = guarded(issuer, api)
        rules = [{"origin": one, "methods": ["GET", "POST"]} for one in (api.origin, f"http://127.0.0.1:{port}")]
        profiles = {"api": {
            "provider": "oidc", "issuer": at_issuer.origin, "clientId": "tests", "clientSecret": {"file": home.file("secret", SECRET)}, "clientAuth": "post",
            "grant": "clientCredentials", "dpop": True, "requests": {"allow": rules}}}
        with Broker(programs, profiles) as broker:
            door = broker.open("-p", "api", "--port", "0", api.origin)

            def ask(url, *words):
                return home.run("curl", "-sS", "-i", "-H", door.slot, *words, url + "/guarded")
            done = ask(door.url)
            rows.add("a request by a door, verified by pydpop", '"in"' in done.stdout and TOKEN not in done.stdout, f"{done.stdout[:12]} {issuer.faults}")
            done = broker.run("request", "-p", "api", "-d", "{}", api.origin + "/guarded")
            rows.add("a request by sendRequest, verified by pydpop", '"in"' in done.stdout, f"exit {done.returncode} {done.stderr} {issuer.faults}")
            api.demands = True
            before = len(issuer.faults)
            done = ask(door.url, "-d", "a body")
            rows.add("a nonce that is demanded", '"in"' in done.stdout and len(issuer.faults) <= before + 1, f"{done.stdout[:12]} {issuer.faults[before:]}")
            if not os.path.exists(MODULE):
                return rows.skip("mod_oauth2", "it is not installed (libapache2-mod-oauth2)")
            home.file("guarded", '{"let": "in"}')
            text = f"""LoadModule oauth2_module {MODULE}
DocumentRoot {home.path}
LogLevel debug
OAuth2AcceptTokenIn header type=DPoP
OAuth2TokenVerify introspect {at_issuer.origin}/introspect introspect.ssl_verify=false&type=dpop
<Location />
  AuthType oauth2
  Require valid-user
</Location>
"""
            with apache(home, port, text, ["authn_core", "authz_user"]):
                guard = broker.open("-p", "api", "--port", "0", f"http://127.0.0.1:{port}")
                done = home.run("curl", "-sS", "-i", "-H", guard.slot, guard.url + "/guarded")
                with open(f"{home.path}/apache-{port}/error.log", encoding="utf-8", errors="replace") as log:
                    said = [line for line in log if "error]" in line or "warn]" in line]
                is_in = '"in"' in done.stdout
                why = "" if is_in else [line.rpartition("]")[2].strip()[-300:] for line in said[-6:]]
                rows.add("a request by a door, verified by mod_oauth2", is_in, f"{done.stdout[:12]} {why}")
                bare = home.run("curl", "-sS", "-i", "-H", "Authorization: DPoP " + TOKEN, f"http://127.0.0.1:{port}/guarded")
                rows.add("mod_oauth2 refuses the token without a proof", bare.stdout.startswith("HTTP/1.1 401"), bare.stdout[:20])
