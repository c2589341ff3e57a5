"""What a test can set, before the start or while the server runs."""

import json

TLS_MODES = ("ok", "unknown-ca", "expired", "wrong-host", "self-signed")

DEFAULTS = {
    "accessTokenLifetimeSeconds": 900,
    "refreshTokenLifetimeSeconds": 1209600,
    "idTokenLifetimeSeconds": 300,
    "rotation": True,
    "reuseProtection": True,
    "rotationGraceSeconds": 0,
    "deviceIntervalSeconds": 1,
    # Whether discovery names what django-oauth-toolkit has and does not announce: the endpoints for devices and revocation.
    "announceAll": True,
    # Whether the authorization response names the issuer, and metadata says so (RFC 9207).
    "authorizationResponseIss": True,
    # What discovery calls the issuer; null: as it is. Another one must be refused (OpenID Connect Discovery, section 4.3).
    "announcedIssuer": None,
    "endSession": True,
    # Whether tokens are bound to keys (RFC 9449); then no request for tokens is answered without a proof.
    "dpop": "off",
    # After how many good answers the nonce is replaced; 0: no nonces.
    "dpopNonceUses": 0,
    "dpopToleranceSeconds": 60,
    # The status of a token request that is refused for its proof; Glewlwyd has 403.
    "dpopRefusalStatus": 400,
    # What tokens are said to be; `Bearer` for a server that does not bind them.
    "dpopTokenType": "DPoP",
    # How far this server's clock is ahead, in `Date` and for proofs.
    "clockAheadSeconds": 0,
    "tlsMode": "ok",
}

# The name that django-oauth-toolkit gives to a setting.
TOOLKIT = {
    "accessTokenLifetimeSeconds": "ACCESS_TOKEN_EXPIRE_SECONDS",
    "refreshTokenLifetimeSeconds": "REFRESH_TOKEN_EXPIRE_SECONDS",
    "idTokenLifetimeSeconds": "ID_TOKEN_EXPIRE_SECONDS",
    "rotation": "ROTATE_REFRESH_TOKEN",
    "reuseProtection": "REFRESH_TOKEN_REUSE_PROTECTION",
    "rotationGraceSeconds": "REFRESH_TOKEN_GRACE_PERIOD_SECONDS",
    "deviceIntervalSeconds": "DEVICE_FLOW_INTERVAL",
    "authorizationResponseIss": "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS",
    "endSession": "OIDC_RP_INITIATED_LOGOUT_ENABLED",
}


class UnknownSetting(Exception):
    """A setting that is none, or a value that does not fit it."""


class Settings:
    """The present values."""

    def __init__(self, changes=None):
        self.values = dict(DEFAULTS)
        self.change(changes or {})

    def __getitem__(self, name):
        return self.values[name]

    def change(self, changes):
        """Takes over some values, all or none."""
        for name, value in changes.items():
            if name not in DEFAULTS:
                raise UnknownSetting(f"{name} is no setting; there are {', '.join(DEFAULTS)}")
            if DEFAULTS[name] is not None and type(value) is not type(DEFAULTS[name]):
                raise UnknownSetting(f"{name} is no {type(DEFAULTS[name]).__name__}")
            if name == "dpop" and value not in ("off", "required"):
                raise UnknownSetting("dpop is one of off, required")
            if name == "tlsMode" and value not in TLS_MODES:
                raise UnknownSetting(f"tlsMode is one of {', '.join(TLS_MODES)}")
        self.values.update(changes)

    def reset(self):
        """As at the start of a server that was given no settings."""
        self.values = dict(DEFAULTS)

    def toolkit(self):
        """The values as django-oauth-toolkit names them."""
        return {theirs: self.values[ours] for ours, theirs in TOOLKIT.items()}


def parsed(text):
    """`NAME=JSON` of the command line; a word that is no JSON stands for itself."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
