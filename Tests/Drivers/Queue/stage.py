"""The broker that is killed, its home, the server that makes its tokens, and connections to it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from ledger import SECRET

PATIENCE = 60
ORDINARY = 1000  # the user that everything runs as, where this is started as root
HERE = os.path.dirname(os.path.abspath(__file__))
SERVER = os.path.join(HERE, "..", "..", "Servers", "RESTServer", "rest-server")
ACCOUNTS = {f"{name}@example.com": f"example password {name}" for name in ("ada", "bob")}


class Gone(Exception):
    """The broker is no more, or will be at once."""


class Refused(Exception):
    """The broker's own error."""


class Wire:
    """A connection to the broker."""

    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(PATIENCE)
        try:
            self.connection.connect(path)
        except OSError as error:
            raise Gone from error
        self.stream = self.connection.makefile("rb")

    def send(self, method, params):
        """Sends a request, and waits for nothing."""
        try:
            self.connection.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
        except OSError as error:
            raise Gone from error

    def call(self, method, /, **params):
        """The result of a method.

        Raises: Gone, Refused.
        """
        self.send(method, params)
        try:
            line = self.stream.readline()
        except OSError as error:
            raise Gone from error
        if not line.endswith(b"\n"):
            raise Gone
        answer = json.loads(line)
        if proof := answer.get("error", {}).get("data", {}).get("proof"):
            # The broker asks for a file in its folder, which only its owner can make.
            os.close(os.open(f"{proof['path']}.{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            self.call("prove")
            return self.call(method, **params)
        if "error" in answer:
            raise Refused(f"{method}: {answer['error']['data'].get('kind')}: {answer['error']['message']}")
        return answer["result"]

    def close(self):
        """Ends it."""
        self.stream.close()
        self.connection.close()


def become_ordinary(root):
    """Goes on as the ordinary user, who gets a folder: the socket of the broker is for its own user."""
    if os.getuid() == 0:
        os.chown(root, ORDINARY, ORDINARY)
        os.setgroups([])
        os.setresgid(ORDINARY, ORDINARY, ORDINARY)
        os.setresuid(ORDINARY, ORDINARY, ORDINARY)


class Stage:
    """Everything around the broker; a context manager."""

    def __init__(self, programs, ledger):
        # Short on purpose: the path of a Unix socket has room for 107 bytes.
        self.root = tempfile.mkdtemp(prefix="ab-", dir="/tmp")
        os.chmod(self.root, 0o755)
        for name in ("authbroker", "authbrokerd"):
            shutil.copy2(os.path.join(programs, name), self.root)
        become_ordinary(self.root)
        self.home = os.path.join(self.root, "home")
        os.mkdir(self.home, 0o700)
        self.state, self.socket = self.home + "/state", self.home + "/b.sock"
        self.agent = self.home + "/agent.sock"
        words = [word for email, password in ACCOUNTS.items() for word in ("--account", json.dumps({"email": email, "password": password}))]
        self.server = subprocess.Popen([sys.executable, SERVER, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        told = json.loads(self.server.stdout.readline())
        self.control, ledger.provider = told["controlUrl"], told["url"]
        rules = {"allow": [{"origin": ledger.origin, "methods": ["POST"]}], "queue": {"maxEntries": 10_000}}
        profiles = {"shop": {"provider": "rest", "baseUrl": told["url"], "requests": rules},
                    "maps": {"provider": "static", "secret": {"command": ["echo", SECRET]}, "requests": rules}}
        sockets = {"agent": {"profiles": ["maps"], "may": "use", "path": self.agent}}
        self.configuration = self.home + "/config.json"
        with open(self.configuration, "w", encoding="utf-8") as file:
            json.dump({"profiles": profiles, "sockets": sockets}, file)
        os.chmod(self.configuration, 0o600)
        self.broker, self.errors = None, open(os.path.join(self.root, "errors"), "w+b")

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        self.kill()
        self.server.stdin.close()
        self.server.wait(PATIENCE)
        self.errors.close()
        shutil.rmtree(self.root, ignore_errors=True)

    def start(self, fault=None):
        """Starts the broker; `fault` names system calls, of which one kills it, and which one of them. False where it was killed
        before it was ready."""
        end = time.monotonic() + PATIENCE
        while (is_ready := self.start_once(fault)) is None:
            if time.monotonic() > end:
                self.complain("the broker does not start")
        return is_ready

    def complain(self, what):
        """Ends everything, with what the broker has said."""
        self.errors.seek(0)
        raise SystemExit(f"{what}: {self.errors.read().decode()[-2000:]}")

    def start_once(self, fault):
        """The same; None where a child of the one before, which was killed while it began a program, has its lock still."""
        lead = []
        if fault:
            calls, number = fault
            lead = ["strace", "-D", "-f", "-qqq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", f"inject={calls}:signal=KILL:when={number}"]
        reader, writer = os.pipe()
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.home, "LANG": "C.UTF-8"}
        self.broker = subprocess.Popen(
            [*lead, self.root + "/authbrokerd", "--state", self.state, "--config", self.configuration, "--socket", self.socket,
             "--ready-fd", str(writer)],
            env=environment, cwd=self.home, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors, pass_fds=[writer])
        os.close(writer)
        with os.fdopen(reader, "rb") as said:
            while line := said.readline():
                if line == b"ready\n":
                    return True
        code = self.broker.wait(PATIENCE)
        if code == -signal.SIGKILL:
            return False
        self.errors.seek(0)
        if " is already running (pid " in self.errors.read().decode()[-400:]:
            return None
        self.complain(f"the broker ended with {code}")
        return False

    def kill(self):
        """Kills the broker, and waits until it is gone."""
        if self.broker is None:
            return
        self.broker.kill()
        code = self.broker.wait(PATIENCE)
        self.broker = None
        if code != -signal.SIGKILL:
            self.complain(f"the broker had ended by itself with {code}")

    def strike(self):
        """Kills the broker at once, from any thread."""
        broker = self.broker
        if broker is not None:
            broker.kill()

    def wire(self, is_limited=False):
        """A connection.

        Raises: Gone.
        """
        return Wire(self.agent if is_limited else self.socket)


def wait(is_done, what, limit=PATIENCE):
    """Waits until something is so.

    Raises: SystemExit once the time is over.
    """
    end = time.monotonic() + limit
    while not is_done():
        if time.monotonic() > end:
            raise SystemExit(f"not within {limit} s: {what}")
        time.sleep(0.01)
