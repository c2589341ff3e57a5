"""The client for programs without an event loop."""

from __future__ import annotations

import os
import threading
import time
from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union

from . import _calls, _dialogue, _retry
from ._channel import Cancellation, Channel
from ._errors import AuthBrokerError, Closed, Unauthorized
from ._events import Cursor
from ._location import Location, connect
from ._members import Members
from ._profile import current
from ._prompts import Prompts
from ._stream import Events
from ._values import AccessToken, IdToken, LoginResult, LogoutResult, OtpChallenge, Session

Result = TypeVar("Result")


class Broker:
    """A connection to the broker of this user, which is started if there is none.

    Any number of threads may use it at the same time. It connects at the first call, and again after the broker was
    restarted; a request whose effect is unknown then is not repeated, but raises `ConnectionLost`. Every call takes
    `timeout`, in seconds, and raises a subclass of `AuthBrokerError`.
    """

    def __init__(self, *, state: Optional[str] = None, config: Optional[str] = None, socket: Optional[str] = None,
                 start: bool = True) -> None:
        """Chooses the broker; what is not given comes from the environment (see `Location`)."""
        self._location = Location(state, config, socket, start)
        self._lock = threading.Lock()
        self._channel: Optional[Channel] = None
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
            channel = self._connected()
            try:
                return channel.call(method, params or {}, deadline, cancellation)
            except AuthBrokerError as error:
                if _retry.has_ended(error):
                    channel.retire()
                pause = repetition.pause(error)
            time.sleep(pause)

    def _connected(self) -> Channel:
        """An open connection."""
        channel = self._channel
        if channel is not None and channel.is_open:
            return channel
        if channel is not None and channel.process != os.getpid():
            # The lock and the connection belong to the process that this one was forked from.
            self._lock, self._channel = threading.Lock(), None
            channel.forget()
        with self._lock:
            if self._is_closed:
                raise Closed
            if self._channel is None or not self._channel.is_open:
                self._channel = Channel(connect(self._location), self._location.paths(os.environ).state)
            return self._channel

    # Tokens

    def access_token(self, profile: Optional[str] = None, *, min_validity: Optional[float] = None,
                     scopes: Optional[Sequence[str]] = None, audience: Optional[str] = None,
                     force_refresh: bool = False, wait_for_login: bool = False,
                     timeout: Optional[float] = None) -> AccessToken:
        """Returns a valid access token, refreshed first where necessary.

        Raises `AuthenticationRequired` where the user must log in. `min_validity` is the least remaining lifetime in
        seconds; with `timeout` the broker says what it waited for in vain.
        """
        params = _calls.token_params(profile, min_validity, scopes, audience, force_refresh, wait_for_login, timeout)
        return AccessToken(Members(self.call("getAccessToken", params, timeout=_calls.limit(timeout))))

    def report_rejected(self, token: AccessToken, status: Optional[int] = None, *,
                        scopes: Optional[Sequence[str]] = None, audience: Optional[str] = None,
                        timeout: Optional[float] = None) -> AccessToken:
        """Reports that an API refused a token (401 where no status is given); returns the one to use instead."""
        params = _calls.rejection_params(token, status, scopes, audience)
        return AccessToken(Members(self.call("reportRejected", params, timeout=timeout)))

    def with_access_token(self, use: Callable[[AccessToken], Union[Result, Unauthorized]],
                          profile: Optional[str] = None, *, min_validity: Optional[float] = None,
                          scopes: Optional[Sequence[str]] = None, audience: Optional[str] = None,
                          timeout: Optional[float] = None) -> Result:
        """Calls a function with a token; if the API refuses it, reports that once and calls it with the new one.

        The function raises or returns `Unauthorized`; an `urllib.error.HTTPError` with 401 is understood as well. The
        second refusal is raised, and the first one where the broker has no other token.
        """
        token = self.access_token(profile, min_validity=min_validity, scopes=scopes, audience=audience, timeout=timeout)
        for is_last in (False, True):
            try:
                return _calls.accepted(use(token))
            except Exception as error:
                status = _calls.refused_status(error)
                if status is None or is_last:
                    raise
                fresh = self.report_rejected(token, status, scopes=scopes, audience=audience, timeout=timeout)
                if fresh == token:
                    raise
                token = fresh
        raise AssertionError("the loop returns or raises")

    def id_token(self, profile: Optional[str] = None, *, timeout: Optional[float] = None) -> IdToken:
        """Returns the session's ID token; the profile must allow it (`allowIdToken`)."""
        return IdToken(Members(self.call("getIdToken", {"profile": current(profile)}, timeout=timeout)))

    # Logins

    def login(self, profile: Optional[str] = None, *, method: Optional[str] = None, email: Optional[str] = None,
              password: Optional[str] = None, phone_number: Optional[str] = None, refresh_token: Optional[str] = None,
              scopes: Optional[Sequence[str]] = None, client_context: Optional[str] = None,
              prompts: Optional[Prompts] = None, timeout: Optional[float] = None) -> LoginResult:
        """Logs in. With `prompts` it asks for what is missing and goes on until there is a session.

        Without, it is one request: the result may be a challenge (`verify_otp`) or an action (`await_login`). With
        `prompts`, `timeout` is that of each request, and Ctrl-C cancels the login.
        """
        params = _calls.login_params(
            profile, method, email, password, phone_number, refresh_token, scopes, client_context)
        if prompts is None:
            return self._login_call("login", params, timeout)
        return self._drive(_dialogue.Run(_dialogue.login(prompts, params)), timeout)

    def verify_otp(self, otp_flow_id: str, code: str, *, timeout: Optional[float] = None) -> LoginResult:
        """Answers a challenge with its one-time code; blanks and dashes do not count."""
        return self._login_call("verifyOtp", {"otpFlowId": otp_flow_id, "code": code}, timeout)

    def verify_backup_code(self, otp_flow_id: str, code: str, *, timeout: Optional[float] = None) -> LoginResult:
        """Answers a challenge with a backup code instead."""
        return self._login_call("verifyBackupCode", {"otpFlowId": otp_flow_id, "backupCode": code}, timeout)

    def resend_otp(self, otp_flow_id: str, *, timeout: Optional[float] = None) -> OtpChallenge:
        """Has another code sent; returns the challenge as it is then."""
        return OtpChallenge.read(Members(self.call("resendOtp", {"otpFlowId": otp_flow_id}, timeout=timeout)))

    def await_login(self, login_flow_id: str, *, timeout: Optional[float] = None) -> LoginResult:
        """Waits until the user has completed a login in a browser or at another device."""
        params = {"loginFlowId": login_flow_id, "timeoutSeconds": timeout}
        return self._login_call("awaitLogin", params, _calls.limit(timeout))

    def logout(self, profile: Optional[str] = None, *, everywhere: bool = False, all_profiles: bool = False,
               timeout: Optional[float] = None) -> Tuple[LogoutResult, ...]:
        """Signs out here and revokes the session at its provider."""
        params = _calls.logout_params(profile, everywhere, all_profiles)
        return _calls.logout_results(self.call("logout", params, timeout=timeout))

    def session(self, profile: Optional[str] = None, *, timeout: Optional[float] = None) -> Session:
        """Returns the state of a profile's session, and what a login takes."""
        return Session.read(Members(self.call("getSession", {"profile": current(profile)}, timeout=timeout)))

    def sessions(self, *, timeout: Optional[float] = None) -> Tuple[Session, ...]:
        """Returns the state of every profile's session."""
        return Members(self.call("listSessions", timeout=timeout)).values("sessions", Session.read)

    def _login_call(self, method: str, params: Mapping[str, object], timeout: Optional[float]) -> LoginResult:
        return LoginResult.read(Members(self.call(method, params, timeout=timeout)))

    def _drive(self, run: _dialogue.Run, timeout: Optional[float]) -> LoginResult:
        """Does what a dialogue asks for, step by step."""
        while run.step is not None:
            step = run.step
            try:
                value = step.function() if isinstance(step, _dialogue.Ask) else self.call(
                    step.method, step.params, timeout=timeout)
            except BaseException as error:
                run.failed(error)
            else:
                run.succeeded(value)
        return run.result

    # Events

    def events(self, events: Optional[Sequence[str]] = None, *, profiles: Optional[Sequence[str]] = None,
               since: Optional[int] = None, patience: Optional[float] = None,
               timeout: Optional[float] = None) -> Events:
        """Subscribes; returns an iterator of events over a connection of its own.

        Where the broker ends, the iterator connects again and goes on behind the last event; one that was killed is
        started again, one that was stopped is waited for. `patience` is how many seconds it is waited for (None: for
        ever). `since` is the last sequence that was seen: what was missed comes first, or the event `resync` with
        `sessions` where it is no longer kept. `eventsLost` says that this client read too slowly.
        """
        return Events(self._location, Cursor(events, profiles, since, patience), timeout)
