"""Starts the owner of a state directory, once, however many clients want it at the same moment."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import shutil
import socket
import stat
import subprocess
import time
from typing import List, Mapping, Optional

from ._errors import NoBroker, plain
from ._location import Owner, Paths, find, is_held

# For another client's start: longer than that client itself waits.
_LOCK_SECONDS = 20.0
# For the daemon's first word: it may have a vault to recover.
_READY_SECONDS = 15.0
# What a daemon may ask for beyond that, while the program that prints the vault's key asks a person.
_KEY_SECONDS = 600.0
# For an owner that holds the lock and does not listen yet.
_OWNED_SECONDS = 5.0
# Until such an owner may have been one that was just ending, and another start is tried.
_RETRY_SECONDS = 0.25
_PAUSE_SECONDS = 0.005


class _Detached(subprocess.Popen):  # type: ignore[type-arg]
    """A daemon: that it outlives the object is no fault to warn of."""

    def __del__(self, *arguments: object) -> None:
        """Does nothing."""


# Daemons that this process started: their exit codes are taken at a later start, so that no zombie remains.
_started: List[_Detached] = []


def daemon(environment: Mapping[str, str]) -> str:
    """The daemon's program: `AUTHBROKER_DAEMON`, or the first `authbrokerd` in `PATH`."""
    chosen = environment.get("AUTHBROKER_DAEMON")
    found = chosen or shutil.which("authbrokerd", path=environment.get("PATH", os.defpath))
    if not found:
        raise NoBroker("no broker runs, and there is no authbrokerd in PATH to start one with; "
                       "set AUTHBROKER_DAEMON to where it is")
    return found


def start(paths: Paths, environment: Mapping[str, str]) -> socket.socket:
    """Starts an owner unless another client just did, and connects to it.

    A client takes `start.lock`, looks again, executes the daemon in a session of its own and waits for its word on a pipe.
    The others wait for the lock and then find the owner. The daemon's own lock decides: if it says that another process
    owns the directory, that one is waited for.
    """
    program = daemon(environment)
    _make_private(paths.state)
    lock = _lock_start(paths)
    try:
        return _start_locked(paths, program, environment)
    finally:
        os.close(lock)


def _make_private(path: str) -> None:
    """Makes the state directory (0700) where it is missing; refuses one that is not this user's alone."""
    try:
        missing = path
        above: List[str] = []
        while not os.path.lexists(missing):
            above.append(missing)
            missing = os.path.dirname(missing)
        for directory in reversed(above):
            try:
                os.mkdir(directory, 0o700)
            except FileExistsError:
                pass
        status = os.lstat(path)
    except OSError as error:
        raise NoBroker(f"the state directory {plain(path)} cannot be used: {error.strerror}") from None
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise NoBroker(f"the state directory {plain(path)} is no directory of yours; choose another")
    if status.st_mode & 0o077:
        raise NoBroker(f"the state directory {plain(path)} is open to others; run: chmod 700 {plain(path)}")


def _lock_start(paths: Paths) -> int:
    path = f"{paths.state}/start.lock"
    limit = time.monotonic() + _LOCK_SECONDS
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise NoBroker(f"{plain(path)} cannot be locked: {error.strerror}") from None
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except OSError as error:
            # A long start, which asks a person for the vault's key, is waited for while it lasts.
            over = time.monotonic() > limit and not is_held(paths.lock) or time.monotonic() > limit + _KEY_SECONDS
            if error.errno != errno.EWOULDBLOCK or over:
                os.close(descriptor)
                raise NoBroker(f"another process has been starting a broker for too long; see who holds {plain(path)}") \
                    from None
        time.sleep(_PAUSE_SECONDS)


def _start_locked(paths: Paths, program: str, environment: Mapping[str, str]) -> socket.socket:
    deadline = time.monotonic() + _OWNED_SECONDS
    pause = _RETRY_SECONDS
    while True:
        found = find(paths)
        if found is not None:
            return found
        word = _launch(paths, program, environment)
        if word == "ready":
            found = find(paths)
            if found is not None:
                return found
            raise NoBroker(f"the broker that was started does not listen on {plain(paths.socket)}")
        # An owner that is coming up will listen soon; one that is going will release its lock, so it is tried again.
        found = _await_owner(paths, min(deadline, time.monotonic() + pause))
        if found is not None:
            return found
        pause *= 2
        if time.monotonic() > deadline:
            owner = Owner.read(paths.lock)
            raise NoBroker(f"the broker (pid {owner.pid if owner else 'unknown'}) of {plain(paths.state)} does not answer")


def _await_owner(paths: Paths, deadline: float) -> Optional[socket.socket]:
    while time.monotonic() < deadline:
        found = find(paths)
        if found is not None:
            return found
        time.sleep(_PAUSE_SECONDS)
    return None


def _launch(paths: Paths, program: str, environment: Mapping[str, str]) -> str:
    """Executes the daemon; returns `ready` or `owned`, raises what it says instead."""
    log_path = f"{paths.state}/broker.log"
    variables = {name: value for name, value in environment.items()
                 if name != "GLIBC_TUNABLES" and not name.startswith(("LD_", "MALLOC_"))}
    reading, writing = os.pipe()
    try:
        log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            arguments = [program, "--state", paths.state, *(["--config", paths.config] if paths.config else []),
                         "--on-demand", "--ready-fd", str(writing)]
            _started[:] = [process for process in _started if process.poll() is None]
            _started.append(_Detached(
                arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, pass_fds=(writing,),
                cwd="/", env=variables, start_new_session=True))
        finally:
            os.close(log)
    except OSError as error:
        os.close(reading)
        raise NoBroker(f"the daemon {plain(program)} cannot be started: {error.strerror}; "
                       "set AUTHBROKER_DAEMON to where it is") from None
    finally:
        os.close(writing)
    try:
        said = _first_line(reading)
    finally:
        os.close(reading)
    words = plain(said).split(" ", 2)
    if words[0] in ("ready", "owned"):
        return words[0]
    if words[:2] == ["error", "owned"]:
        return "owned"
    if words[0] == "error" and len(words) == 3:
        raise NoBroker(words[2])
    raise NoBroker(f"the broker did not start; see {plain(log_path)}, and whether {plain(program)} is the daemon")


def _first_line(reading: int) -> str:
    """The daemon's word; it may ask for more time by `wait SECONDS`. Empty if it says none in time."""
    deadline = time.monotonic() + _READY_SECONDS
    said = b""
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    while len(said) < 4096:
        left = deadline - time.monotonic()
        if left <= 0:
            return ""
        if not poll.poll(left * 1000):
            continue
        data = os.read(reading, 4096)
        if not data:
            return ""
        said += data
        while b"\n" in said:
            line, said = said.split(b"\n", 1)
            words = line.decode(errors="replace").split(" ")
            if len(words) != 2 or words[0] != "wait" or not words[1].isdigit():
                return line.decode(errors="replace")
            deadline = time.monotonic() + min(float(words[1]), _KEY_SECONDS) + _READY_SECONDS
    return ""
