"""What a stream of events remembers, so that it can go on over another connection. No input or output happens here."""

from __future__ import annotations

import time
from typing import Callable, Dict, Optional, Sequence

from ._codec import subscription
from ._errors import ConnectionLost, NoBroker
from ._values import Event, Snapshot

# The first pause before another try: longer than a restart takes at its best.
_FIRST_PAUSE = 0.1
# The longest pause, so that a broker that has come back is found at once for a person.
_LONGEST_PAUSE = 2.0
# A broker that lived for so long does not end for the same reason as the one before.
_USUAL_LIFE = 10.0


class Cursor:
    """The place in the stream: what was asked for, and the last event that was seen."""

    def __init__(self, events: Optional[Sequence[str]], profiles: Optional[Sequence[str]], since: Optional[int],
                 patience: Optional[float], clock: Callable[[], float] = time.monotonic) -> None:
        """Takes the params of `subscribe`, and how many seconds a lost broker is waited for (None: for ever)."""
        self._wanted = None if events is None else tuple(events)
        # Always heard: after an orderly end this client does not start the broker that a person has just stopped.
        self._heard = None if events is None else tuple(dict.fromkeys([*events, "shuttingDown"]))
        self._profiles = None if profiles is None else tuple(profiles)
        self._since = since
        self._patience = patience
        self._clock = clock
        self._lost_at: Optional[float] = None
        self._began = -_USUAL_LIFE
        self._pause = 0.0
        #: Whether a broker may be started where there is none.
        self.may_start = True
        #: The last sequence that was seen: `since` for a stream that goes on later, even in another process.
        self.last_sequence = since or 0

    def params(self) -> Dict[str, object]:
        """The params of the next `subscribe`."""
        return subscription(self._heard, self._profiles, self._since)

    def begin(self, snapshot: Snapshot) -> Optional[Event]:
        """Notes that a subscription began; returns the event `resync` where what was missed is no longer kept."""
        if self._since is None or snapshot.resync:
            self._since = self.last_sequence = snapshot.sequence
        self._lost_at, self._began, self.may_start = None, self._clock(), True
        if not snapshot.resync:
            return None
        return Event(snapshot.sequence, "resync", None, None, {}, snapshot.subscription_id, snapshot.sessions)

    def take(self, event: Event) -> bool:
        """Notes an event; false for one that was not asked for."""
        if event.event == "shuttingDown":
            self.may_start = False
        self._saw(event.sequence)
        return self._wanted is None or event.event in self._wanted or event.event == "eventsLost"

    def _saw(self, sequence: int) -> None:
        self._since = self.last_sequence = max(sequence, self.last_sequence)

    def pause(self, failure: Optional[NoBroker] = None) -> float:
        """Notes that there is no connection; returns how long to wait before the next try, in seconds.

        Raises the failure, or `ConnectionLost`, when the broker was waited for long enough.
        """
        now = self._clock()
        if self._lost_at is None:
            self._lost_at = now
        left = None if self._patience is None else self._lost_at + self._patience - now
        if left is not None and left <= 0:
            raise failure or ConnectionLost()
        if failure is None and now - self._began >= _USUAL_LIFE:
            self._pause = 0.0
        pause = self._pause
        self._pause = min(max(pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
        return pause if left is None else min(pause, left)
