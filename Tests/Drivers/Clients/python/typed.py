"""What type checkers must make of the package's interface: checked by `mypy --strict`, run by nothing."""

from typing import List, Optional, Tuple

from authbroker import (AccessToken, AsyncBroker, AuthenticationRequired, Broker, Code, CodeAnswer, Event, LoginResult,
                        LogoutResult, OtpChallenge, Prompts, Session, Unauthorized, httpx_auth)


class MyPrompts(Prompts):
    """Answers that are coroutines are answers."""

    async def password(self) -> str:
        """Asks for the password."""
        return "a made-up password"

    def code(self, challenge: OtpChallenge) -> CodeAnswer:
        """Asks for the code."""
        return Code(challenge.masked_destination)


def fetch(token: AccessToken) -> "bytes | Unauthorized":
    """A request."""
    return Unauthorized(403, 'Bearer error="insufficient_scope"') if token.offline else b""


async def fetch_later(token: AccessToken) -> bytes:
    """The same for asyncio."""
    return token.authorization_header.encode()


def threads(broker: Broker) -> Tuple[bytes, Optional[float], Session, LoginResult, Tuple[LogoutResult, ...], List[Event]]:
    """Every result has its type."""
    return (broker.with_access_token(fetch), broker.access_token().expires_in(), broker.session(),
            broker.login(prompts=MyPrompts()), broker.logout(), list(broker.events()))


def step_up(broker: Broker, token: AccessToken) -> Tuple[Tuple[str, ...], Tuple[str, ...], Optional[int]]:
    """What an API's challenge wants of the next login."""
    try:
        broker.report_rejected(token, 403, challenge="Bearer")
    except AuthenticationRequired as error:
        return error.scopes, error.acr_values, error.max_age
    return (), (), None


async def tasks(broker: AsyncBroker) -> bytes:
    """And every awaited one."""
    async for event in await broker.events():
        return event.event.encode()
    return await broker.with_access_token(fetch_later)


def integrations(broker: Broker) -> object:
    """Authentication for another package, whose types this one does not know."""
    return httpx_auth("work", scopes=["a"], origins=["https://api.example.com"], broker=broker)
