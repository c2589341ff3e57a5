"""A connection that is being opened while several threads wait for it, each for its own time."""

from __future__ import annotations

import os
import threading
import time
from typing import Callable, Generic, List, Optional, TypeVar

from ._cancellation import Cancellation
from ._errors import TimedOut

Value = TypeVar("Value")


class Opening(Generic[Value]):
    """Something that is made on a thread of its own, which goes on where those that wait for it have gone.

    The start of a broker may take minutes, where a person is asked for the vault's key.
    """

    def __init__(self, make: Callable[[], Value]) -> None:
        """Begins to make it."""
        self.process = os.getpid()
        self.is_over = False
        self._lock = threading.Lock()
        self._wakes: List[threading.Event] = []
        self._value: Optional[Value] = None
        self._failure: Optional[BaseException] = None
        self._close: Optional[Callable[[Value], None]] = None
        threading.Thread(target=self._run, args=(make,), daemon=True).start()

    def _run(self, make: Callable[[], Value]) -> None:
        try:
            self._value = make()
        except BaseException as error:  # it is raised where it is waited for
            self._failure = error
        with self._lock:
            self.is_over = True
            close, value = self._close, self._value
            for wake in self._wakes:
                wake.set()
        if close is not None and value is not None:
            close(value)

    def discard(self, close: Callable[[Value], None]) -> None:
        """Says what to do with what is made, since nothing waits for it any more."""
        with self._lock:
            self._close = close
            value = self._value if self.is_over else None
        if value is not None:
            close(value)

    def wait(self, deadline: Optional[float], cancellation: Optional[Cancellation] = None) -> Value:
        """Waits for it; raises why it cannot be made, `TimedOut`, or `Cancelled`."""
        wake = threading.Event()
        with self._lock:
            self._wakes.append(wake)
            if self.is_over:
                wake.set()
        if cancellation is not None:
            cancellation.attach(wake.set)
        try:
            wake.wait(None if deadline is None else max(deadline - time.monotonic(), 0))
        finally:
            if cancellation is not None:
                cancellation.detach(wake.set)
            with self._lock:
                self._wakes.remove(wake)
        if not self.is_over:
            if cancellation is not None:
                cancellation.check()
            raise TimedOut
        if self._failure is not None:
            raise self._failure
        assert self._value is not None
        return self._value
