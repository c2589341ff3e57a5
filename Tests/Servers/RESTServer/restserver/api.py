"""An API of the application's own below `/service/`: it takes the access token, and answers as its path says."""

import base64
import gzip

from .wire import Reply

OCTETS = bytes(range(256))


class Effects:
    """What requests have done, once for each Idempotency-Key."""

    def __init__(self, ledger):
        self.ledger, self.numbers = ledger, {}

    def for_exchange(self, where):
        """Does something once for each key; without one, each time. Returns its number, and whether it is new."""

        def act(key, body):
            known = self.numbers.get(key) if key else None
            number = known or len(self.numbers) + 1
            self.ledger.add("effect", **where, key=key, body=body, number=number, replayed=known is not None)
            self.numbers[key or object()] = number
            return number, known is None

        return act


def answer(request, effects):
    """The reply to a request whose token is good.

    `effect…` is done once for each Idempotency-Key, is told to `effects`, and has the same reply again;
    `echo…` tells the request, with the token in every form in which servers repeat one; `status/N` has that status;
    `bytes/N` has so many octets; `gzip` and `br` are encoded though nobody asks for it.
    """
    kind, _, rest = request.path.removeprefix("/service/").partition("/")
    if kind == "status":
        status = int(rest)
        headers = {3: [("Location", "https://other.invalid/")], 4: [("Retry-After", "7")]}.get(status // 100, [])
        return Reply(status, {"status": status} if status not in (204, 304) else None, headers)
    if kind == "effect":
        number, is_new = effects(request.headers.get("idempotency-key"), request.body.decode("utf-8", "replace"))
        return Reply(201, {"effect": number}, [("X-Replayed", str(not is_new).lower())])
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
