"""The Python package with a real broker: tokens, threads, restarts, events, a locked vault."""

import asyncio
import copy
import io
import os
import pickle
import socket
import threading
import traceback
import unittest
import urllib.error
from unittest import mock

from authbroker import (AccessToken, AsyncBroker, Broker, BrokerError, BrokerRefusal, Cancellation, Cancelled, Closed,
                        NoBroker, TimedOut, Unauthorized, VaultError)

from support import EMAIL, PASSWORD, PATIENCE, Case, FakeBroker, line, until


class TokenTests(Case):
    """Tokens and what is done with them."""

    def setUp(self):
        """A session."""
        super().setUp()
        self.broker = Broker()
        self.addCleanup(self.broker.close)
        self.register(self.broker)

    def test_the_current_profile_is_meant_where_none_is_named(self):
        """That of the variable, else that of `authbroker profile use`; one that is named wins."""
        folder = os.path.join(self.root, "chosen", "authbroker")
        os.makedirs(folder)
        with open(os.path.join(folder, "profile"), "w", encoding="utf-8") as file:
            file.write("of-the-file\n")
        with mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": os.path.dirname(folder)}):
            for variable, name in (("", "of-the-file"), ("of-the-variable", "of-the-variable")):
                with mock.patch.dict(os.environ, {"AUTHBROKER_PROFILE": variable}):
                    calls = (self.broker.access_token, self.broker.id_token, self.broker.session, self.broker.logout,
                             lambda: self.broker.login(email=EMAIL, password=PASSWORD))
                    for call in calls:
                        with self.assertRaises(BrokerError) as raised:
                            call()
                        self.assertEqual((raised.exception.kind, raised.exception.profile), ("unknownProfile", name))
                    self.assertEqual(self.broker.access_token("default").profile, "default")
            for text in ("", "\n", "\nof-the-second-line\n"):
                with open(os.path.join(folder, "profile"), "w", encoding="utf-8") as file:
                    file.write(text)
                self.assertEqual(self.broker.access_token().profile, "default")
            self.broker.logout(all_profiles=True)

    def test_no_text_of_a_token_shows_it(self):
        """Neither representation, format, error nor copy."""
        token = self.broker.access_token()
        texts = [str(token), repr(token), f"{token}", f"{token!r:>80}", str([token]), str({"t": token})]
        try:
            raise RuntimeError(token)
        except RuntimeError:
            texts.append(traceback.format_exc())
        for text in texts:
            self.assertNotIn(token.value, text)
            self.assertIn(token.token_id, text)
        for way in (pickle.dumps, copy.copy, copy.deepcopy):
            with self.assertRaises(TypeError):
                way(token)
        self.assertEqual(token.authorization_header, "Bearer " + token.value)
        self.assertEqual(token, self.broker.access_token())
        self.assertTrue(0 < token.expires_in() < 3600)

    def test_a_refused_token_is_reported_once(self):
        """Raised or returned, a first refusal heals; a second one is the caller's."""
        first, seen = self.broker.access_token(), []

        def raising(token):
            seen.append(token)
            if token == first:
                raise Unauthorized
            return "body"

        self.assertEqual(self.broker.with_access_token(raising), "body")
        self.assertEqual(len(seen), 2)
        self.assertNotEqual(seen[0].value, seen[1].value)
        self.assertEqual(self.broker.access_token(), seen[1])
        self.assertEqual(self.broker.with_access_token(lambda token: Unauthorized() if token == seen[1] else 7), 7)

        def of_urllib(_):
            seen.append(None)
            raise urllib.error.HTTPError("https://api.example.com", 401, "no", {}, io.BytesIO())

        seen.clear()
        with self.assertRaises(urllib.error.HTTPError) as raised:
            self.broker.with_access_token(of_urllib)
        raised.exception.close()
        self.assertEqual(len(seen), 2)
        with self.assertRaises(Unauthorized):
            self.broker.with_access_token(lambda _: Unauthorized())
        with self.assertRaises(ZeroDivisionError):
            self.broker.with_access_token(lambda _: 1 / 0)

    def test_a_hundred_threads_share_one_connection(self):
        """Each gets its own answer."""
        refused, tokens = [], []

        def ask(number):
            tokens.append(self.broker.access_token())
            try:
                self.broker.session(f"profile-{number}")
            except BrokerError as error:
                refused.append((number, error.kind))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual([token.value for token in tokens], [self.broker.access_token().value] * 100)
        self.assertEqual(sorted(refused), [(number, "unknownProfile") for number in range(100)])
        self.assertEqual(self.broker.call("getStatus")["connections"], 1)

    def test_a_waiting_call_is_cancelled_from_another_thread(self):
        """The broker is told; others on the connection are not disturbed."""
        self.broker.logout()
        cancellation, outcome = Cancellation(), []

        def wait():
            try:
                self.broker.call("getAccessToken", {"waitForLogin": True, "timeoutSeconds": 3600}, cancellation=cancellation)
            except Cancelled as error:
                outcome.append(error.kind)

        thread = threading.Thread(target=wait)
        thread.start()
        until(lambda: cancellation._under_way, "the request")
        self.assertEqual(self.broker.session().state, "signedOut")
        cancellation.cancel()
        thread.join(PATIENCE)
        self.assertEqual(outcome, ["cancelled"])
        with self.assertRaises(Cancelled):
            self.broker.call("getAccessToken", {"waitForLogin": True}, cancellation=cancellation)

    def test_a_time_limit_says_what_was_waited_for(self):
        """The broker's own limit names the reason; the caller's own is `TimedOut`."""
        self.broker.logout()
        with self.assertRaises(BrokerError) as raised:
            self.broker.access_token(wait_for_login=True, timeout=0.05)
        self.assertIn(raised.exception.kind, ("deadlineExceeded", "loginRequired"))
        with self.assertRaises(TimedOut):
            self.broker.call("getAccessToken", {"waitForLogin": True}, timeout=0.05)
        self.assertEqual(self.broker.session().state, "signedOut")

    def test_a_locked_vault_says_what_to_do(self):
        """`lock` is administrative: the package proves access to the state directory by itself."""
        self.broker.call("lock")
        with self.assertRaises(VaultError) as raised:
            self.broker.access_token()
        self.assertEqual((raised.exception.kind, raised.exception.next_action, raised.exception.retryable),
                         ("vaultLocked", "unlock", False))
        self.broker.call("unlock")
        self.assertIsInstance(self.broker.access_token(), AccessToken)
        self.assertEqual([name for name in os.listdir(self.state) if name.startswith("proof-")], [])

    def test_a_relay_gets_no_proof(self):
        """The program of another hands on what the real broker asks it for: nothing is created, by either client."""
        path, seen = os.path.join(self.root, "relay", "broker.sock"), sorted(os.listdir(self.state))

        def real(request):
            with socket.socket(socket.AF_UNIX) as connection, connection.makefile("rwb") as stream:
                connection.connect(os.path.join(self.state, "run", "broker.sock"))
                stream.write(line(id=request.get("id"), method="lock"))
                stream.flush()
                return stream.readline()

        async def call(method, params):
            async with AsyncBroker(socket=path) as broker:
                return await broker.call(method, params)

        with FakeBroker(path, real), Broker(socket=path) as broker:
            for method in ("getAccessToken", "lock", "rekey", "listLocalUsers", "logout", "prove"):
                params = {"all": True} if method == "logout" else {}
                for run in (lambda: broker.call(method, params), lambda: asyncio.run(call(method, params))):
                    with self.assertRaises(BrokerRefusal) as raised:
                        run()
                    self.assertEqual(raised.exception.kind, "accessDenied")
                    if method not in ("getAccessToken", "prove"):
                        self.assertIn("nothing was created", str(raised.exception))
        self.assertEqual(sorted(os.listdir(self.state)), seen)

    def test_both_clients_prove_themselves_at_once(self):
        """Calls of threads and tasks that share a connection share its proof."""
        threads = [threading.Thread(target=self.broker.call, args=("checkVault",)) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        async def check():
            async with AsyncBroker() as broker:
                return await asyncio.gather(*(broker.call("checkVault") for _ in range(10)))

        self.assertTrue(all(result["ok"] for result in asyncio.run(check())))
        self.assertEqual([name for name in os.listdir(self.state) if name.startswith("proof-")], [])

    def test_a_killed_broker_is_started_again(self):
        """The session is still there."""
        before = self.broker.access_token()
        self.kill()
        self.assertEqual(self.broker.access_token(), before)

    def test_a_forked_process_connects_for_itself(self):
        """And leaves the connection of its parent alone."""
        before, channel = self.broker.access_token(), self.broker._channel
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if self.broker.access_token() == before else 1)
            finally:
                os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(self.broker.access_token(), before)
        self.assertIs(self.broker._channel, channel)

    def test_a_closed_client_says_so(self):
        """Calls under way end, and so do later ones."""
        self.broker.logout()
        outcome = []

        def wait():
            try:
                self.broker.call("getAccessToken", {"waitForLogin": True, "timeoutSeconds": 3600})
            except Closed as error:
                outcome.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        until(lambda: self.broker._channel._waiters, "the request")
        self.broker.close()
        thread.join(PATIENCE)
        self.assertEqual(len(outcome), 1)
        with self.assertRaises(Closed):
            self.broker.session()


class EventTests(Case):
    """Events over restarts of the broker."""

    def test_events_go_on_behind_the_last_one(self):
        """What happened between a kill and the new subscription is told, once, in order."""
        with Broker() as broker:
            with broker.events(["login", "logout"]) as events:
                self.register(broker)
                first = events.next(PATIENCE)
                self.assertEqual((first.event, first.profile), ("login", "default"))
                self.assertEqual(events.last_sequence, first.sequence)
                for _ in range(2):
                    self.kill()
                    # By the other connection: the stream may not have noticed yet.
                    broker.login(email=EMAIL, password=PASSWORD) if broker.session().state == "signedOut" else broker.logout()
                    broker.call("ping")
                told = [events.next(PATIENCE) for _ in range(2)]
                self.assertEqual([event.event for event in told], ["logout", "login"])
                self.assertTrue(first.sequence < told[0].sequence < told[1].sequence)
                last = events.last_sequence
            with broker.events(since=first.sequence) as again:
                self.assertFalse(again.snapshot.resync)
                replayed = [again.next(PATIENCE) for _ in range(2)]
                self.assertEqual([event.sequence for event in replayed], [event.sequence for event in told])
            self.assertEqual(last, told[1].sequence)

    def test_what_is_no_longer_kept_is_told(self):
        """A sequence beyond the end: only the sessions are known."""
        with Broker() as broker:
            self.register(broker)
            with broker.events(since=10**9) as events:
                event = events.next(PATIENCE)
                self.assertEqual((event.event, event.sessions[0].state), ("resync", "authenticated"))
                broker.logout()
                self.assertEqual(events.next(PATIENCE).event, "logout")

    def test_a_stopped_broker_is_waited_for(self):
        """The stream does not start what a person has stopped, and goes on when another program does."""
        with Broker() as broker:
            self.register(broker)
            with broker.events(["logout"]) as events:
                self.stop()
                with self.assertRaises(TimedOut):
                    events.next(1)
                self.assertIsNone(self.pid())
                broker.logout()
                self.assertEqual(events.next(PATIENCE).event, "logout")
            with broker.events(patience=0.2) as events:
                self.stop()
                with self.assertRaises(NoBroker):
                    while True:
                        events.next(PATIENCE)

    def test_a_waiting_stream_is_closed_from_another_thread(self):
        """The loop ends."""
        with Broker() as broker:
            events, ended = broker.events(), threading.Event()

            def read():
                for _ in events:
                    pass
                ended.set()

            thread = threading.Thread(target=read)
            thread.start()
            until(lambda: events._channel._is_reading, "a reader")
            events.close()
            self.assertTrue(ended.wait(PATIENCE))
            thread.join()
            until(lambda: broker.call("getStatus")["connections"] == 1, "the end of the connection")


if __name__ == "__main__":
    unittest.main()
