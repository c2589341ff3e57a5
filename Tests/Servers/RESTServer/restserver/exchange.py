"""One request on its way to a reply, and what a misbehaviour may do to it."""

from .ledger import token_hash
from .wire import Hangup, Reply


class Exchange:
    """Keeps apart what the backend *did* (`commit`) and what the client gets to see (`send`, `raw`, `reset`,
    `close`)."""

    def __init__(self, server, connection, request, endpoint, number):
        self.server, self.connection, self.request, self.endpoint = server, connection, request, endpoint
        self.where = {"connection": connection.record["connection"], "request": number}
        self.committed, self.entries, self.delivery, self.status = None, [], None, None
        self.misbehaviour = None
        self.sent_before = connection.record["applicationBytesSent"]
        server.ledger.begun()
        self.entry = server.ledger.add(
            "request",
            **self.where,
            method=request.method,
            path=request.path,
            queryPresent=bool(request.query),
            endpoint=endpoint,
            headerNames=sorted(request.headers),
            authorization=request.authorization_scheme(),
            cookie="cookie" in request.headers,
            userAgent=request.headers.get("user-agent"),
            contentType=request.content_type,
            bodyBytes=len(request.body)
        )

    def commit(self):
        """Lets the backend do what is asked, once; from here on it has happened, whatever the client learns."""
        if self.committed is None:
            self.committed, self.entries = self.server.backend.handle(self.endpoint, self.request, self.where)
        return self.committed

    def now(self):
        """The time that the Date header tells."""
        return self.server.clock.now() + self.server.settings["dateSkewSeconds"]

    def send(self, reply, delivery="written", length=True):
        """Writes a reply. `delivery` is for the ledger: `written` (the backend's own), `altered` or `replaced`."""
        if self.request.wants_close and not any(name.lower() == "connection" for name, _ in reply.headers):
            reply.headers.append(("Connection", "close"))
        self.status, self.delivery = reply.status, "partial"
        body = b"" if self.request.method == "HEAD" else reply.body
        self.connection.send(reply.head(self.now(), length=length) + body)
        self.delivery = delivery

    def raw(self, data, delivery):
        """Writes bytes of any kind."""
        self.delivery = "partial"
        self.connection.send(data)
        self.delivery = delivery

    def whole(self):
        """The backend's reply as bytes, for cutting it up."""
        reply = self.commit()
        self.status = reply.status
        return reply.head(self.now()), reply.body

    def replace(self, step, reply):
        """Sends another reply in place of the backend's, which by default is never asked (`"commit": true` asks it
        first)."""
        if step.get("commit"):
            self.commit()
        self.send(reply, "replaced")

    def alter(self, change):
        """Changes the JSON value of a successful reply. What is no success stays as it is."""
        reply = self.commit()
        if reply.status >= 300 or not isinstance(reply.payload, dict):
            return self.send(reply)
        payload = change(reply.payload) or reply.payload
        return self.send(Reply(reply.status, payload, reply.headers), "altered")

    def wait(self, seconds):
        """Waits that long, or until the control interface says `release`."""
        self.server.gate.wait(seconds, {**self.where, "endpoint": self.endpoint, "misbehaviour": self.misbehaviour})

    def reset(self):
        """Ends the connection with RST."""
        self.connection.reset()
        raise Hangup

    def close(self):
        """Ends the connection with FIN."""
        self.connection.close()
        raise Hangup

    def finish(self):
        """Completes the ledger: what left the server, and a refresh token that came but was never looked at."""
        if self.connection.record["applicationBytesSent"] == self.sent_before:
            self.delivery = "dropped"
        if self.committed is None and self.endpoint in ("refresh", "logout"):
            token = self.server.backend.refresh_token_in(self.endpoint, self.request)
            if token is not None:
                self.entries.append(
                    self.server.ledger.add(
                        self.endpoint,
                        **self.where,
                        token=self.server.backend.tokens.name(token),
                        hash=token_hash(token),
                        outcome="notProcessed"
                    )
                )
        self.server.ledger.finish(
            [self.entry, *self.entries],
            status=self.status,
            delivery=self.delivery,
            misbehaviour=self.misbehaviour,
            committed=self.committed is not None,
        )
