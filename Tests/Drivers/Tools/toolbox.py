"""What the tests of the real tools share: a broker in a home of its own, the states of a session, results, and times.

A test of a tool is an executable beside this file; it calls `main(NAME, function)`; the function yields `Result`s.
Every state of a session is a function of `STATES` that gives a `Broker` in that state. The broker is in `broker.py`,
the server that the tools talk to in `apiserver.py`.
"""

import contextlib
import dataclasses
import os
import statistics
import subprocess
import sys
import time
import traceback

# Tests find everything here.
from broker import (EMAIL, HELPER_NAMES, HERE, PASSPHRASE, PASSWORD, REPOSITORY, Broker, Failure, digest,  # noqa: F401
                    programs, require, wait_until)


@dataclasses.dataclass
class Result:
    """One line of the report: what was run, whether it came out as it must, and what was seen (no secret)."""

    what: str
    is_good: bool
    seen: str = ""


# MARK: The states of a session


@contextlib.contextmanager
def fresh(**settings):
    """An account that is logged in, with a fresh access token."""
    with Broker(**settings) as broker:
        broker.register()
        yield broker


@contextlib.contextmanager
def expired(**settings):
    """The access token has expired; the session lives, and a refresh gives another token."""
    with fresh(**{**settings, "local": {**settings.get("local", {}), "accessTokenLifetimeSeconds": 3}}) as broker:
        old = broker.token()
        if not broker.is_current(old):
            raise Failure("a token of a fresh session is not good")
        wait_until("the access token expires", lambda: not broker.is_current(old))
        yield broker


@contextlib.contextmanager
def revoked(**settings):
    """The session has ended at the provider, and the broker has learnt it."""
    with fresh(**settings) as broker:
        broker.revoke()
        broker.run("call", "getAccessToken", '{"forceRefresh":true}')
        wait_until("the broker knows of the end", lambda: broker.run("token").returncode == 3)
        yield broker


@contextlib.contextmanager
def absent(**settings):
    """Nobody has logged in."""
    with fresh(**settings) as broker:
        broker.must("logout")
        yield broker


@contextlib.contextmanager
def no_broker(**settings):
    """No broker can be reached: AUTHBROKER_SOCKET names a socket that is not there."""
    with fresh(**settings) as broker:
        broker.must("stop")
        broker.environment["AUTHBROKER_SOCKET"] = os.path.join(broker.home, "nothing.sock")
        yield broker
        del broker.environment["AUTHBROKER_SOCKET"]


@contextlib.contextmanager
def locked(**settings):
    """The vault is locked, and its key is a passphrase."""
    with Broker(**{**settings, "vault": {"keySource": "passphrase"}}) as broker:
        broker.must("unlock", "--password-stdin", text=PASSPHRASE + "\n" + PASSPHRASE + "\n")
        broker.register()
        broker.must("lock")
        yield broker


STATES = {"fresh": fresh, "expired": expired, "revoked": revoked, "absent": absent, "no broker": no_broker,
          "locked": locked}


# MARK: Times


def helper_time(broker, command, text="", runs=50):
    """Milliseconds of one answer of a helper beside those of `true`, started the same way: two medians."""
    def median(command):
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            subprocess.run(command, env=broker.environment, input=text.encode(), capture_output=True, check=False)
            times.append(time.perf_counter() - start)
        return statistics.median(times) * 1000
    return median(command), median(["/bin/true"])


def time_result(broker, command, text="", what="one answer of the helper"):
    """The result that tells the time of one answer; it only fails where there was no answer."""
    done = broker.tool(*command, text=text)
    helper, bare = helper_time(broker, command, text)
    return Result(what, done.returncode == 0 and bool(done.stdout), f"{helper:.1f} ms; `true` {bare:.1f} ms")


# MARK: The report


def report(tool, result):
    """Prints a line that people and `run` read."""
    seen = " ".join(result.seen.split())
    print(f"{'PASS' if result.is_good else 'FAIL'} {tool} | {result.what} | {seen}", flush=True)


def main(tool, *functions):
    """Runs the functions of a tool's test, which yield results, and ends the program: 1 if anything failed."""
    sys.dont_write_bytecode = True
    failed, count = 0, 0
    for function in functions:
        try:
            for result in function():
                report(tool, result)
                failed += not result.is_good
                count += 1
        except Exception as error:  # the other functions still run
            if not isinstance(error, Failure):
                traceback.print_exc()
            report(tool, Result(function.__name__.replace("_", " "), False, f"{type(error).__name__}: {error}"))
            failed += 1
    sys.exit(1 if failed or not count else 0)
