"""A broker in a home of its own, for the tests of the real tools; `toolbox.py` has the rest."""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
PASSWORD = "made-up password 1"
PASSPHRASE = "made-up passphrase 1"
EMAIL = "ann@example.com"
# The names by which a tool calls its helper; each is a link to the one program.
HELPER_NAMES = ["git-credential-authbroker", "docker-credential-authbroker", "cargo-credential-authbroker",
                "keyring"]


class Failure(Exception):
    """A test that cannot go on, with the reason."""


def require(*packages):
    """Installs Debian packages that are missing (`COMMAND=PACKAGE` or `PACKAGE`); raises where that fails."""
    command = [os.path.join(REPOSITORY, ".ci", "require-packages"), *packages]
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    if done.returncode:
        raise Failure("packages are missing: " + " ".join(packages))


def wait_until(what, holds, limit=60):
    """Waits for a condition; raises after `limit` seconds."""
    end = time.monotonic() + limit
    while not holds():
        if time.monotonic() > end:
            raise Failure(f"not within {limit} s: {what}")
        time.sleep(0.02)


class Broker:
    """A broker in a temporary home, whose programs stand first on the path; all gone at the end."""

    def __init__(self, targets=None, profiles=None, helper_names=HELPER_NAMES, **settings):
        """Writes the configuration.

        `targets` is the section of that name, `profiles` the section `profiles` (one embedded provider by default),
        `settings` are the other sections, such as `local={"accessTokenLifetimeSeconds": 2}`.
        """
        # Short on purpose: a Unix socket's path has room for 107 bytes.
        self.home = tempfile.mkdtemp(prefix="ab-", dir="/tmp")
        self.bin, self.config = os.path.join(self.home, "bin"), os.path.join(self.home, "config.json")
        self.state = os.path.join(self.home, "state")
        self.command = os.path.join(self.bin, "authbroker")
        self.environment = {
            "PATH": f"{self.bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": self.home,
            "XDG_RUNTIME_DIR": self.folder("runtime"), "XDG_CONFIG_HOME": self.folder("config"),
            "XDG_DATA_HOME": self.folder("data"), "XDG_CACHE_HOME": self.folder("cache"), "TMPDIR": self.folder("tmp"),
            "AUTHBROKER_STATE": self.state, "AUTHBROKER_CONFIG": self.config,
            "LANG": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb",
        }
        self.folder("bin")
        for name in ["authbroker", "authbrokerd"]:
            os.symlink(os.path.join(programs(), name), os.path.join(self.bin, name))
        for name in helper_names:
            os.symlink("authbroker", os.path.join(self.bin, name))
        self.configure(targets=targets or {}, profiles=profiles or {"default": {"provider": "local"}}, **settings)

    def configure(self, **sections):
        """Writes the configuration anew; a running broker must be stopped or reloaded to follow it."""
        self.sections = {name: value for name, value in sections.items() if value}
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump(self.sections, file)

    def add_targets(self, targets):
        """Adds targets, such as a server whose port is known only now; stops the broker, the next one knows them."""
        self.configure(**{**self.sections, "targets": {**self.sections.get("targets", {}), **targets}})
        self.run("stop")

    def __enter__(self):
        return self

    def __exit__(self, *arguments):
        self.run("stop")
        shutil.rmtree(self.home, ignore_errors=True)

    def folder(self, *names):
        """The path of a private folder in the home, made where it is missing."""
        path = os.path.join(self.home, *names)
        os.makedirs(path, mode=0o700, exist_ok=True)
        return path

    def file(self, name, text, mode=0o600):
        """Writes a file in the home; its path."""
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def tool(self, *command, text="", cwd=None, limit=120, **environment):
        """Runs a program in this home to its end, with its output as text, in a session without a terminal."""
        child = subprocess.Popen(
            command, env={**self.environment, **environment},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace", cwd=cwd or self.home, start_new_session=True)
        try:
            output, errors = child.communicate(text, timeout=limit)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"{command[0]} did not end within {limit} s") from error
        finally:
            # What it started ends with it, whether it ended in time or not.
            with contextlib.suppress(ProcessLookupError):
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.communicate()
        return subprocess.CompletedProcess(command, child.returncode, output, errors)

    def run(self, *arguments, text="", **environment):
        """Runs `authbroker`."""
        return self.tool(self.command, *arguments, text=text, **environment)

    def must(self, *arguments, text=""):
        """Runs `authbroker`, which must succeed; its output."""
        done = self.run(*arguments, text=text)
        if done.returncode:
            raise Failure(f"authbroker {arguments[0]}: exit {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def call(self, method, /, **params):
        """The result of a method of the broker."""
        return json.loads(self.must("call", method, "-", text=json.dumps(params)))

    def register(self, profile="default", email=EMAIL):
        """Creates an account and logs it in."""
        self.must("register", "--profile", profile, "--email", email, "--password-stdin", text=PASSWORD + "\n")

    def login(self, profile="default", email=EMAIL):
        """Logs the account in (again)."""
        self.must("login", "--profile", profile, "--email", email, "--password-stdin", text=PASSWORD + "\n")

    def token(self, profile="default"):
        """The access token that the broker gives out now."""
        return self.must("token", "--profile", profile).strip()

    def revoke(self, email=EMAIL):
        """Ends all sessions of the account at the provider; the broker learns it when it refreshes."""
        self.must("local", "revoke", email)

    def is_current(self, token):
        """Whether the provider says that an access token is good now."""
        done = self.run("local", "introspect", "--token-stdin", "--json", text=token + "\n")
        try:
            return json.loads(done.stdout).get("active") is True
        except ValueError:
            return False

    def secrets_in(self, *texts):
        """Whether the token or the password stands in a text, or in the log of the broker."""
        texts = list(texts)
        with contextlib.suppress(FileNotFoundError):
            with open(os.path.join(self.state, "broker.log"), encoding="utf-8", errors="replace") as log:
                texts.append(log.read())
        secrets = [PASSWORD, PASSPHRASE]
        done = self.run("token", "--no-start")
        if done.returncode == 0:
            secrets.append(done.stdout.strip())
        return any(secret in text for secret in secrets for text in texts)


def programs():
    """The folder of the two programs under test, from the environment that `run` sets."""
    return os.environ["AUTHBROKER_PROGRAMS"]


def digest(token):
    """What stands for a token where the token itself must not be kept."""
    return hashlib.sha256(token.encode()).hexdigest()
