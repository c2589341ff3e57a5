"""What the tests of the Python package stand on: a home of its own, a broker in it, and brokers that misbehave."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from unittest import mock

from authbroker import Broker

BIN = os.environ["AUTHBROKER_TEST_BIN"]
EMAIL, PASSWORD = "ada@example.com", "made-up password 1"
#: Above all that a test waits for on a busy machine, in seconds.
PATIENCE = 120


def until(condition, what):
    """Waits until a condition holds; fails if it does not in time."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"did not come about: {what}")
        time.sleep(0.005)
    return value


class Case(unittest.TestCase):
    """A test with a sandbox: nothing of the user's is seen, and nothing is left behind."""

    config = None

    def setUp(self):
        """Makes the sandbox and its environment."""
        self.root = tempfile.mkdtemp(prefix="ab-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.state = os.path.join(self.root, "state")
        variables = {"PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin", "HOME": self.root, "LANG": "C.UTF-8",
                     "XDG_RUNTIME_DIR": self.root, "AUTHBROKER_STATE": self.state, "NO_COLOR": "1", "TERM": "dumb"}
        if self.config is not None:
            variables["AUTHBROKER_CONFIG"] = os.path.join(self.root, "config.json")
            with open(variables["AUTHBROKER_CONFIG"], "w", encoding="utf-8") as file:
                json.dump(self.config, file)
        patch = mock.patch.dict(os.environ, variables, clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        self.addCleanup(self.stop)

    def command(self, *arguments, text=""):
        """Runs the command `authbroker`."""
        return subprocess.run([os.path.join(BIN, "authbroker"), *arguments], input=text, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)

    def stop(self):
        """Ends the broker of the sandbox in order; there may be none."""
        self.command("stop")
        self.assertFalse(self.pid(), "the broker did not end")

    def pid(self):
        """The broker's process; None if there is none."""
        try:
            with open(os.path.join(self.state, "broker.lock"), encoding="utf-8") as file:
                pid = json.load(file)["pid"]
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                return None if file.read().rsplit(")", 1)[1].split()[0] == "Z" else pid
        except (OSError, ValueError, KeyError):
            return None

    def kill(self):
        """Kills the broker and waits for its end."""
        pid = self.pid()
        self.assertIsNotNone(pid)
        os.kill(pid, signal.SIGKILL)
        until(lambda: self.is_over(pid), "the end of the broker")

    @staticmethod
    def is_over(pid):
        """Whether the sockets of a process are closed: with its last thread, until then the first alone is a zombie."""
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                return ") Z" in file.read() and len(os.listdir(f"/proc/{pid}/task")) == 1
        except OSError:
            return True

    def register(self, broker, **more):
        """Makes an account and, without a phone number, a session."""
        return broker.call("register", {"email": EMAIL, "password": PASSWORD, **more})

    def newest(self, member="code", after=()):
        """The code of the newest message of the embedded provider that is not among those known."""
        folder = os.path.join(self.state, "local-provider", "outbox")

        def look():
            names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
            for name in reversed(names):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    value = json.load(file).get(member)
                if value and value not in after:
                    return value
            return None
        return until(look, "a message")


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


class FakeBroker:
    """Listens on a socket and does as a function says: it gets each request and gives the lines to send."""

    def __init__(self, path, answer):
        """Begins to listen. `answer(request)` gives bytes; None: nothing is said; b"": the connection is closed."""
        self.path, self.answer = path, answer
        self.received, self.connections = [], 0
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        os.chmod(path, 0o600)
        self._listener.listen(16)
        self._wake, self._awake = os.pipe()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        os.write(self._awake, b"x")
        self._thread.join()
        self._listener.close()
        os.close(self._wake)
        os.close(self._awake)

    def requests(self, method):
        """The requests of a method so far."""
        return [request for request in self.received if request.get("method") == method]

    def _serve(self):
        clients = {}
        while True:
            ready, _, _ = select.select([self._listener, self._wake, *clients], [], [])
            if self._wake in ready:
                for client in clients:
                    client.close()
                return
            for one in ready:
                if one is self._listener:
                    clients[one.accept()[0]] = b""
                    self.connections += 1
                elif not self._hear(one, clients):
                    del clients[one]
                    one.close()

    def _hear(self, client, clients):
        try:
            data = client.recv(65536)
            clients[client] += data
            while b"\n" in clients[client]:
                line, clients[client] = clients[client].split(b"\n", 1)
                request = json.loads(line)
                self.received.append(request)
                said = self.answer(request)
                if said == b"":
                    return False
                if said is not None:
                    client.sendall(said)
            return bool(data)
        except OSError:
            return False


def line(**members):
    """A message as a line."""
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def token_of(number, **changes):
    """The result of `getAccessToken`, with an obviously fake token."""
    return {"accessToken": f"fake-token-{number}", "tokenType": "Bearer", "expiresAt": "2030-01-01T00:00:00Z",
            "scopes": [], "profile": "default", "tokenId": f"id{number}", **changes}
