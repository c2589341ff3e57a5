"""One connection of an event loop, shared by its tasks."""

from __future__ import annotations

import asyncio
from typing import Any, Dict, Mapping, Optional

from ._async_stream import AsyncSocket
from ._codec import Answer, Codec
from ._errors import AuthBrokerError, BrokerRefusal, Closed, ConnectionLost, TimedOut, UnexpectedAnswer
from ._proof import ProofFile, wanted_path


class AsyncChannel:
    """A connected socket, the requests that are under way on it, and the task that reads the answers."""

    def __init__(self, socket: AsyncSocket, state: Optional[str] = None) -> None:
        """Takes the socket over; `state` is the state directory that was looked into."""
        self._state = state
        self._socket = socket
        self._codec = Codec()
        self._waiting: Dict[int, "asyncio.Future[Answer]"] = {}
        self._failure: Optional[AuthBrokerError] = None
        self._is_retired = False
        self._proving = asyncio.Lock()
        self._reading = asyncio.ensure_future(self._read())

    @property
    def is_open(self) -> bool:
        """Whether requests may be sent."""
        return self._failure is None and not self._is_retired

    def retire(self) -> None:
        """Takes no more calls; the connection ends with the last one that is under way."""
        self._is_retired = True
        if not self._waiting:
            self._fail(ConnectionLost())
            self._reading.cancel()

    async def close(self) -> None:
        """Ends the connection; every call that waits raises `Closed`."""
        self._fail(Closed())
        self._reading.cancel()
        await asyncio.wait({self._reading})

    async def call(self, method: str, params: Mapping[str, object], timeout: Optional[float]) -> Any:
        """Calls a method; gives the proof of access to the state directory where the broker asks for it."""
        answer = await self._ask(method, params, timeout)
        asked = wanted_path(answer.error, method, params)
        if asked is None or self._state is None:
            return answer.get()
        async with self._proving:
            await self._prove(asked, self._state, answer, timeout)
        return (await self._ask(method, params, timeout)).get()

    async def _prove(self, asked: str, state: str, answer: Answer, timeout: Optional[float]) -> None:
        try:
            proof = ProofFile(asked, state, self._socket.connection)
            # The proof that this call was asked for may have been given by another task meanwhile.
            if not proof.create():
                return
            try:
                if (await self._ask("prove", {}, timeout)).error is not None:
                    raise proof.refusal()
            finally:
                proof.remove()
        except BrokerRefusal:
            # What another login would let pass keeps its own error.
            if answer.error is not None and answer.error.kind != "accessDenied":
                raise answer.error from None
            raise

    async def _ask(self, method: str, params: Mapping[str, object], timeout: Optional[float]) -> Answer:
        if self._failure is not None:
            raise ConnectionLost(sent=False) if isinstance(self._failure, ConnectionLost) else self._failure
        if self._is_retired:
            raise ConnectionLost(sent=False)
        identifier, message = self._codec.request(method, params)
        future: "asyncio.Future[Answer]" = asyncio.get_running_loop().create_future()
        self._waiting[identifier] = future
        try:
            await self._socket.send(message)
            await asyncio.wait({future}, timeout=timeout)
            if not future.done():
                self._socket.post(Codec.cancellation(identifier))
                raise TimedOut
            return future.result()
        except asyncio.CancelledError:
            self._socket.post(Codec.cancellation(identifier))
            raise
        finally:
            self._waiting.pop(identifier, None)
            future.cancel()
            if self._is_retired:
                self.retire()

    async def _read(self) -> None:
        try:
            while True:
                for message in self._codec.feed(await self._socket.receive()):
                    if isinstance(message, Answer):
                        self._take(message)
                # A socket that always has more to read would keep the loop from everything else.
                await asyncio.sleep(0)
        except (ConnectionLost, UnexpectedAnswer) as error:
            self._fail(error)
        finally:
            self._fail(ConnectionLost())
            self._socket.close()

    def _take(self, answer: Answer) -> None:
        if answer.id is None:
            # The broker's words about the connection itself: it closes it.
            return self._fail(answer.error or ConnectionLost())
        future = self._waiting.pop(answer.id, None)
        if future is not None and not future.done():
            future.set_result(answer)
        return None

    def _fail(self, reason: AuthBrokerError) -> None:
        if self._failure is not None:
            return
        self._failure = reason
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ConnectionLost() if isinstance(reason, ConnectionLost) else reason)
