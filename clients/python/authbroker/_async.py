"""The client for programs with an asyncio event loop."""

from __future__ import annotations

import asyncio
import inspect
import os
import time
from types import TracebackType
from typing import Any, Awaitable, Callable, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union, cast

from . import _calls, _dialogue, _retry
from ._async_channel import AsyncChannel
from ._async_stream import AsyncEvents, AsyncSocket
from ._errors import AuthBrokerError, Closed, TimedOut, Unauthorized
from ._events import Cursor
from ._location import Location
from ._members import Members
from ._profile import current
from ._prompts import Prompts
from ._tokens import AccessToken, IdToken
from ._values import LoginResult, LogoutResult, OtpChallenge, Session

Result = TypeVar("Result")


class AsyncBroker:
    """What `Broker` is, for asyncio: cancelling the task of a call cancels the request."""

    def __init__(self, *, state: Optional[str] = None, config: Optional[str] = None, socket: Optional[str] = None,
                 start: bool = True) -> None:
        """Chooses the broker; what is not given comes from the environment (see `Location`)."""
        self._location = Location(state, config, socket, start)
        self._opening: Optional["asyncio.Task[AsyncChannel]"] = None
        self._channel: Optional[AsyncChannel] = None
        self._is_closed = False

    async def __aenter__(self) -> AsyncBroker:
        """For `async with`: the client is closed at the end."""
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connection; calls under way raise `Closed`."""
        self._is_closed = True
        if self._opening is not None:
            await asyncio.wait({self._opening})
        if self._channel is not None:
            await self._channel.close()

    async def call(self, method: str, params: Optional[Mapping[str, object]] = None, *,
                   timeout: Optional[float] = None) -> Any:
        """As `Broker.call`."""
        limit = _calls.answer_limit(method, params or {}, timeout)
        deadline = None if limit is None else time.monotonic() + limit
        repetition = _retry.Repetition(method, deadline)
        while True:
            channel = await self._connected(deadline)
            try:
                left = None if deadline is None else max(deadline - time.monotonic(), 0)
                return await channel.call(method, params or {}, left)
            except AuthBrokerError as error:
                if _retry.has_ended(error):
                    channel.retire()
                pause = repetition.pause(error)
            await asyncio.sleep(pause)

    async def _connected(self, deadline: Optional[float]) -> AsyncChannel:
        """An open connection."""
        if self._is_closed:
            raise Closed
        if self._channel is not None and self._channel.is_open:
            return self._channel
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open())
            # Where nothing waits for it any more, its failure is of no interest.
            self._opening.add_done_callback(lambda done: done.cancelled() or done.exception())
        # The end of one call is not that of the others which wait for the same connection.
        opening = self._opening
        left = None if deadline is None else max(deadline - time.monotonic(), 0)
        await asyncio.wait({opening}, timeout=left)
        if not opening.done():
            raise TimedOut
        return opening.result()

    async def _open(self) -> AsyncChannel:
        try:
            self._channel = AsyncChannel(
                await AsyncSocket.connect(self._location), self._location.paths(os.environ).state)
            return self._channel
        finally:
            self._opening = None

    # Tokens

    async def access_token(self, profile: Optional[str] = None, *, url: Optional[str] = None,
                           min_validity: Optional[float] = None, scopes: Optional[Sequence[str]] = None,
                           audience: Optional[str] = None, force_refresh: bool = False, wait_for_login: bool = False,
                           timeout: Optional[float] = None) -> AccessToken:
        """As `Broker.access_token`."""
        steps = _calls.token_steps(
            profile, url, min_validity, scopes, audience, force_refresh, wait_for_login, timeout)
        limit = _calls.limit(timeout)
        deadline = None if limit is None else time.monotonic() + limit
        try:
            method, params = next(steps)
            while True:
                left = None if deadline is None else max(deadline - time.monotonic(), 0)
                try:
                    answer = await self.call(method, params, timeout=left)
                except AuthBrokerError as error:
                    method, params = steps.throw(error)
                else:
                    method, params = steps.send(answer)
        except StopIteration as end:
            return cast(AccessToken, end.value)

    async def report_rejected(self, token: AccessToken, status: Optional[int] = None, *,
                              challenge: Optional[str] = None, scopes: Optional[Sequence[str]] = None,
                              audience: Optional[str] = None, timeout: Optional[float] = None) -> AccessToken:
        """As `Broker.report_rejected`."""
        params = _calls.rejection_params(token, status, challenge, scopes, audience)
        return AccessToken(Members(await self.call("reportRejected", params, timeout=timeout)), token.target)

    async def with_access_token(
            self, use: Callable[[AccessToken], Union[Awaitable[Union[Result, Unauthorized]], Result, Unauthorized]],
            profile: Optional[str] = None, *, url: Optional[str] = None, min_validity: Optional[float] = None,
            scopes: Optional[Sequence[str]] = None, audience: Optional[str] = None,
            timeout: Optional[float] = None) -> Result:
        """As `Broker.with_access_token`; the function may be a coroutine function."""
        token = await self.access_token(
            profile, url=url, min_validity=min_validity, scopes=scopes, audience=audience, timeout=timeout)
        for is_last in (False, True):
            try:
                given = use(token)
                return _calls.accepted(cast(Result, (await given) if inspect.isawaitable(given) else given))
            except Exception as error:
                refusal = _calls.refusal(error)
                if refusal is None or is_last:
                    raise
                fresh = await self.report_rejected(
                    token, refusal.status, challenge=refusal.challenge, scopes=scopes, audience=audience, timeout=timeout)
                if fresh == token:
                    raise
                token = fresh
        raise AssertionError("the loop returns or raises")

    async def id_token(self, profile: Optional[str] = None, *, timeout: Optional[float] = None) -> IdToken:
        """As `Broker.id_token`."""
        return IdToken(Members(await self.call("getIdToken", {"profile": current(profile)}, timeout=timeout)))

    # Logins

    async def login(self, profile: Optional[str] = None, *, method: Optional[str] = None, email: Optional[str] = None,
                    password: Optional[str] = None, phone_number: Optional[str] = None,
                    refresh_token: Optional[str] = None, scopes: Optional[Sequence[str]] = None,
                    client_context: Optional[str] = None, prompts: Optional[Prompts] = None,
                    timeout: Optional[float] = None) -> LoginResult:
        """As `Broker.login`; prompts that are no coroutine functions run on another thread."""
        params = _calls.login_params(
            profile, method, email, password, phone_number, refresh_token, scopes, client_context)
        if prompts is None:
            return await self._login_call("login", params, timeout)
        return await self._drive(_dialogue.Run(_dialogue.login(prompts, params)), timeout)

    async def verify_otp(self, otp_flow_id: str, code: str, *, timeout: Optional[float] = None) -> LoginResult:
        """As `Broker.verify_otp`."""
        return await self._login_call("verifyOtp", {"otpFlowId": otp_flow_id, "code": code}, timeout)

    async def verify_backup_code(self, otp_flow_id: str, code: str, *, timeout: Optional[float] = None) -> LoginResult:
        """As `Broker.verify_backup_code`."""
        return await self._login_call("verifyBackupCode", {"otpFlowId": otp_flow_id, "backupCode": code}, timeout)

    async def resend_otp(self, otp_flow_id: str, *, timeout: Optional[float] = None) -> OtpChallenge:
        """As `Broker.resend_otp`."""
        return OtpChallenge.read(Members(await self.call("resendOtp", {"otpFlowId": otp_flow_id}, timeout=timeout)))

    async def await_login(self, login_flow_id: str, *, timeout: Optional[float] = None) -> LoginResult:
        """As `Broker.await_login`."""
        params = {"loginFlowId": login_flow_id, "timeoutSeconds": timeout}
        return await self._login_call("awaitLogin", params, _calls.limit(timeout))

    async def logout(self, profile: Optional[str] = None, *, everywhere: bool = False, all_profiles: bool = False,
                     timeout: Optional[float] = None) -> Tuple[LogoutResult, ...]:
        """As `Broker.logout`."""
        params = _calls.logout_params(profile, everywhere, all_profiles)
        return _calls.logout_results(await self.call("logout", params, timeout=timeout))

    async def session(self, profile: Optional[str] = None, *, timeout: Optional[float] = None) -> Session:
        """As `Broker.session`."""
        return Session.read(Members(await self.call("getSession", {"profile": current(profile)}, timeout=timeout)))

    async def sessions(self, *, timeout: Optional[float] = None) -> Tuple[Session, ...]:
        """As `Broker.sessions`."""
        return Members(await self.call("listSessions", timeout=timeout)).values("sessions", Session.read)

    async def events(self, events: Optional[Sequence[str]] = None, *, profiles: Optional[Sequence[str]] = None,
                     since: Optional[int] = None, patience: Optional[float] = None,
                     timeout: Optional[float] = None) -> AsyncEvents:
        """As `Broker.events`: `async for event in await broker.events()`."""
        stream = AsyncEvents(self._location, Cursor(events, profiles, since, patience))
        await stream.begin(timeout)
        return stream

    async def _login_call(self, method: str, params: Mapping[str, object], timeout: Optional[float]) -> LoginResult:
        return LoginResult.read(Members(await self.call(method, params, timeout=timeout)))

    async def _drive(self, run: _dialogue.Run, timeout: Optional[float]) -> LoginResult:
        """Does what a dialogue asks for, step by step."""
        while run.step is not None:
            step = run.step
            try:
                value = await _asked(step.function) if isinstance(step, _dialogue.Ask) else await self.call(
                    step.method, step.params, timeout=timeout)
            except asyncio.CancelledError:
                await self._cancel(run)
                raise
            except Exception as error:
                run.failed(error)
            else:
                run.succeeded(value)
        return run.result

    async def _cancel(self, run: _dialogue.Run) -> None:
        """Cancels the login that a dialogue waits for."""
        try:
            run.failed(KeyboardInterrupt())
            if isinstance(run.step, _dialogue.Call):
                await self.call(run.step.method, run.step.params, timeout=_dialogue.CANCEL_SECONDS)
        except (KeyboardInterrupt, AuthBrokerError):
            pass


async def _asked(function: Callable[[], Any]) -> Any:
    """Calls a prompt: a coroutine function here, anything else on another thread, since it may wait for a person."""
    value = await asyncio.get_running_loop().run_in_executor(None, function)
    return (await value) if inspect.isawaitable(value) else value
