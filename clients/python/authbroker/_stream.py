"""Events for programs without an event loop: each subscription has a connection of its own."""

from __future__ import annotations

import select
import socket
import threading
import time
from types import TracebackType
from typing import Any, Iterator, List, Mapping, Optional, Type

from . import _calls, _retry
from ._cancellation import Cancellation
from ._codec import READ_SIZE, Answer, Codec
from ._errors import AuthBrokerError, Closed, ConnectionLost, TimedOut, UnexpectedAnswer
from ._events import Cursor
from ._location import Location, connect
from ._members import Members
from ._opening import Opening
from ._values import Event, Snapshot


class EventChannel:
    """A connection that is only read, but for its first request."""

    def __init__(self, connection: socket.socket) -> None:
        """Takes the socket over."""
        self._socket = connection
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._codec = Codec()
        self._lock = threading.Lock()
        self._is_reading = False
        self._is_closed = False
        #: Events that came right behind the answer.
        self.early: List[Event] = []

    def ask(self, method: str, params: Mapping[str, object], deadline: Optional[float]) -> Any:
        """Sends a request and waits for its answer."""
        identifier, message = self._codec.request(method, params)
        try:
            self._socket.sendall(message)
        except OSError:
            raise ConnectionLost from None
        while True:
            answer: Optional[Answer] = None
            for received in self._codec.feed(self._read(deadline)):
                if not isinstance(received, Event):
                    answer = received if received.id is None or received.id == identifier else answer
                elif answer is not None:
                    self.early.append(received)
            if answer is not None:
                return answer.get()
            # What was not subscribed to is not kept, and must not outlast a time limit.
            if deadline is not None and time.monotonic() >= deadline:
                raise TimedOut

    def receive(self, deadline: Optional[float]) -> List[Event]:
        """The events that come next."""
        received = self._codec.feed(self._read(deadline))
        return [message for message in received if isinstance(message, Event)]

    def _read(self, deadline: Optional[float]) -> bytes:
        with self._lock:
            if self._is_closed:
                raise ConnectionLost
            self._is_reading = True
        try:
            while True:
                left = None if deadline is None else max(deadline - time.monotonic(), 0) * 1000
                if self._poll.poll(left):
                    break
                if left == 0:
                    raise TimedOut
            data = self._socket.recv(READ_SIZE)
        except OSError as error:
            if isinstance(error, TimedOut):
                raise
            data = b""
        finally:
            with self._lock:
                self._is_reading = False
                if self._is_closed:
                    self._socket.close()
        if not data:
            raise ConnectionLost
        return data

    def close(self) -> None:
        """Ends the connection; a thread that reads is woken, and closes the socket."""
        with self._lock:
            self._is_closed = True
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            if not self._is_reading:
                self._socket.close()


class Events(Iterator[Event]):
    """The events of a subscription, in order, across restarts of the broker; `close` ends it from any thread."""

    def __init__(self, location: Location, cursor: Cursor, timeout: Optional[float],
                 cancellation: Optional[Cancellation] = None) -> None:
        """Subscribes; raises what keeps it from that."""
        self._location = location
        self._cursor = cursor
        self._pending: List[Event] = []
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._channel: Optional[EventChannel] = None
        limit = _calls.answer_limit("subscribe", {}, timeout)
        deadline = None if limit is None else time.monotonic() + limit
        repetition = _retry.Repetition("subscribe", deadline)
        while True:
            try:
                return self._subscribe(location, deadline, cancellation)
            except AuthBrokerError as error:
                pause = repetition.pause(error)
            time.sleep(pause) if cancellation is None else cancellation.pause(pause)

    #: Where the sessions stood when the present subscription began.
    snapshot: Snapshot

    @property
    def last_sequence(self) -> int:
        """The last sequence that was seen: `since` for a stream that goes on later."""
        return self._cursor.last_sequence

    def __enter__(self) -> Events:
        """For `with`: the subscription ends at the end."""
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __next__(self) -> Event:
        """Waits for the next event; the iteration ends after `close`."""
        try:
            return self.next()
        except Closed:
            raise StopIteration from None

    def next(self, timeout: Optional[float] = None) -> Event:
        """Waits for the next event for at most so many seconds; raises `TimedOut`, or `Closed` after `close`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            if self._closing.is_set():
                raise Closed
            if self._pending:
                event = self._pending.pop(0)
                if event.event == "resync" or self._cursor.take(event):
                    return event
                continue
            try:
                channel = self._channel
                if channel is None:
                    self._reconnect(deadline)
                else:
                    self._pending += channel.receive(deadline)
            except ConnectionLost:
                self._drop()
            except UnexpectedAnswer:
                self._drop()
                raise

    def close(self) -> None:
        """Ends the subscription; a thread that waits for an event is woken."""
        self._closing.set()
        self._drop()

    def _drop(self) -> None:
        with self._lock:
            channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def _reconnect(self, deadline: Optional[float]) -> None:
        while True:
            pause = self._cursor.pauses.next()
            if deadline is not None and time.monotonic() + pause > deadline:
                raise TimedOut
            if self._closing.wait(pause):
                raise Closed
            try:
                left = None if deadline is None else max(deadline - time.monotonic(), 0)
                limit = _calls.answer_limit("subscribe", {}, left)
                until = None if limit is None else time.monotonic() + limit
                return self._subscribe(self._cursor.location(self._location), until)
            except AuthBrokerError as error:
                self._cursor.pauses.failed(error)

    def _subscribe(self, location: Location, deadline: Optional[float],
                   cancellation: Optional[Cancellation] = None) -> None:
        opening = Opening(lambda: connect(location))
        try:
            channel = EventChannel(opening.wait(deadline, cancellation))
        except BaseException:
            opening.discard(lambda late: late.close())
            raise
        if cancellation is not None:
            cancellation.attach(channel.close)
        try:
            answer = channel.ask("subscribe", self._cursor.params(), deadline)
            self.snapshot = Snapshot.read(Members(answer))
        except BaseException:
            channel.close()
            if cancellation is not None:
                cancellation.check()
            raise
        finally:
            if cancellation is not None:
                cancellation.detach(channel.close)
        notice = self._cursor.begin(self.snapshot)
        self._pending += [notice] if notice else []
        self._pending += channel.early
        with self._lock:
            self._channel = channel
        if self._closing.is_set():
            self._drop()
