"""slowhttptest at a door: slow headers, slow bodies and slow reading; everyone else goes on being answered meanwhile."""

import statistics
import time

from ledger import Ledger
from stage import Broker, Home, end, wait

SECRET = "made-up-secret-of-the-server"
# As many as a door has, and more; how long an attack lasts.
CONNECTIONS, SECONDS = 200, 25
MOST_TIME = 1.0
ATTACKS = [
    ("slow headers", ["-H", "-i", "5"]),
    ("slow bodies", ["-B", "-i", "5", "-s", "8192", "-t", "POST"]),
    ("slow reading", ["-X", "-w", "1", "-y", "8", "-n", "5", "-z", "16", "-k", "2"]),
]


def slow(programs, rows):
    """Each attack – with the placeholder, as a line behind the value of a field – and the owner's other clients beside it: of the broker, and of another door."""
    with Home() as home, Ledger(SECRET) as ledger:
        secret = home.file("secret", SECRET)
        large = b"HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n" + b"x" * 4_000_000
        ledger.answers["/large"] = lambda request: large
        rule = {"origin": ledger.origin, "methods": ["GET", "POST"]}
        profiles = {"api": {"provider": "static", "secret": {"file": secret}, "requests": {"allow": [rule]}}}
        with Broker(programs, profiles) as broker:
            other = broker.open("-p", "api")
            for name, words in ATTACKS:
                door = broker.open("-p", "api", "--port", "0")
                log = home.path + "/slow.log"
                with open(log, "w", encoding="utf-8") as output:
                    attack = home.start(
                        "slowhttptest", *words, "-c", str(CONNECTIONS), "-r", "100", "-l", str(SECONDS), "-p", "3", "-m", "*/*\r\n" + door.slot, "-u", door.url + "/large", stdout=output, stderr=output)
                    try:
                        wait(lambda: door.state.get("connections", 0) >= 32, "the attack has connections", 20)
                        tokens, answers, most, wrong = [], [], 0, []
                        until = time.monotonic() + SECONDS - 10
                        while time.monotonic() < until and attack.poll() is None:
                            start = time.monotonic()
                            done = broker.run("token", "-p", "api")
                            tokens.append(time.monotonic() - start)
                            start = time.monotonic()
                            asked = home.run("curl", "-sS", "-f", "-m", "20", "--unix-socket", other.path, "http://door/g")
                            answers.append(time.monotonic() - start)
                            if done.returncode or asked.returncode:
                                wrong.append(done.stderr + asked.stderr)
                            most = max(most, door.state.get("connections", 0))
                            time.sleep(0.2)
                    finally:
                        end(attack)
                seen = (f"{len(tokens)} tokens, median {statistics.median(tokens) * 1000:.0f} ms, at most {max(tokens) * 1000:.0f} ms; as many requests at another door, "
                        f"median {statistics.median(answers) * 1000:.0f} ms, at most {max(answers) * 1000:.0f} ms; the door had {most} connections at most; VmHWM {broker.memory()} KiB")
                rows.add(f"{name}, {CONNECTIONS} connections: others are answered", not wrong and max(tokens + answers) < MOST_TIME and most <= 64, "; ".join([seen, *wrong[:2]]))
                wait(lambda: door.state.get("connections", 1) == 0, "the attack's connections have ended")
                done = home.run("curl", "-sS", "-f", "-m", "20", "-H", door.slot, door.url + "/g")
                rows.add(f"{name}: the door itself serves again", done.returncode == 0, done.stderr or "answered")
                door.close()
