"""What the broker gives: tokens, sessions, logins and events, decoded and typed."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime, timezone
from typing import Any, Callable, Mapping, NoReturn, Optional, Tuple, Type, TypeVar

from ._errors import BrokerError, UnexpectedAnswer
from ._members import Members

Value = TypeVar("Value", bound="_Value")


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


class AccessToken(_Secret):
    """An access token and what is known about it. Keep none: the broker answers from memory."""

    __slots__ = ("token_type", "expires_at", "scopes", "profile", "token_id", "offline")

    def __init__(self, members: Members) -> None:
        """Reads a token."""
        super().__init__(members.text("accessToken"))
        #: `Bearer`, or `DPoP`.
        self.token_type = members.text("tokenType")
        #: When it expires; None where the provider gives no lifetime.
        self.expires_at = members.optional_time("expiresAt")
        self.scopes = members.texts("scopes")
        self.profile = members.text("profile")
        #: A short hash: equal if and only if the token is equal. Fit for logs.
        self.token_id = members.text("tokenId")
        #: True if a refresh was due and failed for a passing reason.
        self.offline = members.flag("offline")

    @property
    def authorization_header(self) -> str:
        """The value of the HTTP header `Authorization`."""
        return f"{self.token_type} {self._value}"

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


@dataclass(frozen=True)
class _Value:
    """A dataclass whose fields are the members of an object: their names in camel case, and their types."""

    @classmethod
    def read(cls: Type[Value], members: Members) -> Value:
        """Reads an object; raises `UnexpectedAnswer` where a member does not fit."""
        return cls(**{one.name: _READERS[str(one.type)](members, _member(one.name)) for one in fields(cls)})


@dataclass(frozen=True)
class LoginForm(_Value):
    """A way to log in to a profile, and what it takes."""

    method: str
    fields: Tuple[str, ...]



@dataclass(frozen=True)
class Session(_Value):
    """The public state of a profile's session."""

    profile: str
    provider: str
    #: `signedOut`, `challengePending`, `authenticated`, `refreshing`, `offline`, `expired` or `locked`.
    state: str
    user_id: Optional[str]
    scopes: Tuple[str, ...]
    access_token_expires_at: Optional[datetime]
    refresh_token_present: bool
    #: The ways to log in, in the order of preference; only from `session`.
    login: Tuple[LoginForm, ...]
    #: Every member as it came.
    raw: Mapping[str, Any] = field(repr=False, compare=False)



@dataclass(frozen=True)
class OtpChallenge(_Value):
    """A one-time code that a login waits for."""

    otp_flow_id: str
    profile: str
    #: `sms`, `email` or `totp`; the code of the last is not sent.
    method: str
    masked_destination: str
    otp_length: int
    expires_at: datetime
    next_resend_at: datetime
    attempts_remaining: int
    backup_codes_allowed: bool
    #: Every member as it came.
    raw: Mapping[str, Any] = field(repr=False, compare=False)



@dataclass(frozen=True)
class UserAction(_Value):
    """Something to be done in a browser or at another device, so that a login goes on."""

    login_flow_id: str
    profile: str
    #: `deviceCode` or `browser`.
    kind: str
    verification_uri: str
    verification_uri_complete: Optional[str]
    user_code: Optional[str]
    expires_at: datetime
    #: Every member as it came.
    raw: Mapping[str, Any] = field(repr=False, compare=False)



@dataclass(frozen=True)
class LoginResult(_Value):
    """What a step of a login came to."""

    #: `authenticated`, `otpRequired`, `userActionRequired` or `emailVerificationRequired`.
    status: str
    session: Optional[Session]
    challenge: Optional[OtpChallenge]
    action: Optional[UserAction]
    #: After a backup code: how many are left.
    backup_codes_remaining: Optional[int]
    #: Every member as it came.
    raw: Mapping[str, Any] = field(repr=False, compare=False)



@dataclass(frozen=True)
class LogoutResult(_Value):
    """What became of one profile's session."""

    profile: str
    #: Whether the provider has revoked it: `yes`, `no`, `pending` or `unsupported`.
    server_revoked: str



@dataclass(frozen=True)
class Snapshot(_Value):
    """Where the sessions stood when a subscription began."""

    subscription_id: str
    sequence: int
    sessions: Tuple[Session, ...]
    #: True if events were missed that the broker no longer keeps: the sessions are then the truth.
    resync: bool



@dataclass(frozen=True)
class Event:
    """Something that happened to a session, the vault or the broker."""

    #: Only increases; a gap is no loss.
    sequence: int
    #: The name, such as `login`; `eventsLost` says that some were dropped, `resync` that only `sessions` is known.
    event: str
    #: None for events of no profile.
    profile: Optional[str]
    time: Optional[datetime]
    data: Mapping[str, Any]
    subscription_id: str
    #: Only with `resync`: where the sessions stand.
    sessions: Tuple[Session, ...] = ()

    @staticmethod
    def read(members: Members) -> Event:
        """Reads the params of a notification."""
        data = members.raw.get("data", {})
        if not isinstance(data, dict):
            raise UnexpectedAnswer("/data must be an object")
        return Event(members.integer("sequence"), members.text("event"), members.optional_text("profile"),
                     members.time("time"), data, members.text("subscriptionId"))


def _member(name: str) -> str:
    """The member that a field is read from: `expires_at` from `expiresAt`."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


# How a field is read, by its type as it is written above.
_READERS: Mapping[str, Callable[[Members, str], Any]] = {
    "str": Members.text, "Optional[str]": Members.optional_text, "Tuple[str, ...]": Members.texts,
    "bool": Members.flag, "int": Members.integer, "Optional[int]": Members.optional_integer,
    "datetime": Members.time, "Optional[datetime]": Members.optional_time,
    "Mapping[str, Any]": lambda members, _: members.raw,
    "Tuple[LoginForm, ...]": lambda members, name: members.values(name, LoginForm.read),
    "Tuple[Session, ...]": lambda members, name: members.values(name, Session.read),
    "Optional[Session]": lambda members, name: members.optional_value(name, Session.read),
    "Optional[OtpChallenge]": lambda members, name: members.optional_value(name, OtpChallenge.read),
    "Optional[UserAction]": lambda members, name: members.optional_value(name, UserAction.read),
}


def challenge_of(error: BrokerError) -> Optional[OtpChallenge]:
    """The challenge that the error `challengePending` carries."""
    value = error.data.get("challenge")
    return None if value is None else OtpChallenge.read(Members(value, "/challenge"))
