"""An addon for mitmproxy: requests to the servers of the section `targets` get their token on the way.

    mitmdump --scripts "$(python3 -c 'import authbroker.mitmproxy_addon as a; print(a.__file__)')"

What a program sends as its own credential to such a server, a placeholder for example, is replaced; what is no target
goes through as it is. Where a request goes decides, and never its header `Host`; so a proxy that knows only the address of a
server (transparent mode) finds no target. A token that a server refuses (401, or 403 with the wish for more scopes)
is reported, and the next request has another one. Where there is no token, the request is answered with 502 and the
reason. The token is to be seen where mitmproxy shows or saves requests.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
from typing import Any, Dict, List, MutableMapping, Optional

try:
    from authbroker._calls import refusal_in
    from authbroker._errors import AuthBrokerError, NoBroker, Unauthorized
    from authbroker._sync import Broker
    from authbroker._targets import token_for
    from authbroker._tokens import AccessToken
except ImportError as missing:  # mitmproxy runs this file by its path, in an environment of its own
    raise ImportError("install the package authbroker in the environment of mitmproxy") from missing

_LOG = logging.getLogger(__name__)


class AuthBrokerAddon:
    """The addon; `broker` is one of the caller's own."""

    def __init__(self, broker: Optional[Broker] = None) -> None:
        """Connects at the first request."""
        self._broker = Broker() if broker is None else broker
        # By the flow: what stands in the flow itself is saved with it.
        self._sent: Dict[str, AccessToken] = {}

    async def request(self, flow: Any) -> None:
        """Replaces the credential of a request to a target."""
        try:
            found = await _apart(token_for, self._broker, flow.request.url)
        except NoBroker as error:
            _LOG.error("authbroker: %s", error)
            return
        except AuthBrokerError as error:
            flow.response = _refusal(error)
            return
        if found is not None:
            headers: MutableMapping[str, str] = flow.request.headers
            headers[found.header_name] = found.authorization_header
            self._sent[flow.id] = found

    async def response(self, flow: Any) -> None:
        """Reports a token that the server has refused."""
        token = self._sent.pop(flow.id, None)
        refusal = refusal_in(flow.response.status_code, flow.response.headers.get("WWW-Authenticate"))
        if token is not None and refusal is not None:
            await _apart(self._report, token, refusal)

    def error(self, flow: Any) -> None:
        """Forgets the token of a request that has no answer."""
        self._sent.pop(flow.id, None)

    def done(self) -> None:
        """Closes the connection to the broker."""
        self._broker.close()

    def _report(self, token: AccessToken, refusal: Unauthorized) -> None:
        try:
            self._broker.report_rejected(token, refusal.status, challenge=refusal.challenge)
        except AuthBrokerError as error:
            _LOG.error("authbroker: %s", error)


def _refusal(error: AuthBrokerError) -> Any:
    """The answer in the place of the server's; a 401 would make the client begin a login of its own."""
    body = json.dumps({"error": str(error), "kind": error.kind, "nextAction": error.next_action})
    kind = importlib.import_module("mitmproxy.http").Response
    return kind.make(502, body, {"Content-Type": "application/json"})


async def _apart(function: Any, *arguments: Any) -> Any:
    """Calls a function on a thread: the proxy's loop goes on meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)


addons: List[AuthBrokerAddon] = [AuthBrokerAddon()]
