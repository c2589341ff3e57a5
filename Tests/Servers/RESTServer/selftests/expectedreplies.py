"""What connections, statuses and framing must look like."""

import gzip
import re
import zlib

from .expectations import begins, expect, nothing, sound, unsound

expect("ok", lambda seen, _: sound(seen))
for end in ("reset", "close"):
    ended = "closed" if end == "close" else "reset"
    expect(f"{end}-(at-accept|before-reading)", nothing(ended))
    # Closing with a part of the request unread is a reset too: that is TCP's rule (RFC 9293 section 3.10.4), not the
    # server's choice.
    expect(f"{end}-while-reading", lambda seen, _: not seen.data and seen.end in ("closed", "reset"))
    expect(f"{end}-half-way", begins(ended))
    expect(
        f"{end}-in-headers",
        lambda seen, _, ended=ended: seen.data.startswith(b"HTTP/1.1")
        and b"\r\n\r\n" not in seen.data
        and seen.end == ended,
    )
    expect(f"{end}-after-reply", lambda seen, _, ended=ended: sound(seen) and seen.end == ended, whole=True)
expect("stall-at-accept", nothing("closed"), {"seconds": 0.05})
expect("stall-before-reading", lambda seen, took: sound(seen) and took >= 0.05, {"seconds": 0.05})
expect("stall-half-way", begins("closed"), {"seconds": 0.05})
expect(
    "stall-in-headers",
    lambda seen, _: seen.data.startswith(b"HTTP") and b"\r\n\r\n" not in seen.data and seen.end == "closed",
    {"seconds": 0.05},
)
expect("banner-at-accept", lambda seen, _: seen.data.startswith(b"220 mail.example.com"))
expect("drop-(before|after)-commit|hold-then-(drop|forget)", nothing("closed"), {"seconds": 0.05})
expect("reset-(before|after)-commit", nothing("reset"))
expect("(delay|hold)-(before|after)-commit", lambda seen, took: sound(seen) and took >= 0.05, {"seconds": 0.05})
expect("drip(-body)?", lambda seen, took: sound(seen) and took >= 0.02, {"interval": 0.002, "bytes": 10})
expect("drip-spaces", lambda seen, took: seen.body == b" " * 20 and took >= 0.02, {"interval": 0.002, "count": 20})

expect(
    "status",
    lambda seen, _: (seen.status, seen.body, seen.headers("Retry-After"), seen.headers("Content-Type"))
    == (418, b"short and stout", ["7"], ["text/teapot"]),
    {"status": 418, "body": "short and stout", "headers": {"Retry-After": 7}, "contentType": "text/teapot"},
)
for number in (204, 206, 304, 400, 401, 403, 404, 405, 407, 408, 425, 500, 501, 502, 503, 504, 511):
    expect(
        f"status-{number}-json", lambda seen, _, number=number: (seen.status, seen.json["error"]) == (number, "refused")
    )
    expect(f"status-{number}-empty", lambda seen, _, number=number: (seen.status, seen.body) == (number, b""))
    expect(
        f"status-{number}-html",
        lambda seen, _, number=number: seen.status == number
        and seen.body.startswith(b"<!DOCTYPE html")
        and seen.headers("Content-Type") == ["text/html; charset=utf-8"],
    )
for number in (429, 503):
    for form, pattern in (
        ("none", None),
        ("seconds", "2"),
        ("absurd", "9{20}"),
        ("negative", "-5"),
        ("garbage", "soon"),
        ("date", r"\w{3}, .* GMT"),
    ):
        expect(
            f"status-{number}-retry-{form}",
            lambda seen, _, number=number, pattern=pattern: seen.status == number
            and (
                seen.headers("Retry-After") == []
                if pattern is None
                else bool(re.fullmatch(pattern, seen.headers("Retry-After")[0]))
            ),
        )
for number in (301, 302, 303, 307, 308):
    expect(
        f"redirect-{number}",
        lambda seen, _, number=number: seen.status == number and seen.headers("Location")[0].endswith("/redirected"),
    )
expect(
    "redirect-other-origin", lambda seen, _: seen.headers("Location") == ["https://collector.example.com/auth/refresh"]
)
expect("redirect-to-file", lambda seen, _: seen.headers("Location") == ["file:///etc/passwd"])
expect("redirect-loop", lambda seen, _: seen.status == 308 and seen.headers("Location")[0].endswith("/auth/login"))
expect("redirect-no-location", lambda seen, _: (seen.status, seen.headers("Location")) == (302, []))
for words, kind in (("", "text/html"), ("-as-json", "application/json")):
    expect(
        "captive-portal" + words,
        lambda seen, _, kind=kind: (seen.status, seen.headers("Content-Type"), b"<form" in seen.body)
        == (200, [kind], True),
    )
expect(
    "captive-portal-redirect",
    lambda seen, _: (seen.status, seen.headers("Location")) == (302, ["http://portal.example.com/"]),
)
expect(
    "empty-200(-json)?", lambda seen, _: (seen.status, seen.body, seen.headers("Content-Length")) == (200, b"", ["0"])
)

expect("truncated-json|no-length-half", lambda seen, _: unsound(seen) and len(seen.body) > 20)
expect(
    "length-too-long|huge-body-claimed",
    lambda seen, _: int(seen.headers("Content-Length")[0]) > len(seen.body) > 20 and seen.end == "closed",
)
expect("length-too-short", lambda seen, _: int(seen.headers("Content-Length")[0]) < len(seen.body), whole=True)
expect("length-negative", lambda seen, _: seen.headers("Content-Length") == ["-1"])
expect("length-overflow", lambda seen, _: seen.headers("Content-Length") == ["9" * 26])
expect("length-twice", lambda seen, _: len(set(seen.headers("Content-Length"))) == 2)
expect(
    "length-and-chunked",
    lambda seen, _: seen.headers("Content-Length") == ["3"] and seen.headers("Transfer-Encoding") == ["chunked"],
    whole=True,
)
expect("no-length", lambda seen, _: sound(seen) and seen.headers("Content-Length") == [] and seen.end == "closed")
expect(
    "chunked",
    lambda seen, _: seen.body.startswith(b'1\r\n{\r\n1\r\n"\r\n') and seen.body.endswith(b"\r\n0\r\n\r\n"),
    whole=True,
)
expect(
    "chunked-truncated|chunked-no-end",
    lambda seen, _: seen.headers("Transfer-Encoding") == ["chunked"] and not seen.body.endswith(b"0\r\n\r\n"),
)
expect("chunked-bad-size", lambda seen, _: seen.body.startswith(b"zz\r\n"))
expect("chunked-huge-size", lambda seen, _: seen.body.startswith(b"f" * 17))
expect("two-replies", lambda seen, _: seen.data.count(b"HTTP/1.1 200 OK") == 2, whole=True)
expect("http10", lambda seen, _: seen.data.startswith(b"HTTP/1.0 200") and seen.end == "closed")
expect("http09", lambda seen, _: seen.data.startswith(b"{"))
expect("bad-status-line", lambda seen, _: seen.data.startswith(b"HTTP/1.1 fine"))
expect("status-line-1000", lambda seen, _: seen.status == 1000)
expect("binary-garbage", lambda seen, _: seen.data == bytes(range(256)) * 8)
expect("http2-preface", lambda seen, _: seen.data[3:4] == b"\x04" and len(seen.data) == 9)
expect(
    "interim-replies",
    lambda seen, _: seen.data.startswith(b"HTTP/1.1 103") and b"access_token" in seen.data,
    whole=True,
)
expect(
    "interim-replies-many",
    lambda seen, _: seen.data.count(b"HTTP/1.1 100") == 10000 and b"access_token" in seen.data,
    whole=True,
)
expect("interim-only", lambda seen, _: seen.data == b"HTTP/1.1 100 Continue\r\n\r\n" and seen.end == "closed")
expect("many-headers", lambda seen, _: sound(seen) and seen.head.count(b"X-Field-") == 2000)
expect("huge-header", lambda seen, _: sound(seen) and len(seen.head) > 1 << 20)
expect("header-with-controls", lambda seen, _: b"\x1b[31m" in seen.head)
expect("folded-header", lambda seen, _: b"one\r\n two" in seen.head)
expect("set-cookie", lambda seen, _: sound(seen) and seen.headers("Set-Cookie") == ["tracking=planted; Path=/"])
expect("alt-svc", lambda seen, _: sound(seen) and len(seen.headers("Alt-Svc")) == 1)
expect(
    "gzip",
    lambda seen, _: b"access_token" in gzip.decompress(seen.body) and seen.headers("Content-Encoding") == ["gzip"],
)
for name, bits in (("deflate", 15), ("deflate-bare", -15)):
    expect(
        name,
        lambda seen, _, bits=bits: b"access_token" in zlib.decompress(seen.body, wbits=bits)
        and seen.headers("Content-Encoding") == ["deflate"],
    )
expect("gzip-garbage", lambda seen, _: sound(seen) and seen.headers("Content-Encoding") == ["gzip"])
expect(
    "gzip-bomb",
    lambda seen, _: len(gzip.decompress(seen.body)) == 8 << 20 and len(seen.body) < 1 << 14,
    {"bytes": 8 << 20},
)
expect("huge-body", lambda seen, _: sound(seen) and len(seen.body) > 2 << 20)
expect("huge-body-chunked", lambda seen, _: len(seen.body) > 3 << 20 and seen.end == "closed", {"bytes": 3 << 20})
expect(
    "infinite-headers", lambda seen, _: len(seen.data) > 3 << 20 and b"\r\n\r\n" not in seen.data, {"bytes": 4 << 20}
)
