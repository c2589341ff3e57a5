"""Misbehaviours of JSON: wrong types, odd encodings, and strings that no terminal should ever be shown."""

import json

from .clock import http_date
from .misbehaviour import misbehaviour
from .shapes import ABSENT, path_of, put
from .wire import Reply

ESCAPES = "\x1b]0;owned\x07\x1b[31mred\x1b[2J\x9b31m"
CONTROLS = "a\x00b\x01c\x07d\x08e\x0df\ng\x7fh\x85i"
BIDI = "user\u202egnp.exe\u2066\u200f\u2069\ufeff"
STRANGE = {
    "controls": CONTROLS,
    "escapes": ESCAPES,
    "bidi": BIDI,
    "long": "n" * 200000,
    "newlines": "line one\r\nSet-Cookie: a=b\r\n\r\n",
    "empty": "",
    "number": 12345,
    "object": {"first": "A"},
}
WRONG = {"number": 12345, "null": None, "array": [], "object": {}, "boolean": True, "empty": "", "absent": ABSENT}
# JSON can say numbers that Python's writer would not; the text is put in afterwards.
RAW = "raw-json:"
EXPIRIES = {
    "negative": -1,
    "zero": 0,
    "huge": 1e300,
    "overflow": RAW + "1e400",
    "string": "3600",
    "int64-max": 2**63 - 1,
    "int64-overflow": 2**63,
    "null": None,
    "absent": ABSENT,
    "fraction": 899.5,
    "boolean": True,
    "array": [900],
    "garbage": "tomorrow",
    "past": "2001-01-01T00:00:00Z",
    "far": "9999-12-31T23:59:59Z",
    "no-such-date": "2026-02-30T25:61:61Z",
    "epoch-ms": 4102444800000,
}


def _set_field(name, summary, field, value):
    @misbehaviour(name, summary)
    def act(exchange, step):
        def change(payload):
            put(payload, path_of(exchange.server.settings, field), value)

        exchange.alter(change)


for _field, _words in (
    ("accessToken", "access-token"),
    ("refreshToken", "refresh-token"),
    ("user", "user"),
    ("user.id", "user-id"),
    ("scope", "scope"),
):
    for _what, _value in WRONG.items():
        _set_field(f"{_words}-{_what}", f"{_field} is {_what}, in whatever shape", _field, _value)
for _what, _value in (
    ("newline", "at-made-up\r\nX-Injected: yes"),
    ("long", "t" * 100000),
    ("non-ascii", "at-m\u00e4de-up"),
    ("space", "at made up"),
    ("nul", "at-made\x00up"),
):
    _set_field(f"access-token-{_what}", f"an access token with {_what}", "accessToken", _value)
    _set_field(f"refresh-token-{_what}", f"a refresh token with {_what}", "refreshToken", _value)
for _what, _value in STRANGE.items():
    _set_field(f"user-name-{_what}", f"the user's name: {_what}", "user.name", _value)
    _set_field(f"masked-phone-{_what}", f"the masked telephone number: {_what}", "maskedPhone", _value)
for _what, _value in (("number", 12345), ("null", None), ("absent", ABSENT), ("empty", ""), ("long", "f" * 200000)):
    _set_field(f"otp-flow-{_what}", f"the flow's id: {_what}", "otpFlowId", _value)


@misbehaviour("masked-phone-full", "the `masked` telephone number is the full one")
def masked_phone_full(exchange, step):
    def change(payload):
        messages = exchange.server.backend.second_factor.messages
        put(
            payload,
            path_of(exchange.server.settings, "maskedPhone"),
            messages[-1]["phone"] if messages else "+15550100",
        )

    exchange.alter(change)


@misbehaviour("field", "the member at the dotted `path` becomes `value` (left out: the member is absent)")
def field(exchange, step):
    def change(payload):
        put(payload, step.get("path", "user"), step.get("value", ABSENT))

    exchange.alter(change)


def _text(name, summary, make):
    """The reply's JSON as other bytes: `make(text)` gives the bytes or (bytes, content type)."""

    @misbehaviour(name, summary)
    def act(exchange, step):
        reply = exchange.commit()
        if not isinstance(reply.payload, dict):
            return exchange.send(reply)
        made = make(json.dumps(reply.payload))
        body, content_type = made if isinstance(made, tuple) else (made, "application/json")
        headers = [("X-Content-Type-Options", "nosniff")] if content_type is None else []
        return exchange.send(
            Reply(reply.status, headers=reply.headers + headers, body=body, content_type=content_type), "altered"
        )


def _expiry(what, value):
    @misbehaviour(f"expiry-{what}", f"the access token's lifetime or end is {what}")
    def act(exchange, step):
        reply = exchange.commit()
        if reply.status >= 300 or not isinstance(reply.payload, dict):
            return exchange.send(reply)
        put(reply.payload, path_of(exchange.server.settings, "expiry"), value)
        text = json.dumps(reply.payload)
        if isinstance(value, str) and value.startswith(RAW):
            text = text.replace(json.dumps(value), value.removeprefix(RAW))
        return exchange.send(Reply(reply.status, headers=reply.headers, body=text.encode()), "altered")


for _what, _value in EXPIRIES.items():
    _expiry(_what, _value)
_text("json-bom", "a byte order mark before the JSON", lambda text: b"\xef\xbb\xbf" + text.encode())
_text("json-utf16", "JSON in UTF-16", lambda text: (text.encode("utf-16"), "application/json; charset=utf-16"))
_text(
    "json-invalid-utf8", "a member that is not UTF-8", lambda text: text[:-1].encode() + b',"odd":"\xff\xfe\xc0\x80"}'
)
_text(
    "json-lone-surrogate", "a member with half a surrogate pair", lambda text: text[:-1].encode() + b',"odd":"\\ud800"}'
)
_text(
    "json-raw-control", "a raw control character in a string", lambda text: text[:-1].encode() + b',"odd":"\x01\x00"}'
)
_text(
    "json-deep",
    "a member that nests 100,000 arrays",
    lambda text: text[:-1].encode() + b',"deep":' + b"[" * 100000 + b"]" * 100000 + b"}",
)
_text(
    "json-many-members",
    "100,000 members more",
    lambda text: (text[:-1] + "".join(f',"m{index}":0' for index in range(100000)) + "}").encode(),
)
_text(
    "json-duplicate-keys",
    "each member of the outer object twice, the first time as `planted`",
    lambda text: ("{" + "".join(f'{json.dumps(name)}:"planted",' for name in json.loads(text)) + text[1:]).encode(),
)
_text("json-trailing-garbage", "something after the JSON", lambda text: text.encode() + b"; more")
_text("json-two-objects", "a second object after the first", lambda text: (text + "\n" + text).encode())
_text("json-trailing-comma", "a comma before the last brace", lambda text: (text[:-1] + ",}").encode())
_text("json-array", "the object in an array", lambda text: f"[{text}]".encode())
_text("json-null", "null", lambda text: b"null")
_text("json-string", "the object as a string", lambda text: json.dumps(text).encode())
_text("json-number", "a number", lambda text: b"42")
_text("json-empty-object", "an object without members", lambda text: b"{}")
_text("json-whitespace", "only white space", lambda text: b" \r\n\t ")
_text("json-xssi-prefix", "a guard against script inclusion before the JSON", lambda text: b")]}',\n" + text.encode())
_text("json-jsonp", "the object as the argument of a call", lambda text: f"callback({text})".encode())
_text("wrong-content-type", "right JSON, called text/html", lambda text: (text.encode(), "text/html"))
_text("text-content-type", "right JSON, called text/plain", lambda text: (text.encode(), "text/plain"))
_text("no-content-type", "right JSON without a Content-Type", lambda text: (text.encode(), None))
_text("success-false", "200 with success: false", lambda text: b'{"success":false}')
_text(
    "error-in-200",
    "200 with an error object",
    lambda text: b'{"error":"refused","message":"Refused for a test.","status":401}',
)


@misbehaviour("challenge-instead", "a challenge for a code in place of the reply (`commit` true acts first)")
def challenge_instead(exchange, step):
    payload = {}
    for name, value in (("requires2FA", True), ("otpFlowId", "flow-unasked"), ("maskedPhone", "*****0100")):
        put(payload, path_of(exchange.server.settings, name), value)
    exchange.replace(step, Reply(200, payload))


def _message(what, text):
    @misbehaviour(f"error-message-{what}", f"400 (or `status`) with a sentence for people: {what}")
    def act(exchange, step):
        said = text if text is not None else exchange.request.body.decode("utf-8", "replace")
        members = {"error": "refused", "error_description": said, "message": said, "title": said, "detail": said}
        exchange.replace(step, Reply(step.get("status", 400), members))


for _what in ("controls", "escapes", "bidi", "long", "newlines", "number", "object"):
    _message(_what, STRANGE[_what])
_message("echo", None)


def _date(name, summary, value):
    @misbehaviour(name, summary)
    def act(exchange, step):
        reply = exchange.commit()
        reply.headers = reply.headers + [("Date", value(exchange, step))]
        exchange.send(reply, "altered")


_date(
    "date-ahead",
    "the Date header `seconds` (3600) ahead",
    lambda exchange, step: http_date(exchange.now() + step.get("seconds", 3600)),
)
_date(
    "date-behind",
    "the Date header `seconds` (3600) behind",
    lambda exchange, step: http_date(exchange.now() - step.get("seconds", 3600)),
)
_date("date-garbage", "a Date header that is none", lambda exchange, step: "yesterday, at tea-time")
