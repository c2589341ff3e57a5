"""What bodies and their members must look like."""

import email.utils
import time

from .expectations import absent, expect, member, sound, unsound

VALUES = {"number": 12345, "null": None, "array": [], "object": {}, "boolean": True, "empty": ""}
FIELDS = {
    "access-token": "access_token",
    "refresh-token": "refresh_token",
    "user": "user",
    "user-id": "user.id",
    "scope": "scope",
    "otp-flow": "otpFlowId",
    "user-name": "user.name",
    "masked-phone": "maskedPhone",
}
for words, place in FIELDS.items():
    coded = words in ("otp-flow", "masked-phone")
    values = {**VALUES, "object": {"first": "A"}} if words in ("user-name", "masked-phone") else VALUES
    for what, value in values.items():
        expect(
            f"{words}-{what}",
            lambda seen, _, place=place, value=value: member(seen, place) == value and seen.status == 200,
            sms=coded,
        )
    expect(f"{words}-absent", absent(place), sms=coded)
    expect(f"{words}-long", lambda seen, _, place=place: len(member(seen, place)) >= 100000, sms=coded)
    for what, character in (
        ("newlines?", "\r\n"),
        ("nul", "\0"),
        ("space", " "),
        ("non-ascii", "\u00e4"),
        ("controls", "\x07"),
        ("escapes", "\x1b["),
        ("bidi", "\u202e"),
    ):
        expect(
            f"{words}-{what}",
            lambda seen, _, place=place, character=character: character in member(seen, place),
            sms=coded,
        )
expect("masked-phone-full", lambda seen, _: seen.json["maskedPhone"] == "+15550100", sms=True)
for what, value in {
    "negative": -1,
    "zero": 0,
    "huge": 1e300,
    "overflow": float("inf"),
    "string": "3600",
    "int64-max": 2**63 - 1,
    "int64-overflow": 2**63,
    "null": None,
    "fraction": 899.5,
    "boolean": True,
    "array": [900],
    "garbage": "tomorrow",
    "past": "2001-01-01T00:00:00Z",
    "far": "9999-12-31T23:59:59Z",
    "no-such-date": "2026-02-30T25:61:61Z",
    "epoch-ms": 4102444800000,
}.items():
    expect(
        f"expiry-{what}",
        lambda seen, _, value=value: seen.json["expires_in"] == value and type(seen.json["expires_in"]) is type(value),
    )
expect("expiry-absent", absent("expires_in"))
expect("field", lambda seen, _: seen.json["user"]["odd"] == [1], {"path": "user.odd", "value": [1]})

expect("json-bom", lambda seen, _: seen.body.startswith(b"\xef\xbb\xbf{"))
expect(
    "json-utf16",
    lambda seen, _: b"access_token" in seen.body.decode("utf-16").encode() and b"access_token" not in seen.body,
)
expect("json-invalid-utf8", lambda seen, _: b"\xc0\x80" in seen.body)
expect("json-lone-surrogate", lambda seen, _: seen.json["odd"] == "\ud800")
expect("json-raw-control", lambda seen, _: b"\x01\x00" in seen.body)
expect("json-deep", lambda seen, _: seen.body.count(b"[") >= 100000)
expect("json-many-members", lambda seen, _: len(seen.json) > 100000)
expect("json-duplicate-keys", lambda seen, _: sound(seen) and seen.body.count(b'"access_token"') == 2)
expect("json-(trailing-garbage|two-objects|trailing-comma|whitespace|xssi-prefix|jsonp)", lambda seen, _: unsound(seen))
expect("json-array", lambda seen, _: "access_token" in seen.json[0])
expect("json-null", lambda seen, _: seen.body == b"null")
expect("json-string", lambda seen, _: isinstance(seen.json, str))
expect("json-number", lambda seen, _: seen.json == 42)
expect("json-empty-object", lambda seen, _: seen.json == {})
for words, kinds in (("wrong", ["text/html"]), ("text", ["text/plain"]), ("no", [])):
    expect(f"{words}-content-type", lambda seen, _, kinds=kinds: sound(seen) and seen.headers("Content-Type") == kinds)
expect("success-false", lambda seen, _: seen.json == {"success": False})
expect("error-in-200", lambda seen, _: (seen.status, seen.json["error"]) == (200, "refused"))
expect("challenge-instead", lambda seen, _: seen.json["requires2FA"] is True)
for what, character in (
    ("controls", "\x07"),
    ("escapes", "\x1b["),
    ("bidi", "\u202e"),
    ("newlines", "\r\n"),
    ("echo", "made-up-password"),
):
    expect(
        f"error-message-{what}",
        lambda seen, _, character=character: seen.status == 400 and character in seen.json["message"],
    )
expect("error-message-long", lambda seen, _: seen.status == 400 and len(seen.json["message"]) == 200000)
expect(
    "error-message-(number|object)", lambda seen, _: seen.status == 400 and not isinstance(seen.json["message"], str)
)
for what, seconds in (("ahead", 3600), ("behind", -3600)):
    expect(
        f"date-{what}",
        lambda seen, _, seconds=seconds: abs(
            email.utils.parsedate_to_datetime(seen.headers("Date")[0]).timestamp() - time.time() - seconds
        )
        < 30,
    )
expect("date-garbage", lambda seen, _: seen.headers("Date") == ["yesterday, at tea-time"])
