"""The differently named backend."""

import base64
import urllib.parse

from .journey import EMAIL, PASSWORD, PHONE, SMS_EMAIL, Journey


class Renamed(Journey):
    """Other paths, forms, names, errors, client authentication and ways to end and to send again."""

    def setUp(self):
        super().setUp()
        self.set(dialect="renamed")

    def basic(self, secret="demo secret: 100% & made up"):
        pair = urllib.parse.quote_plus("demo-client") + ":" + urllib.parse.quote_plus(secret)
        return [("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())]

    def unencoded(self):
        """As RFC 7617 would have it, and RFC 6749 would not."""
        return [("Authorization", "Basic " + base64.b64encode(b"demo-client:demo secret: 100% & made up").decode())]

    def form(self, path, value, headers=None, method="POST"):
        return self.client.send(method, path, value, form=True, headers=self.basic() if headers is None else headers)

    def session(self, email=EMAIL):
        return self.form("/api/v2/session", {"username": email, "passphrase": PASSWORD})

    def test_login_and_refresh(self):
        reply = self.session().json
        self.assertEqual((set(reply), reply["account"]["mail"]), ({"result", "account", "tokenType"}, EMAIL))
        self.assertEqual(set(reply["result"]), {"session_token", "renewal_token", "valid_for", "granted"})
        renewal = {"grant_type": "refresh_token", "refresh_token": reply["result"]["renewal_token"]}
        renewed = self.form("/api/v2/token", renewal).json["result"]
        self.assertNotEqual(renewed["renewal_token"], renewal["refresh_token"])
        refused = self.form("/api/v2/token", renewal)
        self.assertEqual(
            (refused.status, set(refused.json), refused.json["error"]),
            (400, {"error", "error_description"}, "invalid_grant"),
        )

    def test_the_client_must_authenticate_itself(self):
        login = {"username": EMAIL, "passphrase": PASSWORD}
        for headers in ([], self.basic("wrong"), [("Authorization", "Basic %%%")], self.bearer("x"), self.unencoded()):
            with self.subTest(headers=len(headers)):
                seen = self.form("/api/v2/session", login, headers)
                self.assertEqual((seen.status, seen.headers("Content-Type")), (401, ["application/problem+json"]))

    def test_json_is_refused(self):
        seen = self.client.send(
            "POST", "/api/v2/session", {"username": EMAIL, "passphrase": PASSWORD}, headers=self.basic()
        )
        self.assertEqual(seen.status, 400)

    def test_errors_are_problems(self):
        seen = self.form("/api/v2/session", {"username": EMAIL, "passphrase": "no"})
        self.assertEqual(
            (seen.status, seen.json["type"].rsplit("/", 1)[1], seen.json["instance"]),
            (401, "invalid-credentials", "/api/v2/session"),
        )

    def test_the_code_and_how_it_is_sent_again(self):
        challenge = self.session(SMS_EMAIL).json["second_factor"]
        self.assertEqual((challenge["wanted"], challenge["sent_to"], challenge["digits"]), (True, "*****0100", 6))
        self.assertEqual(self.form("/api/v2/session/second-factor/again", {"flow": challenge["flow"]}).status, 404)
        again = self.session(SMS_EMAIL).json["second_factor"]
        self.assertEqual(len(self.server.control("GET", "/codes?phone=" + urllib.parse.quote(PHONE))["codes"]), 2)
        seen = self.form("/api/v2/session/second-factor", {"flow": again["flow"], "pin": self.code()})
        self.assertIn("session_token", seen.json["result"])

    def test_backup_codes_have_other_names(self):
        flow = self.session(SMS_EMAIL).json["second_factor"]["flow"]
        seen = self.form("/api/v2/session/recovery-code", {"flow": flow, "recovery_code": "code-one"})
        self.assertEqual(seen.json["recovery_codes_left"], 1)

    def test_revocation_is_that_of_rfc_7009(self):
        token = self.session().json["result"]["renewal_token"]
        for value in (token, "rt-unknown"):
            seen = self.form("/api/v2/revoke", {"token": value, "token_type_hint": "refresh_token"})
            self.assertEqual((seen.status, seen.body), (200, b""))
        self.assertEqual(
            self.form("/api/v2/token", {"grant_type": "refresh_token", "refresh_token": token}).status, 400
        )

    def test_account_endpoints_have_other_names(self):
        bearer = self.bearer(self.session().json["result"]["session_token"])
        self.assertEqual(
            self.client.send("GET", "/api/v2/users/self", headers=bearer).json["display_name"], "Plain Person"
        )
        self.assertEqual(
            self.form("/api/v2/users/self", {"display_name": "N"}, bearer, "PUT").json["display_name"], "N"
        )
        changed = self.form(
            "/api/v2/users/self/passphrase", {"current": PASSWORD, "replacement": "another-one"}, bearer, "PUT"
        )
        self.assertEqual(changed.json, {"done": True})
        self.assertEqual(self.form("/api/v2/users/self/closure", {"passphrase": "another-one"}, bearer).status, 200)
        new = self.form("/api/v2/users", {"mail": "new@example.com", "passphrase": "long-enough", "display_name": "N"})
        self.assertEqual((new.status, new.json["account"]["display_name"]), (201, "N"))

    def test_a_dialect_of_ones_own(self):
        self.set(dialect={"endpoints": {"refresh": ["PUT", "/renew"]}, "parameters": {"refreshToken": "old"}})
        _, token = self.tokens(self.login())
        self.assertEqual(self.client.send("PUT", "/renew", {"old": token}).status, 200)

    def test_and_back(self):
        self.assertEqual(self.set(dialect="seeds")["bodyFormat"], "json")
        self.tokens(self.login())

    def test_client_credentials_in_the_body(self):
        self.set(dialect="seeds", clientAuth="post")
        self.refused(self.login(), 401, "invalid_client")
        login = {
            "email": EMAIL,
            "password": PASSWORD,
            "client_id": "demo-client",
            "client_secret": "demo secret: 100% & made up",
        }
        self.tokens(self.client.post("/auth/login", login))
