"""What a stream of events remembers, so that it can go on over another connection. No input or output happens here."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, Optional, Sequence

from ._codec import subscription
from ._location import Location
from ._retry import Pauses
from ._values import Event, Snapshot


class Cursor:
    """The place in the stream: what was asked for, and the last event that was seen."""

    def __init__(self, events: Optional[Sequence[str]], profiles: Optional[Sequence[str]], since: Optional[int],
                 patience: Optional[float]) -> None:
        """Takes the params of `subscribe`, and how many seconds a lost broker is waited for (None: for ever)."""
        self._wanted = None if events is None else tuple(events)
        # Always heard: after an orderly end this client does not start the broker that a person has just stopped.
        self._heard = None if events is None else tuple(dict.fromkeys([*events, "shuttingDown"]))
        self._profiles = None if profiles is None else tuple(profiles)
        self._since = since
        self._may_start = True
        #: When to try again after the broker was lost.
        self.pauses = Pauses(patience)
        #: The last sequence that was seen: `since` for a stream that goes on later, even in another process.
        self.last_sequence = since or 0

    def params(self) -> Dict[str, object]:
        """The params of the next `subscribe`."""
        return subscription(self._heard, self._profiles, self._since)

    def location(self, location: Location) -> Location:
        """Where the next broker is looked for: none is started after an orderly end."""
        return replace(location, start=location.start and self._may_start)

    def begin(self, snapshot: Snapshot) -> Optional[Event]:
        """Notes that a subscription began; returns the event `resync` where what was missed is no longer kept."""
        if self._since is None or snapshot.resync:
            self._since = self.last_sequence = snapshot.sequence
        self._may_start = True
        self.pauses.succeeded()
        if not snapshot.resync:
            return None
        return Event(snapshot.sequence, "resync", None, None, {}, snapshot.subscription_id, snapshot.sessions)

    def take(self, event: Event) -> bool:
        """Notes an event; false for one that was not asked for."""
        if event.event == "shuttingDown":
            self._may_start = False
        self._saw(event.sequence)
        return self._wanted is None or event.event in self._wanted or event.event == "eventsLost"

    def _saw(self, sequence: int) -> None:
        self._since = self.last_sequence = max(sequence, self.last_sequence)
