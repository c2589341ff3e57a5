#!/usr/bin/env python3
"""Servers that do what a script says, byte by byte, and tell what they got. Python's standard library and openssl(1).

Commands come as lines on standard input, their parts separated by tabs; each is answered by one or more lines:

    listen TLS SCRIPT...   a new server on 127.0.0.1; answers its port. TLS is `plain` or a certificate's name (below).
                           The n-th connection follows the n-th script; further ones follow the last.
    ledger PORT            waits until that server is at rest, then answers a count and as many lines:
                           `connection N`, `handshake N`, `refused N` (no handshake), `request N HEX`, `body N SIZE`, `end N`; and `left N SIZE` for
                           what a connection cannot send, since its client does not read.
    release PORT           lets all go on that hold, now and later; answers `released`.
    close PORT             nobody listens there any more; answers `closed`.
    file NAME              the path of ca.pem, or of another certificate.
    pin NAME               `sha256//…` of a certificate's key.

A script is a list of steps separated by spaces:

    read                   reads one request (up to the end of its body) and notes it
    take                   reads what comes first, whatever it is
    line                   reads one line and notes it
    mail                   reads up to a line with a dot alone and notes that
    secure:NAME            shakes hands as that certificate's server (what was read before and is not used is lost)
    send:HEX               sends
    drip:HEX               sends a byte every 20 ms, over and over
    flood:HEX              sends over and over as fast as it can
    pour:SIZE              sends that many bytes (not over TLS)
    swallow                reads one request, however large, and notes its header and the size of its body
    tunnel:PORT            passes bytes to that port of this machine, both ways
    hold                   until it is released
    wait                   until the client ends the connection
    again                  begins the script anew
    reset                  ends the connection with RST
    close                  ends it in order (also what happens at the script's end)

It ends with its standard input.
"""

import select
import socket
import ssl
import struct
import sys
import tempfile
import threading
import time
import warnings

sys.dont_write_bytecode = True  # the source tree stays as it is
from certificates import Certificates  # noqa: E402

PATIENCE = 300  # seconds; how long anything may take on a machine that does much else
warnings.simplefilter("ignore", DeprecationWarning)  # TLS 1.1 is what is tested


class Over(Exception):
    """The connection has ended."""


def ready(*sockets, seconds=0):
    """Those of some sockets that have something to be read, or have ended; `seconds` is how long to wait for one, for
    ever if it is None."""
    poll = select.poll()
    for one in sockets:
        poll.register(one, select.POLLIN)
    numbers = {number for number, _ in poll.poll(None if seconds is None else seconds * 1000)}
    return [one for one in sockets if one.fileno() in numbers]


class Connection:
    """One client, and how far its script has come."""

    def __init__(self, server, number, stream, script):
        self.server, self.number, self.stream, self.script = server, number, stream, script
        self.received = b""
        self.awaited = ()  # the sockets that it does nothing but wait for
        self.left = 0  # what it does nothing but wait to send
        self.over = False
        self.note("connection")
        threading.Thread(target=self.run, daemon=True).start()

    def note(self, what, more=""):
        self.server.ledger.append(f"{what} {self.number}{more}")

    def run(self):
        try:
            if self.server.context:
                try:
                    self.stream.settimeout(PATIENCE)
                    self.stream = self.server.context.wrap_socket(self.stream, server_side=True)
                    self.stream.settimeout(None)
                    self.note("handshake")
                except (OSError, ssl.SSLError):
                    self.note("refused")
                    return
            self.follow()
        except (Over, OSError, ssl.SSLError):
            pass
        finally:
            if self.received:
                self.note("request", " " + self.received.hex())
            self.note("end")
            self.over = True
            try:
                self.stream.close()
            except OSError:
                pass

    def follow(self):
        steps = self.script.split()
        while True:
            for step in steps:
                name, _, argument = step.partition(":")
                if name == "again":
                    break
                if name == "close":
                    return
                getattr(self, name)(*([argument] if argument else []))
            else:
                return

    def settled(self):
        """Whether nothing happens here until the client does something."""
        awaited = self.awaited
        try:
            if self.left and not select.select([], [self.stream], [], 0)[1]:
                return True
            return self.over or (bool(awaited) and not ready(*awaited))
        except (OSError, ValueError):
            return self.over  # it is being closed

    def until_ready(self, *sockets):
        """Those of some sockets that can be read; at rest while there are none."""
        self.awaited = sockets
        found = ready(*sockets, seconds=None)
        self.awaited = ()
        return found

    def receive(self):
        """More bytes from the client."""
        if not (isinstance(self.stream, ssl.SSLSocket) and self.stream.pending()):
            self.until_ready(self.stream)
        piece = self.stream.recv(65536)
        if not piece:
            raise Over
        return piece

    def read(self):
        while b"\r\n\r\n" not in self.received:
            self.received += self.receive()
        head, _, rest = self.received.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        while len(rest) < length:
            rest += self.receive()
        self.note("request", " " + (head + b"\r\n\r\n" + rest[:length]).hex())
        self.received = rest[length:]

    def read_to(self, mark):
        self.note("request", " " + self.upto(mark).hex())

    def line(self):
        self.read_to(b"\r\n")

    def mail(self):
        self.read_to(b"\r\n.\r\n")

    def secure(self, name):
        self.received = b""
        self.stream.settimeout(PATIENCE)
        self.stream = self.server.certificates.context(name).wrap_socket(self.stream, server_side=True)
        self.stream.settimeout(None)
        self.note("handshake")

    def take(self):
        self.received += self.receive()

    def send(self, data):
        self.stream.sendall(bytes.fromhex(data))

    def drip(self, data):
        while True:
            for byte in bytes.fromhex(data):
                self.stream.sendall(bytes([byte]))
                if ready(self.stream, seconds=0.02) and not self.stream.recv(65536):
                    raise Over

    def flood(self, data):
        block = bytes.fromhex(data)
        block *= max(1, 65536 // len(block))
        while True:
            self.stream.sendall(block)

    def pour(self, size):
        left, block = int(size), memoryview(bytes(65536))
        self.stream.setblocking(False)
        while left:
            try:
                left -= self.stream.send(block[:left])
            except BlockingIOError:
                self.left = left
                select.select([], [self.stream], [])
                self.left = 0
        self.stream.setblocking(True)

    def upto(self, mark):
        """What came up to a mark, which goes with it."""
        while mark not in self.received:
            self.received += self.receive()
        piece, _, self.received = self.received.partition(mark)
        return piece

    def skip(self, size):
        while size > len(self.received):
            size -= len(self.received)
            self.received = self.receive()
        self.received = self.received[size:]

    def swallow(self):
        head = self.upto(b"\r\n\r\n")
        self.note("request", " " + head.hex())
        lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        total = int(lengths[0]) if lengths else 0
        self.skip(total)
        while b"\r\nTransfer-Encoding: chunked" in head:
            size = int(self.upto(b"\r\n"), 16)
            self.skip(size)
            self.upto(b"\r\n")
            total += size
            if not size:
                break
        self.note("body", f" {total}")

    def tunnel(self, port):
        other = socket.create_connection(("127.0.0.1", int(port)))
        with other:
            while True:
                for source in self.until_ready(self.stream, other):
                    piece = source.recv(65536)
                    if not piece:
                        return
                    (other if source is self.stream else self.stream).sendall(piece)

    def wait(self):
        while True:
            self.received += self.receive()

    def hold(self):
        self.until_ready(self.server.gate[0])

    def reset(self):
        self.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Over


class Server:
    """A port of this machine."""

    def __init__(self, certificates, name, scripts):
        self.certificates, self.scripts = certificates, scripts
        self.context = None if name == "plain" else certificates.context(name)
        self.ledger, self.connections = [], []
        self.lock = threading.Lock()  # a connection is waiting to be accepted, or is in the list
        self.is_open = True
        self.gate = socket.socketpair()
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while ready(self.socket, seconds=None):
            with self.lock:
                if not self.is_open:
                    return
                client, _ = self.socket.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                number = len(self.connections)
                script = self.scripts[min(number, len(self.scripts) - 1)]
                self.connections.append(Connection(self, number, client, script))

    def settled(self):
        with self.lock:
            if self.is_open and ready(self.socket):
                return False
            return all(connection.settled() for connection in self.connections)

    def rest(self):
        end = time.monotonic() + PATIENCE
        while not self.settled() and time.monotonic() < end:
            time.sleep(0.002)
        return self.ledger + [f"left {one.number} {one.left}" for one in self.connections if one.left]

    def release(self):
        self.gate[1].sendall(b"!")

    def close(self):
        with self.lock:
            self.is_open = False
            self.socket.shutdown(socket.SHUT_RDWR)


def main():
    servers = {}
    with tempfile.TemporaryDirectory(prefix="authbroker-servers.") as folder:
        certificates = Certificates(folder)
        for line in sys.stdin:
            command, *parts = line.rstrip("\n").split("\t")
            if command == "listen":
                server = Server(certificates, parts[0], parts[1:])
                servers[server.port] = server
                answer = [str(server.port)]
            elif command == "ledger":
                lines = servers[int(parts[0])].rest()
                answer = [str(len(lines)), *lines]
            elif command == "release":
                servers[int(parts[0])].release()
                answer = ["released"]
            elif command == "close":
                servers[int(parts[0])].close()
                answer = ["closed"]
            elif command == "file":
                answer = [certificates.path(parts[0])]
            else:
                answer = [certificates.pin(parts[0])]
            sys.stdout.write("".join(text + "\n" for text in answer))
            sys.stdout.flush()


main()
