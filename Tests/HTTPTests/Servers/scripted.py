#!/usr/bin/env python3
"""Servers that do what a script says, byte by byte, and tell what they got. Python's standard library and openssl(1).

Commands come as lines on standard input, their parts separated by tabs; each is answered by one or more lines:

    listen TLS SCRIPT...   a new server on 127.0.0.1; answers its port. TLS is `plain` or a certificate's name (below).
                           The n-th connection follows the n-th script; further ones follow the last.
    ledger PORT            waits until that server is at rest, then answers a count and as many lines:
                           `connection N`, `handshake N`, `refused N` (no handshake), `request N HEX`, `end N`.
    close PORT             nobody listens there any more; answers `closed`.
    file NAME              the path of ca.pem, or of another certificate.
    pin NAME               `sha256//…` of a certificate's key.

A script is a list of steps separated by spaces:

    read                   reads one request (up to the end of its body) and notes it
    take                   reads what comes first, whatever it is
    send:HEX               sends
    drip:HEX               sends a byte every 20 ms, over and over
    flood:HEX              sends over and over as fast as it can
    tunnel:PORT            passes bytes to that port of this machine, both ways
    wait                   until the client ends the connection
    again                  begins the script anew
    reset                  ends the connection with RST
    close                  ends it in order (also what happens at the script's end)

It ends with its standard input.
"""

import base64
import hashlib
import os
import select
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import warnings

REST_SECONDS = 5  # how long `ledger` waits at most for a server to come to rest
CERTIFICATES = {"good": "localhost", "other-host": "elsewhere.example", "expired": "localhost", "self-signed": "localhost",
                "tls11": "localhost"}


warnings.simplefilter("ignore", DeprecationWarning)  # TLS 1.1 is what is tested


def openssl(*arguments):
    return subprocess.run(["openssl", *arguments], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


class Certificates:
    """Keys and certificates of one run, made when first asked for, removed at the end."""

    def __init__(self, folder):
        self.folder = folder
        self.lock = threading.Lock()

    def path(self, name):
        """The file of a certificate with its key; of the authority, the certificate alone."""
        with self.lock:
            path = os.path.join(self.folder, name)
            if not os.path.exists(path):
                self.make(name.removesuffix(".pem"), path)
            return path

    def make(self, name, path):
        key = path + ".key"
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
        if name in ("ca", "self-signed"):
            subject = "/CN=Authority of a test" if name == "ca" else "/CN=localhost"
            extra = [] if name == "ca" else ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
            openssl("req", "-x509", "-new", "-key", key, "-subj", subject, "-days", "30", *extra, "-out", path + ".crt")
        else:
            authority = os.path.join(self.folder, "ca.pem")
            if not os.path.exists(authority):
                self.make("ca", authority)
            host = CERTIFICATES[name]
            names = f"subjectAltName=DNS:{host}" + (",IP:127.0.0.1" if host == "localhost" else "")
            with open(path + ".ext", "w", encoding="ascii") as file:
                file.write(names)
            openssl("req", "-new", "-key", key, "-subj", f"/CN={host}", "-out", path + ".csr")
            openssl("x509", "-req", "-in", path + ".csr", "-CA", authority, "-CAkey", authority + ".key", "-extfile",
                    path + ".ext", "-days", "-1" if name == "expired" else "30", "-set_serial", str(len(name)), "-out", path + ".crt")
        with open(path, "w", encoding="ascii") as file:
            for part in [path + ".crt"] + ([] if name == "ca" else [key]):
                with open(part, encoding="ascii") as source:
                    file.write(source.read())

    def context(self, name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path(name + ".pem"))
        if name == "tls11":
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        return context

    def pin(self, name):
        public = openssl("x509", "-in", self.path(name + ".pem") + ".crt", "-pubkey", "-noout")
        der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], check=True, input=public, stdout=subprocess.PIPE).stdout
        return "sha256//" + base64.b64encode(hashlib.sha256(der).digest()).decode()


class Over(Exception):
    """The connection has ended."""


class Connection:
    """One client, and how far its script has come."""

    def __init__(self, server, number, stream, script):
        self.server, self.number, self.stream, self.script = server, number, stream, script
        self.received = b""
        self.resting = False
        self.over = False
        self.note("connection")
        threading.Thread(target=self.run, daemon=True).start()

    def note(self, what, more=""):
        self.server.ledger.append(f"{what} {self.number}{more}")

    def run(self):
        try:
            if self.server.context:
                try:
                    self.stream.settimeout(REST_SECONDS)
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

    def receive(self):
        """More bytes from the client; at rest while there are none."""
        self.resting = True
        if not (isinstance(self.stream, ssl.SSLSocket) and self.stream.pending()):
            select.select([self.stream], [], [])
        self.resting = False
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

    def take(self):
        self.received += self.receive()

    def send(self, data):
        self.stream.sendall(bytes.fromhex(data))

    def drip(self, data):
        while True:
            for byte in bytes.fromhex(data):
                self.stream.sendall(bytes([byte]))
                ready, _, _ = select.select([self.stream], [], [], 0.02)
                if ready and not self.stream.recv(65536):
                    raise Over

    def flood(self, data):
        block = bytes.fromhex(data)
        block *= max(1, 65536 // len(block))
        while True:
            self.stream.sendall(block)

    def tunnel(self, port):
        other = socket.create_connection(("127.0.0.1", int(port)))
        with other:
            while True:
                ready, _, _ = select.select([self.stream, other], [], [])
                for source in ready:
                    piece = source.recv(65536)
                    if not piece:
                        return
                    (other if source is self.stream else self.stream).sendall(piece)

    def wait(self):
        while True:
            self.received += self.receive()

    def reset(self):
        self.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Over


class Server:
    """A port of this machine."""

    def __init__(self, context, scripts):
        self.context, self.scripts = context, scripts
        self.ledger, self.connections = [], []
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            number = len(self.connections)
            script = self.scripts[min(number, len(self.scripts) - 1)]
            self.connections.append(Connection(self, number, client, script))

    def settled(self):
        return all(connection is None or connection.over or connection.resting for connection in list(self.connections))

    def rest(self):
        pause = threading.Event()
        for _ in range(REST_SECONDS * 200):
            if self.settled():
                break
            pause.wait(0.005)
        return list(self.ledger)

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def main():
    servers = {}
    with tempfile.TemporaryDirectory(prefix="authbroker-servers.") as folder:
        certificates = Certificates(folder)
        for line in sys.stdin:
            command, *parts = line.rstrip("\n").split("\t")
            if command == "listen":
                server = Server(None if parts[0] == "plain" else certificates.context(parts[0]), parts[1:])
                servers[server.port] = server
                answer = [str(server.port)]
            elif command == "ledger":
                lines = servers[int(parts[0])].rest()
                answer = [str(len(lines)), *lines]
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
