"""Tokens, which no text shows, and the targets that they are for."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Dict, NoReturn, Optional, Tuple

from ._members import Members


class _Secret:
    """A string that no representation, format, comparison or copy shows."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    @property
    def value(self) -> str:
        """The text itself: for a request, never for a log."""
        return self._value

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, specification: str) -> str:
        return format(repr(self), specification)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is not pickled or copied; ask the broker for it where it is needed")


@dataclass(frozen=True)
class Target:
    """The entry of the configuration's `targets` that an address belongs to."""

    #: The prefix of the addresses that the token is for, as configured.
    prefix: str
    #: The user name that goes with the token; None: the program's own.
    username: Optional[str] = None
    #: How the token is sent over HTTP: `Bearer` or `Basic`; None: as the program does it best.
    scheme: Optional[str] = None

    @classmethod
    def read(cls, members: Members) -> Target:
        """Reads a target."""
        return cls(members.text("prefix"), members.optional_text("username"), members.optional_text("scheme"))

    def covers(self, address: str) -> bool:
        """Whether an address lies at or below the prefix, as both are written: what is written otherwise does not."""
        scheme, user, host, path = _parts(self.prefix)
        asked_scheme, asked_user, asked_host, asked_path = _parts(address)
        is_below = host.startswith("*.") and asked_host.endswith(host[1:]) and len(asked_host) >= len(host)
        return (scheme == asked_scheme and user in ("", asked_user) and (host == asked_host or is_below)
                and (asked_path + "/").startswith(path + "/"))


def _parts(address: str) -> Tuple[str, str, str, str]:
    """Scheme, user name, host with its port, and path of an address, without a slash at its end."""
    scheme, _, rest = address.partition("://")
    rest = rest.partition("#")[0].partition("?")[0]
    authority, _, path = rest.partition("/")
    user, _, host = authority.rpartition("@")
    return scheme.lower(), user.partition(":")[0], host.lower(), f"/{path}".rstrip("/")


class AccessToken(_Secret):
    """An access token and what is known about it. Keep none: the broker answers from memory."""

    __slots__ = ("token_type", "expires_at", "scopes", "profile", "token_id", "offline", "target", "_field")

    def __init__(self, members: Members, target: Optional[Target] = None) -> None:
        """Reads a token, of a target that is known already where the answer has none."""
        super().__init__(members.text("accessToken"))
        #: `Bearer`, unless the profile's provider is static and names another scheme.
        self.token_type = members.text("tokenType")
        # Only for a secret of the configuration; every other token is sent in Authorization.
        self._field = members.optional_text("header")
        #: When it expires; None where the provider gives no lifetime.
        self.expires_at = members.optional_time("expiresAt")
        self.scopes = members.texts("scopes")
        self.profile = members.text("profile")
        #: A short hash: equal if and only if the token is equal. Fit for logs.
        self.token_id = members.text("tokenId")
        #: True if a refresh was due and failed for a passing reason.
        self.offline = members.flag("offline")
        #: The target of the address that the token was asked for; None where none was named.
        self.target = target if target is not None else members.optional_value("target", Target.read)

    @property
    def headers(self) -> Dict[str, str]:
        """The header that carries the token, ready for a request."""
        return {self.header_name: self.authorization_header}

    @property
    def header_name(self) -> str:
        """The name of that header: `Authorization`, unless the profile's provider is static and names another."""
        return "Authorization" if self._is_basic or self._field is None else self._field

    @property
    def _is_basic(self) -> bool:
        return self.target is not None and self.target.scheme == "Basic"

    @property
    def authorization_header(self) -> str:
        """The value of that header, as the target wants it."""
        if self.target is None or not self._is_basic:
            is_alone = self.header_name.lower() != "authorization" or (self._field is not None and not self.token_type)
            return self._value if is_alone else f"{self.token_type} {self._value}"
        # Servers that take a token as a password look at no user name, where the target has none.
        pair = f"{self.target.username or 'oauth2'}:{self._value}"
        return "Basic " + b64encode(pair.encode()).decode("ascii")

    def expires_in(self) -> Optional[float]:
        """Seconds of life that are left by this machine's clock; None where the provider gives no lifetime."""
        return None if self.expires_at is None else (self.expires_at - datetime.now(timezone.utc)).total_seconds()

    def __repr__(self) -> str:
        expiry = "None" if self.expires_at is None else self.expires_at.isoformat()
        return f"<AccessToken {self.token_id} profile={self.profile!r} expires_at={expiry}>"

    def __eq__(self, other: object) -> bool:
        return self.token_id == other.token_id if isinstance(other, AccessToken) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.token_id)


class IdToken(_Secret):
    """An ID token, for servers that ask who the user is."""

    __slots__ = ("expires_at",)

    def __init__(self, members: Members) -> None:
        """Reads a token."""
        super().__init__(members.text("idToken"))
        #: When it expires.
        self.expires_at = members.optional_time("expiresAt")

    def __repr__(self) -> str:
        return f"<IdToken expires_at={self.expires_at}>"
