"""The control interface: JSON over HTTP on a port of its own, so that nothing a test asks for can be hit by a
misbehaviour."""

import json

from .controlserver import find, no_such_call
from .misbehaviour import CATALOGUE, UnknownMisbehaviour
from .settings import UnknownSetting


def described_catalogue():
    """Every misbehaviour with its moment and its sentence."""
    return [{"name": one.name, "moment": one.moment, "summary": one.summary} for one in CATALOGUE.values()]


class Control:
    """What a test may ask of the server. Each method named `METHOD_path` is one call; it gets the query and the
    body."""

    def __init__(self, server, initial_accounts):
        self.server, self.initial_accounts = server, initial_accounts

    def GET_state(self, query, body):
        """Everything about the present."""
        return self.server.state()

    def GET_settings(self, query, body):
        """The settings."""
        return self.server.settings.values

    def POST_settings(self, query, body):
        """Changes some settings, all or none; answers all of them."""
        self.server.settings.change(body)
        return self.server.settings.values

    def GET_accounts(self, query, body):
        """The accounts, with passwords."""
        return {"accounts": self.server.state()["accounts"]}

    def POST_accounts(self, query, body):
        """Adds one account, or an array of them."""
        with self.server.backend.lock:
            added = [self.server.backend.accounts.add(one) for one in (body if isinstance(body, list) else [body])]
        return {"accounts": [account.described() for account in added]}

    def POST_backup_codes(self, query, body):
        """Makes new backup codes of the account with `email`, as its user would on a page of the backend."""
        accounts = self.server.backend.accounts
        with self.server.backend.lock:
            account = accounts.by_email(body["email"])
            if account is None:
                raise ValueError("no such account")
            return {"backupCodes": accounts.new_backup_codes(account)}

    def GET_codes(self, query, body):
        """The messages sent by SMS, oldest first; of one `phone` or `email` if asked, and the newest one's `code`
        beside them."""
        with self.server.backend.lock:
            codes = [
                dict(message)
                for message in self.server.backend.second_factor.messages
                if query.get("phone", message["phone"]) == message["phone"]
                and query.get("email", message["email"]) == message["email"]
            ]
        return {"codes": codes, "code": codes[-1]["code"] if codes else None}

    def GET_mails(self, query, body):
        """The mails with tokens, oldest first; of one `email` and `kind` if asked, and the newest one's `token`
        beside them."""
        with self.server.backend.lock:
            mails = [
                dict(mail)
                for mail in self.server.backend.accounts.mails
                if query.get("email", mail["email"]) == mail["email"]
                and query.get("kind", mail["kind"]) == mail["kind"]
            ]
        return {"mails": mails, "token": mails[-1]["token"] if mails else None}

    def GET_ledger(self, query, body):
        """The entries after a sequence number (`after`), of one kind (`event`), waiting for the first up to
        `waitSeconds`."""
        after, event, ledger = int(query.get("after", 0)), query.get("event"), self.server.ledger
        ledger.since(after, event, float(query.get("waitSeconds", 0)))
        ledger.settle(lambda: len(self.server.gate.held))
        return ledger.since(after, event)

    def GET_held(self, query, body):
        """Who is held; waits up to `waitSeconds` until there are `count` (1)."""
        return {"held": self.server.gate.wait_held(int(query.get("count", 1)), float(query.get("waitSeconds", 0)))}

    def GET_misbehaviours(self, query, body):
        """The catalogue."""
        return {"misbehaviours": described_catalogue()}

    def POST_misbehave(self, query, body):
        """Adds steps to the plan; answers what is pending."""
        self.server.plan.add(body)
        return {"pending": self.server.plan.pending()}

    def DELETE_misbehave(self, query, body):
        """Forgets the plan."""
        self.server.plan.clear()
        return {"pending": []}

    def POST_release(self, query, body):
        """Lets everybody go on who is held or delayed."""
        return {"released": self.server.gate.release()}

    def POST_clock(self, query, body):
        """Moves the server's time."""
        self.server.clock.advance(float(body["advanceSeconds"]))
        return {"clockOffsetSeconds": self.server.clock.offset}

    def POST_revoke(self, query, body):
        """Ends sessions as an administrator would: of the account with `email`, or all."""
        backend = self.server.backend
        with backend.lock:
            wanted = (
                [backend.accounts.by_email(body["email"])] if "email" in body else list(backend.accounts.by_id.values())
            )
            for account in filter(None, wanted):
                backend.tokens.end_all(account, body.get("reason", "administrator"))
        return {"families": backend.tokens.described()}

    def POST_expire_access(self, query, body):
        """Lets access tokens run out at once, while the refresh tokens live."""
        backend = self.server.backend
        with backend.lock:
            backend.tokens.expire_access(backend.accounts.by_email(body["email"]) if "email" in body else None)
        return {}

    def POST_end_connections(self, query, body):
        """Closes (or with `reset` resets) every open connection."""
        return {"ended": self.server.end_connections(bool(body.get("reset")))}

    def POST_listen(self, query, body):
        """Opens or closes the port (`open`)."""
        self.server.listen() if body.get("open", True) else self.server.stop_listening()
        return {"listening": self.server.listener is not None}

    def POST_reset(self, query, body):
        """As after the start: accounts, settings, clock, plan, ledger. Connections are closed. `keepSettings` keeps
        the settings."""
        server = self.server
        server.plan.clear()
        server.gate.release()
        server.end_connections(reset=False)
        server.clock.offset = 0.0
        if not body.get("keepSettings"):
            server.settings.reset()
        server.backend.clear()
        server.ledger.clear()
        server.listen()
        self.POST_accounts({}, self.initial_accounts)
        return server.state()

    def call(self, method, target, raw):
        """Finds and makes a call; returns status and answer."""
        act, query = find(self, method, target)
        if act is None:
            return no_such_call(self)
        try:
            return 200, act(query, json.loads(raw) if raw else {})
        except (UnknownMisbehaviour, UnknownSetting, ValueError, KeyError, TypeError, AttributeError) as error:
            return 400, {"error": f"{type(error).__name__}: {error}"}
