"""Shapes, rotation, reuse detection, and the ledger of it all."""

import json
import os
import tempfile

from .driver import WAIT, Client, RestServer
from .journey import EMAIL, PASSWORD, Journey


class Shapes(Journey):
    """Each shape has exactly the members that the seeds give it."""

    def login_in(self, shape, **settings):
        self.set(shape=shape, **settings)
        return self.login().json

    def test_nested_has_tokens_and_user(self):
        reply = self.login_in("nested")
        self.assertEqual((set(reply), set(reply["tokens"])), ({"tokens", "user"}, {"access", "refresh"}))
        self.assertEqual((reply["user"]["email"], reply["user"]["name"]), (EMAIL, "Plain Person"))

    def test_objects_have_token_expiry_and_scopes(self):
        reply = self.login_in("objects")
        self.assertEqual(set(reply), {"accessToken", "refreshToken", "user"})
        self.assertEqual(set(reply["accessToken"]), {"token", "expiresAt", "scopes"})
        self.assertEqual(set(reply["refreshToken"]), {"token", "expiresAt"})
        self.assertRegex(reply["accessToken"]["expiresAt"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")

    def test_oauth_is_flat_with_seconds(self):
        reply = self.login_in("oauth", accessTokenLifetimeSeconds=60)
        self.assertEqual(set(reply), {"access_token", "token_type", "refresh_token", "expires_in", "scope", "user"})
        self.assertEqual((reply["expires_in"], reply["token_type"]), (60, "Bearer"))

    def test_camel_is_flat_in_camel_case(self):
        self.assertEqual(
            set(self.login_in("camel")), {"accessToken", "tokenType", "refreshToken", "expiresIn", "scope", "user"}
        )

    def test_expiry_can_be_left_out(self):
        for shape in ("objects", "oauth", "camel"):
            with self.subTest(shape):
                self.assertNotRegex(
                    json.dumps({**self.login_in(shape, includeExpiry=False), "refreshToken": None}), "expires"
                )

    def test_access_token_can_be_a_jwt(self):
        self.set(accessTokenForm="jwt")
        access, _ = self.tokens(self.login())
        self.assertEqual(access.count("."), 2)
        self.assertEqual(self.client.send("GET", "/auth/me", headers=self.bearer(access)).status, 200)

    def test_a_refresh_answers_in_the_same_shape(self):
        for shape in ("nested", "objects", "oauth", "camel"):
            with self.subTest(shape):
                self.set(shape=shape)
                old_access, old_refresh = self.tokens(self.login())
                access, refresh = self.tokens(self.refresh(old_refresh))
                self.assertNotEqual((access, refresh), (old_access, old_refresh))


class Rotation(Journey):
    """What becomes of a refresh token."""

    def uses(self):
        return [(use["token"], use["outcome"], use["status"], use["delivery"]) for use in self.server.ledger("refresh")]

    def test_a_replay_ends_the_family(self):
        access, first = self.tokens(self.login())
        _, second = self.tokens(self.refresh(first))
        self.refused(self.refresh(first), 401, "invalid_grant")
        self.refused(self.refresh(second), 401, "invalid_grant")
        self.assertEqual(self.client.send("GET", "/auth/me", headers=self.bearer(access)).status, 401)
        self.assertEqual(
            self.uses(),
            [
                ("R1.1", "rotated", 200, "written"),
                ("R1.1", "replayDetected", 401, "written"),
                ("R1.2", "refused", 401, "written"),
            ],
        )
        self.assertEqual([(end["family"], end["reason"]) for end in self.server.ledger("familyEnded")], [(1, "replay")])

    def test_without_reuse_detection_the_family_lives(self):
        self.set(reuseDetection=False)
        _, first = self.tokens(self.login())
        _, second = self.tokens(self.refresh(first))
        self.assertEqual(self.refresh(first).status, 401)
        self.assertEqual(self.refresh(second).status, 200)

    def test_without_rotation_the_token_stays(self):
        self.set(rotation="never", shape="oauth")
        _, token = self.tokens(self.login())
        for _ in range(2):
            reply = self.refresh(token).json
            self.assertNotIn("refresh_token", reply)
        self.assertEqual([use[1] for use in self.uses()], ["unchanged", "unchanged"])

    def test_in_its_grace_a_replay_gets_the_same_successor(self):
        self.set(rotation="grace", rotationGraceSeconds=5)
        _, first = self.tokens(self.login())
        _, second = self.tokens(self.refresh(first))
        self.assertEqual(self.tokens(self.refresh(first))[1], second)
        self.server.control("POST", "/clock", {"advanceSeconds": 6})
        self.assertEqual(self.refresh(first).status, 401)
        self.assertEqual([use[1] for use in self.uses()], ["rotated", "replayedInGrace", "replayDetected"])

    def test_a_refresh_may_name_an_audience_that_is_set(self):
        self.set(audiences=["urn:a"], rotation="never")
        _, token = self.tokens(self.login())
        for named, status in [({"audience": "urn:a"}, 200), ({"audience": "urn:b"}, 400), ({"scope": "admin"}, 400)]:
            reply = self.client.send("POST", "/auth/refresh", {"refreshToken": token, **named})
            self.assertEqual(reply.status, status, named)
        self.assertEqual([use["audience"] for use in self.server.ledger("refresh")], ["urn:a"])

    def test_tokens_expire_by_the_servers_clock(self):
        self.set(accessTokenLifetimeSeconds=10, refreshTokenLifetimeSeconds=100)
        access, refresh = self.tokens(self.login())
        self.server.control("POST", "/clock", {"advanceSeconds": 11})
        self.assertEqual(self.client.send("GET", "/auth/me", headers=self.bearer(access)).status, 401)
        self.server.control("POST", "/clock", {"advanceSeconds": 90})
        self.refused(self.refresh(refresh), 401, "invalid_grant")
        self.assertEqual(self.server.ledger("refresh")[0]["reason"], "expired")

    def test_access_tokens_can_be_ended_alone(self):
        access, refresh = self.tokens(self.login())
        self.server.control("POST", "/expire-access", {"email": EMAIL})
        self.assertEqual(self.client.send("GET", "/auth/me", headers=self.bearer(access)).status, 401)
        self.assertEqual(self.refresh(refresh).status, 200)

    def test_an_administrator_can_end_sessions(self):
        _, refresh = self.tokens(self.login())
        self.server.control("POST", "/revoke", {"email": EMAIL})
        self.assertEqual(self.refresh(refresh).status, 401)

    def test_a_refusal_can_be_a_400_with_nothing_in_it(self):
        self.set(refreshRefusalStatus=400, tokenErrorStyle="empty")
        seen = self.refresh("rt-unknown")
        self.assertEqual((seen.status, seen.body), (400, b""))

    def test_a_refresh_can_want_a_code(self):
        self.set(challengeAtRefresh=True)
        _, refresh = self.tokens(self.login())
        self.assertTrue(self.refresh(refresh).json["requires2FA"])
        self.assertEqual(self.server.ledger("refresh")[0]["outcome"], "challenged")

    def test_the_body_must_be_exactly_json(self):
        _, token = self.tokens(self.login())
        wrong = [
            dict(value={"refresh_token": token}),
            dict(value={}),
            dict(value={"refreshToken": 5}),
            dict(value=[token]),
            dict(value={"refreshToken": token}, form=True),
        ]
        for options in wrong:
            with self.subTest(options=str(options.keys())):
                self.assertEqual(self.client.send("POST", "/auth/refresh", **options).status, 400)
        self.assertEqual(
            self.client.send("POST", "/auth/refresh?refreshToken=" + token, {"refreshToken": token}).status, 400
        )
        self.assertEqual(self.refresh(token).status, 200)


class LedgerOfTokens(Journey):
    """What happened stands in the ledger, whatever the client saw."""

    def test_a_lost_reply_was_still_a_rotation(self):
        _, token = self.tokens(self.login())
        self.misbehave("drop-after-commit", "refresh")
        self.assertEqual(self.refresh(token).data, b"")
        use = self.server.ledger("refresh")[0]
        self.assertEqual(
            (use["token"], use["outcome"], use["rotatedTo"], use["delivery"], use["misbehaviour"]),
            ("R1.1", "rotated", "R1.2", "dropped", "drop-after-commit"),
        )

    def test_a_request_that_was_dropped_unread_by_the_backend_spent_nothing(self):
        _, token = self.tokens(self.login())
        self.misbehave("drop-before-commit", "refresh")
        self.refresh(token)
        use = self.server.ledger("refresh")[0]
        self.assertEqual((use["token"], use["outcome"], use["committed"]), ("R1.1", "notProcessed", False))
        self.assertEqual(self.refresh(token).status, 200)

    def test_half_a_reply_is_partial(self):
        _, token = self.tokens(self.login())
        self.misbehave("reset-half-way", "refresh")
        self.refresh(token)
        self.assertEqual(self.server.ledger("refresh")[0]["delivery"], "partial")

    def test_no_token_and_no_password_is_in_it(self):
        access, token = self.tokens(self.login())
        self.refresh(token)
        self.refresh(token)
        text = json.dumps(self.server.control("GET", "/ledger"))
        for secret in (access, token, PASSWORD):
            self.assertNotIn(secret, text)

    def test_requests_say_how_they_came(self):
        self.client.send(
            "POST",
            "/auth/login?a=b",
            {"email": EMAIL},
            headers=[*self.bearer("x"), ("User-Agent", "selftest/1"), ("Cookie", "a=b")],
        )
        entry = self.server.ledger("request")[0]
        self.assertEqual(
            (entry["authorization"], entry["cookie"], entry["userAgent"], entry["queryPresent"], entry["endpoint"]),
            ("bearer", True, "selftest/1", True, "login"),
        )

    def test_waiting_for_an_entry(self):
        before = self.server.control("GET", "/state")["ledgerSequence"]
        self.assertEqual(self.server.ledger("login", after=before, wait=0.01), [])
        self.login()
        self.assertEqual(len(self.server.ledger("login", after=before, wait=WAIT)), 1)

    def test_the_file_has_a_json_line_for_each_entry(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ledger")
            server = RestServer("--ledger", path, "--account", json.dumps({"email": EMAIL, "password": PASSWORD}))
            client = Client(server)
            token = client.post("/auth/login", {"email": EMAIL, "password": PASSWORD}).json["tokens"]["refresh"]
            client.post("/auth/refresh", {"refreshToken": token})
            client.post("/auth/refresh", {"refreshToken": token})
            client.close()
            server.ledger()
            self.assertEqual(server.stop(), 0)
            with open(path, encoding="utf-8") as file:
                events = [json.loads(line)["event"] for line in file]
        self.assertEqual(
            sorted(event for event in events if event != "connection"),
            ["familyEnded", "login", "refresh", "refresh", "request", "request", "request"],
        )
