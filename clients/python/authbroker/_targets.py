"""Tokens by the address of a server and the name of a user, as programs ask that are no client of the broker."""

from __future__ import annotations

from typing import Optional
from urllib.parse import quote

from ._errors import BrokerError
from ._sync import Broker
from ._tokens import AccessToken

#: The user name of basic authentication where the target has none, as the helpers of `authbroker` have it.
STANDARD_USERNAME = "oauth2"


def token_for(broker: Broker, address: str, user: Optional[str] = None) -> Optional[AccessToken]:
    """The token for an address; None where no target has it. Raises what `Broker.access_token` raises."""
    try:
        return broker.access_token(url=_named(address, user))
    except BrokerError as error:
        if error.kind in ("unknownTarget", "invalidParams"):
            return None
        raise


def _named(address: str, user: Optional[str]) -> str:
    """The address with the name of a user, unless it has one: a target may be for one user alone."""
    scheme, mark, rest = address.partition("://")
    if not user or not mark or "@" in rest.split("/", 1)[0] or any(c in "@:/?#[]%\\" or c < " " for c in user):
        return address
    return f"{scheme}://{quote(user)}@{rest}"
