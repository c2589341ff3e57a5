"""The one server that most tests share, and the requests that they all make."""

import atexit
import unittest

from .driver import Client, RestServer

EMAIL, SMS_EMAIL, PASSWORD, PHONE = "plain@example.com", "sms@example.com", "made-up-password", "+15550100"
# Where the tokens are in each shape of the seeds, written out here once more on purpose.
WHERE = {
    "nested": (lambda reply: reply["tokens"]["access"], lambda reply: reply["tokens"]["refresh"]),
    "objects": (lambda reply: reply["accessToken"]["token"], lambda reply: reply["refreshToken"]["token"]),
    "oauth": (lambda reply: reply["access_token"], lambda reply: reply["refresh_token"]),
    "camel": (lambda reply: reply["accessToken"], lambda reply: reply["refreshToken"]),
}
ACCOUNTS = [
    {"email": EMAIL, "password": PASSWORD, "name": "Plain Person"},
    {
        "email": SMS_EMAIL,
        "password": PASSWORD,
        "name": "Person With Code",
        "phoneNumber": PHONE,
        "backupCodes": ["code-one", "code-two"],
    },
]


class Journey(unittest.TestCase):
    """Starts each test with the same two accounts and default settings."""

    shared = None
    shape = "nested"

    @classmethod
    def setUpClass(cls):
        if Journey.shared is None:
            Journey.shared = RestServer()
            atexit.register(Journey.shared.stop)
        cls.server = Journey.shared

    def setUp(self):
        self.server.control("POST", "/reset")
        self.server.control("POST", "/accounts", ACCOUNTS)
        self.client = Client(self.server)
        self.addCleanup(self.client.close)

    def tearDown(self):
        self.assertEqual(self.server.ledger("serverBug"), [])

    def set(self, **settings):
        """Changes settings."""
        self.shape = settings.get("shape", self.shape)
        return self.server.control("POST", "/settings", settings)

    def misbehave(self, name, endpoint="*", **step):
        """Plans a misbehaviour."""
        self.server.control("POST", "/misbehave", {"endpoint": endpoint, "name": name, **step})

    def login(self, email=EMAIL, password=PASSWORD):
        """A login, as seen."""
        return self.client.post("/auth/login", {"email": email, "password": password})

    def tokens(self, seen):
        """Access and refresh token of a reply."""
        self.assertEqual(seen.status, 200, seen.data)
        return tuple(find(seen.json) for find in WHERE[self.shape])

    def refresh(self, token):
        """A refresh, as seen."""
        return self.client.post("/auth/refresh", {"refreshToken": token})

    def challenge(self):
        """A login that wants a code: the challenge and the code of the message."""
        seen = self.login(SMS_EMAIL)
        self.assertTrue(seen.json["requires2FA"])
        return seen.json, self.code()

    def code(self):
        """The code of the newest message."""
        return self.server.control("GET", "/codes?phone=%2B15550100")["code"]

    def refused(self, seen, status, code):
        """Asserts a refusal in the seeds' style and returns its JSON."""
        self.assertEqual((seen.status, seen.json["error"], seen.json["status"]), (status, code, status), seen.data)
        return seen.json

    def bearer(self, token):
        """The header field that presents an access token."""
        return [("Authorization", f"Bearer {token}")]
