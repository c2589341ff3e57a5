"""Cancellation of calls from another thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Callable, Set, Tuple

from ._errors import Cancelled

if TYPE_CHECKING:
    from ._channel import Channel


class Cancellation:
    """Cancels calls from another thread: pass it to a call, and call `cancel`; the call raises `Cancelled`."""

    def __init__(self) -> None:
        """Nothing is cancelled yet."""
        self._lock = threading.Lock()
        self._under_way: Set[Tuple[Channel, int]] = set()
        self._attached: Set[Callable[[], None]] = set()
        self._is_cancelled = False

    def cancel(self) -> None:
        """Tells the broker that the calls are not wanted any more; later calls with this object neither."""
        with self._lock:
            self._is_cancelled = True
            under_way, attached = list(self._under_way), list(self._attached)
        for wake in attached:
            wake()
        for channel, identifier in under_way:
            channel.cancel(identifier)

    def check(self) -> None:
        """Raises `Cancelled` where `cancel` was called."""
        if self._is_cancelled:
            raise Cancelled(-32800, "the request was cancelled", {
                "kind": "cancelled", "nextAction": "none", "retryable": False})

    def attach(self, wake: Callable[[], None]) -> None:
        """Calls a function where it is cancelled, until `detach`."""
        with self._lock:
            self._attached.add(wake)
            is_late = self._is_cancelled
        if is_late:
            wake()

    def detach(self, wake: Callable[[], None]) -> None:
        """Forgets the function."""
        with self._lock:
            self._attached.discard(wake)

    def pause(self, seconds: float) -> None:
        """Waits; raises `Cancelled` where it is cancelled before or meanwhile."""
        wake = threading.Event()
        self.attach(wake.set)
        wake.wait(seconds)
        self.detach(wake.set)
        self.check()

    def begin(self, identifier: int, channel: Channel) -> None:
        """Notes a request that was sent."""
        with self._lock:
            self._under_way.add((channel, identifier))
            is_late = self._is_cancelled
        if is_late:
            channel.cancel(identifier)

    def end(self, identifier: int, channel: Channel) -> None:
        """Forgets a request."""
        with self._lock:
            self._under_way.discard((channel, identifier))
