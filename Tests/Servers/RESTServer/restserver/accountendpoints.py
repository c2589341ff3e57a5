"""The endpoints around the account itself, and the end of a session."""

from .ledger import token_hash
from .shapes import ApplicationError
from .wire import MalformedRequest, Reply


class AccountEndpoints:
    """A part of `Backend`: registration, mails, profile, passwords, logout."""

    def do_logout(self, values, where, request):
        """Ends the session that the body's refresh token, the form's token or the bearer belongs to, as `revokeStyle`
        wants it."""
        style, bearer = self.settings["revokeStyle"], request.bearer()
        token = values.get("refreshToken", values.get("token"))
        if style == "rfc7009":
            token = values.get("token", values.get("refreshToken"))
        if style in ("body", "rfc7009") or (style == "any" and token is not None):
            if not isinstance(token, str) or not token:
                raise MalformedRequest("the token is missing")
            family, by = self.tokens.family_of(token), style if style != "any" else "body"
        else:
            token, family, by = bearer, self.tokens.session(bearer), "bearer"
            if family is None:
                raise ApplicationError("invalid_token")
        self.ledger.add(
            "logout",
            **where,
            by=by,
            token=self.tokens.name(token),
            hash=token_hash(token),
            family=family.number if family else None,
            userId=family.account.id if family else None,
            outcome="revoked" if family and not family.ended else "alreadyEnded" if family else "unknown",
        )
        if family and values.get("everywhere") in (True, "true"):
            self.tokens.end_all(family.account, "logoutEverywhere")
        self.tokens.end(family, "logout")
        # RFC 7009 section 2.2: an unknown token is no error, and there is nothing to say.
        return Reply(200) if style == "rfc7009" else self.answer({"success": True})

    def _check_password_rules(self, password, name):
        if len(password) < self.settings["passwordMinimumLength"]:
            word = self.settings.dialect.parameter("", name)
            raise ApplicationError(
                "validation_failed", fields={word: f"at least {self.settings['passwordMinimumLength']} characters"}
            )

    def do_register(self, values, where, _):
        """A new account; it is logged in at once, or has to verify its address first."""
        email, password = self.text(values, "email"), self.text(values, "password")
        if "@" not in email:
            raise ApplicationError(
                "validation_failed", fields={self.settings.dialect.parameter("register", "email"): "no e-mail address"}
            )
        if self.accounts.by_email(email):
            raise ApplicationError("email_taken")
        self._check_password_rules(password, "password")
        details = {
            name: values[name] for name in ("name", "phoneNumber", "twoFactor") if isinstance(values.get(name), str)
        }
        if not self.settings["phoneTurnsTwoFactorOn"]:
            details.setdefault("twoFactor", "off")
        waits = self.settings["registerNeedsVerification"]
        account = self.accounts.add({"email": email, "password": password, "emailVerified": not waits, **details})
        self.ledger.add("registered", **where, userId=account.id)
        self.accounts.mail(account, "verify")
        if waits:
            return self.answer(
                {"emailVerificationRequired": True, "user": account.public(self.settings.dialect)}, status=201
            )
        if account.two_factor == "sms":
            return self.challenge(account, where)
        return self.granted(account, self.tokens.log_in(account), where, "register", status=201)

    def do_forgotPassword(self, values, where, _):
        """A mail, if there is such an account; the answer does not tell."""
        account = self.accounts.by_email(self.text(values, "email"))
        if account:
            self.accounts.mail(account, "reset")
        self.ledger.add("passwordForgotten", **where, userId=account.id if account else None)
        return self.answer({"success": True})

    def do_resetPassword(self, values, where, _):
        """A new password by the token of a mail; every session of the account ends."""
        token, password = self.text(values, "token"), self.text(values, "password")
        self._check_password_rules(password, "password")
        account = self.accounts.open_mail(token, "reset")
        if account is None:
            raise ApplicationError("invalid_mail_token")
        account.password, account.locked, account.failures = password, False, 0
        self.ledger.add("passwordReset", **where, userId=account.id)
        self.tokens.end_all(account, "passwordReset")
        return self.answer({"success": True})

    def do_verifyEmail(self, values, where, _):
        """Believes that the address is the account's."""
        account = self.accounts.open_mail(self.text(values, "token"), "verify")
        if account is None:
            raise ApplicationError("invalid_mail_token")
        account.verified = True
        self.ledger.add("emailVerified", **where, userId=account.id)
        return self.answer({"success": True})

    def do_getCurrentUser(self, _, where, session):
        """The account of the bearer."""
        return Reply(200, session.account.public(self.settings.dialect))

    def do_updateProfile(self, values, where, session):
        """Takes name, telephone number and second factor; the rest of the body is ignored."""
        account = session.account
        for name in ("name", "phoneNumber", "twoFactor"):
            if name in values and not isinstance(values[name], (str, type(None))):
                raise ApplicationError(
                    "validation_failed", fields={self.settings.dialect.parameter("updateProfile", name): "a string"}
                )
        if values.get("twoFactor", "off") not in ("off", "sms"):
            raise ApplicationError("validation_failed", fields={"twoFactor": "off or sms"})
        account.name = values.get("name", account.name)
        account.phone = values.get("phoneNumber", account.phone)
        account.two_factor = values.get("twoFactor", account.two_factor)
        self.ledger.add("profileUpdated", **where, userId=account.id)
        return Reply(200, account.public(self.settings.dialect))

    def do_changePassword(self, values, where, session):
        """A new password for who knows the old one; the account's other sessions end, and this one may get new
        tokens."""
        account = session.account
        if not account.password_is(self.text(values, "oldPassword")):
            raise ApplicationError("invalid_credentials", status=403)
        new = self.text(values, "newPassword")
        self._check_password_rules(new, "newPassword")
        account.password = new
        self.ledger.add("passwordChanged", **where, userId=account.id)
        if self.settings["changePasswordReply"] == "tokens":
            self.tokens.end_all(account, "passwordChanged")
            return self.granted(account, self.tokens.log_in(account), where, "changePassword")
        self.tokens.end_all(account, "passwordChanged", but=session)
        if self.settings["changePasswordReply"] == "empty":
            return Reply(204)
        return self.answer({"success": True})

    def do_deleteAccount(self, values, where, session):
        """Takes the account away, for who knows its password."""
        account = session.account
        if not account.password_is(self.text(values, "password")):
            raise ApplicationError("invalid_credentials", status=403)
        self.tokens.end_all(account, "accountDeleted")
        del self.accounts.by_id[account.id]
        self.ledger.add("accountDeleted", **where, userId=account.id)
        return self.answer({"success": True})

    def do_generateBackupCodes(self, values, where, session):
        """New backup codes; the former ones are void."""
        account = session.account
        if not account.password_is(self.text(values, "password")):
            raise ApplicationError("invalid_credentials", status=403)
        codes = self.accounts.new_backup_codes(account)
        self.ledger.add("backupCodesMade", **where, userId=account.id, count=len(codes))
        return self.answer({"backupCodes": codes})
