"""The Python package with brokers that misbehave, and with sockets that are not the user's."""

import asyncio
import contextlib
import math
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
import unittest
from unittest import mock

from authbroker import (AsyncBroker, AuthBrokerError, Broker, BrokerError, BrokerRefusal, CredentialError,
                        ConnectionLost, NoBroker, RequestError, TimedOut, Unauthorized, UnexpectedAnswer)
from authbroker import _calls, _retry
from authbroker._errors import error_from

from support import PATIENCE, Case, FakeBroker, line, token_of, until

SECRET = "fake-secret-in-an-answer"


class FakeCase(Case):
    """A sandbox with a socket that a fake broker listens on."""

    def setUp(self):
        """Names the socket."""
        super().setUp()
        self.path = os.path.join(self.root, "fake", "broker.sock")
        os.environ["AUTHBROKER_SOCKET"] = self.path

    def refusal(self, answer, kind, ask=lambda broker: broker.access_token(timeout=1)):
        """What both clients raise on an answer; the text has no secret, and neither has what led to it."""
        async def later():
            async with AsyncBroker() as broker:
                return await ask(broker)

        def now():
            with Broker() as broker:
                return ask(broker)

        texts = []
        for run in (now, lambda: asyncio.run(later())):
            with FakeBroker(self.path, lambda request: answer.replace(b'"ID"', b"%d" % request.get("id", 0))) as fake:
                with self.assertRaises(kind) as raised:
                    run()
                self.assertEqual(fake.requests("prove"), [])
            os.unlink(self.path)
            error = raised.exception
            while error is not None:
                self.assertNotIn(SECRET, f"{error} {error!r} {getattr(error, '__dict__', '')} {getattr(error, 'doc', '')}"
                                 if not isinstance(error, BrokerError) else f"{error} {error!r}")
                error = error.__cause__ or error.__context__
            texts.append(str(raised.exception))
        self.assertEqual(texts[0], texts[1])
        return texts[0]


class AnswerTests(FakeCase):
    """Answers that no broker gives."""

    def test_malformed_answers_are_told_without_what_they_say(self):
        """No JSON, no object, no message, no answer, a missing or wrong member."""
        for answer in (SECRET.encode() + b"\n", b'{"jsonrpc":"2.0","id":"ID","result":"' + SECRET.encode() + b"\n",
                       b'["' + SECRET.encode() + b'"]\n', b'{"id":"ID","result":{}}\n', b"\xff\xfe\n", b"[" * 100_000 + b"\n",
                       line(id="ID", result=SECRET), line(id="ID", result=token_of(1, accessToken=[SECRET])),
                       line(id="ID", result=token_of(1, expiresAt=SECRET)), line(id="ID", result=token_of(1, scopes=SECRET)),
                       line(id="ID", result=token_of(1, tokenId=None)), line(id="ID"), line(id="ID", error=SECRET),
                       line(id="ID", error={"code": 1001}), line(id="ID", error={"message": "x"}),
                       line(id="ID", result=1, error={"code": 1, "message": "x"}), line(method="event", params=[SECRET])):
            with self.subTest(answer[:60]):
                self.assertIn("not what was expected", self.refusal(answer, UnexpectedAnswer))

    def test_a_message_without_an_end_is_not_read_for_ever(self):
        """There is a bound."""
        self.assertIn("without an end", self.refusal(b"x" * (17 << 20), UnexpectedAnswer))

    def test_the_brokers_last_words_are_the_reason(self):
        """An error that belongs to no request ends the connection."""
        words = line(id=None, error={"code": 1083, "message": "Too many\x1b[2J connections.", "data": {"kind": "overloaded"}})
        self.assertEqual(self.refusal(words, BrokerError), "Too many?[2J connections.")

    def test_a_kind_that_is_not_known_has_its_class(self):
        """By its code; one beyond all ranges is a `BrokerError`."""
        self.refusal(line(id="ID", error={"code": 1039, "message": "m", "data": {"kind": "new"}}), CredentialError)
        self.refusal(line(id="ID", error={"code": -32601, "message": "m"}), RequestError)
        self.refusal(line(id="ID", error={"code": 7, "message": "m", "data": None}), BrokerError)

    def test_an_error_says_what_a_login_must_ask_for(self):
        """Scopes, authentication context classes and age, as far as they are fit."""
        for data, wanted in (({"scopes": ["a"], "acrValues": ["b", "c"], "maxAge": 5}, (("a",), ("b", "c"), 5)),
                             ({"scopes": [1], "acrValues": "b", "maxAge": "5"}, ((), (), None))):
            error = error_from({"code": 1005, "message": "m", "data": data})
            self.assertEqual((error.scopes, error.acr_values, error.max_age), wanted)

    def test_answers_to_nothing_and_unknown_notifications_are_passed_over(self):
        """Also in pieces, and with blank lines between."""
        said = b"\n" + line(id=999, result={}) + line(method="news", params={"a": 1}) + b"\r\n"
        with FakeBroker(self.path, lambda request: said + line(id=request["id"], result=token_of(1))):
            with Broker() as broker:
                self.assertEqual(broker.access_token().token_id, "id1")


class ConnectionTests(FakeCase):
    """Connections that end, and answers that do not come."""

    def both(self, answer, ask):
        """Asks with both clients, each at its own fake broker; yields that broker and the outcomes."""
        async def later():
            async with AsyncBroker() as broker:
                return [await outcome(ask(broker, method)) for method in self.methods]

        async def outcome(call):
            try:
                return await call
            except AuthBrokerError as error:
                return error.kind

        def now():
            with Broker() as broker:
                return [told(broker, method) for method in self.methods]

        def told(broker, method):
            try:
                return ask(broker, method)
            except AuthBrokerError as error:
                return error.kind

        for run in (now, lambda: asyncio.run(later())):
            self.heard = []
            with FakeBroker(self.path, answer) as fake:
                came = run()
                yield fake, came
            os.unlink(self.path)

    methods = ("getCurrentUser", "checkVault", "lock", "getAccessToken", "login", "logout")

    def test_a_request_of_unknown_effect_is_not_repeated(self):
        """One that changes nothing is, once, whether the connection was new or kept."""
        for fake, came in self.both(lambda request: b"", lambda broker, method: broker.call(method)):
            self.assertEqual(came, ["connectionLost"] * 6)
            self.assertEqual([len(fake.requests(method)) for method in self.methods], [2, 2, 2, 2, 1, 1])
            self.assertEqual(fake.connections, 10)

        def answer(request):
            self.heard.append(request["method"])
            return b"" if self.heard.count(request["method"]) == 1 else line(id=request["id"], result={"n": 2})

        for fake, came in self.both(answer, lambda broker, method: broker.call(method)):
            self.assertEqual(came, [{"n": 2}] * 4 + ["connectionLost"] * 2)

    def test_a_broker_that_ends_is_followed_by_the_next(self):
        """It is asked again, each time at another connection, until there is the next, where that changes nothing."""
        refusal = {"code": 1084, "message": "m", "data": {"kind": "shuttingDown", "nextAction": "retry", "retryable": True}}

        def answer(request):
            self.heard.append(request["method"])
            is_ending = self.heard.count(request["method"]) < 4
            return line(id=request["id"], error=refusal) if is_ending else line(id=request["id"], result={"n": 2})

        for fake, came in self.both(answer, lambda broker, method: broker.call(method)):
            self.assertEqual(came, [{"n": 2}] * 4 + ["shuttingDown"] * 2)
            self.assertEqual([len(fake.requests(method)) for method in self.methods], [4, 4, 4, 4, 1, 1])
            # Each refusal ended the use of a connection; the last one was the last request.
            self.assertEqual(fake.connections, 14)

    def test_a_broker_that_does_not_end_is_waited_for_within_bounds(self):
        """Its refusal is the error, after the time that an end may take and within the call's own."""
        refusal = {"code": 1084, "message": "m", "data": {"kind": "shuttingDown"}}
        for patch, timeout in ((mock.patch.object(_retry, "_LONGEST_END", 0.5), None), (contextlib.nullcontext(), 0.5)):
            with patch:
                for fake, came in self.both(lambda request: line(id=request["id"], error=refusal),
                                            lambda broker, method: broker.call(method, timeout=timeout)):
                    self.assertEqual(came, ["shuttingDown"] * 6)
                    self.assertGreater(len(fake.requests("lock")), 1)
                    self.assertEqual(len(fake.requests("login")), 1)

    def test_a_subscription_begins_at_the_next_broker(self):
        """One that is about to end is waited for."""
        refusal = {"code": 1084, "message": "m", "data": {"kind": "shuttingDown"}}
        result = {"subscriptionId": "s", "sequence": 1, "sessions": []}

        def answer(request):
            is_ending = len(fake.requests("subscribe")) < 4
            return line(id=request["id"], error=refusal) if is_ending else line(id=request["id"], result=result)

        async def later():
            async with AsyncBroker() as broker, await broker.events() as events:
                return events.last_sequence

        def now():
            with Broker() as broker, broker.events() as events:
                return events.last_sequence

        for run in (now, lambda: asyncio.run(later())):
            with FakeBroker(self.path, answer) as fake:
                self.assertEqual((run(), fake.connections), (1, 4))
            os.unlink(self.path)

    def test_no_call_under_way_is_lost_with_a_broker_that_ends(self):
        """Its connection takes no more calls, and ends with the last answer."""
        refusal = {"code": 1084, "message": "m", "data": {"kind": "shuttingDown"}}
        held = []

        def answer(request):
            if request["method"] == "slow":
                return held.append(request["id"])
            if request["method"] == "ping" and len(fake.requests("ping")) == 1:
                return line(id=request["id"], error=refusal) + line(id=held[0], result=5)
            return line(id=request["id"], result=7)

        with FakeBroker(self.path, answer) as fake, Broker() as broker:
            results = []
            thread = threading.Thread(target=lambda: results.append(broker.call("slow")))
            thread.start()
            until(lambda: held, "the slow request")
            self.assertEqual(broker.call("ping"), 7)
            thread.join(PATIENCE)
            self.assertEqual((results, fake.connections), ([5], 2))

    def test_a_token_that_is_not_replaced_is_not_tried_again(self):
        """The caller's refusal is raised: the same token would be refused again."""
        used = []

        def use(token):
            used.append(token.token_id)
            raise Unauthorized(403, 'Bearer scope="a"')

        def answer(request):
            return line(id=request["id"], result=token_of(1))

        self.methods = ("getAccessToken",)
        for fake, came in self.both(answer, lambda broker, _: broker.with_access_token(use)):
            self.assertEqual((came, used), (["unauthorized"], ["id1"]))
            (reported,) = fake.requests("reportRejected")
            self.assertEqual((reported["params"]["status"], reported["params"]["challenge"]), (403, 'Bearer scope="a"'))
            used.clear()

    def test_nothing_is_asked_for_where_no_login_is_needed(self):
        """The broker says what to do instead."""
        session = {"profile": "default", "provider": "oidc", "state": "signedOut", "scopes": [],
                   "refreshTokenPresent": False, "login": []}
        refusal = {"code": 1050, "message": "m", "data": {"kind": "unsupportedByProvider"}}

        def answer(request):
            outcome = {"error": refusal} if request["method"] == "login" else {"result": session}
            return line(id=request["id"], **outcome)

        self.methods = ("login",)
        for fake, came in self.both(answer, lambda broker, _: broker.login(prompts=mock.Mock(spec=[]))):
            self.assertEqual((came, len(fake.requests("login"))), (["unsupportedByProvider"], 1))

    def test_answers_overtake_each_other(self):
        """A hundred threads, answered in the opposite order; and a hundred tasks."""
        held = []

        def answer(request):
            held.append(line(id=request["id"], result=request["params"]["n"]))
            return b"".join(reversed(held)) if len(held) == 100 else None

        with FakeBroker(self.path, answer), Broker() as broker:
            results = {}
            threads = [threading.Thread(target=lambda n=n: results.update({n: broker.call("echo", {"n": n})}))
                       for n in range(100)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE)
            self.assertEqual(results, {n: n for n in range(100)})
        os.unlink(self.path)
        held.clear()

        async def tasks():
            async with AsyncBroker() as broker:
                return await asyncio.gather(*(broker.call("echo", {"n": n}) for n in range(100)))

        with FakeBroker(self.path, answer) as fake:
            self.assertEqual(asyncio.run(tasks()), list(range(100)))
            self.assertEqual(fake.connections, 1)

    def test_events_without_a_subscription_are_not_kept(self):
        """They do not outlast a time limit either, for either client and either kind of connection."""
        socket_path = os.path.join(self.root, "flood.sock")
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fake-broker")
        with subprocess.Popen([program, socket_path, os.path.join(self.root, "log"), "flooding"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as fake:
            self.assertEqual(fake.stdout.readline(), b"ready\n")
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

            async def tasks():
                async with AsyncBroker(socket=socket_path) as broker:
                    for call in (broker.call("getAccessToken", timeout=0.5), broker.events(timeout=0.5)):
                        with self.assertRaises(TimedOut):
                            await call

            with Broker(socket=socket_path) as broker:
                for call in (lambda: broker.call("getAccessToken", timeout=0.5), lambda: broker.events(timeout=0.5)):
                    with self.assertRaises(TimedOut):
                        call()
            asyncio.run(tasks())
            fake.stdin.close()
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 64 * 1024)

    def test_every_call_has_a_time_limit(self):
        """A minute, more for what may take longer; a program that wants none says so."""
        for method, params, timeout, limit in (
                ("ping", {}, None, 60), ("getAccessToken", {"timeoutSeconds": 600}, None, 605), ("rekey", {}, None, 660),
                ("awaitLogin", {}, None, 3600), ("ping", {}, 1, 1), ("ping", {}, math.inf, None)):
            self.assertEqual(_calls.answer_limit(method, params, timeout), limit)

    def test_there_is_one_error_for_a_time_limit(self):
        """The broker's own and the package's are one class with one kind."""
        data = {"kind": "deadlineExceeded", "nextAction": "retry", "retryable": True, "correlationId": "x"}
        refusal = line(id=1, error={"code": 1087, "message": "m", "data": data})
        with FakeBroker(self.path, lambda request: refusal if request["method"] == "getAccessToken" else None):
            with Broker() as broker:
                for call in (broker.access_token, lambda: broker.call("slow", timeout=0.01)):
                    with self.assertRaises(TimedOut) as raised:
                        call()
                    error = raised.exception
                    self.assertIsInstance(error, (BrokerRefusal, TimeoutError))
                    self.assertEqual((error.kind, error.code, error.next_action, error.retryable),
                                     ("deadlineExceeded", 1087, "retry", True))

    def test_who_leaves_cancels(self):
        """By a time limit, by Ctrl-C, by the cancellation of a task; the connection goes on."""
        with FakeBroker(self.path, lambda request: line(id=request["id"], result=7) if request["method"] == "ping" else None) as fake:
            with Broker() as broker:
                with self.assertRaises(TimedOut):
                    broker.call("slow", timeout=0.01)
                previous = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
                self.addCleanup(signal.signal, signal.SIGALRM, previous)
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                with self.assertRaises(KeyboardInterrupt):
                    broker.call("slow")
                self.assertEqual(broker.call("ping"), 7)

            async def task():
                async with AsyncBroker() as broker:
                    with self.assertRaises(TimedOut):
                        await broker.call("slow", timeout=0.01)
                    call = asyncio.ensure_future(broker.call("slow"))
                    while len(fake.requests("slow")) < 4:
                        await asyncio.sleep(0.005)
                    call.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await call
                    self.assertEqual(await broker.call("ping"), 7)

            asyncio.run(task())
            cancelled = [request["params"]["id"] for request in fake.requests("$/cancelRequest")]
            self.assertEqual(cancelled, [request["id"] for request in fake.requests("slow")])
            self.assertEqual(fake.connections, 2)

    def test_events_that_come_with_the_answer_are_not_lost(self):
        """And what the broker has dropped is told."""
        def answer(request):
            event = {"subscriptionId": "s1", "event": "eventsLost", "time": "2030-01-01T00:00:00Z", "data": {"from": 2, "to": 5}}
            return line(id=request["id"], result={"subscriptionId": "s1", "sequence": 1, "sessions": []}) + line(
                method="event", params={**event, "sequence": 5}) + line(method="event", params={
                    **event, "event": "login", "profile": "p", "sequence": 6, "data": {"new": True}})

        async def later():
            async with AsyncBroker() as broker, await broker.events(["login"]) as events:
                return [await events.next(PATIENCE) for _ in range(2)]

        with FakeBroker(self.path, answer), Broker() as broker:
            with broker.events(["login"]) as events:
                told = [events.next(PATIENCE) for _ in range(2)]
            self.assertEqual([event.event for event in told], ["eventsLost", "login"])
            self.assertEqual(told[0].data, {"from": 2, "to": 5})
            self.assertEqual(asyncio.run(later()), told)


class SocketTests(FakeCase):
    """Who listens, and what is obeyed."""

    def test_nothing_is_sent_to_another_user(self):
        """As the kernel names the peer; where this runs as root, to a process of another user."""
        with FakeBroker(self.path, lambda request: b"") as fake:
            for name, reason in ((str(os.geteuid() + 1), "nothing was sent"), ("no one", "AUTHBROKER_SERVER_UID")):
                with mock.patch.dict(os.environ, {"AUTHBROKER_SERVER_UID": name}):
                    with self.assertRaises(NoBroker) as raised:
                        Broker().access_token()
                self.assertIn(reason, str(raised.exception))
            self.assertEqual(fake.received, [])
        os.unlink(self.path)
        if os.geteuid() == 0:
            self.listen_as_another_user()

    def listen_as_another_user(self):
        """A process of another user that prints what it is sent."""
        program = ("import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); os.setuid(65534); "
                   "s.listen(); print('ready', flush=True); print(s.accept()[0].recv(99), flush=True)")
        child = subprocess.Popen([sys.executable, "-c", program, self.path], stdout=subprocess.PIPE, text=True)
        with child:
            self.assertEqual(child.stdout.readline(), "ready\n")
            with self.assertRaises(NoBroker) as raised:
                Broker().access_token()
            self.assertIn("user 65534", str(raised.exception))
            self.assertEqual(child.stdout.readline(), "b''\n")

    def test_a_proof_that_no_broker_asks_for_is_not_given(self):
        """Another name, another directory, one that others can look into: no file is made."""
        open_to_others = os.path.join(self.root, "open")
        os.mkdir(open_to_others, 0o755)
        os.chmod(open_to_others, 0o755)
        os.mkdir(self.state, 0o700)
        for path in (f"{self.state}/evil", f"{self.state}/proof-{'0' * 32}", f"{self.state}/prove-{'0' * 32}",
                     f"{open_to_others}/proof-{'0' * 32}", "proof-" + "0" * 32, f"{self.state}/../proof-{'0' * 32}"):
            data = {"kind": "accessDenied", "proof": {"path": path, "nonce": "0" * 64}}
            self.refusal(line(id="ID", error={"code": 1081, "message": "m", "data": data}), AuthBrokerError)
        self.assertEqual((os.listdir(self.state), os.listdir(open_to_others)), ([], []))

    def test_a_state_directory_that_is_open_to_others_is_refused(self):
        """Before anything is started in it."""
        del os.environ["AUTHBROKER_SOCKET"]
        os.mkdir(self.state)
        os.chmod(self.state, 0o755)
        with self.assertRaises(NoBroker) as raised:
            Broker().access_token()
        self.assertIn("chmod 700", str(raised.exception))
        self.assertEqual(stat.S_IMODE(os.stat(self.state).st_mode), 0o755)
        shutil.rmtree(self.state)


if __name__ == "__main__":
    unittest.main()
