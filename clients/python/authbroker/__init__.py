"""Fresh access tokens from the AuthBroker daemon, which is started where it does not run.

    from authbroker import Broker

    with Broker() as broker:
        token = broker.access_token()
        headers = token.headers

`Broker` is for threads, `AsyncBroker` for asyncio; both speak JSON-RPC lines over the broker's Unix socket, whose
server is checked to be the same user before a byte is sent.
"""

from typing import TYPE_CHECKING

from ._cancellation import Cancellation
from ._errors import (AuthBrokerError, AuthenticationRequired, BrokerError, BrokerRefusal, Cancelled, Closed,
                      ConnectionLost, CredentialError, NoBroker, NoTerminal, ProviderError, RequestError, TimedOut,
                      Unauthorized, UnexpectedAnswer, VaultError)
from ._prompts import BackupCode, Code, CodeAnswer, Prompts, Resend, TerminalPrompts
from ._stream import Events
from ._sync import Broker
from ._tokens import AccessToken, IdToken, Target
from ._values import (Event, LoginForm, LoginResult, LogoutResult, OtpChallenge, Session, Snapshot, User, UserAction,
                      challenge_of)

if TYPE_CHECKING:
    from ._async import AsyncBroker
    from ._async_stream import AsyncEvents
    from ._httpx import httpx_auth

__all__ = [
    "AccessToken", "AsyncBroker", "AsyncEvents", "AuthBrokerError", "AuthenticationRequired", "BackupCode", "Broker",
    "BrokerError", "BrokerRefusal", "Cancellation", "Cancelled", "Closed", "Code", "CodeAnswer", "ConnectionLost",
    "CredentialError", "Event", "Events", "IdToken", "LoginForm", "LoginResult", "LogoutResult", "NoBroker",
    "NoTerminal", "OtpChallenge", "Prompts", "ProviderError", "RequestError", "Resend", "Session", "Snapshot",
    "Target", "TerminalPrompts", "TimedOut", "Unauthorized", "UnexpectedAnswer", "User", "UserAction", "VaultError",
    "challenge_of", "httpx_auth",
]


def __getattr__(name: str) -> object:
    """Imports what needs asyncio, or another package, when it is used (PEP 562): programs without begin in half the time."""
    if name == "AsyncBroker":
        from ._async import AsyncBroker

        return AsyncBroker
    if name == "AsyncEvents":
        from ._async_stream import AsyncEvents

        return AsyncEvents
    if name == "httpx_auth":
        from ._httpx import httpx_auth

        return httpx_auth
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
