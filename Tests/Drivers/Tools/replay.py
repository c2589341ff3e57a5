"""Calls of tools that cannot be had here, replayed: each as the tool's own source makes it, in every state of a session."""

import contextlib
import os
import subprocess

from toolbox import STATES, Result

TARGET = "https://api.example.com/v1"
# The states that have a token to give.
GOOD_STATES = {"fresh", "expired"}


@contextlib.contextmanager
def in_state(state, targets=None):
    """A broker in a state that has a target, or those that are given."""
    with STATES[state](targets=targets or {TARGET: "default"}) as broker:
        yield broker


def ask(broker, command, text="", limit=10, **environment):
    """Runs a helper as such a tool does: input by a pipe that is closed, an end within `limit` seconds, then the output.

    The process is waited for before anything is read, as Bazel does it: an answer must fit into a pipe.
    """
    with subprocess.Popen(
            command, env={**broker.environment, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, cwd=broker.home) as child:
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(text)
            child.stdin.close()
        try:
            code = child.wait(limit)
        except subprocess.TimeoutExpired:
            child.kill()
            return subprocess.CompletedProcess(command, -9, "", "it did not end")
        return subprocess.CompletedProcess(command, code, child.stdout.read(), child.stderr.read())


def program(broker, name):
    """The path of the program by one of its other names, made where it is missing."""
    path = os.path.join(broker.bin, name)
    if not os.path.lexists(path):
        os.symlink("authbroker", path)
    return path


def judge(what, broker, done, is_good):
    """The result of one call: as the test judged it, and no secret among the words for people."""
    leaks = broker.secrets_in(done.stderr)
    return Result(what, is_good and not leaks, f"exit {done.returncode} {done.stderr[-200:]}")
