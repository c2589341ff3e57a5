"""Why a call has no result."""

from __future__ import annotations

import unicodedata
from typing import Any, Dict, Mapping, Optional, Tuple, Type


def plain(text: str) -> str:
    """Text of another program, made fit for a terminal: control and format characters become question marks."""
    return "".join("?" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in text)


class AuthBrokerError(Exception):
    """Anything that keeps a call from its result; its text is one sentence without secrets."""

    #: The stable name of the reason.
    kind: str = "error"
    #: What to do: `login`, `verifyOtp`, `retry`, `wait`, `unlock`, `reauthenticate`, `fixRequest`, `fixConfig`,
    #: `contactProvider`, `askOwner`, `useRequests` or `none`.
    next_action: str = "none"
    #: Whether the same call may succeed later without anything else being done.
    retryable: bool = False


class NoBroker(AuthBrokerError):
    """There is no broker to talk to, or none that is trusted; the text says why."""

    kind = "noBroker"


class ConnectionLost(AuthBrokerError):
    """The connection ended before the answer came; whether the call had an effect is not known."""

    kind = "connectionLost"
    next_action = "retry"
    retryable = True

    def __init__(self, sent: bool = True) -> None:
        """Says whether the broker may have read the request."""
        super().__init__("the broker closed the connection before it answered")
        #: False if the broker has certainly not read the request.
        self.sent = sent


class Closed(AuthBrokerError):
    """The client was closed by its own program."""

    kind = "closed"

    def __init__(self) -> None:
        """Has one sentence only."""
        super().__init__("this client was closed")


class UnexpectedAnswer(AuthBrokerError):
    """The other end does not speak this protocol; the text says how that shows, without what it said."""

    kind = "unexpectedAnswer"

    def __init__(self, what: str) -> None:
        """Says what is wrong with the answer."""
        super().__init__(f"the broker's answer is not what was expected: {what}")


class NoTerminal(AuthBrokerError):
    """A login needs an answer, and there is no terminal to ask at."""

    kind = "noTerminal"

    def __init__(self) -> None:
        """Has one sentence only."""
        super().__init__("there is no terminal to ask at; pass prompts of your own")


class Unauthorized(AuthBrokerError):
    """An API refused a token: raised or returned by the function that is given to `with_access_token`."""

    kind = "unauthorized"

    def __init__(self, status: int = 401, challenge: Optional[str] = None) -> None:
        """Takes the HTTP status, 401 or 403, and the response's header `WWW-Authenticate`, which may want more scopes."""
        super().__init__(f"the API refused the access token (HTTP status {status})")
        #: The HTTP status.
        self.status = status
        #: The header `WWW-Authenticate`; several are joined by commas.
        self.challenge = challenge


class BrokerError(AuthBrokerError):
    """The broker answered with an error, which says what to do next."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any]) -> None:
        """Takes an error apart as the broker sent it."""
        super().__init__(plain(message))
        #: The number of the error; `kind` is its name.
        self.code = code
        #: One sentence without secrets.
        self.message = plain(message)
        #: Every member that came with it.
        self.data = data
        kind, action, wait = data.get("kind"), data.get("nextAction"), data.get("retryAfterSeconds")
        self.kind = kind if isinstance(kind, str) else "unknown"
        self.next_action = action if isinstance(action, str) else "none"
        self.retryable = data.get("retryable") is True
        #: How long to wait before the next try, where the broker knows.
        self.retry_after: Optional[float] = _number(wait)
        #: How often a code may still be tried.
        self.attempts_remaining: Optional[int] = self._count("attemptsRemaining")
        #: The profile that it is about.
        self.profile: Optional[str] = self._text("profile")
        #: Which member of the params is wrong (RFC 6901).
        self.pointer: Optional[str] = self._text("pointer")
        #: By what the broker's log names the same failure.
        self.correlation_id: Optional[str] = self._text("correlationId")
        #: What the next login asks for, as a server's challenge wants it (`reauthRequired`): scopes, authentication
        #: context classes, and how many seconds ago it may have been. The broker adds them itself.
        self.scopes: Tuple[str, ...] = self._texts("scopes")
        self.acr_values: Tuple[str, ...] = self._texts("acrValues")
        self.max_age: Optional[int] = self._count("maxAge")

    def _count(self, name: str) -> Optional[int]:
        value = _number(self.data.get(name))
        return None if value is None else int(value)

    def _texts(self, name: str) -> Tuple[str, ...]:
        value = self.data.get(name)
        return tuple(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else ()

    def _text(self, name: str) -> Optional[str]:
        value = self.data.get(name)
        return value if isinstance(value, str) else None

    def __repr__(self) -> str:
        """Shows kind and sentence, not the data."""
        return f"{type(self).__name__}(kind={self.kind!r}, code={self.code}, message={self.message!r})"

    def __reduce__(self) -> Tuple[Type[BrokerError], Tuple[int, str, Mapping[str, Any]]]:
        """Survives the way to another process."""
        return type(self), (self.code, self.message, dict(self.data))


class RequestError(BrokerError):
    """The request is wrong, or the broker has a fault (-32700 to -32603)."""


class Cancelled(BrokerError):
    """The request was cancelled (-32800)."""


class AuthenticationRequired(BrokerError):
    """A person must log in or answer first (1001 to 1019); `next_action` says which."""


class CredentialError(BrokerError):
    """A credential or a code was refused (1020 to 1039)."""


class ProviderError(BrokerError):
    """The provider or the network is in the way (1040 to 1059)."""


class VaultError(BrokerError):
    """The vault is locked or damaged (1060 to 1079)."""


class BrokerRefusal(BrokerError):
    """The broker does not do this: unknown profile, access denied, overloaded, shutting down (1080 to 1099)."""


class TimedOut(BrokerRefusal, TimeoutError):
    """The time limit of a call is over (`deadlineExceeded`), whether the broker says so or this package.

    Where the broker has not answered, it is told that the answer is not wanted any more.
    """

    def __init__(self, code: int = 1087, message: str = "the broker did not answer in time",
                 data: Optional[Mapping[str, Any]] = None) -> None:
        """Takes the broker's own error apart; without one, the package's own limit is over."""
        super().__init__(code, message, data if data is not None else {
            "kind": "deadlineExceeded", "nextAction": "retry", "retryable": True})
        #: Whether the broker has said so.
        self.answered = data is not None


_RANGES: Dict[range, Type[BrokerError]] = {
    range(-32700, -32599): RequestError, range(-32800, -32799): Cancelled, range(1001, 1020): AuthenticationRequired,
    range(1020, 1040): CredentialError, range(1040, 1060): ProviderError, range(1060, 1080): VaultError,
    range(1080, 1100): BrokerRefusal,
}


def _number(value: object) -> Optional[float]:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def error_from(error: object) -> AuthBrokerError:
    """The error of an answer's member `error`, of the class that its code belongs to."""
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return UnexpectedAnswer("an error without a message")
    code, data = error.get("code"), error.get("data")
    if not isinstance(code, int):
        return UnexpectedAnswer("an error without a code")
    kind = TimedOut if code == 1087 else next((kind for codes, kind in _RANGES.items() if code in codes), BrokerError)
    return kind(code, error["message"], data if isinstance(data, dict) else {})
