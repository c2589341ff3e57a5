"""Which failures are followed by another try, and after which pause. No input or output happens here."""

from __future__ import annotations

import time
from typing import Callable, Optional

from ._errors import AuthBrokerError, ConnectionLost, NoBroker

#: Requests that change nothing, or nothing more the second time: they are sent again where the broker has ended.
REPEATABLE = frozenset({
    "initialize", "ping", "rpc.discover", "getAccessToken", "reportRejected", "getIdToken", "createProof",
    "awaitLogin", "listPendingLogins", "getCurrentUser", "getSession", "listSessions", "listTargets", "getStatus",
    "checkVault", "lock", "subscribe",
})
# What a stream of events waits out: the broker is not there, not there yet, or has no room for it now.
_PASSING = frozenset({"connectionLost", "noBroker", "shuttingDown", "overloaded", "deadlineExceeded"})
# The first pause before another try, in seconds: longer than a restart takes at its best.
_FIRST_PAUSE = 0.1
# The longest pause, so that a broker that has come back is found at once for a person.
_LONGEST_PAUSE = 2.0
# A broker that lived for so long does not end for the same reason as the one before.
_USUAL_LIFE = 10.0
# The longest wait for a broker that ends, in seconds: it waits 25 s for requests that spend a token, and then saves.
_LONGEST_END = 30.0
# The longest pause meanwhile.
_LONGEST_END_PAUSE = 1.0


def has_ended(error: AuthBrokerError) -> bool:
    """Whether an error says that this broker answers no more requests, so that the next one is to be asked."""
    return error.kind in ("connectionLost", "shuttingDown")


def is_repeated(method: str, error: AuthBrokerError) -> bool:
    """Whether a call that has failed is made once more, at the next broker."""
    if isinstance(error, ConnectionLost) and not error.sent:
        return True
    return method in REPEATABLE and has_ended(error)


class Repetition:
    """Whether a call that has failed is made once more, and after which pause.

    A broker that is about to end refuses what comes: it is asked again until there is the next one. A connection that
    was lost is followed by one more try.
    """

    def __init__(self, method: str, deadline: Optional[float], clock: Callable[[], float] = time.monotonic) -> None:
        """Takes the method and the time limit of all tries (None: no limit)."""
        self._method = method
        self._deadline = deadline
        self._clock = clock
        self._longest_end: Optional[float] = None
        self._pause = _FIRST_PAUSE
        self._was_lost = False

    def pause(self, error: AuthBrokerError) -> float:
        """How many seconds to wait before the next try; raises the error where none is made."""
        if not is_repeated(self._method, error):
            raise error
        if error.kind != "shuttingDown":
            if self._was_lost:
                raise error
            self._was_lost = True
            return 0.0
        now = self._clock()
        if self._longest_end is None:
            self._longest_end = now + _LONGEST_END
        pause, self._pause = self._pause, min(self._pause * 2, _LONGEST_END_PAUSE)
        if now + pause >= min(self._longest_end, self._deadline or self._longest_end):
            raise error
        return pause


class Pauses:
    """How long a stream that has lost its broker waits before each try, and for how long it tries."""

    def __init__(self, patience: Optional[float], clock: Callable[[], float] = time.monotonic) -> None:
        """Takes how many seconds a lost broker is waited for (None: for ever)."""
        self._patience = patience
        self._clock = clock
        self._lost_at: Optional[float] = None
        self._began = -_USUAL_LIFE
        self._pause = 0.0
        self._failure: Optional[NoBroker] = None

    def succeeded(self) -> None:
        """Notes that there is a connection."""
        self._lost_at, self._failure, self._began = None, None, self._clock()

    def failed(self, error: AuthBrokerError) -> None:
        """Notes that a try has failed; raises the error where another one does not help."""
        if error.kind not in _PASSING:
            raise error
        if isinstance(error, NoBroker):
            self._failure = error
        elif isinstance(error, ConnectionLost):
            self._failure = None

    def next(self) -> float:
        """How long to wait before the next try, in seconds.

        Raises the last failure, or `ConnectionLost`, when the broker was waited for long enough.
        """
        now = self._clock()
        if self._lost_at is None:
            self._lost_at = now
        left = None if self._patience is None else self._lost_at + self._patience - now
        if left is not None and left <= 0:
            raise self._failure or ConnectionLost()
        if self._failure is None and now - self._began >= _USUAL_LIFE:
            self._pause = 0.0
        pause = self._pause
        self._pause = min(max(pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
        return pause if left is None else min(pause, left)
