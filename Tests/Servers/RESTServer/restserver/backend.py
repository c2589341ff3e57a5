"""The endpoints: what each one demands, does and answers. Nothing here knows about sockets or misbehaviour."""

import base64
import re
import threading
import urllib.parse

from . import api
from .accounts import AccountBook
from .accountendpoints import AccountEndpoints
from .bodies import parse_form, parse_json
from .clock import rfc3339
from .ledger import token_hash
from .secondfactor import SecondFactor
from .shapes import ApplicationError, error_payload, grant_payload, path_of, retry_after, translated
from .tokens import TokenService
from .wire import MalformedRequest, Reply

BEARER_ENDPOINTS = {"api", "getCurrentUser", "updateProfile", "changePassword", "deleteAccount", "generateBackupCodes"}
FORM_ENCODED = re.compile(
    r"(?:[A-Za-z0-9*._~+-]|%[0-9A-Fa-f]{2})*"
)  # what is left after the encoding of RFC 6749 appendix B
TOKEN_ENDPOINTS = {"refresh", "logout"}  # the ones that may have an error style of their own


class Backend(AccountEndpoints):
    """State and rules of the application; one request at a time."""

    def __init__(self, clock, settings, ledger):
        self.clock, self.settings, self.ledger = clock, settings, ledger
        self.lock = threading.RLock()
        self.clear()

    def clear(self):
        """Forgets accounts, logins and tokens."""
        with self.lock:
            self.accounts = AccountBook()
            self.second_factor = SecondFactor(self.clock, self.settings)
            self.tokens = TokenService(self.clock, self.settings, self.ledger)
            self.effects = api.Effects(self.ledger)
    def handle(self, endpoint, request, where):
        """Does what the request asks. Returns the reply and the ledger entries made on the way, whose delivery is
        still open."""
        with self.lock:
            first = self.ledger.sequence
            try:
                reply = self._with_cookie(self._dispatch(endpoint, request, where))
            except ApplicationError as error:
                reply = self._refusal(endpoint, request, error)
            except MalformedRequest as error:
                refusal = ApplicationError("invalid_request", detail=str(error))
                reply = self._refusal(endpoint, request, refusal)
            return reply, self.ledger.made_by(where, first)

    def parameters(self, endpoint, request):
        """The body's parameters under their canonical names; anything but the configured format is malformed."""
        cookie = self._cookie_in(request) if endpoint in TOKEN_ENDPOINTS else None
        if not request.body:
            return {"refreshToken": cookie} if cookie else {}
        wanted, given = self.settings["bodyFormat"], request.content_type
        if given == "application/json" and wanted in ("json", "any"):
            values = parse_json(request.body)
        elif given == "application/x-www-form-urlencoded" and (wanted in ("form", "any") or endpoint == "logout"):
            values = parse_form(request.body)
        else:
            raise MalformedRequest(f"the content type {given or 'is missing'}")
        dialect = self.settings.dialect
        for name, value in dialect.fixed.get(endpoint, {}).items():
            if values.get(name) != value:
                raise MalformedRequest(f"{name} is not {value}")
        names = {
            "email",
            "password",
            "name",
            "phoneNumber",
            "otpFlowId",
            "code",
            "backupCode",
            "refreshToken",
            "token",
            "oldPassword",
            "newPassword",
            "twoFactor",
            "everywhere",
        }
        back = {dialect.parameter(endpoint, name): name for name in sorted(names)}
        return {back.get(name, name): value for name, value in values.items()}

    def _with_cookie(self, reply):
        """The reply with its refresh token in a cookie, where that is set."""
        name, payload = self.settings["refreshCookie"], reply.payload
        *parents, last = path_of(self.settings, "refreshToken").split(".")
        for parent in parents:
            payload = payload.get(parent) if isinstance(payload, dict) else None
        if name and isinstance(payload, dict) and last in payload:
            reply.headers.append(("Set-Cookie", f"{name}={payload.pop(last)}; Path=/auth; HttpOnly; SameSite=Strict"))
        return reply

    def _cookie_in(self, request):
        """The value of the cookie that refresh tokens live in; None where it was not sent."""
        pairs = (pair.strip().partition("=") for pair in request.headers.get("cookie", "").split(";"))
        return next((value for name, _, value in pairs if name == self.settings["refreshCookie"]), None)

    def refresh_token_in(self, endpoint, request):
        """The refresh token that a request carries, if any, without acting on it: for the ledger."""
        try:
            values = self.parameters(endpoint, request)
            found = values.get("refreshToken", values.get("token"))
            return found if isinstance(found, str) else None
        except MalformedRequest:
            return None

    def _dispatch(self, endpoint, request, where):
        if endpoint in ("unknown", "wrongMethod"):
            raise ApplicationError("not_found" if endpoint == "unknown" else "method_not_allowed")
        if request.query and endpoint != "api":
            raise MalformedRequest("parameters belong into the body")
        if endpoint not in BEARER_ENDPOINTS:
            self._check_client(request)
        session = None
        if endpoint in BEARER_ENDPOINTS:
            session = self.tokens.session(request.bearer())
            if session is None:
                raise ApplicationError("invalid_token", headers=[("WWW-Authenticate", 'Bearer error="invalid_token"')])
        if endpoint == "api":
            return api.answer(request, self.effects.for_exchange(where))
        values = self.parameters(endpoint, request)
        method = getattr(self, "do_" + endpoint)
        return method(values, where, session) if session else method(values, where, request)

    def _check_client(self, request):
        wanted = self.settings["clientAuth"]
        if wanted == "basic" and not self._basic_is_right(request.headers.get("authorization", "")):
            raise ApplicationError("invalid_client", headers=[("WWW-Authenticate", 'Basic realm="api"')])
        if wanted == "post":
            values = (
                parse_form(request.body) if request.content_type.endswith("urlencoded") else parse_json(request.body)
            )
            if (values.get("client_id"), values.get("client_secret")) != (
                self.settings["clientId"],
                self.settings["clientSecret"],
            ):
                raise ApplicationError("invalid_client")

    def _basic_is_right(self, header):
        """RFC 6749 section 2.3.1: id and secret are form-encoded before they are joined and encoded again."""
        scheme, _, encoded = header.partition(" ")
        try:
            name, colon, secret = base64.b64decode(encoded, validate=True).decode("ascii").partition(":")
        except ValueError:
            return False
        if not FORM_ENCODED.fullmatch(name) or not FORM_ENCODED.fullmatch(secret):
            return False
        given = (urllib.parse.unquote_plus(name), urllib.parse.unquote_plus(secret))
        return (
            scheme.lower() == "basic"
            and bool(colon)
            and given == (self.settings["clientId"], self.settings["clientSecret"])
        )

    def _refusal(self, endpoint, request, error):
        style = self.settings["errorStyle"]
        if endpoint in TOKEN_ENDPOINTS and self.settings["tokenErrorStyle"] != "same":
            style = self.settings["tokenErrorStyle"]
        content_type, payload = error_payload(style, error, request.path, self.clock.now())
        return Reply(error.status, payload, error.headers, content_type=content_type)

    def answer(self, payload, status=200):
        """A reply in the words of the dialect."""
        return Reply(status, translated(payload, self.settings.dialect))

    def granted(self, account, grant, where, method, status=200, **extra):
        """The reply to a login that has succeeded."""
        self.ledger.add(
            "login",
            **where,
            userId=account.id,
            method=method,
            refreshToken=grant.refresh.name,
            refreshHash=token_hash(grant.refresh.value),
            accessToken=grant.access_name,
            accessHash=token_hash(grant.access),
        )
        return Reply(status, grant_payload(self.settings, grant, account.public(self.settings.dialect), **extra))

    @staticmethod
    def text(values, name):
        """A parameter that must be there and must be a string that is not empty."""
        value = values.get(name)
        if not isinstance(value, str) or not value:
            raise MalformedRequest(f"{name} is missing")
        return value

    def do_login(self, values, where, _):
        """Password first; an account with a second factor gets a challenge."""
        account, password = self.accounts.by_email(self.text(values, "email")), self.text(values, "password")
        if account and account.locked:
            raise ApplicationError("account_locked")
        if account and account.captcha:
            raise ApplicationError("captcha_required")
        if account is None or not account.password_is(password):
            self._password_failed(account, where)
        account.failures = 0
        if self.settings["registerNeedsVerification"] and not account.verified:
            raise ApplicationError("email_unverified")
        if account.two_factor == "sms":
            return self.challenge(account, where)
        return self.granted(account, self.tokens.log_in(account), where, "password")

    def _password_failed(self, account, where):
        self.ledger.add("loginRefused", **where, userId=account.id if account else None, reason="invalid_credentials")
        if account:
            account.failures += 1
            if 0 < self.settings["lockAfterFailures"] <= account.failures:
                account.locked = True
        raise ApplicationError("invalid_credentials")

    def challenge(self, account, where):
        """Asks for the second factor."""
        flow = self.second_factor.begin(account)
        self.ledger.add("otpSent", **where, userId=account.id, otpFlowId=flow.id, again=False)
        return self.answer(flow.challenge(self.clock.now(), self.settings))

    def flow(self, values):
        """The open flow that the request names."""
        flow, reason = self.second_factor.find(self.text(values, "otpFlowId"))
        if flow is None:
            raise ApplicationError(reason)
        return flow

    def do_verifyOtp(self, values, where, _):
        """The code ends the login, or costs an attempt."""
        flow, code = self.flow(values), self.text(values, "code")
        if code != flow.code:
            self._otp_failed(flow, where, "otp_invalid")
        flow.ended = "answered"
        self.ledger.add("otpAccepted", **where, userId=flow.account.id, otpFlowId=flow.id)
        return self.granted(flow.account, self.tokens.log_in(flow.account), where, "otp")

    def _otp_failed(self, flow, where, code):
        self.second_factor.attempt_failed(flow)
        self.ledger.add(
            "otpRefused", **where, userId=flow.account.id, otpFlowId=flow.id, attemptsRemaining=flow.attempts_left
        )
        if flow.ended:
            raise ApplicationError("too_many_attempts", attemptsRemaining=0)
        raise ApplicationError(code, attemptsRemaining=flow.attempts_left)

    def do_resendOtp(self, values, where, _):
        """Another message, not before its time."""
        if self.settings["resendStrategy"] != "endpoint":
            raise ApplicationError("not_found")
        flow = self.flow(values)
        allowed = self.second_factor.again(flow)
        if allowed is not None:
            wait = allowed - self.clock.now()
            raise ApplicationError("resend_too_soon", headers=[retry_after(wait + 0.5)], nextAllowedAt=rfc3339(allowed))
        self.ledger.add("otpSent", **where, userId=flow.account.id, otpFlowId=flow.id, again=True)
        return self.answer({"success": True, "nextAllowedAt": rfc3339(flow.next_message)})

    def do_verifyBackupCode(self, values, where, _):
        """A backup code in place of the message's code. The seeds' body has no flow; then the code itself must find
        its account."""
        code = self.text(values, "backupCode")
        if self.settings["backupCodesNeedFlow"] or values.get("otpFlowId"):
            flow = self.flow(values)
            account = flow.account
            if not self.accounts.spend_backup_code(account, code):
                self._otp_failed(flow, where, "backup_code_invalid")
            flow.ended = "answered"
        else:
            account = next(
                (one for one in self.accounts.by_id.values() if self.accounts.spend_backup_code(one, code)), None
            )
            if account is None:
                raise ApplicationError("backup_code_invalid")
        self.ledger.add("backupCodeSpent", **where, userId=account.id, remaining=len(account.backup_codes))
        grant = self.tokens.log_in(account)
        return self.granted(account, grant, where, "backupCode", backupCodesRemaining=len(account.backup_codes))

    def do_refresh(self, values, where, _):
        """Exchanges the refresh token; every refusal looks alike to the client, and different in the ledger."""
        token = self.text(values, "refreshToken")
        family = self.tokens.family_of(token)
        if self.settings["challengeAtRefresh"] and family and not family.ended:
            self.ledger.add(
                "refresh", **where, token=self.tokens.name(token), hash=token_hash(token), outcome="challenged"
            )
            return self.challenge(family.account, where)
        audience, scope = values.get("audience"), values.get("scope")
        if audience is not None and audience not in self.settings["audiences"]:
            raise ApplicationError("invalid_target")
        if scope is not None and not set(scope.split()) <= set(self.settings["scopes"]):
            raise ApplicationError("invalid_scope")
        grant, entry = self.tokens.refresh(token, where, audience, scope)
        if grant is None:
            raise ApplicationError("invalid_grant", status=self.settings["refreshRefusalStatus"])
        account = self.accounts.by_id[entry["userId"]]
        user = account.public(self.settings.dialect) if self.settings["refreshReturnsUser"] else None
        return Reply(200, grant_payload(self.settings, grant, user))
