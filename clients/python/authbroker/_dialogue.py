"""The course of a login, for both clients: a generator that yields what is to be done, and is sent what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Generator, Mapping, Optional, Union

from ._errors import BrokerError, Cancelled, ConnectionLost, TimedOut, UnexpectedAnswer
from ._members import Members
from ._prompts import BackupCode, CodeAnswer, Prompts, Resend
from ._values import LoginResult, OtpChallenge, Session, UserAction

# How long one request waits for what a person does elsewhere, in seconds; then it is asked again.
_AWAIT_SECONDS = 20
# How many connections in a row may be lost while that is waited for: the login outlives the broker.
_LOSS_LIMIT = 3
# How long the broker may take to cancel a login that its program has left, in seconds.
CANCEL_SECONDS = 5.0
# What leaves a challenge as it is, so that the person may try again.
_TRY_AGAIN = ("otpInvalid", "backupCodeInvalid", "resendTooSoon")


@dataclass(frozen=True)
class Call:
    """A method to call; its result is sent back."""

    method: str
    params: Mapping[str, object]


@dataclass(frozen=True)
class Ask:
    """A function of the prompts to call; what it gives is sent back."""

    function: Callable[[], Any]


Step = Union[Call, Ask]
Steps = Generator[Step, Any, LoginResult]


class Run:
    """A dialogue under way: the step that it asks for next, and in the end the result."""

    def __init__(self, steps: Steps) -> None:
        """Asks for the first step."""
        self._steps = steps
        #: What is to be done next; None when there is a result.
        self.step: Optional[Step] = None
        self._result: Optional[LoginResult] = None
        self._advance(lambda: next(steps))

    @property
    def result(self) -> LoginResult:
        """What the login came to; only at the end."""
        assert self._result is not None
        return self._result

    def succeeded(self, value: Any) -> None:
        """Goes on with what the step gave."""
        self._advance(lambda: self._steps.send(value))

    def failed(self, error: BaseException) -> None:
        """Goes on with why the step gave nothing; raises what the dialogue does not handle."""
        self._advance(lambda: self._steps.throw(error))

    def _advance(self, move: Callable[[], Step]) -> None:
        try:
            self.step = move()
        except StopIteration as end:
            self.step, self._result = None, end.value


def login(prompts: Prompts, params: Mapping[str, object]) -> Steps:
    """Logs in and goes on until there is a session, or something that no prompt can answer."""
    begun: Mapping[str, object] = yield from _credentials(prompts, params)
    result = LoginResult.read(Members((yield Call("login", begun))))
    return (yield from follow(prompts, result))


def follow(prompts: Prompts, result: LoginResult) -> Steps:
    """Goes on with a login that was begun."""
    if result.status == "otpRequired":
        if result.challenge is None:
            raise UnexpectedAnswer("/challenge is missing")
        result = yield from _answer(prompts, result.challenge)
    if result.status == "userActionRequired":
        if result.action is None:
            raise UnexpectedAnswer("/action is missing")
        action = result.action
        yield Ask(lambda: prompts.show_action(action))
        result = yield from _await(action)
    return result


def _credentials(prompts: Prompts, params: Mapping[str, object]) -> Generator[Step, Any, Mapping[str, object]]:
    """Asks for what a login by password takes, where no other way was chosen and none does without a password."""
    if params.get("refreshToken") is not None or params.get("method") not in (None, "password"):
        return params
    session = Session.read(Members((yield Call("getSession", {"profile": params.get("profile")}))))
    # No way at all: no login is needed, and the broker says what to do instead.
    is_free = session.raw.get("login") == [] or any(not form.fields for form in session.login)
    has_some = any(params.get(name) is not None for name in ("method", "email", "phoneNumber", "password"))
    if is_free and not has_some:
        return params
    fields = next((form.fields for form in session.login if form.method == "password"), ("email", "password"))
    account = next((name for name in fields if name != "password"), "email")
    asked: Dict[str, object] = dict(params)
    if asked.get("email") is None and asked.get("phoneNumber") is None:
        asked[account] = yield Ask(lambda: prompts.account(account))
    if asked.get("password") is None:
        asked["password"] = yield Ask(prompts.password)
    return asked


def _answer(prompts: Prompts, first: OtpChallenge) -> Steps:
    """Answers with codes until one is right or the challenge has ended."""
    challenge = first
    try:
        while True:
            now = challenge
            answer: CodeAnswer = yield Ask(lambda: prompts.code(now))
            refusal: Optional[BrokerError] = None
            try:
                if isinstance(answer, Resend):
                    sent = yield Call("resendOtp", {"otpFlowId": challenge.otp_flow_id})
                    challenge = OtpChallenge.read(Members(sent))
                    continue
                method, name = ("verifyBackupCode", "backupCode") if isinstance(answer, BackupCode) else (
                    "verifyOtp", "code")
                done = yield Call(method, {"otpFlowId": challenge.otp_flow_id, name: answer.value})
                return LoginResult.read(Members(done))
            except BrokerError as error:
                if error.kind not in _TRY_AGAIN:
                    raise
                refusal = error
            told = refusal
            yield Ask(lambda: prompts.show_refusal(told))
    except (KeyboardInterrupt, Cancelled):
        yield from _cancel({"otpFlowId": challenge.otp_flow_id})
        raise


def _await(action: UserAction) -> Steps:
    """Waits for what a person does elsewhere, by short requests and across restarts of the broker."""
    flow = {"loginFlowId": action.login_flow_id}
    losses = 0
    try:
        while True:
            try:
                return LoginResult.read(Members((yield Call("awaitLogin", {**flow, "timeoutSeconds": _AWAIT_SECONDS}))))
            except ConnectionLost:
                losses += 1
                if losses >= _LOSS_LIMIT:
                    raise
            except TimedOut as error:
                if not error.answered:
                    raise
                losses = 0
    except (KeyboardInterrupt, Cancelled):
        yield from _cancel(flow)
        raise


def _cancel(flow: Mapping[str, object]) -> Generator[Step, Any, None]:
    """Cancels a login; what it answers does not matter any more."""
    try:
        yield Call("cancelLogin", flow)
    except Exception:
        pass
