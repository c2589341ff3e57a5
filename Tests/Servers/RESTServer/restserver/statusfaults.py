"""Replies in place of the backend's: statuses, redirects, captive portals, nothing."""

from .clock import http_date
from .misbehaviour import misbehaviour
from .wire import REASONS, Reply

HTML = b"<!DOCTYPE html><html><head><title>Nothing of interest</title></head><body><h1>An error page</h1></body></html>"
PORTAL = (
    b"<!DOCTYPE html><html><head><title>Free Wi-Fi</title></head><body><form action='http://portal.example.com/'>"
    b"<input name='room'><button>Connect</button></form></body></html>"
)
STATUSES = (400, 401, 403, 404, 408, 425, 500)


def _headers(step):
    return [(name, str(value)) for name, value in (step.get("headers") or {}).items()]


def _plain(status, form, headers=()):
    if form == "html":
        return Reply(status, headers=headers, body=HTML, content_type="text/html; charset=utf-8")
    if form == "empty":
        return Reply(status, headers=headers)
    return Reply(status, {"error": "refused", "message": "Refused for a test.", "status": status}, headers)


@misbehaviour(
    "status", "any `status` (503), `headers` {}, `body` (text or JSON), `contentType`; `commit` true acts first"
)
def any_status(exchange, step):
    body, status = step.get("body"), step.get("status", 503)
    if body is None or isinstance(body, str):
        reply = Reply(
            status,
            headers=_headers(step),
            body=(body or "").encode("utf-8", "surrogatepass"),
            content_type=step.get("contentType", "text/plain"),
        )
    else:
        reply = Reply(status, body, _headers(step), content_type=step.get("contentType", "application/json"))
    exchange.replace(step, reply)


def _status(name, summary, make):
    @misbehaviour(name, summary + " (`commit` true acts first)")
    def act(exchange, step):
        exchange.replace(step, make(exchange, step))


for _number in STATUSES:
    for _form in ("json", "empty", "html"):
        _status(
            f"status-{_number}-{_form}",
            f"{_number} {REASONS[_number]}, body: {_form}",
            lambda exchange, step, number=_number, form=_form: _plain(number, form, _headers(step)),
        )
for _number, _form in (
    (204, "empty"),
    (304, "empty"),
    (206, "json"),
    (405, "html"),
    (407, "html"),
    (501, "empty"),
    (502, "html"),
    (503, "html"),
    (504, "empty"),
    (511, "html"),
):
    _status(
        f"status-{_number}-{_form}",
        f"{_number} {REASONS[_number]}, body: {_form}",
        lambda exchange, step, number=_number, form=_form: _plain(number, form, _headers(step)),
    )
for _number in (429, 503):
    for _form, _value in (
        ("none", None),
        ("seconds", "2"),
        ("absurd", "99999999999999999999"),
        ("negative", "-5"),
        ("garbage", "soon"),
        ("date", ""),
    ):
        _status(
            f"status-{_number}-retry-{_form}",
            f"{_number} with Retry-After: {_form}",
            lambda exchange, step, number=_number, form=_form, value=_value: _plain(
                number,
                "json",
                (
                    []
                    if form == "none"
                    else [
                        (
                            "Retry-After",
                            (
                                http_date(exchange.now() + step.get("seconds", 2))
                                if form == "date"
                                else str(step.get("seconds", value))
                            ),
                        )
                    ]
                ),
            ),
        )
for _number in (301, 302, 303, 307, 308):
    _status(
        f"redirect-{_number}",
        f"{_number} to `location` (/redirected here)",
        lambda exchange, step, number=_number: Reply(
            number, headers=[("Location", step.get("location", exchange.server.url + "/redirected"))]
        ),
    )
_status(
    "redirect-other-origin",
    "307 to `location` (an address of somebody else)",
    lambda exchange, step: Reply(
        307, headers=[("Location", step.get("location", "https://collector.example.com/auth/refresh"))]
    ),
)
_status(
    "redirect-to-file",
    "302 to a file: address",
    lambda exchange, step: Reply(302, headers=[("Location", "file:///etc/passwd")]),
)
_status(
    "redirect-loop",
    "308 to the same address",
    lambda exchange, step: Reply(308, headers=[("Location", exchange.server.url + exchange.request.path)]),
)
_status("redirect-no-location", "302 without an address", lambda exchange, step: Reply(302))
_status(
    "captive-portal",
    "200 with the HTML of a captive portal",
    lambda exchange, step: Reply(200, body=PORTAL, content_type="text/html"),
)
_status("captive-portal-as-json", "the same, called application/json", lambda exchange, step: Reply(200, body=PORTAL))
_status(
    "captive-portal-redirect",
    "302 to the captive portal",
    lambda exchange, step: Reply(
        302, headers=[("Location", "http://portal.example.com/")], body=PORTAL, content_type="text/html"
    ),
)
_status("empty-200", "200 without a body", lambda exchange, step: Reply(200))
_status(
    "empty-200-json",
    "200 without a body, called application/json",
    lambda exchange, step: Reply(200, headers=[("Content-Type", "application/json")]),
)
