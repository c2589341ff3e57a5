"""Logins of the Python package: at a pseudo-terminal, by callbacks, on asyncio; and the examples of its README."""

import asyncio
import http.server
import os
import pty
import re
import select
import signal
import sys
import threading
import time
import unittest

from authbroker import (AsyncBroker, BackupCode, Broker, BrokerError, Code, NoTerminal, Prompts, Resend, TerminalPrompts,
                        Unauthorized)

from support import EMAIL, PASSWORD, PATIENCE, Case, FakeBroker, line, until

PROGRAM = """
from authbroker import Broker, TerminalPrompts
with Broker() as broker:
    result = broker.login(prompts=TerminalPrompts())
    print("RESULT", result.status, result.session.state if result.session else None, flush=True)
"""
README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../clients/python/README.md")


class Terminal:
    """A program in a pseudo-terminal."""

    def __init__(self, program):
        """Starts it."""
        self.shown, self.unseen = "", ""
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.execv(sys.executable, [sys.executable, "-c", program])

    def expect(self, text):
        """Waits until it shows a text behind what was expected before."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.unseen:
            if not select.select([self.descriptor], [], [], deadline - time.monotonic())[0]:
                raise AssertionError(f"{text!r} was not shown: {self.shown!r}")
            try:
                data = os.read(self.descriptor, 65536)
            except OSError:
                data = b""
            if not data:
                raise AssertionError(f"{text!r} was not shown before the end: {self.shown!r}")
            self.unseen += data.decode()
            self.shown += data.decode()
        self.unseen = self.unseen.split(text, 1)[1]

    def type(self, text):
        """Types a line, once nothing is echoed unless it may be."""
        os.write(self.descriptor, text.encode() + b"\n")

    def end(self):
        """Waits for its end; the exit code."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.descriptor)
        return code


class AccountCase(Case):
    """A sandbox with an account that logs in with a code."""

    config = {"local": {"otp": {"resendCooldownSeconds": 0, "lifetimeSeconds": 3600}}}

    def setUp(self):
        """An account with a phone number, and no session."""
        super().setUp()
        with Broker() as broker:
            flow = self.register(broker, phoneNumber="+15550100042")["challenge"]["otpFlowId"]
            broker.verify_otp(flow, self.newest())
            self.backup_codes = broker.call("generateBackupCodes", {"password": PASSWORD})["backupCodes"]
            broker.logout()


class LoginTests(AccountCase):
    """A login with a code, and one elsewhere."""

    def test_a_person_logs_in_at_a_terminal(self):
        """A wrong code, another code, then the right one; no secret is echoed."""
        terminal = Terminal(PROGRAM)
        terminal.expect("Your e-mail address: ")
        terminal.type(EMAIL)
        terminal.expect("Password: ")
        terminal.type(PASSWORD)
        terminal.expect("Code or backup code (r sends another): ")
        first = self.newest()
        wrong = "".join(str((int(digit) + 1) % 10) for digit in first)
        terminal.type(wrong)
        terminal.expect("attempts left.")
        terminal.expect("Code or backup code (r sends another): ")
        terminal.type("r")
        second = self.newest(after=(first,))
        terminal.expect("Code or backup code (r sends another): ")
        terminal.type(second)
        terminal.expect("RESULT authenticated authenticated")
        self.assertEqual(terminal.end(), 0)
        self.assertIn(EMAIL, terminal.shown)
        for secret in (PASSWORD, wrong, second):
            self.assertNotIn(secret, terminal.shown)

    def test_a_backup_code_at_a_terminal(self):
        """It is told by its shape."""
        terminal = Terminal(PROGRAM)
        for question, answer in (("address: ", EMAIL), ("Password: ", PASSWORD), ("another): ", self.backup_codes[0])):
            terminal.expect(question)
            terminal.type(answer)
        terminal.expect("RESULT authenticated authenticated")
        self.assertEqual(terminal.end(), 0)
        self.assertNotIn(self.backup_codes[0], terminal.shown)

    def test_ctrl_c_cancels_the_login(self):
        """Nothing is left pending."""
        terminal = Terminal(PROGRAM)
        for question, answer in (("address: ", EMAIL), ("Password: ", PASSWORD), ("another): ", "\x03")):
            terminal.expect(question)
            terminal.type(answer)
        terminal.expect("KeyboardInterrupt")
        self.assertEqual(terminal.end(), -signal.SIGINT)
        with Broker() as broker:
            self.assertEqual(broker.call("listPendingLogins")["logins"], [])

    def test_a_program_answers(self):
        """By callbacks, with and without coroutines; what they give is shown nowhere."""
        test, asked = self, []

        class Answers(Prompts):
            def account(self, field):
                asked.append(field)
                return EMAIL

            def password(self):
                return PASSWORD

            def code(self, challenge):
                asked.append(challenge.method)
                if len(asked) == 2:
                    return Resend()
                return Code("not it") if len(asked) == 3 else BackupCode(test.backup_codes[1])

            def show_refusal(self, error):
                asked.append(error.kind)

        class Later(Prompts):
            async def password(self):
                return PASSWORD

            async def code(self, challenge):
                return BackupCode(test.backup_codes[2])

        with Broker() as broker:
            self.assertEqual(broker.login(prompts=Answers()).session.state, "authenticated")
            broker.logout()
        self.assertEqual(asked, ["email", "sms", "sms", "otpInvalid", "sms"])
        self.assertNotIn("not it", repr(Code("not it")))

        async def later():
            async with AsyncBroker() as broker:
                return await broker.login(email=EMAIL, prompts=Later())

        result = asyncio.run(later())
        self.assertEqual((result.session.state, result.backup_codes_remaining), ("authenticated", 8))

    def test_without_a_terminal_nothing_is_asked(self):
        """Not even from standard input, where the answer would be echoed."""
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                with Broker() as broker:
                    broker.login(prompts=TerminalPrompts())
            except NoTerminal:
                os._exit(7)
            finally:
                os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)

    def test_a_login_elsewhere_is_shown_and_waited_for(self):
        """Across a time limit and a lost connection; one that its task leaves is cancelled."""
        action = {"loginFlowId": "f1", "profile": "p", "kind": "deviceCode", "verificationUri": "https://sso.example.com/device",
                  "userCode": "ABCD-EFGH", "expiresAt": "2030-01-01T00:00:00Z"}
        session = {"profile": "p", "provider": "oidc", "state": "authenticated", "scopes": [], "refreshTokenPresent": True}
        waits = [line(id="ID", error={"code": 1087, "message": "m", "data": {"kind": "deadlineExceeded"}}), b"",
                 line(id="ID", result={"status": "authenticated", "session": session})]

        def answer(request):
            result = {"getSession": {**session, "login": [{"method": "deviceCode", "fields": []}]},
                      "login": {"status": "userActionRequired", "action": action}, "cancelLogin": {}}.get(request["method"])
            if result is not None:
                return line(id=request["id"], result=result)
            return waits.pop(0).replace(b'"ID"', b"%d" % request["id"]) if waits else None

        shown = []

        class Shown(Prompts):
            def show_action(self, action):
                shown.append(action.user_code)

        path = os.path.join(self.root, "fake", "broker.sock")
        with FakeBroker(path, answer) as fake:
            with Broker(socket=path) as broker:
                self.assertEqual(broker.login(prompts=Shown()).session.provider, "oidc")
            self.assertEqual((shown, len(fake.requests("awaitLogin"))), (["ABCD-EFGH"], 3))

            async def left():
                async with AsyncBroker(socket=path) as broker:
                    task = asyncio.ensure_future(broker.login(prompts=Shown()))
                    while len(fake.requests("awaitLogin")) < 4:
                        await asyncio.sleep(0.005)
                    task.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await task

            asyncio.run(left())
            self.assertEqual([request["params"] for request in fake.requests("cancelLogin")], [{"loginFlowId": "f1"}])


class AsyncTests(Case):
    """asyncio with a real broker."""

    def test_tokens_heal_and_events_go_on(self):
        """The broker is killed twice meanwhile."""
        async def run():
            async with AsyncBroker() as broker:
                await broker.call("register", {"email": EMAIL, "password": PASSWORD})
                first = await broker.access_token()

                async def use(token):
                    if token == first:
                        raise Unauthorized
                    return token

                fresh = await broker.with_access_token(use)
                self.assertNotEqual(fresh, first)
                tokens = await asyncio.gather(*(broker.access_token() for _ in range(100)))
                self.assertEqual({token.value for token in tokens}, {fresh.value})
                with self.assertRaises(Unauthorized):
                    await broker.with_access_token(lambda token: Unauthorized())
                async with await broker.events(["login", "logout"]) as events:
                    self.kill()
                    await broker.logout()
                    self.assertEqual((await events.next(PATIENCE)).event, "logout")
                    self.kill()
                    await broker.login(email=EMAIL, password=PASSWORD)
                    self.assertEqual((await events.next(PATIENCE)).event, "login")
                    with self.assertRaises(TimeoutError):
                        await events.next(0.01)
                    reading = asyncio.ensure_future(events.__anext__())
                    await asyncio.sleep(0)
                    await events.close()
                    with self.assertRaises(StopAsyncIteration):
                        await reading
                with self.assertRaises(BrokerError):
                    await broker.session("nobody")

        asyncio.run(run())


class API(http.server.BaseHTTPRequestHandler):
    """An API that refuses the first token that it sees."""

    refused = None

    def do_GET(self):
        """Answers 401 for that token."""
        given = self.headers["Authorization"]
        API.refused = API.refused or given
        self.send_response(401 if given == API.refused else 200)
        self.end_headers()
        self.wfile.write(b"the body")

    def log_message(self, *arguments):
        """Says nothing."""


class ReadmeTests(AccountCase):
    """The examples of the README, run as they stand, in their order."""

    def test_the_examples_of_the_readme(self):
        """A token, a request, a login and events."""
        with open(README, encoding="utf-8") as file:
            blocks = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
        self.assertEqual(len(blocks), 4)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), API)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        names = {"url": f"http://127.0.0.1:{server.server_port}/", "ask_password": lambda: PASSWORD,
                 "ask_code": lambda _: self.newest()}
        try:
            exec(blocks[2], names)
            names["broker"].close()
            self.assertEqual(names["result"].status, "authenticated")
            exec(blocks[0], names)
            names["broker"].close()
            self.assertEqual(names["headers"], {"Authorization": "Bearer " + names["token"].value})
            exec(blocks[1], names)
            self.assertEqual(names["body"], b"the body")
            with Broker() as broker:
                logout = threading.Thread(target=lambda: (
                    until(lambda: broker.call("getStatus")["subscriptions"] == 1, "a subscriber"), broker.logout()))
                logout.start()
                exec(blocks[3], names)
                logout.join()
            self.assertGreater(names["last"], 0)
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


if __name__ == "__main__":
    unittest.main()
