"""The client for programs without an event loop."""

from __future__ import annotations

import os
import threading
import time
from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union, cast

from . import _calls, _dialogue, _retry
from ._cancellation import Cancellation
from ._channel import Channel
from ._errors import AuthBrokerError, Closed, Unauthorized
from ._events import Cursor
from ._location import Location, connect
from ._members import Members
from ._opening import Opening
from ._profile import current
from ._prompts import Prompts
from ._stream import Events
from ._tokens import AccessToken, IdToken
from ._values import LoginResult, LogoutResult, OtpChallenge, Session

Result = TypeVar("Result")


class Broker:
    """A connection to the broker of this user, which is started if there is none.

    Any number of threads may use it at the same time. It connects at the first call, and again after the broker was
    restarted; a request whose effect is unknown then is not repeated, but raises `ConnectionLost`. Every call takes
    `timeout`, in seconds, and `cancellation`, which cancels it from another thread, and raises a subclass of
    `AuthBrokerError`: `TimedOut` and `Cancelled` at the end of those.
    """

    def __init__(self, *, state: Optional[str] = None, config: Optional[str] = None, socket: Optional[str] = None,
                 start: bool = True) -> None:
        """Chooses the broker; what is not given comes from the environment (see `Location`)."""
        self._location = Location(state, config, socket, start)
        self._lock = threading.Lock()
        self._channel: Optional[Channel] = None
        self._opening: Optional[Opening[Channel]] = None
        self._is_closed = False

    def __enter__(self) -> Broker:
        """For `with`: the client is closed at the end."""
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection; calls under way raise `Closed`."""
        with self._lock:
            self._is_closed = True
            channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    # Any method

    def call(self, method: str, params: Optional[Mapping[str, object]] = None, *, timeout: Optional[float] = None,
             cancellation: Optional[Cancellation] = None) -> Any:
        """Calls any method of the interface by its name and returns its result as decoded JSON.

        `timeout` is how many seconds the answer is waited for; None is a minute, more for methods that may take longer,
        and `math.inf` is no limit. Members of the params that are None are left out. Where the broker has ended, a request
        that changes nothing (`REPEATABLE`) is sent once more, to the next broker; one that is about to end is waited
        for, up to 30 seconds. Raises the broker's own error, `NoBroker`,
        `ConnectionLost`, `TimedOut`, `Closed` or `UnexpectedAnswer`.
        """
        limit = _calls.answer_limit(method, params or {}, timeout)
        deadline = None if limit is None else time.monotonic() + limit
        repetition = _retry.Repetition(method, deadline)
        while True:
            channel = self._connected(deadline, cancellation)
            try:
                return channel.call(method, params or {}, deadline, cancellation)
            except AuthBrokerError as error:
                if _retry.has_ended(error):
                    channel.retire()
                pause = repetition.pause(error)
            time.sleep(pause) if cancellation is None else cancellation.pause(pause)

    def _connected(self, deadline: Optional[float], cancellation: Optional[Cancellation]) -> Channel:
        """An open connection."""
        if cancellation is not None:
            cancellation.check()
        channel = self._channel
        if channel is not None and channel.is_open:
            return channel
        process = os.getpid()
        if channel is not None and channel.process != process:
            # The lock and the connection belong to the process that this one was forked from.
            self._lock, self._channel = threading.Lock(), None
            channel.forget()
        with self._lock:
            if self._is_closed:
                raise Closed
            if self._channel is not None and self._channel.is_open:
                return self._channel
            opening = self._opening
            if opening is None or opening.is_over or opening.process != process:
                opening = self._opening = Opening(self._open)
        return opening.wait(deadline, cancellation)

    def _open(self) -> Channel:
        channel = Channel(connect(self._location), self._location.paths(os.environ).state)
        with self._lock:
            self._channel = channel
            is_closed = self._is_closed
        if is_closed:
            channel.close()
            raise Closed
        return channel

    # Tokens

    def access_token(self, profile: Optional[str] = None, *, url: Optional[str] = None,
                     min_validity: Optional[float] = None, scopes: Optional[Sequence[str]] = None,
                     audience: Optional[str] = None, force_refresh: bool = False, wait_for_login: bool = False,
                     timeout: Optional[float] = None,
                     cancellation: Optional[Cancellation] = None) -> AccessToken:
        """Returns a valid access token, refreshed first where necessary.

        `url`, in the place of `profile`, is the address of a server: the configuration's `targets` say whose token it
        is, and `target` of the token what goes with it. Raises `BrokerRefusal` of kind `unknownTarget` where there is
        none.

        Raises `AuthenticationRequired` where the user must log in. `min_validity` is the least remaining lifetime in
        seconds; with `timeout` the broker says what it waited for in vain.
        """
        steps = _calls.token_steps(
            profile, url, min_validity, scopes, audience, force_refresh, wait_for_login, timeout)
        limit = _calls.limit(timeout)
        deadline = None if limit is None else time.monotonic() + limit
        try:
            method, params = next(steps)
            while True:
                left = None if deadline is None else max(deadline - time.monotonic(), 0)
                try:
                    answer = self.call(method, params, timeout=left, cancellation=cancellation)
                except AuthBrokerError as error:
                    method, params = steps.throw(error)
                else:
                    method, params = steps.send(answer)
        except StopIteration as end:
            return cast(AccessToken, end.value)

    def report_rejected(self, token: AccessToken, status: Optional[int] = None, *, challenge: Optional[str] = None,
                        scopes: Optional[Sequence[str]] = None, audience: Optional[str] = None,
                        timeout: Optional[float] = None,
                        cancellation: Optional[Cancellation] = None) -> AccessToken:
        """Reports that an API refused a token (401 where no status is given); returns the one to use instead.

        `challenge` is the response's header `WWW-Authenticate`, several joined by commas: where it wants more scopes, the
        token has them; where that takes a login, the error is `AuthenticationRequired` of kind `reauthRequired`.
        """
        params = _calls.rejection_params(token, status, challenge, scopes, audience)
        answer = self.call("reportRejected", params, timeout=timeout, cancellation=cancellation)
        return AccessToken(Members(answer), token.target)

    def with_access_token(self, use: Callable[[AccessToken], Union[Result, Unauthorized]],
                          profile: Optional[str] = None, *, url: Optional[str] = None,
                          min_validity: Optional[float] = None, scopes: Optional[Sequence[str]] = None,
                          audience: Optional[str] = None, timeout: Optional[float] = None,
                          cancellation: Optional[Cancellation] = None) -> Result:
        """Calls a function with a token; if the API refuses it, reports that once and calls it with the new one.

        The function raises or returns `Unauthorized`; an `urllib.error.HTTPError` with 401, or with 403 and the wish for
        more scopes, is understood as well. The second refusal is raised, and the first one where the broker has no other token.
        """
        token = self.access_token(
            profile, url=url, min_validity=min_validity, scopes=scopes, audience=audience, timeout=timeout,
            cancellation=cancellation)
        for is_last in (False, True):
            try:
                return _calls.accepted(use(token))
            except Exception as error:
                refusal = _calls.refusal(error)
                if refusal is None or is_last:
                    raise
                fresh = self.report_rejected(
                    token, refusal.status, challenge=refusal.challenge, scopes=scopes, audience=audience,
                    timeout=timeout, cancellation=cancellation)
                if fresh == token:
                    raise
                token = fresh
        raise AssertionError("the loop returns or raises")

    def id_token(self, profile: Optional[str] = None, *, timeout: Optional[float] = None,
                 cancellation: Optional[Cancellation] = None) -> IdToken:
        """Returns the session's ID token; the profile must allow it (`allowIdToken`)."""
        params = {"profile": current(profile)}
        return IdToken(Members(self.call("getIdToken", params, timeout=timeout, cancellation=cancellation)))

    # Logins

    def login(self, profile: Optional[str] = None, *, method: Optional[str] = None, email: Optional[str] = None,
              password: Optional[str] = None, phone_number: Optional[str] = None, refresh_token: Optional[str] = None,
              scopes: Optional[Sequence[str]] = None, client_context: Optional[str] = None,
              prompts: Optional[Prompts] = None, timeout: Optional[float] = None,
              cancellation: Optional[Cancellation] = None) -> LoginResult:
        """Logs in. With `prompts` it asks for what is missing and goes on until there is a session.

        Without, it is one request: the result may be a challenge (`verify_otp`) or an action (`await_login`). With
        `prompts`, `timeout` is that of each request; Ctrl-C and `cancellation` cancel the login.
        """
        params = _calls.login_params(
            profile, method, email, password, phone_number, refresh_token, scopes, client_context)
        if prompts is None:
            return self._login_call("login", params, timeout, cancellation)
        return self._drive(_dialogue.Run(_dialogue.login(prompts, params)), timeout, cancellation)

    def verify_otp(self, otp_flow_id: str, code: str, *, timeout: Optional[float] = None,
                   cancellation: Optional[Cancellation] = None) -> LoginResult:
        """Answers a challenge with its one-time code; blanks and dashes do not count."""
        return self._login_call("verifyOtp", {"otpFlowId": otp_flow_id, "code": code}, timeout, cancellation)

    def verify_backup_code(self, otp_flow_id: str, code: str, *, timeout: Optional[float] = None,
                           cancellation: Optional[Cancellation] = None) -> LoginResult:
        """Answers a challenge with a backup code instead."""
        params = {"otpFlowId": otp_flow_id, "backupCode": code}
        return self._login_call("verifyBackupCode", params, timeout, cancellation)

    def resend_otp(self, otp_flow_id: str, *, timeout: Optional[float] = None,
                   cancellation: Optional[Cancellation] = None) -> OtpChallenge:
        """Has another code sent; returns the challenge as it is then."""
        params = {"otpFlowId": otp_flow_id}
        return OtpChallenge.read(Members(self.call("resendOtp", params, timeout=timeout, cancellation=cancellation)))

    def await_login(self, login_flow_id: str, *, timeout: Optional[float] = None,
                    cancellation: Optional[Cancellation] = None) -> LoginResult:
        """Waits until the user has completed a login in a browser or at another device."""
        params = {"loginFlowId": login_flow_id, "timeoutSeconds": timeout}
        return self._login_call("awaitLogin", params, _calls.limit(timeout), cancellation)

    def logout(self, profile: Optional[str] = None, *, everywhere: bool = False, all_profiles: bool = False,
               timeout: Optional[float] = None,
               cancellation: Optional[Cancellation] = None) -> Tuple[LogoutResult, ...]:
        """Signs out here and revokes the session at its provider."""
        params = _calls.logout_params(profile, everywhere, all_profiles)
        return _calls.logout_results(self.call("logout", params, timeout=timeout, cancellation=cancellation))

    def session(self, profile: Optional[str] = None, *, timeout: Optional[float] = None,
                cancellation: Optional[Cancellation] = None) -> Session:
        """Returns the state of a profile's session, and what a login takes."""
        params = {"profile": current(profile)}
        return Session.read(Members(self.call("getSession", params, timeout=timeout, cancellation=cancellation)))

    def sessions(self, *, timeout: Optional[float] = None,
                 cancellation: Optional[Cancellation] = None) -> Tuple[Session, ...]:
        """Returns the state of every profile's session."""
        answer = self.call("listSessions", timeout=timeout, cancellation=cancellation)
        return Members(answer).values("sessions", Session.read)

    def _login_call(self, method: str, params: Mapping[str, object], timeout: Optional[float],
                    cancellation: Optional[Cancellation]) -> LoginResult:
        return LoginResult.read(Members(self.call(method, params, timeout=timeout, cancellation=cancellation)))

    def _drive(self, run: _dialogue.Run, timeout: Optional[float], cancellation: Optional[Cancellation]) -> LoginResult:
        """Does what a dialogue asks for, step by step."""
        while run.step is not None:
            step = run.step
            try:
                if isinstance(step, _dialogue.Ask):
                    value = step.function()
                else:
                    # What is cancelled is the login, and not the request that does so.
                    value = self.call(step.method, step.params, timeout=timeout,
                                      cancellation=None if step.method == "cancelLogin" else cancellation)
            except BaseException as error:
                run.failed(error)
            else:
                run.succeeded(value)
        return run.result

    # Events

    def events(self, events: Optional[Sequence[str]] = None, *, profiles: Optional[Sequence[str]] = None,
               since: Optional[int] = None, patience: Optional[float] = None,
               timeout: Optional[float] = None,
               cancellation: Optional[Cancellation] = None) -> Events:
        """Subscribes; returns an iterator of events over a connection of its own.

        Where the broker ends, the iterator connects again and goes on behind the last event; one that was killed is
        started again, one that was stopped is waited for. `patience` is how many seconds it is waited for (None: for
        ever). `since` is the last sequence that was seen: what was missed comes first, or the event `resync` with
        `sessions` where it is no longer kept. `eventsLost` says that this client read too slowly.
        """
        return Events(self._location, Cursor(events, profiles, since, patience), timeout, cancellation)
