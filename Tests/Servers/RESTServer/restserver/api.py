"""An API of the application's own below `/service/`: it takes the access token, and answers as its path says."""

import base64
import gzip

from .wire import Reply

OCTETS = bytes(range(256))


def answer(request):
    """The reply to a request whose token is good.

    `echo…` tells the request, with the token in every form in which servers repeat one; `status/N` has that status;
    `bytes/N` has so many octets; `gzip` and `br` are encoded though nobody asks for it.
    """
    kind, _, rest = request.path.removeprefix("/service/").partition("/")
    if kind == "status":
        status = int(rest)
        headers = {3: [("Location", "https://other.invalid/")], 4: [("Retry-After", "7")]}.get(status // 100, [])
        return Reply(status, {"status": status} if status not in (204, 304) else None, headers)
    if kind == "bytes":
        count = int(rest)
        body = (OCTETS * (count // 256 + 1))[:count]
        return Reply(200, body=body, content_type="application/octet-stream")
    if kind == "gzip":
        return Reply(200, body=gzip.compress(b"unpacked " * 100), headers=[("Content-Encoding", "gzip")])
    if kind == "br":
        return Reply(200, body=b"\x0b\x02\x80ab\x03", headers=[("Content-Encoding", "br")])
    token = request.bearer()
    payload = {
        "method": request.method,
        "path": request.path,
        "query": request.query,
        "headers": request.headers,
        "body": request.body.decode("utf-8", "replace"),
        "token": token,
        "basic": base64.b64encode(f"x:{token}".encode()).decode(),
    }
    return Reply(200, payload, [("X-Token", token), ("X-Kind", "echo"), ("Set-Cookie", "a=b"), ("Set-Cookie", "c=d")])
