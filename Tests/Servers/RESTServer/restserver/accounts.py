"""The people who can log in, with their backup codes and the mail that the server pretends to have sent them."""

import hmac
import secrets

FIELDS = {
    "id",
    "email",
    "password",
    "name",
    "phoneNumber",
    "twoFactor",
    "emailVerified",
    "locked",
    "captcha",
    "backupCodes",
}
CODE_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that people mistake for something else


class Account:
    """One account. The password is kept as given: it is made up, and tests may want to see it."""

    def __init__(
        self,
        identifier,
        email,
        password,
        name=None,
        phoneNumber=None,
        twoFactor="off",
        emailVerified=True,
        locked=False,
        captcha=False,
        backupCodes=(),
    ):
        self.id, self.email, self.password, self.name = identifier, email, password, name
        self.phone, self.two_factor, self.verified = phoneNumber, twoFactor, emailVerified
        self.locked, self.captcha, self.failures = locked, captcha, 0
        self.backup_codes = list(backupCodes)

    def password_is(self, password):
        """Whether this is the password, in constant time out of habit."""
        return hmac.compare_digest(self.password.encode(), str(password).encode("utf-8", "surrogatepass"))

    def public(self, dialect):
        """The account as `GET /auth/me` shows it, in the words of a dialect. The full telephone number is in it on
        purpose."""
        user = {
            "id": self.id,
            "email": self.email,
            "emailVerified": self.verified,
            "name": self.name,
            "phoneNumber": self.phone,
            "twoFactor": self.two_factor,
        }
        return {dialect.user.get(name, name): value for name, value in user.items() if value is not None}

    def described(self):
        """Everything, for the control interface."""
        return {
            "id": self.id,
            "email": self.email,
            "password": self.password,
            "name": self.name,
            "phoneNumber": self.phone,
            "twoFactor": self.two_factor,
            "emailVerified": self.verified,
            "locked": self.locked,
            "captcha": self.captcha,
            "failures": self.failures,
            "backupCodes": self.backup_codes,
        }


class AccountBook:
    """All accounts, and the tokens of the mails about them."""

    def __init__(self):
        self.by_id, self.mails, self.count = {}, [], 0

    def add(self, description):
        """Adds an account, or replaces the one with the same address (compared as people write them)."""
        unknown = set(description) - FIELDS
        if unknown or not description.get("email") or not isinstance(description.get("password"), str):
            raise ValueError(f"an account has email, password and maybe {', '.join(sorted(FIELDS))}")
        former = self.by_email(description["email"])
        if former:
            del self.by_id[former.id]
        self.count += 1
        details = {name: value for name, value in description.items() if name not in ("id", "email", "password")}
        if details.get("phoneNumber") and "twoFactor" not in details:
            details["twoFactor"] = "sms"
        account = Account(
            description.get("id") or f"user-{self.count}", description["email"], description["password"], **details
        )
        self.by_id[account.id] = account
        return account

    def by_email(self, email):
        """The account with an address, or None."""
        wanted = str(email).casefold()
        return next((account for account in self.by_id.values() if account.email.casefold() == wanted), None)

    def new_backup_codes(self, account, count=10):
        """Replaces the account's backup codes; each works once."""
        account.backup_codes = [
            "-".join("".join(secrets.choice(CODE_ALPHABET) for _ in range(4)) for _ in range(2)) for _ in range(count)
        ]
        return list(account.backup_codes)

    @staticmethod
    def spend_backup_code(account, code):
        """Takes a backup code out of circulation; False where the account has none like it."""
        if code not in account.backup_codes:
            return False
        account.backup_codes.remove(code)
        return True

    def mail(self, account, kind):
        """Pretends to send a mail with a single-use token; `kind` is `reset` or `verify`."""
        token = f"mail-{kind}-{secrets.token_hex(12)}"
        self.mails.append({"kind": kind, "email": account.email, "userId": account.id, "token": token, "used": False})

    def open_mail(self, token, kind):
        """The account that an unused mail token belongs to, which is thereby used; or None."""
        for mail in self.mails:
            if mail["token"] == token and mail["kind"] == kind and not mail["used"] and mail["userId"] in self.by_id:
                mail["used"] = True
                return self.by_id[mail["userId"]]
        return None
