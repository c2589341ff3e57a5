"""What the broker's values hold, beside the schema of its interface."""

import json
import os
import unittest
from dataclasses import fields

from authbroker import Session, User
from authbroker._members import Members
from authbroker._values import _member

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../Schemas/openrpc.json")


class SessionTests(unittest.TestCase):
    """Sessions are whole."""

    def test_every_member_of_the_schema_has_a_field(self):
        """Of a session and of its user; `claims` is among the members as they came."""
        with open(SCHEMA, encoding="utf-8") as file:
            schemas = json.load(file)["components"]["schemas"]
        for kind, others in ((Session, set()), (User, {"claims"})):
            known = {_member(one.name) for one in fields(kind)}
            self.assertEqual(set(schemas[kind.__name__]["properties"]) - known, others)

    def test_a_session_is_read(self):
        """With everything that it may hold, and with the least."""
        time = "2030-01-01T00:00:00Z"
        whole = Session.read(Members({
            "profile": "work", "provider": "mcp", "issuer": "https://as", "clientId": "c", "state": "offline", "userId": "7",
            "scopes": ["a"],
            "user": {"id": "7", "email": "ada@example.com", "emailVerified": False, "twoFactor": "totp", "claims": {"roles": ["x"]}},
            "accessTokenExpiresAt": time, "refreshTokenPresent": True, "refreshTokenExpiresAt": time, "authTime": time,
            "lastRefreshAt": time, "lastValidatedAt": time, "idleExpiresAt": time, "loginRequiredReason": "r",
            "loginRequiredMessage": "m", "storeDegraded": True, "providerClockSkewSeconds": -90.5}))
        self.assertEqual((whole.user.email_verified, whole.user.raw["claims"]), (False, {"roles": ["x"]}))
        self.assertEqual((whole.issuer, whole.client_id), ("https://as", "c"))
        self.assertEqual((whole.provider_clock_skew_seconds, whole.idle_expires_at.year), (-90.5, 2030))
        least = Session.read(Members({"profile": "work", "provider": "oidc", "state": "signedOut", "scopes": [],
                                      "refreshTokenPresent": False}))
        self.assertEqual((least.user, least.auth_time, least.store_degraded), (None, None, False))


if __name__ == "__main__":
    unittest.main()
