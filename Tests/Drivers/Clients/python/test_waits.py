"""Time limits and cancellation of every call that waits: for an answer, for a broker that starts, for one that ends."""

import asyncio
import contextlib
import inspect
import os
import signal
import threading
import time
import unittest

from authbroker import AsyncBroker, Broker, Cancellation, Cancelled, Prompts, TimedOut
from authbroker._errors import NoBroker

from support import PATIENCE, Case, FakeBroker, line, until
from test_fake import FakeCase

ENDING = {"code": 1084, "message": "m", "data": {"kind": "shuttingDown", "nextAction": "retry", "retryable": True}}


class StartingTests(Case):
    """A daemon that does not come to its first word."""

    def setUp(self):
        """Names it."""
        super().setUp()
        daemon = os.path.join(self.root, "daemon")
        with open(daemon, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho $$ >'{self.root}/pid.new'\nmv '{self.root}/pid.new' '{self.root}/pid'\n"
                       "exec sleep 1000\n")
        os.chmod(daemon, 0o700)
        os.environ["AUTHBROKER_DAEMON"] = daemon
        self.addCleanup(self.end)

    def started(self):
        """The process, when it has started; None before."""
        try:
            with open(os.path.join(self.root, "pid"), encoding="ascii") as file:
                return int(file.read())
        except OSError:
            return None

    def end(self):
        """Ends it, and what waits for it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(until(self.started, "the daemon"), signal.SIGKILL)

    def test_a_call_has_its_time_limit(self):
        """Also where the broker is still being started; the start goes on."""
        with Broker() as broker:
            for ask in (lambda: broker.call("ping", timeout=0.2), lambda: broker.session(timeout=0.2),
                        lambda: broker.events(timeout=0.2)):
                begun = time.monotonic()
                with self.assertRaises(TimedOut) as raised:
                    ask()
                self.assertLess(time.monotonic() - begun, 10)
                self.assertFalse(raised.exception.answered)

    def test_a_call_is_cancelled(self):
        """By another thread, before it has a connection; a second call waits on."""
        cancellation, failures = Cancellation(), []
        with Broker() as broker:
            def other():
                try:
                    broker.call("ping")
                except NoBroker as error:
                    failures.append(error)

            waiting = threading.Thread(target=other)
            waiting.start()
            timer = threading.Thread(target=lambda: (until(self.started, "the daemon"), cancellation.cancel()))
            timer.start()
            with self.assertRaises(Cancelled):
                broker.access_token(cancellation=cancellation)
            timer.join()
            with self.assertRaises(Cancelled):
                broker.events(cancellation=cancellation)
            self.assertTrue(waiting.is_alive())
            os.kill(self.started(), signal.SIGKILL)
            waiting.join(PATIENCE)
            self.assertEqual(len(failures), 1)

    def test_a_task_has_both(self):
        """The limit of a call, and the cancellation of its task."""
        async def run():
            async with AsyncBroker() as broker:
                with self.assertRaises(TimedOut):
                    await broker.call("ping", timeout=0.2)
                call = asyncio.ensure_future(broker.access_token())
                await asyncio.sleep(0)
                call.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await call
                os.kill(self.started(), signal.SIGKILL)

        asyncio.run(run())


class CancellationTests(FakeCase):
    """Cancellation where a broker is there."""

    def test_every_call_takes_a_limit_and_a_cancellation(self):
        """By the same names."""
        for name, function in inspect.getmembers(Broker, inspect.isfunction):
            if not name.startswith("_") and name != "close":
                with self.subTest(name):
                    names = inspect.signature(function).parameters
                    self.assertLessEqual({"timeout", "cancellation"}, set(names))
                    if name != "events":
                        self.assertIn("timeout", inspect.signature(getattr(AsyncBroker, name)).parameters)

    def test_a_broker_that_ends_is_not_waited_for_any_more(self):
        """The pause between two tries is cut short."""
        cancellation = Cancellation()

        def answer(request):
            if "id" not in request:
                return None
            cancellation.cancel()
            return line(id=request["id"], error=ENDING)

        with FakeBroker(self.path, answer), Broker() as broker:
            with self.assertRaises(Cancelled):
                broker.session(cancellation=cancellation)

    def test_a_subscription_that_is_not_answered(self):
        """Its connection is closed."""
        cancellation = Cancellation()

        def answer(request):
            if request["method"] == "subscribe":
                cancellation.cancel()
            return None

        with FakeBroker(self.path, answer) as fake, Broker() as broker:
            with self.assertRaises(Cancelled):
                broker.events(cancellation=cancellation)
            self.assertEqual(len(fake.requests("subscribe")), 1)

    def test_a_login_is_cancelled_at_the_broker(self):
        """The one that waits for a person elsewhere."""
        cancellation, waiting = Cancellation(), []
        action = {"loginFlowId": "f", "profile": "default", "kind": "deviceCode", "expiresAt": "2030-01-01T00:00:00Z",
                  "verificationUri": "https://a.example", "userCode": "A"}

        def answer(request):
            if request["method"] == "login":
                return line(id=request["id"], result={"status": "userActionRequired", "action": action})
            if request["method"] == "awaitLogin":
                waiting.append(request["id"])
                cancellation.cancel()
                return None
            if request["method"] == "$/cancelRequest":
                return line(id=waiting[0], error={"code": -32800, "message": "m", "data": {"kind": "cancelled"}})
            return line(id=request["id"], result={})

        class Shown(Prompts):
            """Shows nothing."""

            def show_action(self, action):
                """Does nothing."""

        with FakeBroker(self.path, answer) as fake, Broker() as broker:
            with self.assertRaises(Cancelled):
                broker.login(method="deviceCode", prompts=Shown(), cancellation=cancellation)
            self.assertEqual(fake.requests("cancelLogin")[0]["params"], {"loginFlowId": "f"})


if __name__ == "__main__":
    unittest.main()
