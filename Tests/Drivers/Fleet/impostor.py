"""Servers that are not the database: they write down what they are sent, and ask for the password."""

import contextlib
import socket
import ssl
import struct
import threading

# SSLRequest and GSSENCRequest (PostgreSQL, section 55.7).
_TLS_REQUEST, _GSS_REQUEST = 80877103, 80877104
# AuthenticationCleartextPassword.
_ASKS_PASSWORD = b"R" + struct.pack(">ii", 8, 3)


class Impostor:
    """It takes TLS with its certificate, or says that it has none; a context manager."""

    def __init__(self, host="127.0.0.1", certificate=None):
        self.received, self.connections, self.context = b"", 0, None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
        self.listener = socket.create_server((host, 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _take(self, wire, count):
        data = b""
        while len(data) < count:
            more = wire.recv(count - len(data))
            if not more:
                raise OSError("closed")
            data += more
        self.received += data
        return data

    def _serve(self, wire):
        with contextlib.suppress(OSError, ssl.SSLError), contextlib.closing(wire):
            wire.settimeout(10)
            while True:
                length, code = struct.unpack(">ii", self._take(wire, 8))
                if code == _TLS_REQUEST and self.context:
                    wire.sendall(b"S")
                    wire = self.context.wrap_socket(wire, server_side=True)
                elif code in (_TLS_REQUEST, _GSS_REQUEST):
                    wire.sendall(b"N")
                else:
                    break
            self._take(wire, length - 8)
            wire.sendall(_ASKS_PASSWORD)
            while data := wire.recv(4096):
                self.received += data
