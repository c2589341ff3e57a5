"""Tokens by the address of a server, as the section `targets` of the configuration names them."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Optional, Tuple
from urllib.parse import quote, urlsplit

from ._errors import BrokerError
from ._members import Members
from ._sync import Broker
from ._values import AccessToken

#: The user name of basic authentication where the target has none, as the helpers of `authbroker` have it.
STANDARD_USERNAME = "oauth2"
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


@dataclass(frozen=True)
class Grant:
    """A token, and how the server wants it."""

    token: AccessToken
    #: The prefix of the addresses that the token is for.
    prefix: str
    username: Optional[str]
    #: `Bearer`, `Basic` or None.
    scheme: Optional[str]

    @property
    def authorization_header(self) -> str:
        """The value of the HTTP header `Authorization`."""
        if self.scheme != "Basic":
            return self.token.authorization_header
        pair = f"{self.username or STANDARD_USERNAME}:{self.token.value}"
        return "Basic " + base64.b64encode(pair.encode()).decode("ascii")


def grant(broker: Broker, address: str, user: Optional[str] = None, *, timeout: Optional[float] = None) -> Optional[Grant]:
    """The token for an address; None where no target has it. Raises what `Broker.access_token` raises.

    A broker that knows no addresses answers with a token of some profile and names no target: that one is not used.
    """
    try:
        answer = broker.call("getAccessToken", {"url": _named(address, user)}, timeout=timeout)
    except BrokerError as error:
        if error.kind in ("unknownTarget", "invalidParams"):
            return None
        raise
    target = answer.get("target") if isinstance(answer, dict) else None
    if not isinstance(target, dict) or not covers(str(target.get("prefix")), address):
        return None
    members = Members(target, "/target")
    return Grant(AccessToken(Members(answer)), members.text("prefix"), members.optional_text("username"),
                 members.optional_text("scheme"))


def covers(prefix: str, address: str) -> bool:
    """Whether an address is below a prefix: the same scheme, host and port, and whole segments of the path."""
    try:
        wanted, given = _parts(prefix), _parts(address)
    except ValueError:
        return False
    host = wanted[1]
    is_host = given[1].endswith(host[1:]) and len(given[1]) > len(host) - 1 if host.startswith("*.") else given[1] == host
    path = wanted[3].rstrip("/")
    return (wanted[0], wanted[2]) == (given[0], given[2]) and is_host and (
        given[3] == path or given[3].startswith(path + "/") or not path)


def _parts(address: str) -> Tuple[str, str, Optional[int], str]:
    """Scheme, host, port and path; raises `ValueError` for what is no address."""
    parts = urlsplit(address)
    if not parts.scheme or not parts.hostname:
        raise ValueError(address)
    return parts.scheme.lower(), parts.hostname, parts.port or _PORTS.get(parts.scheme.lower()), parts.path


def _named(address: str, user: Optional[str]) -> str:
    """The address with the name of a user, unless it has one: a target may be for one user alone."""
    scheme, mark, rest = address.partition("://")
    if not user or not mark or "@" in rest.split("/", 1)[0] or any(c in "@:/?#[]%\\" or c < " " for c in user):
        return address
    return f"{scheme}://{quote(user)}@{rest}"
