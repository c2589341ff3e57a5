"""The control interface: JSON over HTTP on a port of its own."""

import json
import urllib.parse

from restserver.controlserver import find, no_such_call

from . import site
from .browser import Browser, Lost
from .faults import UnknownFault
from .settings import UnknownSetting


class Control:
    """What a test may ask of the server. Each method named `METHOD_path` is one call; it gets the query and the body."""

    def __init__(self, listener):
        self.listener = listener

    def person(self, body):
        """The person who a call is about: alice, if nothing else is said."""
        user = body.get("user", site.USER["username"])
        known = {one["username"]: one["password"] for one in (site.USER, site.OTHER)}
        return Browser(self.listener.base, user, body.get("password", known.get(user, "")))

    def GET_settings(self, query, body):
        """The settings."""
        return self.listener.settings.values

    def POST_settings(self, query, body):
        """Changes some settings, all or none; answers all of them."""
        self.listener.settings.change(body)
        site.apply(self.listener.settings)
        return self.listener.settings.values

    def GET_ledger(self, query, body):
        """The entries after a sequence number (`after`), of one `endpoint`; waits for the first up to `waitSeconds`."""
        after, wait = int(query.get("after", 0)), float(query.get("waitSeconds", 0))
        return {"entries": self.listener.ledger.since(after, query.get("endpoint"), wait)}

    def DELETE_ledger(self, query, body):
        """Forgets the entries."""
        self.listener.ledger.clear()
        return {}

    def POST_fault(self, query, body):
        """Plans a fault of the next request to an `endpoint`."""
        return {"waiting": self.listener.faults.add(body)}

    def DELETE_fault(self, query, body):
        """Forgets the faults that are planned."""
        self.listener.faults.clear()
        return {}

    def POST_approve(self, query, body):
        """A person enters a `userCode` and decides (`decision`: accept or deny)."""
        person = self.person(body)
        address = f"{self.listener.base}/o/device/?" + urllib.parse.urlencode({"user_code": body["userCode"]})
        return person.walk(address, body.get("decision", "accept") == "accept")

    def POST_browse(self, query, body):
        """A person opens a `url` of the server, logs in and decides (`decision`); with `deliver` the browser also opens
        where it is sent to."""
        person = self.person(body)
        result = person.walk(body["url"], body.get("decision", "accept") == "accept")
        if body.get("deliver", True) and "location" in result:
            result["landing"] = self.POST_visit(query, {"url": result["location"]})
        return result

    def POST_visit(self, query, body):
        """A browser opens a `url`, wherever that is, and shows what is there."""
        try:
            status, fields, page = Browser(self.listener.base, "", "").request("GET", body["url"])
        except OSError as error:
            return {"refused": type(error).__name__}
        return {"status": status, "page": page, "fields": {name.lower(): value for name, value in fields.items()}}

    def POST_replace_nonces(self, query, body):
        """Every nonce of a proof that was given is too old now (RFC 9449, section 8)."""
        self.listener.possession.replace_nonces()
        return {}

    def POST_revoke(self, query, body):
        """Ends all sessions of a user as an administrator would."""
        from oauth2_provider.models import RefreshToken

        ended = 0
        for token in RefreshToken.objects.filter(user__username=body.get("user", "alice"), revoked__isnull=True):
            token.revoke()
            ended += 1
        return {"ended": ended}

    def POST_expire_access(self, query, body):
        """Lets the access tokens of a user run out, while the refresh tokens live."""
        import datetime

        from oauth2_provider.models import AccessToken

        past = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=1)
        return {"ended": AccessToken.objects.filter(user__username=body.get("user", "alice")).update(expires=past)}

    def POST_expire_devices(self, query, body):
        """Lets all device codes run out. The toolkit alone would notice that only when a person types the code in."""
        import datetime

        from oauth2_provider.models import DeviceGrant

        past = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=1)
        return {"ended": DeviceGrant.objects.update(expires=past, status=DeviceGrant.EXPIRED)}

    def POST_reset(self, query, body):
        """No tokens, no faults, an empty ledger, the settings' defaults; `keepSettings` keeps the settings."""
        from oauth2_provider import models

        for model in (models.RefreshToken, models.AccessToken, models.IDToken, models.Grant, models.DeviceGrant):
            model.objects.all().delete()
        self.listener.faults.clear()
        self.listener.possession.clear()
        self.listener.ledger.clear()
        if not body.get("keepSettings"):
            self.listener.settings.reset()
        site.apply(self.listener.settings)
        return {}

    def call(self, method, target, raw):
        """Finds and makes a call; returns status and answer."""
        from django.db import connection

        act, query = find(self, method, target)
        if act is None:
            return no_such_call(self)
        try:
            return 200, act(query, json.loads(raw) if raw else {})
        except (UnknownSetting, UnknownFault, Lost, ValueError, KeyError, TypeError, OSError) as error:
            return 400, {"error": f"{type(error).__name__}: {error}"}
        finally:
            connection.close()  # this thread ends with its call
