"""Misbehaviours of framing: lengths, chunks, header sections, compression, and what is no HTTP at all."""

import functools
import gzip
import zlib

from .misbehaviour import misbehaviour
from .wire import Reply

MEBI = 1024 * 1024


def _framed(name, summary, make):
    """The backend's reply in other bytes: `make(head without length, body)`; the connection ends after it where it
    must."""

    @misbehaviour(name, summary)
    def act(exchange, step):
        reply = exchange.commit()
        exchange.status = reply.status
        data, ends = make(reply.head(exchange.now(), length=False)[:-2], reply.body)
        exchange.raw(data, "altered")
        if ends:
            exchange.close()


def _length(number):
    return b"Content-Length: %d\r\n" % number


def _chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


CHUNKED = b"Transfer-Encoding: chunked\r\n"
_framed(
    "truncated-json",
    "half of the JSON, with a Content-Length that says so",
    lambda head, body: (head + _length(len(body) // 2) + b"\r\n" + body[: len(body) // 2], False),
)
_framed(
    "length-too-long",
    "Content-Length of the whole, half of the body, end",
    lambda head, body: (head + _length(len(body)) + b"\r\n" + body[: len(body) // 2], True),
)
_framed(
    "length-too-short",
    "the whole body, Content-Length of half",
    lambda head, body: (head + _length(len(body) // 2) + b"\r\n" + body, True),
)
_framed("length-negative", "Content-Length: -1", lambda head, body: (head + b"Content-Length: -1\r\n\r\n" + body, True))
_framed(
    "length-overflow",
    "a Content-Length of 26 digits",
    lambda head, body: (head + b"Content-Length: 99999999999999999999999999\r\n\r\n" + body, True),
)
_framed(
    "length-twice",
    "two different Content-Length fields",
    lambda head, body: (head + _length(len(body)) + _length(2) + b"\r\n" + body, True),
)
_framed(
    "length-and-chunked",
    "Content-Length beside chunked encoding",
    lambda head, body: (head + _length(3) + CHUNKED + b"\r\n" + _chunk(body) + b"0\r\n\r\n", True),
)
_framed(
    "no-length",
    "no framing at all: the body ends with the connection",
    lambda head, body: (head + b"Connection: close\r\n\r\n" + body, True),
)
_framed(
    "no-length-half",
    "no framing, and the connection ends after half of the body",
    lambda head, body: (head + b"Connection: close\r\n\r\n" + body[: len(body) // 2], True),
)
_framed(
    "chunked",
    "a proper chunked reply, a byte in each chunk",
    lambda head, body: (
        head
        + CHUNKED
        + b"\r\n"
        + b"".join(_chunk(body[index : index + 1]) for index in range(len(body)))
        + b"0\r\n\r\n",
        False,
    ),
)
_framed(
    "chunked-truncated",
    "chunked, ends in the middle of a chunk",
    lambda head, body: (head + CHUNKED + b"\r\n" + b"%x\r\n" % len(body) + body[: len(body) // 2], True),
)
_framed(
    "chunked-no-end",
    "chunked, the last chunk is missing",
    lambda head, body: (head + CHUNKED + b"\r\n" + _chunk(body), True),
)
_framed(
    "chunked-bad-size",
    "chunked, a size that is no number",
    lambda head, body: (head + CHUNKED + b"\r\nzz\r\n" + body, True),
)
_framed(
    "chunked-huge-size",
    "chunked, a size of 2^64 and more",
    lambda head, body: (head + CHUNKED + b"\r\nfffffffffffffffff\r\n" + body, True),
)
_framed(
    "two-replies",
    "two whole replies to one request",
    lambda head, body: (
        (head + _length(len(body)) + b"\r\n" + body)
        + b'HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{"evil":"unasked-for"}'[:-1],
        False,
    ),
)
_framed(
    "http10",
    "a reply of HTTP/1.0 that ends with the connection",
    lambda head, body: (head.replace(b"HTTP/1.1", b"HTTP/1.0", 1) + b"\r\n" + body, True),
)
_framed("http09", "the bare body, without a head", lambda head, body: (body, True))
_framed(
    "bad-status-line",
    "a status line without a number",
    lambda head, body: (
        b"HTTP/1.1 fine OK\r\n" + head.partition(b"\r\n")[2] + _length(len(body)) + b"\r\n" + body,
        True,
    ),
)
_framed(
    "status-line-1000",
    "a status of four digits",
    lambda head, body: (
        b"HTTP/1.1 1000 Much\r\n" + head.partition(b"\r\n")[2] + _length(len(body)) + b"\r\n" + body,
        True,
    ),
)
_framed("binary-garbage", "bytes that are nothing", lambda head, body: (bytes(range(256)) * 8, True))
_framed(
    "http2-preface", "a SETTINGS frame of HTTP/2", lambda head, body: (b"\x00\x00\x00\x04\x00\x00\x00\x00\x00", True)
)
_framed(
    "interim-replies",
    "103 and 100 before the reply",
    lambda head, body: (
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
        + head
        + _length(len(body))
        + b"\r\n"
        + body,
        False,
    ),
)
_framed(
    "interim-replies-many",
    "10,000 interim replies, then the reply",
    lambda head, body: (b"HTTP/1.1 100 Continue\r\n\r\n" * 10000 + head + _length(len(body)) + b"\r\n" + body, False),
)
_framed("interim-only", "an interim reply, then the end", lambda head, body: (b"HTTP/1.1 100 Continue\r\n\r\n", True))
_framed(
    "many-headers",
    "2,000 header fields",
    lambda head, body: (
        head
        + b"".join(b"X-Field-%d: value\r\n" % index for index in range(2000))
        + _length(len(body))
        + b"\r\n"
        + body,
        False,
    ),
)
_framed(
    "huge-header",
    "a header field of 1 MiB",
    lambda head, body: (head + b"X-Long: " + b"a" * MEBI + b"\r\n" + _length(len(body)) + b"\r\n" + body, False),
)
_framed(
    "header-with-controls",
    "a header field with control characters",
    lambda head, body: (head + b"X-Odd: \x01\x1b[31m\x7f\r\n" + _length(len(body)) + b"\r\n" + body, False),
)
_framed(
    "folded-header",
    "a header field over two lines (obsolete since RFC 7230)",
    lambda head, body: (head + b"X-Folded: one\r\n two\r\n" + _length(len(body)) + b"\r\n" + body, False),
)
_framed(
    "set-cookie",
    "a cookie that must not come back",
    lambda head, body: (
        head + b"Set-Cookie: tracking=planted; Path=/\r\n" + _length(len(body)) + b"\r\n" + body,
        False,
    ),
)
_framed(
    "alt-svc",
    "an invitation to another server and to HSTS",
    lambda head, body: (
        head
        + b'Alt-Svc: h3="collector.example.com:443"\r\nStrict-Transport-Security: max-age=31536000\r\n'
        + _length(len(body))
        + b"\r\n"
        + body,
        False,
    ),
)
_framed(
    "huge-body-claimed",
    "a Content-Length of 1 GiB, the reply, end",
    lambda head, body: (head + _length(1 << 30) + b"\r\n" + body, True),
)
_framed(
    "gzip",
    "the body compressed, unasked",
    lambda head, body: (
        head + b"Content-Encoding: gzip\r\n" + _length(len(gzip.compress(body))) + b"\r\n" + gzip.compress(body),
        False,
    ),
)
_framed(
    "deflate",
    "the body compressed in zlib's format (RFC 1950), unasked",
    lambda head, body: (
        head + b"Content-Encoding: deflate\r\n" + _length(len(zlib.compress(body))) + b"\r\n" + zlib.compress(body),
        False,
    ),
)
_framed(
    "deflate-bare",
    "the body compressed without any format around it (RFC 1951), unasked",
    lambda head, body: (
        head
        + b"Content-Encoding: deflate\r\n"
        + _length(len(zlib.compress(body, wbits=-15)))
        + b"\r\n"
        + zlib.compress(body, wbits=-15),
        False,
    ),
)
_framed(
    "gzip-garbage",
    "called gzip, which it is not",
    lambda head, body: (head + b"Content-Encoding: gzip\r\n" + _length(len(body)) + b"\r\n" + body, False),
)


@functools.lru_cache(maxsize=2)
def bomb(size):
    """That many zeros as gzip: about a thousandth of it on the wire."""
    compressor = zlib.compressobj(9, wbits=31)
    return b"".join(compressor.compress(bytes(MEBI)) for _ in range(max(1, size // MEBI))) + compressor.flush()


@misbehaviour("gzip-bomb", "a small body that swells to `bytes` (64 MiB)")
def gzip_bomb(exchange, step):
    data = bomb(step.get("bytes", 64 * MEBI))
    exchange.replace(step, Reply(200, headers=[("Content-Encoding", "gzip")], body=data))


@misbehaviour("huge-body", "a JSON reply of `bytes` (2 MiB), well-formed, Content-Length right")
def huge_body(exchange, step):
    exchange.alter(lambda payload: {**payload, "padding": "a" * step.get("bytes", 2 * MEBI)})


@misbehaviour("huge-body-chunked", "a body in chunks that goes on to `bytes` (256 MiB) or until the client leaves")
def huge_body_chunked(exchange, step):
    reply = exchange.commit()
    exchange.status = reply.status
    exchange.raw(reply.head(exchange.now(), length=False)[:-2] + CHUNKED + b"\r\n", "partial")
    for _ in range(step.get("bytes", 256 * MEBI) // 65536):
        exchange.raw(_chunk(b" " * 65536), "partial")
    exchange.close()


@misbehaviour("infinite-headers", "header fields up to `bytes` (256 MiB) or until the client leaves")
def infinite_headers(exchange, step):
    reply = exchange.commit()
    exchange.status = reply.status
    exchange.raw(reply.head(exchange.now())[:-2], "partial")
    for _ in range(step.get("bytes", 256 * MEBI) // 65536):
        exchange.raw(b"X-More: and more, and more, and more\r\n" * 1771, "partial")
    exchange.close()
