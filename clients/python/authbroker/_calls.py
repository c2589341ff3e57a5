"""What both clients know of the methods: their params and how their results are read."""

from __future__ import annotations

import math
import sys
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from . import _addresses
from ._errors import Unauthorized
from ._members import Members
from ._profile import current
from ._tokens import AccessToken
from ._values import LogoutResult

Result = TypeVar("Result")
# How much longer than the broker's own time limit its answer is waited for, in seconds: it is on this machine.
_ANSWER_SECONDS = 5.0


# How long an answer is waited for where the caller does not say: more than any method takes by itself.
_USUAL_SECONDS = 60.0
# The program that prints the vault's key may ask a person, and a whole vault may be long to look through.
_KEY_SECONDS = 660.0
# A login elsewhere is waited for until it is over, which its provider bounds.
_LOGIN_SECONDS = 3600.0
# A server's challenge that is longer, in bytes, the broker refuses: the token is reported without it.
_LONGEST_CHALLENGE = 8192
_LONGER = {"unlock": _KEY_SECONDS, "rekey": _KEY_SECONDS, "checkVault": _KEY_SECONDS, "awaitLogin": _LOGIN_SECONDS}


def limit(timeout: Optional[float]) -> Optional[float]:
    """How long to wait for an answer to a request that carries its own time limit."""
    return None if timeout is None else timeout + _ANSWER_SECONDS


def answer_limit(method: str, params: Mapping[str, object], timeout: Optional[float]) -> Optional[float]:
    """How long to wait for an answer, in seconds; None only for a caller who asks for that (`math.inf`)."""
    if timeout is not None:
        return None if timeout == math.inf else timeout
    own = params.get("timeoutSeconds")
    usual = _LONGER.get(method, _USUAL_SECONDS)
    return max(usual, own + _ANSWER_SECONDS) if isinstance(own, (int, float)) else usual


def token_steps(profile: Optional[str], url: Optional[str], min_validity: Optional[float],
                scopes: Optional[Sequence[str]], audience: Optional[str], force_refresh: bool, wait_for_login: bool,
                timeout: Optional[float]) -> _addresses.Steps:
    """The requests for a token: of a profile, or of the target that an address belongs to."""
    params: Dict[str, object] = {
        "minValiditySeconds": min_validity, "scopes": None if scopes is None else list(scopes), "audience": audience,
        "forceRefresh": force_refresh or None, "waitForLogin": wait_for_login or None, "timeoutSeconds": timeout}
    if url is None:
        return _addresses.of_profile({**params, "profile": current(profile)})
    if profile is not None:
        raise ValueError("a token is asked for by a profile or by an address, not by both")
    return _addresses.of_address(url, params)


def rejection_params(token: AccessToken, status: Optional[int], challenge: Optional[str],
                     scopes: Optional[Sequence[str]], audience: Optional[str]) -> Dict[str, object]:
    """The params of `reportRejected`: the token is named by its id, so that it does not travel again."""
    return {"profile": token.profile, "tokenId": token.token_id, "status": status, "challenge": challenge,
            "scopes": None if scopes is None else list(scopes), "audience": audience}


def login_params(profile: Optional[str], method: Optional[str], email: Optional[str], password: Optional[str],
                 phone_number: Optional[str], refresh_token: Optional[str], scopes: Optional[Sequence[str]],
                 client_context: Optional[str]) -> Dict[str, object]:
    """The params of `login`."""
    return {"profile": current(profile), "method": method, "email": email, "password": password, "phoneNumber": phone_number,
            "refreshToken": refresh_token, "scopes": None if scopes is None else list(scopes),
            "clientContext": client_context}


def logout_params(profile: Optional[str], everywhere: bool, all_profiles: bool) -> Dict[str, object]:
    """The params of `logout`."""
    return {"profile": profile if all_profiles else current(profile), "everywhere": everywhere or None, "all": all_profiles or None}


def logout_results(result: object) -> Tuple[LogoutResult, ...]:
    """The result of `logout`."""
    return Members(result).values("results", LogoutResult.read)


def accepted(outcome: Union[Result, Unauthorized]) -> Result:
    """The outcome of a caller's function; raises an `Unauthorized` that it has returned."""
    if isinstance(outcome, Unauthorized):
        raise outcome
    return outcome


def refusal_in(status: object, challenge: Optional[str]) -> Optional[Unauthorized]:
    """How a response refuses the token, where another one may help: by 401, or by 403 with the wish for more scopes."""
    if status != 401 and not (status == 403 and challenge is not None and "insufficient_scope" in challenge):
        return None
    is_taken = challenge is not None and 0 < len(challenge.encode()) <= _LONGEST_CHALLENGE
    return Unauthorized(401 if status == 401 else 403, challenge if is_taken else None)


def refusal(outcome: object) -> Optional[Unauthorized]:
    """How an API refused a token; None for any other outcome of a caller's function."""
    if isinstance(outcome, Unauthorized):
        return outcome
    # Where nothing has imported that module, nothing can have raised its error.
    errors = sys.modules.get("urllib.error")
    if errors is None or not isinstance(outcome, errors.HTTPError):
        return None
    headers: Any = getattr(outcome, "headers", None)
    challenges = headers.get_all("WWW-Authenticate", []) if hasattr(headers, "get_all") else []
    return refusal_in(getattr(outcome, "code", None), ", ".join(challenges))
