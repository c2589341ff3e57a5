"""The token of a profile or an address: which requests are made, and what of their answers is used. No input or output happens here."""

from __future__ import annotations

from typing import Any, Dict, Generator, Mapping, Optional, Tuple

from ._errors import BrokerError, BrokerRefusal
from ._members import Members
from ._tokens import AccessToken, Target

#: A request and its params; the answer is sent in, an error of the broker thrown in.
Steps = Generator[Tuple[str, Dict[str, object]], Any, AccessToken]
# Refusals that are about the address itself, or about the broker as a whole.
_FINAL = frozenset({"unknownTarget", "invalidParams", "deadlineExceeded", "vaultLocked", "shuttingDown", "cancelled"})


def of_profile(params: Mapping[str, object]) -> Steps:
    """Asks for the token of a profile."""
    return AccessToken(Members((yield "getAccessToken", dict(params))))


def of_address(url: str, params: Mapping[str, object]) -> Steps:
    """Asks for the token of an address.

    A broker of version 0.2 ignores the address, and answers for the profile that is not named: an answer is used only
    where it has a target that covers the address. Otherwise the target is asked for, and then its token.
    """
    try:
        answer = yield "getAccessToken", {**params, "url": url}
    except BrokerError as error:
        if error.kind in _FINAL:
            raise
    else:
        token = AccessToken(Members(answer))
        if token.target is not None and token.target.covers(url):
            return token
    targets = Members((yield "listTargets", {"url": url})).values("targets", lambda target: target)
    if not targets:
        raise BrokerRefusal(1088, "The configuration has no target for this address.", {
            "kind": "unknownTarget", "nextAction": "fixConfig", "retryable": False})
    entry = targets[0]
    answer = yield "getAccessToken", {
        **params, "profile": entry.text("profile"), "scopes": _first(params.get("scopes"), list(entry.texts("scopes"))),
        "audience": params.get("audience") or entry.optional_text("audience")}
    target = Target(entry.text("url"), entry.optional_text("username"), entry.optional_text("scheme"))
    return AccessToken(Members(answer), target)


def _first(wanted: object, configured: object) -> Optional[object]:
    return configured or None if wanted is None else wanted
