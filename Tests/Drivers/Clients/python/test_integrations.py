"""What other packages use of this one: where `httpx_auth` sends a token, and what it reports."""

import asyncio
import email
import sys
import types
import unittest
import urllib.error
from unittest import mock
from urllib.parse import urlsplit

from authbroker import _calls
from authbroker._httpx import TokenFlow

class FakeBroker:
    """Gives tokens that are numbered."""

    def __init__(self):
        self.count, self.reported = 1, []

    def token(self):
        """The present one."""
        return types.SimpleNamespace(number=self.count, header_name="Authorization", authorization_header=f"Bearer made-up-{self.count}")

    def access_token(self, profile, **options):
        """The present one, whose profile it is."""
        self.asked = (profile, options)
        return self.token()

    def report_rejected(self, token, status, challenge, **options):
        """The next one."""
        self.reported.append((token.number, status, challenge))
        self.count += 1
        return self.token()


class ByteStream:
    """A body that can be sent again, by the name that httpx has for it."""


class Once:
    """A body that cannot."""


def request(url, stream=ByteStream):
    """A request as httpx makes it, as far as it matters here."""
    return types.SimpleNamespace(url=urlsplit(url), headers={}, stream=stream())


def play(flow, one, statuses):
    """What is sent for a request, where the server answers with these statuses, each alone or with a challenge."""
    sent, generator = [], flow.sync_auth_flow(one)
    try:
        given = next(generator)
        for status, *challenge in [one if isinstance(one, tuple) else (one,) for one in statuses]:
            sent.append(given.headers.get("Authorization"))
            headers = {"WWW-Authenticate": one for one in challenge}
            given = generator.send(types.SimpleNamespace(status_code=status, headers=headers))
        sent.append(given.headers.get("Authorization"))
    except StopIteration:
        pass
    return sent


class IntegrationTests(unittest.TestCase):
    """Tables."""

    def test_a_refused_token_is_reported_once(self):
        """And the request is sent again, unless its body is gone."""
        broker = FakeBroker()
        flow = TokenFlow("work", ["a"], "b", (), broker)
        self.assertEqual(play(flow, request("https://a.example/x"), [200]), ["Bearer made-up-1"])
        self.assertEqual(broker.asked, ("work", {"scopes": ["a"], "audience": "b"}))
        self.assertEqual(play(flow, request("https://a.example/x"), [401, 401]), ["Bearer made-up-1", "Bearer made-up-2"])
        self.assertEqual(broker.reported, [(1, 401, None)])
        self.assertEqual(play(flow, request("https://a.example/x", Once), [401]), ["Bearer made-up-2"])
        self.assertEqual(play(flow, request("https://a.example/x"), [(403, "Bearer realm=x")]), ["Bearer made-up-2"])
        self.assertEqual(broker.reported, [(1, 401, None)])

    def test_a_server_that_wants_more_scopes_gets_another_token(self):
        """What it wants is reported; a challenge that the broker refuses is not."""
        broker = FakeBroker()
        wish = 'Bearer error="insufficient_scope", scope="b"'
        for challenge, reported in ((wish, wish), (wish + "x" * 8192, None)):
            flow = TokenFlow("work", None, None, (), broker)
            self.assertEqual(len(play(flow, request("https://a.example/x"), [(403, challenge), 200])), 2)
            self.assertEqual(broker.reported.pop()[1:], (403, reported))
        headers = email.message_from_string(f"WWW-Authenticate: Bearer realm=x\nWWW-Authenticate: {wish}\n\n")
        refusal = _calls.refusal(urllib.error.HTTPError("https://a.example", 403, "no", headers, None))
        self.assertEqual((refusal.status, refusal.challenge), (403, "Bearer realm=x, " + wish))
        self.assertIsNone(_calls.refusal(urllib.error.HTTPError("https://a.example", 404, "no", headers, None)))

    def test_another_server_gets_no_token(self):
        """The first request's server does, or those that are named."""
        flow = TokenFlow(None, None, None, (), FakeBroker())
        for url, header in [("https://a.example/x", "Bearer made-up-1"), ("https://a.example:443/y", "Bearer made-up-1"),
                            ("http://a.example/x", None), ("https://a.example:8443/", None), ("https://b.example/", None)]:
            self.assertEqual(play(flow, request(url), [200]), [header], url)
        flow = TokenFlow(None, None, None, ["https://b.example"], FakeBroker())
        self.assertEqual(play(flow, request("https://a.example/"), [401]), [None])
        self.assertEqual(play(flow, request("https://b.example/"), [200]), ["Bearer made-up-1"])

    def test_the_flow_for_event_loops_is_the_same(self):
        """The broker is asked on a thread of anyio, which comes with httpx."""
        async def run_sync(function, *arguments):
            return function(*arguments)
        async def play_later():
            generator = TokenFlow(None, None, None, (), FakeBroker()).async_auth_flow(request("https://a.example/"))
            first = (await generator.asend(None)).headers["Authorization"]
            second = (await generator.asend(types.SimpleNamespace(status_code=401, headers={}))).headers["Authorization"]
            return first, second
        with mock.patch.dict(sys.modules, {"anyio.to_thread": types.SimpleNamespace(run_sync=run_sync)}):
            self.assertEqual(asyncio.run(play_later()), ("Bearer made-up-1", "Bearer made-up-2"))


if __name__ == "__main__":
    unittest.main()
