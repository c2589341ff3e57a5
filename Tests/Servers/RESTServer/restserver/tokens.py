"""Token families: a login starts one, each refresh adds a generation, and a replayed refresh token ends it.

The behaviour is that of RFC 9700 section 4.14.2 (rotation with reuse detection), with two common deviations to
choose: no rotation, and a grace
period in which the last spent token is answered with its own successor.
"""

import base64
import hashlib
import hmac
import json
import secrets

from .ledger import token_hash


class Family:
    """What has come out of one login."""

    def __init__(self, number, account):
        self.number, self.account = number, account
        self.ended = None  # the reason, once it has ended
        self.generation = self.access_count = 0


class RefreshToken:
    """One generation; `spent_at` is when it was exchanged for its `successor`."""

    def __init__(self, family, value, expires):
        family.generation += 1
        self.family, self.value, self.expires = family, value, expires
        self.name = f"R{family.number}.{family.generation}"
        self.spent_at = self.successor = None


class Grant:
    """What a login or a refresh hands out; `refresh` is None where the old one stays."""

    def __init__(self, access, access_name, expires, lifetime, refresh, scopes, audience):
        self.access, self.access_name, self.expires, self.lifetime = access, access_name, expires, lifetime
        self.refresh, self.scopes, self.audience = refresh, scopes, audience


class TokenService:
    """Issues, rotates and ends tokens, and writes each use of a refresh token into the ledger."""

    def __init__(self, clock, settings, ledger):
        self.clock, self.settings, self.ledger = clock, settings, ledger
        self.families, self.refresh_tokens, self.access_tokens = [], {}, {}
        self.key = secrets.token_bytes(32)

    def log_in(self, account):
        """Starts a family."""
        self.families.append(Family(len(self.families) + 1, account))
        return self._grant(self.families[-1], self._new_refresh(self.families[-1]))

    def refresh(self, value, where, audience=None, scope=None):
        """Exchanges a refresh token, for an audience and scopes of its own where they are named. Returns a grant, or None for any refusal; the ledger entry says why."""
        now, token = self.clock.now(), self.refresh_tokens.get(value)
        if token is None:
            return None, self._note(where, value, None, "refused", reason="unknown")
        if token.family.ended:
            return None, self._note(where, value, token, "refused", reason=token.family.ended)
        if now >= token.expires:
            return None, self._note(where, value, token, "refused", reason="expired")
        if token.spent_at is not None:
            return self._replayed(token, now, where)
        if self.settings["rotation"] == "never":
            grant = self._grant(token.family, None, audience, scope)
            return grant, self._note(where, value, token, "unchanged", grant=grant)
        token.spent_at, token.successor = now, self._new_refresh(token.family)
        grant = self._grant(token.family, token.successor, audience, scope)
        return grant, self._note(where, value, token, "rotated", grant=grant)

    def _replayed(self, token, now, where):
        in_grace = self.settings["rotation"] == "grace" and now < token.spent_at + self.settings["rotationGraceSeconds"]
        if in_grace and token.successor.spent_at is None:
            grant = self._grant(token.family, token.successor)
            return grant, self._note(where, token.value, token, "replayedInGrace", grant=grant)
        if self.settings["reuseDetection"]:
            self.end(token.family, "replay")
            return None, self._note(where, token.value, token, "replayDetected", reason="replay")
        return None, self._note(where, token.value, token, "refused", reason="spent")

    def _note(self, where, value, token, outcome, grant=None, reason=None):
        details = {
            "token": token.name if token else None,
            "hash": token_hash(value),
            "outcome": outcome,
            "reason": reason,
            "family": token.family.number if token else None,
            "userId": token.family.account.id if token else None,
        }
        if grant:
            details["accessToken"], details["accessHash"] = grant.access_name, token_hash(grant.access)
            details["audience"] = grant.audience
            if grant.refresh:
                details["rotatedTo"], details["rotatedToHash"] = grant.refresh.name, token_hash(grant.refresh.value)
        return self.ledger.add("refresh", **where, **details)

    def session(self, access):
        """The family of a living access token, or None."""
        family, expires = self.access_tokens.get(access, (None, 0))
        return family if family and not family.ended and self.clock.now() < expires else None

    def family_of(self, value):
        """The family that a token of either kind belongs to, living or not."""
        if value in self.refresh_tokens:
            return self.refresh_tokens[value].family
        return self.access_tokens.get(value, (None, 0))[0]

    def name(self, value):
        """The ordinal name of a refresh token, or None."""
        return self.refresh_tokens[value].name if value in self.refresh_tokens else None

    def end(self, family, reason):
        """Ends a family with its access tokens; the first reason stays."""
        if family and not family.ended:
            family.ended = reason
            self.ledger.add("familyEnded", family=family.number, userId=family.account.id, reason=reason)

    def end_all(self, account, reason, but=None):
        """Ends every family of an account, but one if given."""
        for family in self.families:
            if family.account is account and family is not but:
                self.end(family, reason)

    def expire_access(self, account=None):
        """Lets access tokens run out at once, of one account or of everybody."""
        for value, (family, _) in self.access_tokens.items():
            if account is None or family.account is account:
                self.access_tokens[value] = (family, 0)

    def _new_value(self, prefix):
        return f"{prefix}-{secrets.token_urlsafe(24)}".ljust(self.settings["tokenByteCount"], "x")

    def _new_refresh(self, family):
        expires = self.clock.now() + self.settings["refreshTokenLifetimeSeconds"]
        token = RefreshToken(family, self._new_value("rt"), expires)
        self.refresh_tokens[token.value] = token
        return token

    def _grant(self, family, refresh, audience=None, scope=None):
        family.access_count += 1
        name = f"A{family.number}.{family.access_count}"
        lifetime = self.settings["accessTokenLifetimeSeconds"]
        expires = self.clock.now() + lifetime
        value = self._new_value("at")
        if self.settings["accessTokenForm"] == "jwt":
            value = self._jwt(family.account, expires, name, audience)
        self.access_tokens[value] = (family, expires)
        scopes = list(self.settings["scopes"]) if scope is None else scope.split()
        return Grant(value, name, expires, lifetime, refresh, scopes, audience)

    def _jwt(self, account, expires, name, audience):
        claims = {
            "sub": account.id,
            "iat": int(self.clock.now()),
            "exp": int(expires),
            "jti": f"{name}-{secrets.token_hex(8)}",
            "scope": " ".join(self.settings["scopes"]),
            **({"aud": audience} if audience else {}),
        }
        parts = [json.dumps(part, separators=(",", ":")).encode() for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
        signed = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
        signature = hmac.new(self.key, signed, hashlib.sha256).digest()
        return (signed + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()

    def described(self):
        """The families for the control interface, without a token."""
        return [
            {
                "family": family.number,
                "userId": family.account.id,
                "ended": family.ended,
                "generations": family.generation,
                "accessTokens": family.access_count,
            }
            for family in self.families
        ]
