"""The same reply in the shapes that backends give it, and where each thing is in it."""

from .clock import http_date, rfc3339

# Canonical names to the path of members, for each shape of the seeds. `expiry` is the one that says how long the
# access token lives.
PATHS = {
    "nested": {
        "accessToken": "tokens.access",
        "refreshToken": "tokens.refresh",
        "expiry": "tokens.expiresIn",
        "scope": "tokens.scope",
    },
    "objects": {
        "accessToken": "accessToken.token",
        "refreshToken": "refreshToken.token",
        "expiry": "accessToken.expiresAt",
        "scope": "accessToken.scopes",
        "refreshExpiry": "refreshToken.expiresAt",
    },
    "oauth": {"accessToken": "access_token", "refreshToken": "refresh_token", "expiry": "expires_in", "scope": "scope"},
    "camel": {"accessToken": "accessToken", "refreshToken": "refreshToken", "expiry": "expiresIn", "scope": "scope"},
}
# What the error codes of this server mean in HTTP and in a sentence.
ERRORS = {
    "invalid_credentials": (401, "The e-mail address or the password is wrong."),
    "account_locked": (423, "The account is locked."),
    "email_unverified": (403, "The e-mail address has not been verified."),
    "captcha_required": (403, "Prove first that you are a person."),
    "otp_invalid": (401, "The code is wrong."),
    "otp_expired": (410, "The code has expired."),
    "flow_not_found": (404, "There is no such login."),
    "too_many_attempts": (429, "There were too many attempts."),
    "resend_too_soon": (429, "It is too soon for another message."),
    "backup_code_invalid": (401, "The backup code is wrong."),
    "invalid_grant": (401, "The refresh token is not valid."),
    "invalid_scope": (400, "The session does not have these scopes."),
    "invalid_target": (400, "The audience is unknown."),
    "invalid_token": (401, "The access token is not valid."),
    "invalid_mail_token": (400, "The link is not valid any more."),
    "email_taken": (409, "There is an account with this e-mail address."),
    "validation_failed": (422, "Something in the request is not valid."),
    "invalid_request": (400, "The request is not understood."),
    "invalid_client": (401, "The client is not known."),
    "not_found": (404, "There is nothing here."),
    "method_not_allowed": (405, "The method does not fit."),
}


class ApplicationError(Exception):
    """A refusal that the backend means; `extra` are members beside the code."""

    def __init__(self, code, status=None, headers=(), **extra):
        super().__init__(code)
        self.code, self.status, self.headers, self.extra = code, status or ERRORS[code][0], list(headers), extra


ABSENT = object()


def put(payload, path, value):
    """Sets the member at a dotted path, making objects on the way; `ABSENT` takes it out."""
    *parents, last = path.split(".")
    for parent in parents:
        if not isinstance(payload.get(parent), dict):
            payload[parent] = {}
        payload = payload[parent]
    if value is ABSENT:
        payload.pop(last, None)
    else:
        payload[last] = value


def translated(payload, dialect):
    """A payload with canonical member names in the words of a dialect."""
    if not dialect.reply:
        return payload
    result = {}
    for name, value in payload.items():
        put(result, dialect.reply.get(name, name), value)
    return result


def path_of(settings, name):
    """Where a canonical member is in the current shape."""
    if settings["shape"] in PATHS:
        return PATHS[settings["shape"]].get(name, name)
    reply = settings.dialect.reply
    return reply.get({"expiry": "expiresIn"}.get(name, name), name)


def grant_payload(settings, grant, user=None, **extra):
    """A grant in the current shape; without a user where the endpoint gives none."""
    shape, expires_in = settings["shape"], round(grant.lifetime)
    refresh = grant.refresh.value if grant.refresh else None
    if shape == "nested":
        payload = {"tokens": {"access": grant.access, "refresh": refresh}}
        if refresh is None:
            del payload["tokens"]["refresh"]
    elif shape == "objects":
        payload = {"accessToken": {"token": grant.access, "expiresAt": rfc3339(grant.expires), "scopes": grant.scopes}}
        if refresh:
            payload["refreshToken"] = {"token": refresh, "expiresAt": rfc3339(grant.refresh.expires)}
    else:
        names = {
            "accessToken": grant.access,
            "tokenType": "Bearer",
            "refreshToken": refresh,
            "expiry": expires_in,
            "scope": " ".join(grant.scopes),
        }
        payload = {}
        for name, value in names.items():
            if value is not None:
                put(
                    payload,
                    (
                        {"tokenType": "token_type"}.get(name, name)
                        if shape == "oauth" and name == "tokenType"
                        else path_of(settings, name)
                    ),
                    value,
                )
    if not settings["includeExpiry"]:
        put(payload, path_of(settings, "expiry"), ABSENT)
    if user is not None:
        put(payload, path_of(settings, "user"), user)
    payload.update(translated(extra, settings.dialect))
    return payload


def error_payload(style, error, path, now):
    """A refusal in one of the styles; returns the content type and the JSON value (None for no body at all)."""
    sentence = ERRORS[error.code][1]
    if style == "empty":
        return None, None
    if style == "problem":  # RFC 9457, which keeps the media type of RFC 7807
        return "application/problem+json", {
            "type": "https://api.example.com/problems/" + error.code.replace("_", "-"),
            "title": sentence,
            "status": error.status,
            "detail": sentence,
            "instance": path,
            **error.extra,
        }
    if style == "oauth":  # RFC 6749 section 5.2
        return "application/json", {"error": error.code, "error_description": sentence, **error.extra}
    if style == "message":
        return "application/json", {"message": sentence, "code": error.code, **error.extra}
    return "application/json", {
        "error": error.code,
        "message": sentence,
        "timestamp": rfc3339(now),
        "path": path,
        "status": error.status,
        **error.extra,
    }


def retry_after(seconds, form="seconds", now=0.0):
    """A Retry-After header field in either form (RFC 9110 section 10.2.3)."""
    return "Retry-After", http_date(now + seconds) if form == "date" else str(max(0, round(seconds)))
