"""A backend for the package `keyring`: the password of a server that is a target is the access token of its profile.

twine, poetry, pdm, hatch and pip (`--keyring-provider import`) find it by its entry point once this package is installed
beside `keyring`. Services that are no target are left to the other backends, and nothing is ever stored.
"""

from __future__ import annotations

import logging
import threading
from typing import Iterator, Optional

from keyring.backend import KeyringBackend
from keyring.credentials import Credential, SimpleCredential
from keyring.errors import KeyringLocked, PasswordDeleteError, PasswordSetError

from ._errors import AuthBrokerError, AuthenticationRequired, Closed, NoBroker
from ._sync import Broker
from ._targets import STANDARD_USERNAME, token_for
from ._tokens import AccessToken

_LOG = logging.getLogger(__name__)


class AuthBrokerKeyring(KeyringBackend):
    """Answers for targets; everything else is another backend's."""

    # Before those that store: what is no target is asked of them next.
    priority = 9  # pyright: ignore[reportAssignmentType]

    def __init__(self) -> None:
        """Connects at the first question."""
        super().__init__()  # type: ignore[no-untyped-call]
        self._lock = threading.Lock()
        self._broker: Optional[Broker] = None

    def get_password(self, service: str, username: str) -> Optional[str]:
        """The token of a target whose user this is, or which is for any user; else None."""
        found = self._find(service, username)
        owner = _user(found)
        return None if found is None or (owner and username and owner != username) else found.value

    def get_credential(self, service: str, username: Optional[str]) -> Optional[Credential]:
        """The user and the token of a target; the user that is named is a hint."""
        found = self._find(service, username)
        return None if found is None else SimpleCredential(_user(found) or username or STANDARD_USERNAME, found.value)

    def set_password(self, service: str, username: str, password: str) -> None:
        """Refuses it for a target; another service is the next backend's."""
        if self._find(service, username) is not None:
            raise PasswordSetError(f"the password for {service} is an access token of authbroker; nothing is stored")
        raise NotImplementedError

    def delete_password(self, service: str, username: str) -> None:
        """Refuses it for a target; another service is the next backend's."""
        if self._find(service, username) is not None:
            raise PasswordDeleteError(f"the password for {service} is an access token of authbroker; sign out with: "
                                      "authbroker logout")
        raise NotImplementedError

    def _find(self, service: str, username: Optional[str]) -> Optional[AccessToken]:
        """The token for a service; raises `KeyringLocked` where the user must act first."""
        try:
            for address in _addresses(service):
                found = token_for(self._connected(), address, username)
                if found is not None:
                    return found
        except NoBroker as error:
            # The passwords of other backends are as good as ever.
            _LOG.warning("authbroker: %s", error)
        except AuthenticationRequired as error:
            raise KeyringLocked(f"authbroker: {error}; log in with: authbroker login"
                                + (f" --profile {error.profile}" if error.profile else "")) from error
        except AuthBrokerError as error:
            raise KeyringLocked(f"authbroker: {error}") from error
        return None

    def _connected(self) -> Broker:
        with self._lock:
            if self._broker is None:
                self._broker = Broker()
            return self._broker

    def __del__(self) -> None:
        broker = getattr(self, "_broker", None)
        if broker is not None:
            try:
                broker.close()
            except (AuthBrokerError, OSError, Closed):
                pass


def _user(token: Optional[AccessToken]) -> Optional[str]:
    """The user that goes with a token; None where its target is for any."""
    return None if token is None or token.target is None else token.target.username


def _addresses(service: str) -> Iterator[str]:
    """The addresses that a service may be: itself, or a host's."""
    if "://" in service:
        yield service
    elif service and not any(c.isspace() or c in "/@" for c in service) and ("." in service or ":" in service):
        yield f"https://{service}"
        yield f"http://{service}"
