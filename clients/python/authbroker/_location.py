"""Where the broker is: paths, and the way to a connected socket."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import pwd
import select
import socket
import stat
import struct
import time
from dataclasses import dataclass
from typing import Mapping, Optional

from ._errors import NoBroker, plain
from ._codec import MESSAGE_LIMIT

# How long a full queue of the listener may hold the caller up, in seconds.
_CONNECT_SECONDS = 5
# How long the question which state directory is served may take: behind a service manager's socket, a broker may be
# just starting.
_PROBE_SECONDS = 60
# How long a broker that has stopped reading may hold up a request, in seconds.
_SEND_SECONDS = 30


@dataclass(frozen=True)
class Location:
    """Which broker to talk to; what is None comes from the environment, as for the command `authbroker`."""

    #: The state directory.
    state: Optional[str] = None
    #: The configuration file; a running broker that uses another one is refused.
    config: Optional[str] = None
    #: The socket itself: nothing else is looked for, and nothing started.
    socket: Optional[str] = None
    #: Whether a broker is started where there is none.
    start: bool = True

    def paths(self, environment: Mapping[str, str]) -> Paths:
        """Computes the paths; asks no file system. Raises `NoBroker` where nothing names a state directory."""
        for name in ("AUTHBROKER_STATE", "AUTHBROKER_CONFIG", "AUTHBROKER_SOCKET"):
            value = environment.get(name, "")
            if value and not value.startswith("/"):
                raise NoBroker(f"{name} must be an absolute path, not {plain(value)}")

        def base(name: str, below_home: Optional[str]) -> Optional[str]:
            value = environment.get(name, "")
            home = environment.get("HOME", "")
            if value.startswith("/"):
                return os.path.normpath(value)
            return os.path.normpath(f"{home}/{below_home}") if below_home and home.startswith("/") else None

        usual_base = base("XDG_STATE_HOME", ".local/state")
        usual = f"{usual_base}/authbroker" if usual_base else None
        chosen = self.state or environment.get("AUTHBROKER_STATE") or None
        state = os.path.abspath(chosen) if chosen else usual
        if state is None:
            raise NoBroker("HOME is not set to an absolute path, so there is no default state directory; "
                           "set AUTHBROKER_STATE to one")
        runtime = base("XDG_RUNTIME_DIR", None) if state == usual else None
        config = self.config or environment.get("AUTHBROKER_CONFIG") or None
        fixed = self.socket or environment.get("AUTHBROKER_SOCKET") or None
        return Paths(state, f"{runtime}/authbroker/broker.sock" if runtime else f"{state}/run/broker.sock",
                     os.path.abspath(config) if config else None, os.path.abspath(fixed) if fixed else None,
                     environment.get("AUTHBROKER_SERVER_UID") or None)


@dataclass(frozen=True)
class Paths:
    """Where the files of a state directory are."""

    state: str
    #: Where a broker listens that has left no record.
    socket: str
    #: The configuration that was chosen.
    config: Optional[str]
    #: The socket that was chosen: nothing else counts.
    fixed: Optional[str]
    #: The user that has to serve it, as `AUTHBROKER_SERVER_UID` names it: a name, a number or `any`.
    server: Optional[str] = None

    @property
    def lock(self) -> str:
        """The owner's lock and record."""
        return f"{self.state}/broker.lock"


@dataclass(frozen=True)
class Owner:
    """What the owner of a state directory says about itself in its lock file."""

    pid: int
    socket: str
    config: Optional[str]

    @staticmethod
    def read(path: str) -> Optional[Owner]:
        """Reads the record of a lock file; None if there is none, or none that this user wrote."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
                return None
            text = file.read(64 * 1024)
        try:
            record = json.loads(text)
            pid, path, config = record["pid"], record["socket"], record.get("config")
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
        if not isinstance(pid, int) or pid < 1 or not isinstance(path, str) or not path.startswith("/"):
            return None
        return Owner(pid, path, config if isinstance(config, str) else None)


def is_held(path: str) -> bool:
    """Whether a process holds the lock of a file: the lock, not the record, says whether there is an owner."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return error.errno not in (errno.ENOENT, errno.ENOTDIR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError as error:
        return error.errno == errno.EWOULDBLOCK
    finally:
        os.close(descriptor)


def peer_of(connection: socket.socket) -> tuple[int, int]:
    """The process and the user at the other end (`SO_PEERCRED`, unix(7))."""
    pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return pid, uid & 0xFFFFFFFF


def _is_trusted(uid: int, server: Optional[str]) -> bool:
    """Whether a broker of this user may be sent something: the own one, root's, or the one that is named instead."""
    if server is None:
        return uid in (os.geteuid(), 0)
    if server == "any":
        return True
    try:
        return uid == (int(server) if server.isascii() and server.isdigit() else pwd.getpwnam(server).pw_uid)
    except KeyError:
        raise NoBroker(f"AUTHBROKER_SERVER_UID must be the name or the number of a user, or any, not {plain(server)}") from None


def open_socket(path: str, server: Optional[str] = None) -> Optional[socket.socket]:
    """Connects, and checks the peer's user before a byte is sent; None if no broker listens."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _limit_sending(connection, _CONNECT_SECONDS)
        connection.connect(path)
        _limit_sending(connection, _SEND_SECONDS)
        _, uid = peer_of(connection)
        if _is_trusted(uid, server):
            return connection
        reason = f"{plain(path)} is served by user {uid}, who is not trusted; nothing was sent"
    except NoBroker:
        connection.close()
        raise
    except OSError as error:
        connection.close()
        if error.errno in (errno.ENOENT, errno.ECONNREFUSED, errno.ENOTDIR):
            return None
        reason = f"the broker's socket {plain(path)} cannot be reached: {error.strerror or 'the path is too long'}"
    connection.close()
    raise NoBroker(reason)


def _limit_sending(connection: socket.socket, seconds: int) -> None:
    """Bounds connect(2) and send(2) (`SO_SNDTIMEO`), and nothing else: the socket stays blocking."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", seconds, 0))


def find(paths: Paths) -> Optional[socket.socket]:
    """Connects to a broker that is there already; None if there is none."""
    owner = Owner.read(paths.lock)
    connection = open_socket(owner.socket) if owner else None
    if owner and connection:
        # A killed owner leaves its record behind, and its socket's path may be another owner's by now.
        if peer_of(connection)[0] == owner.pid or is_held(paths.lock):
            if paths.config is None or owner.config == paths.config:
                return connection
            connection.close()
            raise NoBroker(f"the running broker uses the configuration {plain(owner.config or '(none)')}, "
                           f"not {plain(paths.config)}; stop it to change over")
        connection.close()
    # A service manager's socket is there before its owner is, and so before any record. Without one, the socket may as
    # well be another owner's.
    probe = open_socket(paths.socket)
    if probe is None:
        return None
    with probe:
        served = _served_directory(probe, paths.socket)
    if served is not None and not _is_same(served, paths.state):
        raise NoBroker(f"the broker on {plain(paths.socket)} serves the state directory {plain(served)}, "
                       f"not {plain(paths.state)}")
    return open_socket(paths.socket)


def _served_directory(probe: socket.socket, path: str) -> Optional[str]:
    """Which state directory a broker asks a proof for; the question needs a connection of its own."""
    said = b""
    deadline = time.monotonic() + _PROBE_SECONDS
    poll = select.poll()
    poll.register(probe, select.POLLIN)
    try:
        probe.sendall(b'{"jsonrpc":"2.0","id":1,"method":"checkVault","params":{"full":false}}\n')
        while b"\n" not in said and len(said) < MESSAGE_LIMIT:
            left = deadline - time.monotonic()
            if left <= 0:
                raise NoBroker(f"the broker on {plain(path)} does not answer")
            if poll.poll(left * 1000):
                data = probe.recv(64 * 1024)
                if not data:
                    return None
                said += data
        proof = json.loads(said.split(b"\n")[0])["error"]["data"]["proof"]["path"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return os.path.dirname(proof) if isinstance(proof, str) and proof.startswith("/") else None


def _is_same(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def connect(location: Location, environment: Optional[Mapping[str, str]] = None) -> socket.socket:
    """Finds the broker, or starts one, and connects; may wait for it. Raises `NoBroker` with what is in the way."""
    variables = os.environ if environment is None else environment
    paths = location.paths(variables)
    if paths.fixed:
        connection = open_socket(paths.fixed, paths.server)
        if connection is None:
            raise NoBroker(f"no broker listens on {plain(paths.fixed)}, which was chosen; start that broker")
        return connection
    found = find(paths)
    if found is not None:
        return found
    if location.start:
        from ._launch import start

        return start(paths, variables)
    owner = Owner.read(paths.lock)
    if owner and is_held(paths.lock):
        raise NoBroker(f"the broker (pid {owner.pid}) of {plain(paths.state)} is not on {plain(owner.socket)}")
    raise NoBroker(f"no broker listens on {plain(paths.socket)}; start one with: authbroker serve")
