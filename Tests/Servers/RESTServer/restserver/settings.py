"""Everything that can be chosen at the start and changed while the server runs."""

from .dialect import DIALECTS, Dialect

CHOICES = {
    "shape": ("nested", "objects", "oauth", "camel", "dialect"),
    "rotation": ("always", "never", "grace"),
    "accessTokenForm": ("opaque", "jwt"),
    "errorStyle": ("seed", "problem", "oauth", "message", "empty"),
    "tokenErrorStyle": ("same", "seed", "problem", "oauth", "message", "empty"),
    "bodyFormat": ("json", "form", "any"),
    "clientAuth": ("none", "basic", "post"),
    "revokeStyle": ("any", "body", "bearer", "rfc7009"),
    "resendStrategy": ("endpoint", "restartLogin", "none"),
    "challengeDetail": ("full", "minimal"),
    "changePasswordReply": ("success", "empty", "tokens"),
    "tlsMode": ("ok", "expired", "wrong-host", "self-signed", "unknown-ca", "tls1.1-only", "tls1.2-only"),
}
DEFAULTS = {
    "shape": "nested",
    "dialect": "seeds",
    "accessTokenLifetimeSeconds": 900.0,
    "refreshTokenLifetimeSeconds": 2592000.0,
    "accessTokenForm": "opaque",
    "tokenByteCount": 0,  # opaque tokens have at least so many
    "includeExpiry": True,  # the nested shape of the seeds never has one
    "scopes": ["read", "write"],
    "audiences": [],  # that a refresh may name, besides none
    "rotation": "always",
    "rotationGraceSeconds": 10.0,  # only with rotation "grace"
    "reuseDetection": True,  # a replayed refresh token ends its family
    "refreshRefusalStatus": 401,
    "refreshReturnsUser": False,
    "otpLength": 6,
    "otpLifetimeSeconds": 300.0,
    "otpMaxAttempts": 5,
    "otpResendCooldownSeconds": 30.0,
    "challengeDetail": "full",
    "challengeAtRefresh": False,
    "backupCodesAllowed": True,
    "backupCodesNeedFlow": True,
    "registerNeedsVerification": False,
    "phoneTurnsTwoFactorOn": False,  # at registration, where twoFactor is absent
    "changePasswordReply": "success",
    "lockAfterFailures": 0,  # 0: never
    "passwordMinimumLength": 8,
    "errorStyle": "seed",
    "tokenErrorStyle": "same",  # of refresh and logout
    "bodyFormat": "json",
    "clientAuth": "none",
    "clientId": "demo-client",
    "clientSecret": "demo secret: 100% & made up",  # with characters that RFC 6749 section 2.3.1 wants encoded
    "refreshCookie": "",  # the name of a cookie that refresh tokens live in, in place of replies and bodies
    "revokeStyle": "any",
    "resendStrategy": "endpoint",
    "dateSkewSeconds": 0.0,
    "tlsMode": "ok",
}


class UnknownSetting(Exception):
    """A name or a value that no setting has."""


class Settings:
    """The current values; `settings["shape"]` reads one."""

    def __init__(self, changes=()):
        self.initial = dict(changes)
        self.reset()

    def __getitem__(self, name):
        return self.values[name]

    def reset(self):
        """As at the start."""
        self.values, self.dialect = dict(DEFAULTS), Dialect.named("seeds")
        self.change(self.initial)

    def change(self, changes):
        """Takes all of the changes or none. A dialect brings its own values along, which the same change may
        overrule."""
        values, dialect = dict(self.values), self.dialect
        if "dialect" in changes:
            dialect = Dialect.named(changes["dialect"])
            # Back from another dialect means back to the defaults of what that one had set.
            for other in DIALECTS.values():
                values.update({name: DEFAULTS[name] for name in other["settings"]})
            values.update(dialect.settings)
            values["dialect"] = dialect.name
        for name, value in changes.items():
            if name != "dialect":
                values[name] = self._checked(name, value)
        self.values, self.dialect = values, dialect

    @staticmethod
    def _checked(name, value):
        if name not in DEFAULTS:
            raise UnknownSetting(f"no setting is called {name!r}")
        if name in CHOICES and value not in CHOICES[name]:
            raise UnknownSetting(f"{name} is one of {', '.join(CHOICES[name])}")
        default = DEFAULTS[name]
        if isinstance(default, bool) != isinstance(value, bool):
            raise UnknownSetting(f"{name} is like {default!r}")
        if isinstance(default, float) and isinstance(value, int):
            value = float(value)
        if not isinstance(value, type(default)):
            raise UnknownSetting(f"{name} is like {default!r}")
        return value
