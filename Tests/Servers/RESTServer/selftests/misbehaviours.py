"""Every misbehaviour by its name, and the plan that says which comes when."""

import time

from . import expectedbodies, expectedreplies  # noqa: F401  (they fill the table)
from .driver import WAIT, Seen
from .expectations import check_for
from .journey import EMAIL, PASSWORD, SMS_EMAIL, Journey

# Seconds without a byte after which a reply without framing is over; the longer ones are for a machine that is busy.
PAUSES = (0.1, 2.0, 40.0)


class EachByName(Journey):
    """One subtest for each name: what the wire shows, that the step is used up, and that the server is itself again."""

    def test_what_the_wire_shows(self):
        self.set(shape="oauth")
        self.sequence = self.server.control("GET", "/state")["ledgerSequence"]
        catalogue = self.server.control("GET", "/misbehaviours")["misbehaviours"]
        for one in catalogue:
            with self.subTest(one["name"]):
                self.one(one["name"], one["moment"])
        self.assertGreaterEqual(len(catalogue), 60)
        self.assertEqual(self.login().status, 200)

    def one(self, name, moment):
        found = check_for(name)
        self.assertIsNotNone(found, "no expectation")
        check, step, whole, sms = found
        for pause in PAUSES if whole else (WAIT,):
            seen, took = self.attempt(name, moment, step, whole, sms, pause)
            if check(seen, took):
                return
        self.fail((seen.end, seen.data[:500], seen.data[-100:]))

    def attempt(self, name, moment, step, whole, sms, pause):
        if moment == "accept":
            self.client.close()
        pending = self.server.control("POST", "/misbehave", {"endpoint": "login", "name": name, **step})["pending"]
        self.assertEqual([step["name"] for step in pending], [name], "the step before was not used up")
        before = time.monotonic()
        seen = self.client.post(
            "/auth/login",
            {"email": SMS_EMAIL if sms else EMAIL, "password": PASSWORD},
            whole=whole,
            patience=pause,
        )
        took = time.monotonic() - before
        answer = self.server.control("GET", f"/ledger?after={self.sequence}")
        self.sequence = answer["sequence"]
        events = [entry["event"] for entry in answer["entries"]]
        self.assertNotIn("serverBug", events)
        if moment == "request":
            entry = answer["entries"][events.index("request")]
            self.assertEqual((entry["misbehaviour"], entry["status"] is None), (name, not seen.data))
        self.client.close()
        return seen, took


class Fields(Journey):
    """A field is found in every shape."""

    def test_wrong_types_in_each_shape(self):
        for shape, read in (
            ("nested", lambda reply: reply["tokens"]["refresh"]),
            ("objects", lambda reply: reply["refreshToken"]["token"]),
            ("camel", lambda reply: reply["refreshToken"]),
        ):
            with self.subTest(shape):
                self.set(shape=shape)
                self.misbehave("refresh-token-number", "login")
                self.assertEqual(read(self.login().json), 12345)

    def test_expiry_in_each_shape(self):
        for shape, read in (
            ("nested", lambda reply: reply["tokens"]["expiresIn"]),
            ("objects", lambda reply: reply["accessToken"]["expiresAt"]),
            ("camel", lambda reply: reply["expiresIn"]),
        ):
            with self.subTest(shape):
                self.set(shape=shape)
                self.misbehave("expiry-negative", "login")
                self.assertEqual(read(self.login().json), -1)

    def test_a_refusal_is_not_altered(self):
        self.misbehave("access-token-null", "login")
        self.refused(self.login(password="wrong"), 401, "invalid_credentials")


class Plans(Journey):
    """Steps come in order, to their endpoint, as often as was said."""

    def statuses(self, count):
        return [self.login().status for _ in range(count)]

    def test_a_script_of_steps(self):
        self.server.control(
            "POST",
            "/misbehave",
            {
                "endpoint": "login",
                "steps": [{"name": "status-500-json"}, {"name": "ok", "times": 2}, {"name": "status", "status": 418}],
            },
        )
        self.assertEqual(self.statuses(5), [500, 200, 200, 418, 200])

    def test_times_and_clearing(self):
        self.misbehave("status-503-retry-none", times=2)
        self.assertEqual(self.statuses(3), [503, 503, 200])
        self.misbehave("status-503-retry-none", times=-1)
        self.assertEqual(self.statuses(3), [503] * 3)
        self.server.control("DELETE", "/misbehave")
        self.assertEqual(self.statuses(1), [200])

    def test_another_endpoint_is_spared(self):
        self.misbehave("status-500-empty", "refresh")
        _, token = self.tokens(self.login())
        self.assertEqual([self.refresh(token).status for _ in range(2)], [500, 200])

    def test_a_replaced_reply_may_have_been_committed(self):
        _, token = self.tokens(self.login())
        self.misbehave("status-500-empty", "refresh", commit=True)
        self.assertEqual(self.refresh(token).status, 500)
        use = self.server.ledger("refresh")[0]
        self.assertEqual((use["outcome"], use["delivery"]), ("rotated", "replaced"))

    def test_before_reading_nothing_is_read(self):
        for name in ("reset-before-reading", "close-before-reading", "reset-at-accept"):
            with self.subTest(name):
                self.client.close()
                self.misbehave(name)
                self.assertIsInstance(self.login(), Seen)
                records = [
                    record for record in self.server.control("GET", "/ledger")["connections"] if record["misbehaviours"]
                ]
                self.assertEqual((records[-1]["applicationBytesReceived"], records[-1]["misbehaviours"]), (0, [name]))
