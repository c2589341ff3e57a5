"""The token of an address, by the cases that all packages share (Schemas/addresses.json)."""

import asyncio
import json
import os
import unittest

from authbroker import AsyncBroker, AuthBrokerError, Broker, Target, Unauthorized

from support import FakeBroker, line
from test_fake import FakeCase

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../Schemas/addresses.json")
with open(CASES, encoding="utf-8") as _file:
    SHARED = json.load(_file)


class AddressTests(FakeCase):
    """What both clients ask for, and what they make of the answers."""

    def test_which_prefix_covers_an_address(self):
        """As the shared cases say."""
        for case in SHARED["coverage"]:
            with self.subTest(case["prefix"], address=case["address"]):
                self.assertEqual(Target(case["prefix"]).covers(case["address"]), case["covers"])

    def ask(self, case, run):
        """The token of a case or its error, and the requests that were not expected."""
        left, wrong = list(case["exchanges"]), []

        def answer(request):
            if not left or [request["method"], request["params"]] != [left[0]["method"], left[0]["params"]]:
                wrong.append(request)
                return b""
            outcome = {name: value for name, value in left.pop(0).items() if name in ("result", "error")}
            return line(id=request["id"], **outcome)

        with FakeBroker(self.path, answer):
            try:
                token, error = run(case["url"]), None
            except AuthBrokerError as failure:
                token, error = None, failure
        os.unlink(self.path)
        self.assertEqual((wrong, left), ([], []))
        return token, error

    def test_the_shared_questions(self):
        """By both clients."""
        def now(url):
            with Broker() as broker:
                return broker.access_token(url=url)

        async def later(url):
            async with AsyncBroker() as broker:
                return await broker.access_token(url=url)

        for case in SHARED["questions"]:
            for run in (now, lambda url: asyncio.run(later(url))):
                with self.subTest(case["name"]):
                    token, error = self.ask(case, run)
                    if "error" in case:
                        self.assertEqual(error.kind, case["error"])
                        continue
                    self.assertIsNone(error)
                    self.assertEqual((token.value, token.profile), (case["token"], case["profile"]))
                    self.assertEqual(token.target, Target(**case["target"]))
                    self.assertEqual(token.authorization_header, case["authorization"])
                    self.assertEqual(token.headers, {case.get("header", "Authorization"): case["authorization"]})

    def test_a_refused_token_of_an_address_is_reported_by_its_name(self):
        """The target need not be asked for again."""
        case = SHARED["questions"][1]
        first, second = (dict(case["exchanges"][0]["result"], accessToken=name, tokenId=name) for name in ("one", "two"))

        def answer(request):
            return line(id=request["id"], result=first if request["method"] == "getAccessToken" else second)

        del second["target"]

        with FakeBroker(self.path, answer) as fake, Broker() as broker:
            used = broker.with_access_token(
                lambda token: Unauthorized() if token.token_id == "one" else token.authorization_header, url=case["url"])
            reported = fake.requests("reportRejected")[0]["params"]
        self.assertEqual((used, reported), ("Basic cm9ib3Q6dHdv", {"profile": "work", "tokenId": "one", "status": 401}))

    def test_profile_and_address_exclude_each_other(self):
        """Nothing is asked for then."""
        with self.assertRaises(ValueError), Broker() as broker:
            broker.access_token("work", url="https://a.example")


if __name__ == "__main__":
    unittest.main()
