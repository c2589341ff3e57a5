"""The token expires while clients wait at all members: one refresh, and how soon the last of them has the new token."""

import threading
import time

from cluster import ROLE, Cluster
from fleet import Fleet
from judge import digest
from stage import PATIENCE, Stage, percentiles, wait

LIFETIME = 20


def _wait_at_all(fleet):
    """Clients of all members ask at one instant; how long each has waited, and the tokens that they got."""
    barrier = threading.Barrier(len(fleet.members))
    waits, tokens = [], []

    def ask(member):
        barrier.wait(PATIENCE)
        begun = time.monotonic()
        result, kind = member.call("getAccessToken", 60, timeoutSeconds=50)
        waits.append(time.monotonic() - begun)
        tokens.append(result["accessToken"] if result else f"error {kind}")

    clients = [threading.Thread(target=ask, args=(member,), daemon=True) for member in fleet.members]
    for client in clients:
        client.start()
    for client in clients:
        client.join(PATIENCE)
    return waits, tokens


def _on_schedule(options, rows):
    """The refresh in the background, while the token still lives: how soon the others take up the new one."""
    lifetime, poll = 100, 5
    with Stage(options) as stage:
        cluster = Cluster(stage)
        local = f"host={cluster.folder} dbname=postgres user="
        fleet = Fleet(stage, local + "owner", local + ROLE, lifetime=lifetime, poll=poll)
        cluster.grant()
        fleet.start()
        fleet.must_log_in()
        made = wait(lambda: next((entry["monotonic"] for entry in fleet.backend.ledger if entry["event"] == "refresh"), None),
                    "a refresh on schedule", lifetime, pause=0.01)
        times, token = {}, None
        while len(times) < len(fleet.members) and time.monotonic() < made + PATIENCE:
            for member in fleet.members:
                result = member.call("getAccessToken", minValiditySeconds=0)[0]
                name = digest(result["accessToken"]) if result else None
                token = token or next((entry["accessHash"] for entry in fleet.backend.ledger if entry["event"] == "refresh"), None)
                if name == token:
                    times.setdefault(member.number, time.monotonic() - made)
            time.sleep(0.05)
        refreshes = fleet.refreshes
        rows.add(f"on schedule: one refresh, and one token at all {len(fleet.members)} members within pollSeconds ({poll})",
                 refreshes == 1 and len(times) == len(fleet.members) and max(times.values()) < poll + 2,
                 f"{refreshes} refreshes, {percentiles(times.values())}")


def expiry(options, rows):
    """The scene."""
    _on_schedule(options, rows)
    with Stage(options) as stage:
        cluster = Cluster(stage)
        local = f"host={cluster.folder} dbname=postgres user="
        fleet = Fleet(stage, local + "owner", local + ROLE, lifetime=LIFETIME, poll=5, backgroundRefresh=False)
        cluster.grant()
        fleet.start()
        count = len(fleet.members)
        rows.note("members", f"{count}, each of {max(member.memory[0] for member in fleet.members)} KiB at most")
        fleet.must_log_in()
        for member in fleet.members:
            wait(lambda: member.call("getSession")[0]["state"] == "authenticated", "all know the session")
        every, lasts = [], []
        for number in range(options.rounds):
            ends = max(entry["monotonic"] for entry in fleet.backend.ledger if entry["event"] in ("login", "refresh")) + LIFETIME
            time.sleep(max(0, ends + 0.5 - time.monotonic()))
            before, statements = fleet.refreshes, cluster.statements()
            waits, tokens = _wait_at_all(fleet)
            made, statements = fleet.refreshes - before, cluster.statements() - statements
            rows.add(f"round {number + 1}: one refresh, and one token at all {count} members",
                     made == 1 and len(set(tokens)) == 1 and len(tokens) == count and "error" not in tokens[0],
                     f"{made} refreshes, {len(set(tokens))} tokens, {percentiles(waits)}, {statements} statements")
            every += waits
            lasts.append(max(waits))
        rows.note(f"how long the clients of {count} members wait at the expiry, over {options.rounds} rounds", percentiles(every))
        rows.note("when the last of them has the new token", percentiles(lasts))
        fleet.judge.judge(rows)
