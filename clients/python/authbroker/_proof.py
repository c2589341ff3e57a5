"""The file by which a client shows the owner of its own state directory that it has that directory."""

from __future__ import annotations

import errno
import os
import socket
import stat
from typing import Mapping, Optional

from ._errors import AuthBrokerError, BrokerError, BrokerRefusal, plain
from ._location import Owner, is_held, peer_of

#: What is for clients that have the state directory, besides `logout` with `all` and the methods with `Local` in their
#: names.
_ADMINISTRATIVE = frozenset({
    "rekey", "lock", "reloadConfig", "stopBroker", "checkVault", "tryProvider", "continueTrial",
})
#: What wants a recent login, which a proof takes the place of.
_ACCOUNT_CHANGES = frozenset({"login", "register", "updateProfile", "generateBackupCodes", "completeLogin"})


def wanted_path(error: Optional[AuthBrokerError], method: str, params: Mapping[str, object]) -> Optional[str]:
    """How the name of the file begins that a refusal asks for; None where this method is proven nothing for."""
    proof = error.data.get("proof") if isinstance(error, BrokerError) else None
    path = proof.get("path") if isinstance(proof, Mapping) else None
    if error is None or not isinstance(path, str):
        return None
    if error.kind == "reauthRequired":
        return path if method in _ACCOUNT_CHANGES else None
    is_meant = method in _ADMINISTRATIVE or "Local" in method or method == "logout" and params.get("all") is True
    return path if error.kind == "accessDenied" and is_meant else None


class ProofFile:
    """An empty file named after this process, in the state directory that it has found itself.

    Whatever else answers on a socket, a relay of another program's above all, gets nothing created, in no directory.
    """

    def __init__(self, asked: str, state: str, connection: socket.socket) -> None:
        """Raises `BrokerRefusal` unless the other end owns the state directory and asks for a file directly in it."""
        directory, name = os.path.split(asked)
        if not name or os.path.normpath(asked) != asked or not asked.startswith("/") or not _is_same(directory, state):
            raise _unproven(f"the broker asks for a file in {plain(directory)}, not in {plain(state)}; "
                            "nothing was created")
        pid, _ = peer_of(connection)
        lock = f"{state}/broker.lock"
        # The record is its owner's while the lock is held.
        owner = Owner.read(lock)
        if owner is None or owner.pid != pid or not is_held(lock):
            raise _unproven(f"process {pid}, which answers on the socket, does not own {plain(state)}; "
                            "nothing was created")
        if name.startswith("prove-"):
            raise _unproven("the running broker is of an earlier version; stop it to change over: authbroker stop")
        self._path = f"{state}/{name}.{os.getpid()}"
        self._state = state

    def create(self) -> bool:
        """Creates the file; false if another call of the connection has done so. Raises `BrokerRefusal`."""
        try:
            status = os.lstat(self._state)
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
                raise _unproven(f"{plain(self._state)} is not a directory of this user alone")
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            return False
        except OSError as error:
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            why = "; its file system has no inode left, see: df -i" if is_full else ""
            raise _unproven(f"no file can be created in {plain(self._state)}: {error.strerror}{why}") from None
        return True

    def refusal(self) -> BrokerRefusal:
        """The error where the broker did not take the file."""
        return _unproven(f"the broker does not find {plain(self._path)}; it may run in another PID namespace, "
                         "or see another file system")

    def remove(self) -> None:
        """Removes the file where the broker has not done so."""
        try:
            os.unlink(self._path)
        except OSError:
            pass


def _is_same(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _unproven(why: str) -> BrokerRefusal:
    message = f"access to the broker's state directory cannot be proven: {why}"
    return BrokerRefusal(1081, message, {"kind": "accessDenied", "nextAction": "none", "retryable": False})
