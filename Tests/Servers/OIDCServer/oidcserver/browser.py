"""A scripted person with a browser: fills in the forms that the server shows, and follows its redirects by hand."""

import html.parser
import http.client
import http.cookies
import ssl
import urllib.parse

# More steps than any way through the site has: login, user code, consent, result.
LONGEST_WAY = 12


class Lost(Exception):
    """The person does not know how to go on."""


class Forms(html.parser.HTMLParser):
    """The forms of a page: where each goes, what it holds."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "form":
            self.found.append({"action": attributes.get("action") or "", "values": {}, "buttons": []})
        elif tag in ("input", "button") and self.found:
            kind = attributes.get("type", "text" if tag == "input" else "submit")
            if kind == "submit":
                self.found[-1]["buttons"].append((attributes.get("name"), attributes.get("value") or ""))
            elif attributes.get("name"):
                self.found[-1]["values"][attributes["name"]] = attributes.get("value") or ""


class Browser:
    """One person's cookies; a new one knows nobody."""

    def __init__(self, base, user, password):
        self.base, self.user, self.password = base, user, password
        self.cookies, self.steps = {}, []

    def request(self, method, url, values=None):
        """One exchange; status, fields and page. What the certificate says does not matter to this person."""
        parts = urllib.parse.urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        options = {"context": ssl._create_unverified_context()} if parts.scheme == "https" else {}
        connection = kind(parts.hostname, parts.port, timeout=300, **options)
        fields = {"Referer": self.base + "/", "Origin": self.base, "User-Agent": "scripted-person"}
        if url.startswith(self.base) and self.cookies:
            fields["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        body = None
        if values is not None:
            body, fields["Content-Type"] = urllib.parse.urlencode(values), "application/x-www-form-urlencoded"
        target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
        try:
            connection.request(method, target, body, fields)
            reply = connection.getresponse()
            page = reply.read().decode("utf-8", "replace")
        finally:
            connection.close()
        if url.startswith(self.base):
            for line in reply.headers.get_all("Set-Cookie") or []:
                for name, cookie in http.cookies.SimpleCookie(line).items():
                    self.cookies[name] = cookie.value
        self.steps.append(f"{method} {parts.path} {reply.status}")
        return reply.status, reply.headers, page

    def walk(self, url, agrees=True):
        """Goes from a page of the server to where it ends: at another place, or at a page without a form.

        Returns `{"location"}` of the other place, or `{"status","page"}`, with the steps."""
        method, values = "GET", None
        for _ in range(LONGEST_WAY):
            status, fields, page = self.request(method, url, values)
            if fields.get("Location"):
                method, values, url = "GET", None, urllib.parse.urljoin(url, fields["Location"])
                if not url.startswith(self.base):
                    return {"location": url, "steps": self.steps}
                continue
            forms = [form for form in Forms(page).found if "csrfmiddlewaretoken" in form["values"]]
            if status != 200 or not forms:
                return {"status": status, "page": page, "steps": self.steps}
            method, url, values = "POST", urllib.parse.urljoin(url, forms[0]["action"]), self.filled(forms[0], agrees)
        raise Lost(f"no end after {', '.join(self.steps)}")

    def filled(self, form, agrees):
        """The values that the person gives in a form."""
        values = dict(form["values"])
        if "password" in values:
            if "loginPage" in self.steps:
                raise Lost("the password was not accepted")
            self.steps.append("loginPage")
            return {**values, "username": self.user, "password": self.password}
        named = dict(button for button in form["buttons"] if button[0])
        if "allow" in named:
            return {**values, "allow": named["allow"]} if agrees else values
        if any(name == "action" for name, _ in form["buttons"]):
            return {**values, "action": "accept" if agrees else "deny"}
        return values
