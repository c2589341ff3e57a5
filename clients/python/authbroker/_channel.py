"""One connection, shared by threads: one of those that wait for an answer reads, for the others as well."""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from typing import Any, Dict, Mapping, Optional

from ._cancellation import Cancellation
from ._codec import READ_SIZE, Answer, Codec
from ._errors import AuthBrokerError, BrokerRefusal, Closed, ConnectionLost, TimedOut, UnexpectedAnswer
from ._proof import ProofFile, wanted_path


class _Waiter:
    """A call that waits for its answer."""

    __slots__ = ("answer", "event")

    def __init__(self) -> None:
        self.answer: Optional[Answer] = None
        self.event: Optional[threading.Event] = None

    def wake(self) -> None:
        if self.event is not None:
            self.event.set()


class Channel:
    """A connected socket and the requests that are under way on it."""

    def __init__(self, connection: socket.socket, state: Optional[str] = None) -> None:
        """Takes the socket over; `state` is the state directory that was looked into."""
        self._state = state
        self.process = os.getpid()
        self._socket = connection
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._codec = Codec()
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._proving = threading.Lock()
        self._waiters: Dict[int, _Waiter] = {}
        self._is_being_read = False
        self._is_retired = False
        self._failure: Optional[AuthBrokerError] = None

    @property
    def is_open(self) -> bool:
        """Whether requests may be sent; false in a process that inherited the connection by fork."""
        return self._failure is None and not self._is_retired and self.process == os.getpid()

    def close(self, reason: Optional[AuthBrokerError] = None) -> None:
        """Ends the connection; every call that waits raises the reason."""
        self._fail(reason or Closed())

    def retire(self) -> None:
        """Takes no more calls; the connection ends with the last one that is under way."""
        with self._lock:
            self._is_retired = True
            is_over = not self._waiters
        if is_over:
            self._fail(ConnectionLost())

    def forget(self) -> None:
        """Closes this process's descriptor; another process that has the connection by fork keeps it."""
        with self._sending:
            self._socket.close()

    def call(self, method: str, params: Mapping[str, object], deadline: Optional[float],
             cancellation: Optional[Cancellation] = None) -> Any:
        """Calls a method; gives the proof of access to the state directory where the broker asks for it."""
        answer = self._ask(method, params, deadline, cancellation)
        asked = wanted_path(answer.error, method, params)
        if asked is None or self._state is None:
            return answer.get()
        with self._proving:
            self._prove(asked, self._state, answer, deadline)
        return self._ask(method, params, deadline, cancellation).get()

    def _prove(self, asked: str, state: str, answer: Answer, deadline: Optional[float]) -> None:
        try:
            proof = ProofFile(asked, state, self._socket)
            # The proof that this call was asked for may have been given by another thread meanwhile.
            if not proof.create():
                return
            try:
                if self._ask("prove", {}, deadline, None).error is not None:
                    raise proof.refusal()
            finally:
                proof.remove()
        except BrokerRefusal:
            # What another login would let pass keeps its own error.
            if answer.error is not None and answer.error.kind != "accessDenied":
                raise answer.error from None
            raise

    def cancel(self, identifier: int) -> None:
        """Tells the broker that an answer is not wanted any more; it comes all the same."""
        try:
            self._send(Codec.cancellation(identifier))
        except ConnectionLost:
            pass

    def _ask(self, method: str, params: Mapping[str, object], deadline: Optional[float],
             cancellation: Optional[Cancellation]) -> Answer:
        waiter = _Waiter()
        with self._lock:
            if self._failure is not None or self._is_retired:
                raise self._reason(sent=False)
            identifier, message = self._codec.request(method, params)
            self._waiters[identifier] = waiter
        try:
            self._send(message)
            if cancellation is not None:
                cancellation.begin(identifier, self)
            self._wait(waiter, deadline)
        except BaseException as error:
            # A caller that leaves before the answer cancels the request, unless the connection is of no use.
            if waiter.answer is None and not isinstance(error, (ConnectionLost, UnexpectedAnswer)):
                self.cancel(identifier)
            raise
        finally:
            if cancellation is not None:
                cancellation.end(identifier, self)
            with self._lock:
                self._waiters.pop(identifier, None)
                self._promote()
                is_over = self._is_retired and not self._waiters
            if is_over:
                self._fail(ConnectionLost())
        if waiter.answer is None:
            raise self._reason()
        return waiter.answer

    def _reason(self, sent: bool = True) -> AuthBrokerError:
        """Why there is no answer."""
        if self._failure is None or isinstance(self._failure, ConnectionLost):
            return ConnectionLost(sent)
        return self._failure

    def _send(self, message: bytes) -> None:
        try:
            with self._sending:
                self._socket.sendall(message)
        except BrokenPipeError:
            self._fail(ConnectionLost())
            raise ConnectionLost(sent=False) from None
        except OSError:
            self._fail(ConnectionLost())
            raise ConnectionLost() from None

    def _wait(self, waiter: _Waiter, deadline: Optional[float]) -> None:
        """Waits for an answer, as the one who reads where no other thread does."""
        while True:
            with self._lock:
                if waiter.answer is not None or self._failure is not None:
                    return
                leads = not self._is_being_read
                if leads:
                    self._is_being_read = True
                elif waiter.event is None:
                    waiter.event = threading.Event()
                else:
                    waiter.event.clear()
            if leads:
                try:
                    self._read(waiter, deadline)
                finally:
                    with self._lock:
                        self._is_being_read = False
                    if self._failure is not None:
                        self.forget()
                return
            assert waiter.event is not None
            left = None if deadline is None else deadline - time.monotonic()
            if not waiter.event.wait(left) and waiter.answer is None:
                raise TimedOut

    def _read(self, waiter: _Waiter, deadline: Optional[float]) -> None:
        while waiter.answer is None and self._failure is None:
            if deadline is not None:
                left = deadline - time.monotonic()
                if not self._poll.poll(max(left, 0) * 1000):
                    if left <= 0:
                        raise TimedOut
                    continue
            try:
                data = self._socket.recv(READ_SIZE)
            except OSError:
                data = b""
            if not data:
                return self._fail(ConnectionLost())
            try:
                messages = self._codec.feed(data)
            except UnexpectedAnswer as error:
                return self._fail(error)
            for message in messages:
                if isinstance(message, Answer):
                    self._take(message)
            # What never was asked for must not outlast a time limit.
            is_over = deadline is not None and time.monotonic() >= deadline
            if is_over and waiter.answer is None and self._failure is None:
                raise TimedOut
        return None

    def _take(self, answer: Answer) -> None:
        if answer.id is None:
            # The broker's words about the connection itself: it closes it.
            return self._fail(answer.error or ConnectionLost())
        with self._lock:
            waiter = self._waiters.pop(answer.id, None)
        if waiter is not None:
            waiter.answer = answer
            waiter.wake()
        return None

    def _promote(self) -> None:
        """Lets another thread that waits read; the lock is held."""
        if not self._is_being_read:
            for waiter in self._waiters.values():
                if waiter.event is not None:
                    return waiter.wake()
        return None

    def _fail(self, reason: AuthBrokerError) -> None:
        with self._lock:
            if self._failure is not None:
                return
            self._failure = reason
            waiters = list(self._waiters.values())
            self._waiters.clear()
            is_idle = not self._is_being_read
        try:
            # Wakes a thread that reads at this moment.
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        for waiter in waiters:
            waiter.wake()
        if is_idle:
            self.forget()
