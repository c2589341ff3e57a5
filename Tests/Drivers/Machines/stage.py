"""The broker as an ordinary user's, and real servers beside it."""

import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

PATIENCE = 60
BIN = os.path.dirname(sys.executable)


def free_port():
    """A port that no one listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Broker:
    """The broker, its home and its configuration."""

    def __init__(self, programs, environment=None):
        self.home = tempfile.mkdtemp(prefix="ab-", dir="/tmp")
        self.programs = os.path.join(self.home, "bin")
        os.mkdir(self.programs)
        for name in ("authbroker", "authbrokerd"):
            shutil.copy2(os.path.join(programs, name), self.programs)
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": self.home, **(environment or {})}
        self.user = []
        if os.getuid() == 0:
            self.owner = pwd.getpwnam("nobody").pw_uid
            self.user = ["setpriv", f"--reuid={self.owner}", f"--regid={self.owner}", "--clear-groups"]
            self.own(self.home)

    def own(self, path):
        """Gives a file or a folder to the broker's user."""
        if self.user:
            os.chown(path, self.owner, self.owner)

    def file(self, name, text, mode=0o600):
        """Writes a file of the broker's user, in one step."""
        path = os.path.join(self.home, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path + ".new", mode)
        self.own(path + ".new")
        os.rename(path + ".new", path)
        return path

    def configure(self, profiles):
        """Writes the configuration; a broker that runs reads it again."""
        folder = os.path.join(self.home, ".config", "authbroker")
        for made in (os.path.dirname(folder), folder):
            if not os.path.exists(made):
                os.mkdir(made, 0o700)
                self.own(made)
        self.file(".config/authbroker/config.json", json.dumps({"profiles": profiles}))
        if self.is_running:
            self.run("reload")

    @property
    def is_running(self):
        """Whether a broker answers."""
        return self.run("status", "--no-start").returncode == 0

    def run(self, *arguments):
        """Runs a command."""
        command = [*self.user, os.path.join(self.programs, "authbroker"), *arguments]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=self.home)

    def token(self, profile="default", *more):
        """The token, or what is said."""
        done = self.run("token", "-p", profile, *more)
        return done.stdout.strip() if done.returncode == 0 else done.stderr.strip()

    def call(self, method, /, **parameters):
        """Calls a method."""
        done = self.run("call", method, json.dumps(parameters))
        try:
            return json.loads(done.stdout)
        except ValueError:
            return {"said": done.stderr.strip(), "code": done.returncode}

    def force(self, profile="default"):
        """Asks for a new token; a pause after an earlier failure is over by the reload."""
        self.run("reload")
        return self.call("getAccessToken", profile=profile, forceRefresh=True)

    def close(self):
        """Ends it, and removes everything."""
        self.run("stop")
        shutil.rmtree(self.home, ignore_errors=True)


class Served:
    """A server of the environment, on a free port, until it is left."""

    def __init__(self, command, environment, path):
        self.port = free_port()
        self.url, self.folder = f"http://127.0.0.1:{self.port}", tempfile.mkdtemp(prefix="ab-", dir="/tmp")
        self.command, self.environment, self.path = command, environment, path

    def __enter__(self):
        environment = {"PATH": "/usr/bin:/bin", "HOME": self.folder, **self.environment(self)}
        self.process = subprocess.Popen(
            self.command(self), env=environment, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return self.get(self.path) and self
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def __exit__(self, *arguments):
        self.process.terminate()
        self.process.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)

    def get(self, path):
        """Reads something."""
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE) as answer:
            return answer.read()

    def post(self, path, value):
        """Posts JSON."""
        request = urllib.request.Request(self.url + path, json.dumps(value).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)


def authgent(trusted=()):
    """authgent-server, which trusts the assertions of other ones."""
    def environment(server):
        return {"AUTHGENT_SERVER_URL": server.url, "AUTHGENT_SECRET_KEY": "0" * 64,
                "AUTHGENT_TRUSTED_CHAINING_ISSUERS": json.dumps(list(trusted))}

    def command(server):
        return [os.path.join(BIN, "authgent-server"), "run", "--host", "127.0.0.1", "--port", str(server.port)]
    return Served(command, environment, "/.well-known/oauth-authorization-server")


def nanoidp():
    """nanoidp with the client that it makes for demonstrations."""
    program = os.path.join(BIN, "nanoidp")

    def environment(server):
        subprocess.run([program, "init", server.folder], env={"PATH": "/usr/bin:/bin", "HOME": server.folder}, check=True, capture_output=True)
        path = os.path.join(server.folder, "settings.yaml")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("http://localhost:8000", server.url))
        return {}

    def command(server):
        return [program, "--host", "127.0.0.1", "--port", str(server.port), "--config", server.folder]
    return Served(command, environment, "/.well-known/openid-configuration")
