"""What really happened: every connection, request, login and use of a refresh token, whatever the client was told
about it.

Later judgement of a client rests on this, so an entry is written when the server *acts*, not when it answers; how
much of the answer
left the server is added at the end of the exchange. Tokens appear only as an ordinal name and a short hash.
"""

import hashlib
import json
import threading
import time

from .clock import rfc3339


def token_hash(token):
    """Twelve hexadecimal digits: enough to recognise a token, useless for presenting it."""
    return hashlib.sha256(str(token).encode("utf-8", "surrogatepass")).hexdigest()[:12]


class Ledger:
    """Entries in order, and one living record for each connection."""

    def __init__(self, clock, path=None):
        self.clock = clock
        self.changed = threading.Condition()
        self.entries, self.connections = [], []
        self.sequence = self.connection_count = self.unfinished = 0
        self.file = open(path, "a", encoding="utf-8", buffering=1) if path else None

    def connection(self, peer):
        """Starts the record of a new connection; its numbers grow as bytes pass."""
        with self.changed:
            self.connection_count += 1
            record = {
                "connection": self.connection_count,
                "peer": peer,
                "opened": self._time(),
                "closed": None,
                "closedBy": None,
                "tls": None,
                "serverName": None,
                "handshake": None,
                "plaintextOnTLSPort": False,
                "applicationBytesReceived": 0,
                "applicationBytesSent": 0,
                "requests": 0,
                "misbehaviours": [],
            }
            self.connections.append(record)
            self.changed.notify_all()
            return record

    def closed(self, record):
        """Ends a connection's record, which also goes to the file."""
        with self.changed:
            record["closed"] = self._time()
            self._write({"event": "connection", **record})
            self.changed.notify_all()

    def add(self, event, **fields):
        """Notes that something happened. The entry is returned so that its exchange can add the delivery."""
        with self.changed:
            self.sequence += 1
            entry = {
                "sequence": self.sequence,
                "time": self._time(),
                "monotonic": round(time.monotonic(), 6),
                "event": event,
                **fields,
            }
            self.entries.append(entry)
            if "connection" not in entry:
                self._write(entry)
            self.changed.notify_all()
            return entry

    def made_by(self, where, after):
        """The entries past a sequence number that belong to one request."""
        with self.changed:
            recent = self.entries[max(0, len(self.entries) - (self.sequence - after)) :]
            return [entry for entry in recent if all(entry.get(name) == value for name, value in where.items())]

    def begun(self):
        """One more exchange whose end is to come."""
        with self.changed:
            self.unfinished += 1

    def settle(self, held, seconds=60.0):
        """Waits until every exchange is finished but the held ones: a client may know a reply's last byte before its
        entry is complete."""
        end = time.monotonic() + seconds
        with self.changed:
            # Nobody says here that another one is held, so that is looked for.
            while self.unfinished > held() and time.monotonic() < end:
                self.changed.wait(0.005)

    def finish(self, entries, **fields):
        """Adds what only the end of the exchange knows, then appends the entries to the file."""
        with self.changed:
            self.unfinished -= 1
            for entry in entries:
                for name, value in fields.items():
                    entry.setdefault(name, value)
                self._write(entry)
            self.changed.notify_all()

    def since(self, after=0, event=None, wait=0.0):
        """The entries past a sequence number, of one kind if asked; waits for the first one up to `wait` seconds."""

        def found():
            return [
                dict(entry)
                for entry in self.entries
                if entry["sequence"] > after and (event is None or entry["event"] == event)
            ]

        with self.changed:
            self.changed.wait_for(found, timeout=wait)
            return {
                "sequence": self.sequence,
                "entries": found(),
                "connections": [dict(record) for record in self.connections],
            }

    def clear(self):
        """Forgets the past; the numbers go on, so that nothing old is ever taken for new."""
        with self.changed:
            self.entries.clear()
            self.connections[:] = [record for record in self.connections if record["closed"] is None]

    def _time(self):
        return rfc3339(self.clock.now())

    def _write(self, entry):
        if self.file:
            self.file.write(json.dumps(entry) + "\n")
