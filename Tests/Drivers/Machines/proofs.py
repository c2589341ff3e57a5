"""Tokens that are bound to a key (DPoP, RFC 9449), at servers that verify proofs by libraries of their own."""

import os
import urllib.error
import urllib.request

from glewlwyd import PROGRAM, Glewlwyd
from stage import PATIENCE, Broker, authgent

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"


def login(broker, approve):
    """A login in a browser; its result."""
    action = broker.call("login", profile="user", method="browser").get("action", {})
    brought = approve(action["verificationUri"]) if action else ""
    if not brought.startswith("http://127.0.0.1:18400/"):
        return {"brought": brought, "action": action}
    with urllib.request.urlopen(brought, timeout=PATIENCE) as page:
        page.read()
    return broker.call("awaitLogin", loginFlowId=action["loginFlowId"], timeoutSeconds=30)


def lets_in(broker, address):
    """Whether a client with nothing but the broker's answers is let in where tokens are taken; else what is said."""
    token, nonce, said = broker.call("getAccessToken", profile="user"), {}, []
    for _ in range(2):
        proof = broker.call("createProof", profile="user", tokenId=token.get("tokenId", ""), method="GET", url=address, **nonce)
        fields = {"Authorization": "DPoP " + token.get("accessToken", ""), "DPoP": proof.get("proof", "")}
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers=fields), timeout=PATIENCE) as answer:
                return answer.status == 200 or answer.status
        except urllib.error.HTTPError as error:
            said.append([error.code, dict(error.headers), error.read().decode()[:200], proof.get("said")])
            nonce = {"nonce": error.headers["DPoP-Nonce"]} if error.headers.get("DPoP-Nonce") else {}
    return said


def at_glewlwyd(programs):
    """A public client at Glewlwyd, which demands nonces, replaces each refresh token, and answers 403 for a wrong proof."""
    if not os.path.exists(PROGRAM):
        print("SKIP proofs: the package glewlwyd is not installed")
        return
    broker = Broker(programs)
    try:
        with Glewlwyd(binds=True) as server:
            broker.configure({"user": {
                "provider": "oidc", "issuer": server.issuer, "clientId": "cli", "scopes": ["openid"], "dpop": True,
                "redirectUri": "http://127.0.0.1:18400/callback"}})
            result = login(broker, lambda address: server.approve(address, "openid"))
            yield "Glewlwyd: a code, behind a pushed request", result.get("status") == "authenticated", result
            kinds = [broker.call("getAccessToken", profile="user", forceRefresh=True).get("tokenType") for _ in range(7)]
            yield "Glewlwyd: refreshes, past the life of a nonce", kinds == 7 * ["DPoP"], kinds
            # As the server announces it, with two slashes: a proof names the address in these very words.
            answer = lets_in(broker, server.url + "/api/oidc/userinfo")
            yield "Glewlwyd: a client by itself", answer is True, answer
            broker.run("stop")
            again = broker.force("user")
            yield "Glewlwyd: another broker has the key, and asks for a nonce", again.get("tokenType") == "DPoP", again
    finally:
        broker.close()


def at_authgent(programs):
    """Grants, a code and its refresh at authgent-server, which demands nonces with 401."""
    with authgent() as server:
        made = server.post("/register", {
            "client_name": "m", "scope": "read", "redirect_uris": ["http://127.0.0.1:18400/callback"],
            "grant_types": ["authorization_code", "refresh_token", "client_credentials", EXCHANGE]})
        broker = Broker(programs, {"SECRET": made["client_secret"]})
        base = {"provider": "oidc", "issuer": server.url, "clientId": made["client_id"], "clientSecret": {"env": "SECRET"},
                "clientAuth": "post", "scopes": ["read"], "dpop": True}
        try:
            broker.configure({
                "own": {**base, "grant": "clientCredentials"},
                "api": {**base, "grant": "exchange", "subjectToken": {"from": "own"}, "audience": "https://api.example"},
                "user": {**base, "methods": ["browser"], "redirectUri": "http://127.0.0.1:18400/callback"}})
            for profile in ("own", "api"):
                kinds = [broker.call("getAccessToken", profile=profile).get("tokenType"), broker.force(profile).get("tokenType")]
                yield f"authgent-server: {profile}", kinds == 2 * ["DPoP"], kinds
            result = login(broker, where)
            yield "authgent-server: a code", result.get("status") == "authenticated", result
            kinds = [broker.call("getAccessToken", profile="user", forceRefresh=True).get("tokenType") for _ in range(3)]
            yield "authgent-server: refreshes", kinds == 3 * ["DPoP"], kinds
            ended = broker.call("logout", profile="user")
            yield "authgent-server: the end", ended["results"][0]["serverRevoked"] in ("yes", "pending"), ended
        finally:
            broker.close()


def where(address):
    """The place that a server sends a browser to, without asking its user."""
    class Stay(urllib.request.HTTPRedirectHandler):
        """Follows no redirect."""

        def redirect_request(self, *arguments):
            """None."""
            return None

    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({}), Stay()).open(address, timeout=PATIENCE) as answer:
            return answer.geturl()
    except urllib.error.HTTPError as answer:
        return answer.headers.get("Location", "")


def proofs(programs):
    """Both."""
    yield from at_glewlwyd(programs)
    yield from at_authgent(programs)
