"""How a backend names things: paths, methods, parameters, members of replies. The logic behind the names is always
the same."""

SEEDS = {
    "name": "seeds",
    "endpoints": {
        "login": ["POST", "/auth/login"],
        "verifyOtp": ["POST", "/auth/otp/verify"],
        "resendOtp": ["POST", "/auth/otp/resend"],
        "verifyBackupCode": ["POST", "/auth/backup-codes/verify"],
        "generateBackupCodes": ["POST", "/auth/backup-codes"],
        "refresh": ["POST", "/auth/refresh"],
        "logout": ["POST", "/auth/logout"],
        "register": ["POST", "/auth/register"],
        "forgotPassword": ["POST", "/auth/forgot-password"],
        "resetPassword": ["POST", "/auth/reset-password"],
        "verifyEmail": ["POST", "/auth/verify-email"],
        "changePassword": ["POST", "/auth/change-password"],
        "getCurrentUser": ["GET", "/auth/me"],
        "updateProfile": ["PATCH", "/auth/profile"],
        "deleteAccount": ["DELETE", "/auth/account"],
    },
    "parameters": {},  # canonical name, or `endpoint.name`, to the name on the wire
    "fixed": {},  # endpoint to parameters that must be there with this very value
    "reply": {},  # canonical name to the dotted path in the reply
    "user": {},
    "settings": {},  # what the dialect also switches; names of settings
}

RENAMED = {
    "name": "renamed",
    "endpoints": {
        "login": ["POST", "/api/v2/session"],
        "verifyOtp": ["POST", "/api/v2/session/second-factor"],
        "resendOtp": ["POST", "/api/v2/session/second-factor/again"],
        "verifyBackupCode": ["POST", "/api/v2/session/recovery-code"],
        "generateBackupCodes": ["POST", "/api/v2/users/self/recovery-codes"],
        "refresh": ["POST", "/api/v2/token"],
        "logout": ["POST", "/api/v2/revoke"],
        "register": ["POST", "/api/v2/users"],
        "forgotPassword": ["POST", "/api/v2/users/recovery"],
        "resetPassword": ["PUT", "/api/v2/users/recovery"],
        "verifyEmail": ["POST", "/api/v2/users/confirmation"],
        "changePassword": ["PUT", "/api/v2/users/self/passphrase"],
        "getCurrentUser": ["GET", "/api/v2/users/self"],
        "updateProfile": ["PUT", "/api/v2/users/self"],
        "deleteAccount": ["POST", "/api/v2/users/self/closure"],
    },
    "parameters": {
        "email": "mail",
        "login.email": "username",
        "password": "passphrase",
        "name": "display_name",
        "phoneNumber": "mobile",
        "otpFlowId": "flow",
        "code": "pin",
        "backupCode": "recovery_code",
        "refreshToken": "refresh_token",
        "logout.refreshToken": "token",
        "resetPassword.token": "recovery_token",
        "verifyEmail.token": "confirmation_token",
        "oldPassword": "current",
        "newPassword": "replacement",
    },
    "fixed": {"refresh": {"grant_type": "refresh_token"}},
    "reply": {
        "accessToken": "result.session_token",
        "refreshToken": "result.renewal_token",
        "expiresIn": "result.valid_for",
        "scope": "result.granted",
        "user": "account",
        "requires2FA": "second_factor.wanted",
        "otpFlowId": "second_factor.flow",
        "maskedPhone": "second_factor.sent_to",
        "otpLength": "second_factor.digits",
        "expiresInSeconds": "second_factor.ttl",
        "nextAllowedAt": "second_factor.again_at",
        "attemptsRemaining": "second_factor.tries_left",
        "method": "second_factor.channel",
        "backupCodesAllowed": "second_factor.recovery_codes",
        "expiresAt": "second_factor.until",
        "backupCodesRemaining": "recovery_codes_left",
        "backupCodes": "recovery_codes",
        "success": "done",
        "emailVerificationRequired": "confirmation_pending",
    },
    "user": {
        "id": "uid",
        "email": "mail",
        "emailVerified": "mail_confirmed",
        "name": "display_name",
        "phoneNumber": "mobile",
    },
    "settings": {
        "shape": "dialect",
        "bodyFormat": "form",
        "errorStyle": "problem",
        "tokenErrorStyle": "oauth",
        "clientAuth": "basic",
        "revokeStyle": "rfc7009",
        "resendStrategy": "restartLogin",
        "refreshRefusalStatus": 400,
    },
}
DIALECTS = {"seeds": SEEDS, "renamed": RENAMED}


class Dialect:
    """One set of names. A test may also bring its own, as a JSON object with the members of `RENAMED`; what is
    missing is as in the seeds."""

    def __init__(self, description):
        full = {**SEEDS, **description}
        self.name = full["name"]
        self.endpoints = {**SEEDS["endpoints"], **full["endpoints"]}
        self.parameters, self.fixed, self.reply = full["parameters"], full["fixed"], full["reply"]
        self.user, self.settings = full["user"], full["settings"]

    @classmethod
    def named(cls, name):
        """A dialect by its name, or made of a description."""
        if isinstance(name, dict):
            return cls({"name": "custom", **name})
        if name not in DIALECTS:
            raise ValueError(f"the dialects are {', '.join(DIALECTS)}, or give an object")
        return cls(DIALECTS[name])

    def endpoint(self, method, path):
        """The endpoint that a request means; `api` is whatever is below `/service/`, and `unknown` and `wrongMethod`
        are answers of their own."""
        same_path = [name for name, (_, known) in self.endpoints.items() if known == path]
        for name in same_path:
            if self.endpoints[name][0] == method:
                return name
        if not same_path and path.startswith("/service/"):
            return "api"
        return "wrongMethod" if same_path else "unknown"

    def parameter(self, endpoint, name):
        """The name on the wire of a parameter."""
        return self.parameters.get(f"{endpoint}.{name}", self.parameters.get(name, name))
