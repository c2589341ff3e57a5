"""What all scenes share: rows, the broker as an ordinary user's with its doors, and servers of real programs."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

PATIENCE = 60
# The user that everything runs as, where this is started as root; nobody else's on a machine of tests.
ORDINARY = 1000
BIN = os.path.dirname(sys.executable)
HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.abspath(os.path.join(HERE, "..", "..", ".."))

sys.path.append(os.path.dirname(HERE))
import rows  # noqa: E402
from rows import Failure  # noqa: E402


def wait(is_done, what, limit=PATIENCE, pause=0.02):
    """As ``rows.wait``, for as long as a scene has patience."""
    return rows.wait(is_done, what, limit, pause)


def free_port():
    """A port of the loopback that no one listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def as_user(user=ORDINARY):
    """How a program of a user is started: by root as that user, else as it is."""
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if os.getuid() == 0 else []


class Home:
    """A folder of the ordinary user's, empty at the beginning and gone at the end; a context manager."""

    def __init__(self):
        # Short on purpose: the path of a Unix socket has room for 107 bytes.
        self.path = tempfile.mkdtemp(prefix="ab-", dir="/tmp")
        os.chmod(self.path, 0o755)
        self.own(self.path)

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        shutil.rmtree(self.path, ignore_errors=True)

    @staticmethod
    def own(path):
        """Gives something to the ordinary user."""
        if os.getuid() == 0:
            os.chown(path, ORDINARY, ORDINARY)

    def folder(self, *names, mode=0o700):
        """A folder in it, made where it is missing."""
        path = os.path.join(self.path, *names)
        if not os.path.isdir(path):
            if len(names) > 1:
                self.folder(*names[:-1])
            os.mkdir(path, mode)
            self.own(path)
        return path

    def file(self, name, text, mode=0o600):
        """Writes a file in it; its path."""
        path = os.path.join(self.path, name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        os.chmod(path, mode)
        self.own(path)
        return path

    @property
    def environment(self):
        """The variables of its programs."""
        return {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": self.path,
                "XDG_RUNTIME_DIR": self.folder("runtime"), "TMPDIR": self.folder("tmp"), "LANG": "C.UTF-8",
                "NO_COLOR": "1", "TERM": "dumb"}

    def run(self, *command, limit=PATIENCE, text="", user=ORDINARY, **variables):
        """Runs a program of the user's to its end."""
        return subprocess.run(
            [*as_user(user), *command], env={**self.environment, **variables}, input=text, capture_output=True, text=True,
            errors="replace", timeout=limit, check=False, cwd=self.path)

    def start(self, *command, **options):
        """Starts a program of the user's."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options}
        environment = {**self.environment, **options.pop("variables", {})}
        return subprocess.Popen([*as_user(), *command], env=environment, cwd=self.path, **options)


def end(process, kind=signal.SIGTERM):
    """Ends a program that was started here."""
    if process.poll() is None:
        process.send_signal(kind)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Door:
    """A door that is open while its program runs."""

    def __init__(self, broker, process, told):
        self.broker, self.process = broker, process
        self.id, self.url, self.placeholder = told["doorId"], told["url"], told["placeholder"]
        self.is_port = self.url.startswith("http://")
        self.port = int(self.url.rpartition(":")[2]) if self.is_port else None
        self.path = None if self.is_port else self.url.partition(":")[2]
        self.host = f"127.0.0.1:{self.port}" if self.is_port else "door"
        self.slot = f"Authorization: Bearer {self.placeholder}"

    def connect(self, limit=PATIENCE):
        """A connection to it."""
        if self.is_port:
            connection = socket.create_connection(("127.0.0.1", self.port), timeout=limit)
        else:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(limit)
            connection.connect(self.path)
        return connection

    @property
    def state(self):
        """What the broker says of it."""
        return next((one for one in self.broker.call("listDoors")["doors"] if one["doorId"] == self.id), {})

    def close(self):
        """Closes it with its program."""
        end(self.process)


class Broker:
    """The broker, in a home of its own, with somebody logged in on each profile of the embedded provider."""

    def __init__(self, programs, profiles, logs_in=(), **sections):
        self.home = Home()
        self.bin = self.home.folder("bin", mode=0o755)
        for name in ("authbroker", "authbrokerd"):
            shutil.copy2(os.path.join(programs, name), self.bin)
        self.command = os.path.join(self.bin, "authbroker")
        self.doors = []
        config = self.home.file("config.json", json.dumps({"profiles": profiles, **sections}))
        self.variables = {"AUTHBROKER_CONFIG": config}
        for profile in logs_in:
            self.must("register", "-p", profile, "--email", f"{profile}@example.com", "--password-stdin", text="made-up password 1\n")

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        for door in self.doors:
            door.close()
        self.run("stop")
        self.home.__exit__()

    def run(self, *words, text="", **options):
        """Runs `authbroker`."""
        return self.home.run(self.command, *words, text=text, **self.variables, **options)

    def must(self, *words, text=""):
        """Runs `authbroker`, which must succeed; its output.

        Raises: Failure with what it said.
        """
        done = self.run(*words, text=text)
        if done.returncode:
            raise Failure(f"authbroker {words[0]}: exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def call(self, method, /, **params):
        """The result of a method."""
        return json.loads(self.must("call", method, "-", text=json.dumps(params)))

    def token(self, profile):
        """The token that a profile has now."""
        return self.must("token", "-p", profile).strip()

    def open(self, *words):
        """Opens a door, which stays until this ends."""
        process = self.home.start(
            self.command, "door", "open", "--json", *words, variables=self.variables, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        text = ""
        while True:
            line = process.stdout.readline()
            text += line
            with contextlib.suppress(ValueError):
                told = json.loads(text)
                break
            if not line:
                raise Failure(f"authbroker door open: {process.stderr.read()} {text}")
        self.doors.append(Door(self, process, told))
        return self.doors[-1]

    @property
    def pid(self):
        """The process of the daemon."""
        return int(self.call("getStatus")["pid"])

    def memory(self, name="VmHWM"):
        """A figure of the daemon's memory, in KiB (proc(5))."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(name + ":"))

    def reset_peak(self):
        """Begins the peak of the daemon's memory anew (proc(5), clear_refs)."""
        with open(f"/proc/{self.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
