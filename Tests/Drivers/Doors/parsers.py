"""h11 as a second parser: what a door forwards of mutated requests must be what h11 reads, or nothing where h11 refuses.

Each request goes to a door in front of a server that writes down what comes; the same bytes are read by h11. The door may be stricter.
"""

import os
import random
import re
import selectors
import socket
import time

import h11

from ledger import Ledger
from stage import Broker, Home

SECRET = "made-up-secret-of-the-server"
COUNT = int(os.environ.get("DOOR_MUTATIONS", "100000"))
SEED = int(os.environ.get("DOOR_SEED", "9112"))
# Behind each: the rest of what waits for more, and nothing that any parser takes for a request.
BEHIND = b"\r\n\r\n" + b"\0\r\n" * 64
# A last chunk, and well-formed fields behind it.
TRAILERS = re.compile(rb"(\r\n0+(?:;[^\r\n]*)?\r\n)(?:[!-9;-~]+:[^\r\n]*\r\n)+\r\n")
# Connections at a time; a door has 64.
BATCH = 48
SEEDS = [
    b"GET /g HTTP/1.1\r\nHost: H\r\nS\r\n\r\n",
    b"GET /g?a=b HTTP/1.1\r\nHost: H\r\nS\r\nX-A: b\r\nAccept: */*\r\n\r\n",
    b"POST /p HTTP/1.1\r\nHost: H\r\nS\r\nContent-Length: 5\r\n\r\nhello",
    b"POST /p HTTP/1.1\r\nHost: H\r\nS\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"PUT /p HTTP/1.1\r\nHost: H\r\nS\r\nTransfer-Encoding: chunked\r\nX-B: c\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: u\r\n\r\n",
    b"GET /g HTTP/1.0\r\nHost: H\r\nS\r\n\r\n",
    b"HEAD /g HTTP/1.1\r\nHost: H\r\nS\r\nConnection: keep-alive\r\n\r\n",
]
TOKENS = [
    b"\r\n", b"\n", b"\r", b" ", b"\t", b"\0", b":", b",", b";", b"0", b"00", b"+", b"-", b"0x", b"%2f", b"%00", b"..", b"//", b"\\", b"\xff", b"\x7f",
    b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"Content-Length: 05\r\n", b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: identity\r\n",
    b"Transfer-Encoding: chunked, identity\r\n", b"Host: other.example\r\n", b"Connection: close\r\n", b"Connection: authorization\r\n", b" folded\r\n",
    b"\x0bchunked", b"HTTP/1.1", b"HTTP/1.0", b"http://H/", b"GET /q HTTP/1.1\r\nHost: H\r\nS\r\n\r\n", b"Expect: 100-continue\r\n", b"Upgrade: h2c\r\n",
]


def mutated(chance):
    """A request with one to four changes."""
    text = bytearray(chance.choice(SEEDS))
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        place, kind = chance.randrange(len(text) + 1), chance.randrange(7)
        if kind == 0 and place < len(text):
            text[place] ^= 1 << chance.randrange(8)
        elif kind == 1 and place < len(text):
            del text[place:place + chance.choice((1, 1, 2, 8))]
        elif kind == 2:
            text[place:place] = chance.choice(TOKENS)
        elif kind == 3 and place < len(text):
            text[place] = chance.randrange(256)
        elif kind == 4:
            # A line twice, or at another place.
            lines = bytes(text).split(b"\r\n")
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
            text = bytearray(b"\r\n".join(lines))
        elif kind == 5:
            start = bytes(text).find(b"\r\n") + 2
            text[start:start] = chance.choice(TOKENS)
        elif kind == 6 and place < len(text):
            text[place:place + 1] = bytes(text[place:place + 1]).swapcase()
    return bytes(text)


def read(data):
    """The requests that h11 reads until it refuses: number, method, target and body; an incomplete one is none."""
    found = []
    peer = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 16)
    try:
        peer.receive_data(data)
        while True:
            event = peer.next_event()
            if event is h11.NEED_DATA or event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
                if event is h11.PAUSED and peer.their_state is h11.DONE and peer.our_state is not h11.MUST_CLOSE:
                    peer.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
                    peer.send(h11.EndOfMessage())
                    if peer.our_state is h11.DONE:
                        peer.start_next_cycle()
                        continue
                return found
            if isinstance(event, h11.Request):
                begun, body = event, b""
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                number = [value for name, value in begun.headers if name == b"x-n"]
                found.append((number[0].decode() if number else "", begun.method.decode(), begun.target.decode("latin-1"), body))
                peer.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
                peer.send(h11.EndOfMessage())
                if peer.our_state is not h11.DONE or peer.their_state is not h11.DONE:
                    return found
                peer.start_next_cycle()
    except h11.ProtocolError:
        return found


class Batch:
    """Many connections at a time, each with the bytes of one request."""

    # How long nothing more has come before those that wait for more of a body are told that there is none.
    QUIET = 0.3

    def __init__(self, door):
        self.door = door

    def play(self, messages):
        """What each connection was answered, and how many did not end."""
        chosen = selectors.DefaultSelector()
        answers = [b""] * len(messages)
        for index, message in enumerate(messages):
            connection = self.door.connect()
            connection.sendall(message)
            chosen.register(connection, selectors.EVENT_READ, index)
        end, has_asked = time.monotonic() + 60, False
        while chosen.get_map() and time.monotonic() < end:
            ready = chosen.select(self.QUIET)
            if not ready and not has_asked:
                has_asked = True
                for key in chosen.get_map().values():
                    key.fileobj.shutdown(socket.SHUT_WR)
            for key, _ in ready:
                try:
                    piece = key.fileobj.recv(1 << 16)
                except OSError:
                    piece = b""
                answers[key.data] += piece
                if not piece:
                    chosen.unregister(key.fileobj)
                    key.fileobj.close()
        left = list(chosen.get_map().values())
        for key in left:
            key.fileobj.close()
        return answers, len(left)


def parsers(programs, rows):
    """All mutations; what differs."""
    with Home() as home, Ledger(SECRET) as ledger:
        secret = home.file("secret", SECRET)
        rule = {"origin": ledger.origin, "methods": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]}
        profiles = {"api": {"provider": "static", "secret": {"file": secret}, "requests": {"allow": [rule]}}}
        with Broker(programs, profiles) as broker:
            # At a socket, where nothing but the message itself is judged: a port looks at the name of the host besides.
            door = broker.open("-p", "api", ledger.origin)
            chance, batch = random.Random(SEED), Batch(door)
            counts = {"forwarded": 0, "the door is stricter": 0, "neither": 0, "trailers that h11 refuses and the door drops": 0}
            more, leaks, unanswered, examples = 0, 0, 0, []
            start = time.monotonic()
            for first in range(0, COUNT, BATCH):
                messages = []
                for index in range(first, min(COUNT, first + BATCH)):
                    slot = f"{door.slot}\r\nX-N: {index}\r\n"
                    text = mutated(chance).replace(b"Host: H", b"Host: " + door.host.encode()).replace(b"S\r\n", slot.encode())
                    messages.append(text + BEHIND)
                answers, left = batch.play(messages)
                unanswered += left
                leaks += sum(SECRET.encode() in answer for answer in answers)
                came = {}
                for request in ledger.taken():
                    came.setdefault((request.values("x-n") or [""])[0], []).append((request.method, request.target, request.body))
                    if request.values("authorization") != ["Bearer " + SECRET] or len(request.values("host")) != 1:
                        more += 1
                        examples.append(request.head)
                # A request whose number was lost by its change is looked for among all such of h11's.
                lost = came.pop("", [])
                for index, message in enumerate(messages, first):
                    seen, wanted = came.pop(str(index), []), read(message)
                    numbered = [one for number, *one in wanted if number]
                    for number, *one in wanted:
                        if not number and tuple(one) in lost:
                            lost.remove(tuple(one))
                            counts["forwarded"] += 1
                    counts["forwarded"] += len(seen)
                    counts["the door is stricter"] += len(numbered) > len(seen)
                    counts["neither"] += not wanted and not seen
                    # What was forwarded is what h11 reads, in that order, from the first on.
                    if [list(one) for one in seen] != numbered[:len(seen)]:
                        # A door drops trailers; h11 takes their framing fields for such of the message, and refuses them.
                        bare = [one for number, *one in read(TRAILERS.sub(rb"\1\r\n", message)) if number]
                        if [list(one) for one in seen] == bare[:len(seen)]:
                            counts["trailers that h11 refuses and the door drops"] += 1
                            continue
                        more += 1
                        examples.append((message[:-len(BEHIND)], seen, wanted))
                if came or lost:
                    more += len(came) + len(lost)
                    examples.append((came, lost))
            for example in examples[:10]:
                print(f"     differs: {example!r}"[:900], flush=True)
            rows.add(f"{COUNT} mutated requests, seed {SEED}: what lets more through than h11", more == 0, f"{more} differ; {counts}; {time.monotonic() - start:.0f} s")
            rows.add("the token came back in no answer, and each connection ended", leaks == 0 and unanswered == 0, f"{leaks} and {unanswered}")
            rows.add("the framing of what arrived", not ledger.faults, ledger.faults[:3])
            rows.add("the daemon goes on", broker.run("status").returncode == 0, f"VmHWM {broker.memory()} KiB")
