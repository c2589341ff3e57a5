"""An API that honours Idempotency-Key, goes wrong on demand, and writes down what reached it and what it did."""

import collections
import json
import random
import socket
import threading
import time
import urllib.error
import urllib.request

SECRET = "sk-made-up-secret-of-a-driver"
# What becomes of a request, and how often by chance.
FAULTS = {"none": 60, "500": 4, "500-effect": 4, "503": 3, "429": 3, "409": 3, "drop": 6, "drop-effect": 8, "partial": 4, "hang": 2,
          "hang-effect": 2, "401": 2, "slow": 6}
# Where the broker can be killed while a request is under way.
STEPS = ("arrival", "before", "after", "half", "answered")


class Arrival:
    """A request that came, as it was."""

    def __init__(self, profile, key, number, user):
        self.profile, self.key, self.number, self.user, self.time = profile, key, number, user, time.monotonic()
        self.fault = "none"


class Ledger:
    """The server. `trap` is a step and what is called there, once."""

    def __init__(self, seed):
        self.random, self.lock = random.Random(seed), threading.RLock()
        self.arrivals, self.effects, self.faults = [], {}, collections.Counter()
        self.trap, self.is_calm, self.provider = None, False, None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        self.listener = None

    def open(self, is_open):
        """Listens, or refuses connections."""
        if self.listener and not is_open:
            # The thread that accepts keeps the socket alive otherwise.
            self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
            self.listener = None
        elif is_open and not self.listener:
            self.listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
            threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def accept(self, listener):
        """Serves each connection on a thread of its own."""
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        """One request after the other, until one of the two leaves."""
        with connection, connection.makefile("rb") as stream:
            try:
                while self.serve_next(connection, stream):
                    pass
            except (OSError, ValueError):
                pass

    def step(self, name):
        """Springs the trap that is set for a step."""
        with self.lock:
            trap = self.trap
            if not trap or trap[0] != name:
                return
            self.trap = None
        trap[1]()

    def user(self, token, profile):
        """The address of the token's user; the profile of an API key; None where the token is none."""
        if profile == "maps":
            return "maps" if token == SECRET else None
        asked = urllib.request.Request(self.provider + "/auth/me", headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(asked, timeout=30) as answer:
                told = json.load(answer)
                return told.get("email") or told["user"]["email"]
        except urllib.error.HTTPError:
            return None

    def serve_next(self, connection, stream):
        """One request; whether another may follow."""
        head = []
        while (line := stream.readline()) not in (b"\r\n", b""):
            head.append(line.decode("latin-1").strip())
        if not head:
            return False
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        body = stream.read(int(fields.get("content-length", 0)))
        if len(body) != int(fields.get("content-length", 0)):
            return False
        profile = head[0].split(" ")[1].split("/")[1]
        arrival = Arrival(profile, fields["idempotency-key"], int(json.loads(body)["n"]), None)
        arrival.user = self.user(fields["authorization"].partition(" ")[2], profile)
        with self.lock:
            self.arrivals.append(arrival)
            fault = "none" if self.is_calm else self.random.choices(list(FAULTS), FAULTS.values())[0]
            arrival.fault = "401" if arrival.user is None else fault
            self.faults[arrival.fault] += 1
        self.step("arrival")
        return self.answer(connection, arrival)

    def act(self, arrival):
        """Does what is wanted, once for each key."""
        self.step("before")
        with self.lock:
            if arrival.key not in self.effects:
                self.effects[arrival.key] = arrival
        self.step("after")

    def answer(self, connection, arrival):
        """Answers; whether another request may follow."""
        fault = arrival.fault
        if fault == "slow":
            time.sleep(0.2)
        if fault in ("none", "slow", "partial") or fault.endswith("-effect"):
            self.act(arrival)
        if fault.startswith("drop"):
            return False
        if fault.startswith("hang"):
            connection.settimeout(30)
            return bool(connection.recv(1))  # until the client leaves
        status = int(fault[:3]) if fault[0].isdigit() else 201
        body = json.dumps({"n": arrival.number}).encode()
        extra = "Retry-After: 0\r\n" if status in (429, 503) else ""
        whole = f"HTTP/1.1 {status} Made-up\r\n{extra}Content-Length: {len(body)}\r\n\r\n".encode() + body
        half = len(whole) - 3
        connection.sendall(whole[:half])
        self.step("half")
        if fault == "partial":
            return False
        connection.sendall(whole[half:])
        self.step("answered")
        return True
