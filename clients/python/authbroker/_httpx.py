"""Authentication for httpx and httpx2, and so for the MCP Python SDK: the broker's token, another where it is refused."""

from __future__ import annotations

import importlib
from typing import Any, AsyncGenerator, Generator, Optional, Sequence, Set, Tuple
from urllib.parse import urlsplit

from . import _calls
from ._errors import Unauthorized
from ._sync import Broker
from ._tokens import AccessToken

_PORTS = {"http": 80, "https": 443}
#: Scheme, host and port.
Origin = Tuple[str, str, Optional[int]]


class TokenFlow:
    """What both packages ask of an authentication: requests in, responses back."""

    def __init__(self, profile: Optional[str], scopes: Optional[Sequence[str]], audience: Optional[str],
                 origins: Sequence[str], broker: Optional[Broker]) -> None:
        """Connects at the first request."""
        self._profile, self._scopes, self._audience = profile, scopes, audience
        self._origins: Set[Origin] = {_origin(urlsplit(origin)) for origin in origins}
        self._broker = Broker() if broker is None else broker

    def sync_auth_flow(self, request: Any) -> Generator[Any, Any, None]:
        """Adds the header; a refused token is reported, and the request sent once more with another one.

        A body that can be sent only once is not sent again.
        """
        token = self._token() if self._admits(request) else None
        response = yield _bearing(request, token)
        refusal = _refusal(request, response)
        if token is not None and refusal is not None:
            other = self._other(token, refusal)
            if other != token:
                yield _bearing(request, other)

    async def async_auth_flow(self, request: Any) -> AsyncGenerator[Any, Any]:
        """The same for asyncio and trio: the broker is asked on a thread."""
        run_sync = importlib.import_module("anyio.to_thread").run_sync
        token = await run_sync(self._token) if self._admits(request) else None
        response = yield _bearing(request, token)
        refusal = _refusal(request, response)
        if token is not None and refusal is not None:
            other = await run_sync(self._other, token, refusal)
            if other != token:
                yield _bearing(request, other)

    def _admits(self, request: Any) -> bool:
        """Whether the token may be sent there: to the server of the first request, where none was named."""
        origin = _origin(request.url)
        if not self._origins:
            self._origins.add(origin)
        return origin in self._origins

    def _token(self) -> AccessToken:
        return self._broker.access_token(self._profile, scopes=self._scopes, audience=self._audience)

    def _other(self, token: AccessToken, refusal: Unauthorized) -> AccessToken:
        return self._broker.report_rejected(
            token, refusal.status, challenge=refusal.challenge, scopes=self._scopes, audience=self._audience)


def _origin(url: Any) -> Origin:
    host = url.hostname if hasattr(url, "hostname") else url.host
    return url.scheme, (host or "").lower(), url.port or _PORTS.get(url.scheme)


def _bearing(request: Any, token: Optional[AccessToken]) -> Any:
    if token is not None:
        request.headers[token.header_name] = token.authorization_header
    return request


def _refusal(request: Any, response: Any) -> Optional[Unauthorized]:
    """How a response refuses the token, if the request may be sent again with another one: its body is still there."""
    can_repeat = type(request.stream).__name__ == "ByteStream"
    return _calls.refusal_in(response.status_code, response.headers.get("WWW-Authenticate")) if can_repeat else None


def httpx_auth(profile: Optional[str] = None, *, scopes: Optional[Sequence[str]] = None, audience: Optional[str] = None,
               origins: Sequence[str] = (), broker: Optional[Broker] = None) -> Any:
    """Authentication for httpx or httpx2 by the access token of a profile, fresh for each request.

        httpx.Client(auth=authbroker.httpx_auth())

    The token is sent to the server of the first request, or to those that `origins` names, such as
    `https://api.example.com`; requests to others go without it. After a 401, or a 403 that wants more scopes, the token is
    reported with the server's challenge. Where the user must log in, the request raises `AuthenticationRequired`. One of
    the packages must be installed.
    """
    kinds = tuple(kind for kind in map(_kind, ("httpx", "httpx2")) if kind is not None)
    if not kinds:
        raise ImportError("httpx_auth needs the package httpx or httpx2")
    return type("BrokerAuth", (TokenFlow, *kinds), {})(profile, scopes, audience, origins, broker)


def _kind(name: str) -> Optional[type]:
    """The class of a package's authentications; None where it is not installed."""
    try:
        kind = importlib.import_module(name).Auth
    except ImportError:
        return None
    return kind if isinstance(kind, type) else None
