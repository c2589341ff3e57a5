"""What machines do, played with the real broker."""

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request

import jwt
from glewlwyd import PROGRAM, Glewlwyd, key
from idpyoidcserver import Idpyoidc
from jwcrypto import jwk, jws
from proofs import proofs
from stage import PATIENCE, Broker, authgent, nanoidp
from tokenserver import TokenServer


def assertion(seconds=3600, **claims):
    """A platform's assertion, which no one here verifies."""
    return jwt.encode({"iss": "https://k8s", "sub": "pod", "exp": int(time.time()) + seconds, **claims}, "k" * 32, "HS256")


def assertions(programs):
    """A file that is replaced, and every other thing that may be in its place."""
    server, broker = TokenServer(), Broker(programs)
    base = {"provider": "oidc", "issuer": server.issuer, "clientId": "cli", "grant": "clientCredentials"}
    path = os.path.join(broker.home, "token")
    try:
        first, second = assertion(jti="1"), assertion(jti="2")
        broker.file("token", first + "\nmore\n", 0o644)
        broker.configure({"default": {**base, "clientAssertion": {"file": path}}})
        session = broker.call("getSession")
        yield "before the first token the session is signed out, and no one can log in", (
            session.get("state") == "signedOut" and session.get("login") == []), session
        yield "the first caller gets a token", broker.token() == "at-1", broker.token()
        broker.file("token", second, 0o644)
        broker.force()
        yield "a file that is swapped under the broker is used at once", server.assertions() == [first, second], server.requests
        yield "there was no Basic", not any(form["-authorization"] for form in server.requests), server.requests
        link = os.path.join(broker.home, "..data")
        os.symlink(path, link)
        broker.configure({"default": {**base, "clientAssertion": {"file": link}}})
        broker.force()
        yield "a link is followed", server.assertions()[-1] == second and len(server.requests) == 3, server.assertions()
        broker.configure({"default": {**base, "clientAssertion": {"file": path}}})
        for what, prepare, word in [
            ("empty", lambda: broker.file("token", ""), "empty"),
            ("expired", lambda: broker.file("token", assertion(-5)), "expired"),
            ("missing", lambda: None, "no such file"),
            ("a fifo", lambda: (os.mkfifo(path, 0o600), broker.own(path)), "not a regular file"),
            ("1 MiB", lambda: broker.file("token", "a" * (1 << 20)), "more than 65536"),
            ("writable by others", lambda: broker.file("token", first, 0o666), "others can write"),
        ]:
            if os.path.lexists(path):
                os.unlink(path)
            prepare()
            count, began = len(server.requests), time.monotonic()
            text = json.dumps(broker.force())
            yield f"{what}: the error names the file, and nothing is sent", (
                path in text and word in text and len(server.requests) == count and time.monotonic() - began < 9), text
            yield f"{what}: the living token is still given", broker.token().startswith("at-"), broker.token()
        if os.path.lexists(path):
            os.unlink(path)
        broker.file("token", first, 0o644)
        yield "once it is right again the session goes on", "accessToken" in broker.force(), ""
        for what, command, word in [
            ("hangs", ["sleep", "1000"], "did not exit"), ("fails", ["sh", "-c", "echo x; exit 3"], "status 3"),
            ("prints nothing", ["true"], "printed nothing"), ("is not there", ["no-such-program"], "no such program"),
        ]:
            broker.configure({"default": {**base, "clientAssertion": {"command": command}}})
            count = len(server.requests)
            text = json.dumps(broker.force())
            yield f"a program that {what}: that is said, and nothing is sent", word in text and len(server.requests) == count, text
        broker.configure({"default": {**base, "clientAssertion": {"command": ["printf", "%s\\nsecond line\\n", second]}}})
        broker.force()
        yield "of two lines the first counts", server.assertions()[-1] == second, server.assertions()[-1]
    finally:
        broker.close()


def public_key(pem, algorithm):
    """A public key as a JSON Web Key."""
    known = jwt.get_algorithm_by_name(algorithm)
    return json.loads(known.to_jwk(known.prepare_key(pem)))


def verified(assertion, public):
    """What an assertion says, once jwcrypto has verified it."""
    token = jws.JWS()
    token.deserialize(assertion)
    token.verify(jwk.JWK(**public))
    return json.loads(token.payload)


def keys(programs):
    """Assertions that the client signs, verified by PyJWT and jwcrypto, and by José where that is installed."""
    for kind in (["EC", "-pkeyopt", "ec_paramgen_curve:P-256"], ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]):
        server, broker = TokenServer(), Broker(programs)
        try:
            made = subprocess.run(["openssl", "genpkey", "-algorithm", *kind], capture_output=True, text=True, check=True)
            public = subprocess.run(["openssl", "pkey", "-pubout"], input=made.stdout, capture_output=True, text=True, check=True)
            server.keys = [public.stdout]
            path = broker.file("key.pem", made.stdout)
            broker.configure({"default": {
                "provider": "oidc", "issuer": server.issuer, "clientId": "cli", "grant": "clientCredentials",
                "clientAuth": "privateKeyJwt", "privateKey": {"file": path}, "privateKeyId": "k1"}})
            yield f"{kind[0]}: another program verifies the assertion", broker.token() == "at-1", broker.token()
            broker.force()
            names = [jwt.decode(each, options={"verify_signature": False})["jti"] for each in server.assertions()]
            yield f"{kind[0]}: each has a jti of its own", len(names) == 2 and len(set(names)) == 2, names
            own = public_key(public.stdout, "ES256" if kind[0] == "EC" else "RS256")
            said = [verified(each, own) for each in server.assertions()]
            yield f"{kind[0]}: jwcrypto verifies each as well", [each["aud"] for each in said] == 2 * [server.issuer], said
            if shutil.which("jose"):
                broker.file("key.jwk", json.dumps(own), 0o644)
                checked = subprocess.run(
                    ["jose", "jws", "ver", "-i-", "-k", os.path.join(broker.home, "key.jwk")], input=server.assertions()[0],
                    capture_output=True, text=True, check=False)
                yield f"{kind[0]}: jose verifies it as well", checked.returncode == 0, checked.stderr
            os.chmod(path, 0o644)
            text = json.dumps(broker.force())
            yield f"{kind[0]}: a key that others can read is not used", path in text and "chmod 600" in text, text
        finally:
            broker.close()


def claims(token):
    """What a token says."""
    try:
        return jwt.decode(token, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        return {}


def grants(programs):
    """Client credentials, an exchange, and a chain over two domains, at authgent-server; client credentials at nanoidp."""
    exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    bearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    with authgent() as home, authgent([home.url]) as away:
        made = home.post("/register", {"client_name": "agent", "scope": "read write", "grant_types": ["client_credentials", exchange]})
        there = away.post("/register", {"client_name": "agent", "scope": "read", "grant_types": [bearer]})
        broker = Broker(programs, {"HOME_SECRET": made["client_secret"], "AWAY_SECRET": there["client_secret"]})
        here = {"provider": "oidc", "issuer": home.url, "clientId": made["client_id"], "clientSecret": {"env": "HOME_SECRET"}}
        try:
            broker.configure({
                "own": {**here, "grant": "clientCredentials", "scopes": ["read", "write"]},
                "api": {**here, "grant": "exchange", "subjectToken": {"from": "own"}, "audience": "https://api.example", "scopes": ["read"]},
                "jag": {**here, "grant": "exchange", "subjectToken": {"from": "own"}, "audience": away.url, "scopes": ["read"],
                        "requestedTokenType": "urn:ietf:params:oauth:token-type:jwt"},
                "chat": {"provider": "oidc", "issuer": away.url, "clientId": there["client_id"], "clientSecret": {"env": "AWAY_SECRET"},
                         "grant": "jwtBearer", "assertion": {"from": "jag"}, "scopes": ["read"]},
            })
            api = broker.token("api")
            yield "authgent-server: an exchange, whose subject is requested first", claims(api).get("aud") == "https://api.example", api
            own = broker.token("own")
            yield "authgent-server: client credentials", claims(own).get("iss") == home.url, own
            yield "the exchanged token does not outlive its subject", claims(api).get("exp", 0) <= claims(own).get("exp", 0), ""
            yield "it is kept", broker.token("api") == api, ""
            broker.force("own")
            yield "another subject makes another one", broker.token("api") not in ("", api), broker.token("api")
            chat = broker.token("chat")
            yield "authgent-server: a chain over two domains", claims(chat).get("chained_from") == home.url, chat
            said = broker.token("jag")
            yield "the assertion itself is given to no one", "no bearer token" in said, said
            again = broker.force("chat")
            yield "each request shows another assertion, as the server wants it", "accessToken" in again, again
            broker.run("logout", "-p", "own")
            states = {name: broker.call("getSession", profile=name).get("state") for name in ("own", "api", "jag", "chat")}
            yield "a logout of the subject is one of all", set(states.values()) == {"signedOut"}, states
            yield "and the next caller begins again", claims(broker.token("chat")).get("chained_from") == home.url, ""
            broker.run("stop")
            home.process.terminate()
            home.process.wait(PATIENCE)
            kept = [broker.token("own"), broker.token("chat")]
            yield "what was kept serves after a restart, while the server is away", all(claims(each) for each in kept), kept
        finally:
            broker.close()
    with nanoidp() as server:
        broker = Broker(programs, {"SECRET": "demo-secret"})
        try:
            broker.configure({"default": {
                "provider": "oidc", "issuer": server.url, "clientId": "demo-client", "clientSecret": {"env": "SECRET"},
                "grant": "clientCredentials"}})
            first = broker.token()
            yield "nanoidp: client credentials", claims(first).get("iss") == server.url, first
            again = broker.force().get("accessToken")
            yield "nanoidp: and another token by the same", bool(again) and again != first, again
        finally:
            broker.close()


def pushed(programs):
    """A login whose parameters go to the provider itself."""
    server, broker = TokenServer(), Broker(programs)
    try:
        broker.file("token", assertion())
        broker.configure({"default": {
            "provider": "oidc", "issuer": server.issuer, "clientId": "cli", "clientAssertion": {"file": os.path.join(broker.home, "token")}}})
        action = broker.call("login", method="browser").get("action", {})
        wanted = f"{server.issuer}/authorize?client_id=cli&request_uri=urn%3Aexample%3A1"
        yield "the browser gets a reference alone", action.get("verificationUri") == wanted, action
        form = server.requests[0] if server.requests else {}
        yield "the client has shown who it is", form.get("-path") == "/par" and bool(form.get("client_assertion")), form
        yield "and the parameters came with it", {"state", "code_challenge", "redirect_uri"} <= set(form), form
    finally:
        broker.close()


def glewlwyd(programs):
    """A client that shows its key, and pushed requests, at Glewlwyd, where it is installed."""
    if not os.path.exists(PROGRAM):
        print("SKIP glewlwyd: the package glewlwyd is not installed")
        return
    broker = Broker(programs)
    try:
        with Glewlwyd() as server:
            path = broker.file("key.pem", server.client_key)
            base = {"provider": "oidc", "issuer": server.issuer, "clientId": "cli", "privateKey": {"file": path}, "scopes": ["read"],
                    "assertionAudience": "endpoint"}
            broker.configure({
                "own": {**base, "grant": "clientCredentials"}, "user": {**base, "redirectUri": "http://127.0.0.1:18400/callback"}})
            yield "private_key_jwt and client credentials", claims(broker.token("own")).get("scope") == "read", broker.token("own")
            begun = broker.call("login", profile="user", method="browser")
            action = begun.get("action", {})
            address = action.get("verificationUri", "")
            yield "the request is pushed", "request_uri=urn%3Aietf" in address and "state=" not in address, begun
            brought = server.approve(address) if address else ""
            yield "the server takes the reference", brought.startswith("http://127.0.0.1:18400/callback?"), brought
            if brought.startswith("http://127.0.0.1:18400/"):
                with urllib.request.urlopen(brought, timeout=PATIENCE) as page:
                    page.read()
                result = broker.call("awaitLogin", loginFlowId=action.get("loginFlowId", ""), timeoutSeconds=30)
                yield "the code is exchanged by the client's key", result.get("status") == "authenticated", result
                yield "and the session refreshed by it", "accessToken" in broker.force("user"), ""
    finally:
        broker.close()


def idpyoidc(programs):
    """A client that shows its key at idpyoidc: its own tokens, those of a login and of their refresh, and exchanged ones."""
    private, public = key()
    # A second request of the client for itself fails in the server: each gets one.
    server, odd, broker = Idpyoidc(public_key(public, "ES256")), Idpyoidc(public_key(public, "ES256")), Broker(programs)
    odd.is_bearer = False
    try:
        path = broker.file("key.pem", private)
        base = {"provider": "oidc", "issuer": server.issuer, "clientId": "cli", "privateKey": {"file": path}, "assertionAudience": "endpoint"}
        broker.configure({
            "own": {**base, "grant": "clientCredentials"}, "odd": {**base, "issuer": odd.issuer, "grant": "clientCredentials"},
            "user": {**base, "scopes": ["read", "offline_access"], "redirectUri": server.redirect},
            "api": {**base, "grant": "exchange", "subjectToken": {"from": "user"}, "audience": "https://api.example", "scopes": ["read"]}})
        own = broker.token("own")
        yield "private_key_jwt and client credentials", claims(own).get("iss") == server.issuer, own
        said = broker.token("api")
        yield "an exchange names the profile that someone has to log in to", "user" in said and "log" in said, said
        action = broker.call("login", profile="user", method="browser").get("action", {})
        with urllib.request.urlopen(action["verificationUri"], timeout=PATIENCE) as page:
            page.read()
        result = broker.call("awaitLogin", loginFlowId=action["loginFlowId"], timeoutSeconds=30)
        yield "a code is exchanged by the client's key", result.get("status") == "authenticated", result
        yield "and the session refreshed by it", "accessToken" in broker.force("user"), server.answers[-1]
        api = broker.token("api")
        yield "an exchange for another audience", claims(api).get("aud") == ["https://api.example"], api
        yield "with fewer scopes", claims(api).get("scope") == "read", claims(api)
        said = broker.force("odd")
        yield "a token of no type that is known is given to no one", "accessToken" not in said and "access_token" in json.dumps(said), said
        broker.file("key.pem", key()[0])
        said = broker.force("user")
        yield "by another key it is no one", "accessToken" not in said and "error" in server.answers[-1][1], said
    finally:
        broker.close()
        server.close()
        odd.close()


SCENES = {"assertions": assertions, "keys": keys, "grants": grants, "pushed": pushed, "glewlwyd": glewlwyd, "idpyoidc": idpyoidc,
          "proofs": proofs}


def main():
    """Plays the scenes that were named, or all."""
    failed = 0
    for name in sys.argv[2:] or SCENES:
        for what, is_so, shown in SCENES[name](os.path.abspath(sys.argv[1])):
            print(f"{'PASS' if is_so else 'FAIL'} {name}: {what}" + ("" if is_so else f": {str(shown)[:600]}"), flush=True)
            failed += not is_so
    return 1 if failed else 0
