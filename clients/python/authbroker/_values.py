"""What the broker gives besides tokens: sessions, logins and events, decoded and typed."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Callable, Mapping, Optional, Tuple, Type, TypeVar

from ._errors import BrokerError, UnexpectedAnswer
from ._members import Members

Value = TypeVar("Value", bound="_Value")


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
class User(_Value):
    """What a provider says of the account behind a session."""

    #: The provider's name for the account, unique at that provider.
    id: str
    email: Optional[str]
    #: None where the provider does not say.
    email_verified: Optional[bool]
    name: Optional[str]
    phone_number_masked: Optional[str]
    #: What a login asks for beside the password, such as `totp`, or `off`; None where the provider does not say.
    two_factor: Optional[str]
    #: Every member as it came, `claims` among them: roles and further attributes.
    raw: Mapping[str, Any] = field(repr=False, compare=False)



@dataclass(frozen=True)
class Session(_Value):
    """The public state of a profile's session."""

    profile: str
    provider: str
    #: Those of the tokens, where a login has found them and the configuration does not name them.
    issuer: Optional[str]
    client_id: Optional[str]
    #: `signedOut`, `challengePending`, `authenticated`, `refreshing`, `offline`, `expired` or `locked`.
    state: str
    #: The provider's name for the account.
    user_id: Optional[str]
    user: Optional[User]
    #: Those of the access token.
    scopes: Tuple[str, ...]
    access_token_expires_at: Optional[datetime]
    #: Whether the session can be refreshed.
    refresh_token_present: bool
    #: None where the provider does not say.
    refresh_token_expires_at: Optional[datetime]
    #: When the user last proved who they are.
    auth_time: Optional[datetime]
    last_refresh_at: Optional[datetime]
    #: When the provider last accepted something of the session.
    last_validated_at: Optional[datetime]
    #: When the session expires unless a client uses it; None where it does not expire by that.
    idle_expires_at: Optional[datetime]
    #: Why a login is needed, where it is, and what has happened, where the reason leaves that open.
    login_required_reason: Optional[str]
    login_required_message: Optional[str]
    #: Whether the newest tokens are not yet safely stored.
    store_degraded: bool
    #: How far the provider's clock is ahead of this machine's; only where it is more than 60 either way.
    provider_clock_skew_seconds: Optional[float]
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
    "bool": Members.flag, "Optional[bool]": Members.optional_flag, "Optional[float]": Members.optional_number,
    "int": Members.integer, "Optional[int]": Members.optional_integer,
    "datetime": Members.time, "Optional[datetime]": Members.optional_time,
    "Mapping[str, Any]": lambda members, _: members.raw,
    "Tuple[LoginForm, ...]": lambda members, name: members.values(name, LoginForm.read),
    "Tuple[Session, ...]": lambda members, name: members.values(name, Session.read),
    "Optional[User]": lambda members, name: members.optional_value(name, User.read),
    "Optional[Session]": lambda members, name: members.optional_value(name, Session.read),
    "Optional[OtpChallenge]": lambda members, name: members.optional_value(name, OtpChallenge.read),
    "Optional[UserAction]": lambda members, name: members.optional_value(name, UserAction.read),
}


def challenge_of(error: BrokerError) -> Optional[OtpChallenge]:
    """The challenge that the error `challengePending` carries."""
    value = error.data.get("challenge")
    return None if value is None else OtpChallenge.read(Members(value, "/challenge"))
