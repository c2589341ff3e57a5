"""Accepts connections, one thread each, and takes every request through the plan of misbehaviours to the backend."""

import os
import socket
import sys
import threading
import traceback

from . import bodyfaults, connectionfaults, framingfaults, statusfaults  # noqa: F401  (they fill the catalogue)
from .backend import Backend
from .clock import Clock
from .exchange import Exchange
from .ledger import Ledger
from .misbehaviour import CATALOGUE, Gate, Plan
from .wire import Connection, Hangup, MalformedRequest, Reply

BACKLOG = 128  # many clients at once are one of the tests
HANDSHAKE_SECONDS = 900.0  # a client may have to wait for its processor, but keeps no thread for ever


class Server:
    """The misbehaving server. `url` is where it listens."""

    def __init__(self, settings, certificates=None, host="127.0.0.1", port=0, ledger_path=None):
        self.clock, self.settings, self.certificates = Clock(), settings, certificates
        self.ledger = Ledger(self.clock, ledger_path)
        self.backend = Backend(self.clock, settings, self.ledger)
        self.plan, self.gate = Plan(), Gate()
        self.host, self.port = host, port
        self.lock, self.open_connections, self.listener = threading.Lock(), set(), None
        self.listen()
        scheme = "https" if certificates else "http"
        self.url = f"{scheme}://{'[' + host + ']' if ':' in host else host}:{self.port}"

    def listen(self):
        """Opens the port; after `stop_listening` the same one again."""
        with self.lock:
            if self.listener:
                return
            listener = socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self.host, self.port))
            listener.listen(BACKLOG)
            self.port, self.listener = listener.getsockname()[1], listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def stop_listening(self):
        """Closes the port, so that connections are refused. Open connections live on."""
        with self.lock:
            listener, self.listener = self.listener, None
        if listener:
            # Only a shutdown tears the other thread out of `accept`.
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def end_connections(self, reset):
        """Ends every open connection, idle or not; returns how many."""
        with self.lock:
            connections = list(self.open_connections)
        for connection in connections:
            connection.end_from_outside(reset)
        return len(connections)

    def _accept(self, listener):
        while True:
            try:
                raw, peer = listener.accept()
            except OSError:
                return
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(raw, self.ledger.connection(f"{peer[0]}:{peer[1]}"))
            with self.lock:
                self.open_connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            self._misbehave("accept", connection)
            if self.certificates:
                self._handshake(connection)
            number = 0
            while connection.readable():
                self._misbehave("arrival", connection)
                request = self._read(connection)
                if connection.asked_to_end:  # what crossed with the end has not arrived
                    connection.asked_to_end()
                    break
                number += 1
                connection.record["requests"] = number
                self._answer(connection, request, number)
                if request.wants_close:
                    break
        except Hangup:
            pass
        except Exception:  # a bug of this server must be seen, and must not look like a misbehaviour
            traceback.print_exc(file=sys.stderr)
            self.ledger.add("serverBug", error=traceback.format_exc(limit=1).strip().splitlines()[-1])
        finally:
            connection.close()
            with self.lock:
                self.open_connections.discard(connection)
            self.ledger.closed(connection.record)

    def _misbehave(self, moment, connection):
        step = self.plan.take(moment)
        if step:
            connection.record["misbehaviours"].append(step["name"])
            CATALOGUE[step["name"]].act(connection, self, step)

    def _handshake(self, connection):
        record, raw = connection.record, connection.socket
        try:
            raw.settimeout(HANDSHAKE_SECONDS)
            first = raw.recv(1, socket.MSG_PEEK)
            # 22 is the content type of a TLS handshake record (RFC 8446 section 5.1); anything else came unencrypted.
            record["plaintextOnTLSPort"] = bool(first) and first[0] != 22
            context = self.certificates.context(self.settings["tlsMode"])
            connection.socket = context.wrap_socket(
                raw, server_side=True, do_handshake_on_connect=False, suppress_ragged_eofs=True
            )
            connection.socket.do_handshake()
            connection.socket.settimeout(None)
            record["tls"], record["handshake"] = connection.socket.version(), "done"
        except (OSError, ValueError) as error:
            record["handshake"] = f"failed: {getattr(error, 'reason', None) or type(error).__name__}"
            record["closedBy"] = record["closedBy"] or "handshake"
            raise Hangup from error

    def _read(self, connection):
        try:
            return connection.read_request()
        except MalformedRequest as error:
            self.ledger.add("malformedRequest", reason=str(error), connectionNumber=connection.record["connection"])
            reply = Reply(400, {"error": "invalid_request", "message": str(error)}, [("Connection", "close")])
            connection.send(reply.head(self.clock.now()) + reply.body)
            connection.close()
            raise Hangup from error

    def _answer(self, connection, request, number):
        endpoint = self.settings.dialect.endpoint(request.method, request.path)
        exchange = Exchange(self, connection, request, endpoint, number)
        step = self.plan.take("request", endpoint)
        try:
            if step is None:
                exchange.send(exchange.commit())
            else:
                exchange.misbehaviour = step["name"]
                CATALOGUE[step["name"]].act(exchange, step)
        finally:
            exchange.finish()

    def state(self):
        """A summary for the control interface."""
        return {
            "url": self.url,
            "listening": self.listener is not None,
            "pid": os.getpid(),
            "clockOffsetSeconds": self.clock.offset,
            "settings": self.settings.values,
            "pendingMisbehaviours": self.plan.pending(),
            "held": list(self.gate.held),
            "openConnections": len(self.open_connections),
            "ledgerSequence": self.ledger.sequence,
            "families": self.backend.tokens.described(),
            "accounts": [account.described() for account in self.backend.accounts.by_id.values()],
        }
