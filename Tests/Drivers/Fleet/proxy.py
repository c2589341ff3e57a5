"""A way to the database that can be cut, or made slow, and counts what passes."""

import contextlib
import socket
import threading
import time


class Proxy:
    """It listens on a port of the loopback; the target is the path of a socket, or a host and port."""

    def __init__(self, target, port=0):
        self.target, self.delay, self.is_cut = target, 0, False
        self.sent = self.received = 0
        self.pairs, self.lock = [], threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", port), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        is_path = isinstance(self.target, str)
        server = socket.socket(socket.AF_UNIX if is_path else socket.AF_INET)
        try:
            if self.is_cut:
                raise OSError("cut")
            server.connect(self.target)
        except OSError:
            client.close()
            server.close()
            return
        with self.lock:
            self.pairs.append((client, server))
        back = threading.Thread(target=self._pump, args=(server, client, False), daemon=True)
        back.start()
        self._pump(client, server, True)
        back.join()
        with self.lock, contextlib.suppress(ValueError):
            self.pairs.remove((client, server))
        client.close()
        server.close()

    def _pump(self, one, other, is_to_server):
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                if self.delay:
                    time.sleep(self.delay)
                if self.is_cut:
                    break
                if is_to_server:
                    self.sent += len(data)
                else:
                    self.received += len(data)
                other.sendall(data)
        self._shut(one, other)

    @staticmethod
    def _shut(*ends):
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """Ends all connections, and takes no new ones."""
        self.is_cut = True
        with self.lock:
            pairs = list(self.pairs)
        for pair in pairs:
            self._shut(*pair)

    def mend(self):
        """Takes connections again, at once."""
        self.is_cut, self.delay = False, 0

    def close(self):
        """The end of it."""
        self.cut()
        # An accept(2) that waits keeps the socket listening.
        self._shut(self.listener)
        self.listener.close()
