"""Sockets and events for asyncio: each subscription has a connection of its own."""

from __future__ import annotations

import asyncio
import socket
import time
from types import TracebackType
from typing import Any, AsyncIterator, Coroutine, List, Mapping, Optional, Type, TypeVar

from . import _calls, _retry
from ._codec import READ_SIZE, Answer, Codec
from ._errors import AuthBrokerError, Closed, ConnectionLost, TimedOut, UnexpectedAnswer
from ._events import Cursor
from ._location import Location, connect
from ._members import Members
from ._values import Event, Snapshot

Result = TypeVar("Result")


class AsyncSocket:
    """A connected socket of the running loop."""

    def __init__(self, connection: socket.socket) -> None:
        """Takes a socket over."""
        self._socket = connection
        self._socket.setblocking(False)
        self._loop = asyncio.get_running_loop()
        self._sending = asyncio.Lock()
        self._posts: "set[asyncio.Task[None]]" = set()

    @property
    def connection(self) -> socket.socket:
        """The socket itself, for questions to the kernel."""
        return self._socket

    @staticmethod
    async def connect(location: Location) -> AsyncSocket:
        """Finds or starts the broker, on another thread, and connects."""
        found = asyncio.get_running_loop().run_in_executor(None, connect, location)
        try:
            return AsyncSocket(await asyncio.shield(found))
        except asyncio.CancelledError:
            # The thread goes on; what it finds is closed.
            found.add_done_callback(
                lambda done: None if done.cancelled() or done.exception() else done.result().close())
            raise

    async def send(self, message: bytes) -> None:
        """Sends all of a message; a cancelled caller does not cut it short."""
        await asyncio.shield(self._post(message))

    def post(self, message: bytes) -> None:
        """Sends a message without waiting for it."""
        self._post(message)

    def _post(self, message: bytes) -> "asyncio.Task[None]":
        task = asyncio.ensure_future(self._send(message))
        self._posts.add(task)
        task.add_done_callback(self._posted)
        return task

    def _posted(self, task: "asyncio.Task[None]") -> None:
        self._posts.discard(task)
        if not task.cancelled():
            # Looked at here for messages that nothing waits for; a connection's end is noticed by its reader.
            task.exception()

    async def _send(self, message: bytes) -> None:
        async with self._sending:
            try:
                await self._loop.sock_sendall(self._socket, message)
            except BrokenPipeError:
                raise ConnectionLost(sent=False) from None
            except (OSError, ValueError):
                raise ConnectionLost from None

    async def receive(self) -> bytes:
        """The bytes that come next; raises `ConnectionLost` at the end."""
        try:
            data = await self._loop.sock_recv(self._socket, READ_SIZE)
        except (OSError, ValueError):
            data = b""
        if not data:
            raise ConnectionLost
        return data

    def close(self) -> None:
        """Closes it."""
        for task in list(self._posts):
            task.cancel()
        self._socket.close()


class AsyncEvents(AsyncIterator[Event]):
    """The events of a subscription, in order, across restarts of the broker."""

    #: Where the sessions stood when the present subscription began.
    snapshot: Snapshot

    def __init__(self, location: Location, cursor: Cursor) -> None:
        """Made by `AsyncBroker.events`."""
        self._location = location
        self._cursor = cursor
        self._pending: List[Event] = []
        self._closing = asyncio.Event()
        self._socket: Optional[AsyncSocket] = None
        self._filling: "Optional[asyncio.Task[None]]" = None
        self._codec = Codec()

    @property
    def last_sequence(self) -> int:
        """The last sequence that was seen: `since` for a stream that goes on later."""
        return self._cursor.last_sequence

    async def begin(self, timeout: Optional[float]) -> None:
        """Subscribes; raises what keeps it from that."""
        limit = _calls.answer_limit("subscribe", {}, timeout)
        deadline = None if limit is None else time.monotonic() + limit
        repetition = _retry.Repetition("subscribe", deadline)
        while True:
            try:
                left = None if deadline is None else max(deadline - time.monotonic(), 0)
                return await _within(left, self._subscribe(self._location))
            except AuthBrokerError as error:
                pause = repetition.pause(error)
            await asyncio.sleep(pause)

    async def __aenter__(self) -> AsyncEvents:
        """For `async with`: the subscription ends at the end."""
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.close()

    async def __anext__(self) -> Event:
        """Waits for the next event; the iteration ends after `close`."""
        try:
            return await self.next()
        except Closed:
            raise StopAsyncIteration from None

    async def next(self, timeout: Optional[float] = None) -> Event:
        """Waits for the next event for at most so many seconds; raises `TimedOut`, or `Closed` after `close`."""
        found: Event = await _within(timeout, self._next())
        return found

    async def close(self) -> None:
        """Ends the subscription; a task that waits for an event is woken."""
        self._closing.set()
        if self._filling is not None:
            self._filling.cancel()
            await asyncio.wait({self._filling})
            self._filling = None
        self._drop()

    async def _next(self) -> Event:
        closing = asyncio.ensure_future(self._closing.wait())
        try:
            while not self._closing.is_set():
                while self._pending:
                    event = self._pending.pop(0)
                    if event.event == "resync" or self._cursor.take(event):
                        return event
                # It outlives a caller that leaves: what it has read is the next caller's.
                self._filling = self._filling or asyncio.ensure_future(self._fill())
                await asyncio.wait({self._filling, closing}, return_when=asyncio.FIRST_COMPLETED)
                if self._filling.done() and not self._closing.is_set():
                    done, self._filling = self._filling, None
                    done.result()
            raise Closed
        finally:
            closing.cancel()

    async def _fill(self) -> None:
        """Waits until there are events that were not given out yet."""
        while not self._pending:
            if self._socket is None:
                await self._reconnect()
                continue
            try:
                received = self._codec.feed(await self._socket.receive())
                self._pending += [message for message in received if isinstance(message, Event)]
            except ConnectionLost:
                self._drop()
            except UnexpectedAnswer:
                self._drop()
                raise

    async def _reconnect(self) -> None:
        while True:
            await asyncio.sleep(self._cursor.pauses.next())
            try:
                return await _within(_calls.answer_limit("subscribe", {}, None),
                                     self._subscribe(self._cursor.location(self._location)))
            except AuthBrokerError as error:
                self._cursor.pauses.failed(error)

    async def _subscribe(self, location: Location) -> None:
        connection = await AsyncSocket.connect(location)
        codec, early = Codec(), []
        try:
            identifier, message = codec.request("subscribe", self._cursor.params())
            await connection.send(message)
            answer: Optional[Answer] = None
            while answer is None:
                for received in codec.feed(await connection.receive()):
                    if not isinstance(received, Event):
                        answer = received if received.id is None or received.id == identifier else answer
                    elif answer is not None:
                        early.append(received)
                # What was not subscribed to is not kept, and must not keep the loop from everything else.
                await asyncio.sleep(0)
            self.snapshot = Snapshot.read(Members(answer.get()))
        except BaseException:
            connection.close()
            raise
        notice = self._cursor.begin(self.snapshot)
        self._pending += ([notice] if notice else []) + early
        self._socket, self._codec = connection, codec

    def _drop(self) -> None:
        connection, self._socket = self._socket, None
        if connection is not None:
            connection.close()


async def _within(timeout: Optional[float], work: Coroutine[Any, Any, Result]) -> Result:
    """Awaits something for at most so many seconds; raises `TimedOut`."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=timeout)
        if not task.done():
            raise TimedOut
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
