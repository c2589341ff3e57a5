"""Messages as bytes: JSON-RPC lines out, answers and events in. No input or output happens here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from ._errors import AuthBrokerError, UnexpectedAnswer, error_from
from ._members import Members
from ._values import Event

#: The longest message that is read: far above what a broker may say, far below what memory holds.
MESSAGE_LIMIT = 16 << 20
#: How much is read at once: what a pipe or a socket usually holds.
READ_SIZE = 64 * 1024


@dataclass
class Answer:
    """What became of the request `id`; id None: words about the connection itself."""

    id: Optional[int]
    result: Any
    error: Optional[AuthBrokerError]

    def get(self) -> Any:
        """The result; raises why there is none."""
        if self.error is not None:
            raise self.error
        return self.result


Message = Union[Answer, Event]


class Codec:
    """One connection's messages: numbers requests, and cuts what is received into messages."""

    def __init__(self) -> None:
        """A connection that has said nothing yet."""
        self._last_id = 0
        self._buffer = bytearray()
        self._searched = 0

    def request(self, method: str, params: Mapping[str, object]) -> Tuple[int, bytes]:
        """The id and the line of a new request; members of the params that are None are left out."""
        given = {name: value for name, value in params.items() if value is not None}
        line = self.line({"jsonrpc": "2.0", "id": self._last_id + 1, "method": method, "params": given})
        self._last_id += 1
        return self._last_id, line

    @staticmethod
    def line(message: Mapping[str, object]) -> bytes:
        """The line of a message."""
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"

    @staticmethod
    def cancellation(identifier: int) -> bytes:
        """The line that cancels a request."""
        return Codec.line({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": identifier}})

    def feed(self, data: bytes) -> List[Message]:
        """The messages that are complete with these bytes.

        Raises `UnexpectedAnswer` for anything that no broker says; the connection is of no more use then.
        """
        self._buffer += data
        messages: List[Message] = []
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if end < 0:
                self._searched = len(self._buffer)
                if self._searched > MESSAGE_LIMIT:
                    raise UnexpectedAnswer("a message without an end")
                return messages
            line = bytes(self._buffer[:end])
            del self._buffer[:end + 1]
            self._searched = 0
            message = self._message(line) if line.strip() else None
            if message is not None:
                messages.append(message)

    @staticmethod
    def _message(line: bytes) -> Optional[Message]:
        decoded = _decoded(line)
        if not isinstance(decoded, dict) or decoded.get("jsonrpc") != "2.0":
            raise UnexpectedAnswer("a line that is no JSON-RPC 2.0 message")
        if "method" in decoded:
            return Event.read(Members(decoded.get("params"))) if decoded["method"] == "event" else None
        identifier = decoded.get("id")
        if not (identifier is None or isinstance(identifier, int)) or ("result" in decoded) == ("error" in decoded):
            raise UnexpectedAnswer("an answer to no request")
        error = error_from(decoded["error"]) if "error" in decoded else None
        return Answer(identifier, decoded.get("result"), error)


def _decoded(line: bytes) -> object:
    """Decodes a line. The decoder's own error holds the whole line, so that it must not become a context."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        pass
    raise UnexpectedAnswer("a line that is no JSON")


def subscription(events: Optional[Tuple[str, ...]], profiles: Optional[Tuple[str, ...]],
                 since: Optional[int]) -> Dict[str, object]:
    """The params of `subscribe`."""
    return {"events": None if events is None else list(events),
            "profiles": None if profiles is None else list(profiles), "since": since}
