"""Who may connect to a door: the broker's own user alone, at a port as at a socket."""

import os

from ledger import Ledger
from stage import Broker, Home

SECRET = "made-up-secret-of-the-server"
OTHER = 200_033
# More connections than a door has.
MANY = 100
FLOOD = """
import socket, sys, time
held = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(int(sys.argv[2]))]
for one in held:
    one.settimeout(20)
ended = 0
for one in held:
    try:
        one.sendall(b"GET /g HTTP/1.1\\r\\n")
        ended += one.recv(100) == b""
    except ConnectionError:
        ended += 1
print(ended)
"""


def users(programs, rows):
    """The owner, another user, and root."""
    if os.getuid() != 0:
        return rows.skip("another user at a door", "only root can become another user")
    with Home() as home, Ledger(SECRET) as ledger:
        secret = home.file("secret", SECRET)
        profiles = {"api": {"provider": "static", "secret": {"file": secret}, "requests": {"allow": [{"origin": ledger.origin}]}}}
        with Broker(programs, profiles) as broker:
            port, at_socket = broker.open("-p", "api", "--port", "0"), broker.open("-p", "api")

            def ask(user, door):
                ledger.taken()
                words = ["--unix-socket", door.path, "http://door/g"] if door.path else [door.url + "/g"]
                done = home.run("curl", "-sS", "-m", "20", "-H", door.slot, *words, user=user)
                return done.returncode, done.stdout + done.stderr, len(ledger.taken())
            for name, door in (("a port", port), ("a socket", at_socket)):
                code, text, came = ask(1000, door)
                rows.add(f"the owner, {name}", code == 0 and came == 1, text)
                code, text, came = ask(OTHER, door)
                rows.add(f"another user who knows the placeholder, {name}", code != 0 and came == 0 and SECRET not in text, text)
            code, text, came = ask(0, port)
            rows.add("root, a port", code != 0 and came == 0, text)
            done = home.run("/usr/bin/python3", "-c", FLOOD, str(port.port), str(MANY), user=OTHER)
            code, text, came = ask(1000, port)
            rows.add(f"the owner, beside {MANY} connections of another user", done.stdout.strip() == str(MANY) and code == 0 and came == 1, f"{done.stdout.strip()} of them were ended {done.stderr[-200:]}")
