"""The file by which a client shows a broker that it has the state directory."""

from __future__ import annotations

import os
import re
import stat
from typing import Mapping, Optional

from ._errors import AuthBrokerError, BrokerError

_NAME = re.compile(r"prove-[0-9a-f]{32}")
_NONCE = re.compile(r"[0-9a-f]{64}")


class ProofFile:
    """A file that the broker asks for in the error `accessDenied`.

    It is obeyed only as far as that can do no harm, whichever program answers on the socket: a new file with a name that
    nothing else uses, in a directory that belongs to this user alone.
    """

    def __init__(self, path: str, nonce: str) -> None:
        """Takes the path and the contents."""
        self.path = path
        self._nonce = nonce

    @staticmethod
    def wanted(error: AuthBrokerError) -> Optional[ProofFile]:
        """What an error asks for; None where it asks for nothing, or for something that is not done."""
        proof = error.data.get("proof") if isinstance(error, BrokerError) else None
        if not isinstance(proof, Mapping):
            return None
        path, nonce = proof.get("path"), proof.get("nonce")
        if not isinstance(path, str) or not isinstance(nonce, str) or not path.startswith("/"):
            return None
        if not _NAME.fullmatch(os.path.basename(path)) or not _NONCE.fullmatch(nonce):
            return None
        return ProofFile(path, nonce)

    def create(self) -> bool:
        """Makes the file; false if it cannot be made, or is there already."""
        try:
            status = os.lstat(os.path.dirname(self.path))
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
                return False
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self.path, flags, 0o600)
        except OSError:
            return False
        try:
            os.write(descriptor, self._nonce.encode())
        except OSError:
            # Its name alone, which only the broker and this client know, has to do on a full disk.
            pass
        finally:
            os.close(descriptor)
        return True

    def remove(self) -> None:
        """Removes the file where the broker has not done so."""
        try:
            os.unlink(self.path)
        except OSError:
            pass
