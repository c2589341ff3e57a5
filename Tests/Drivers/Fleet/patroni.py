"""Failovers of the database under load, without and with a loss of the last writes."""

import contextlib
import json
import threading
import time

from cluster import GRANTS, ROLE
from cluster_of_two import Pair, absence
from fleet import Fleet
from stage import Failure, Stage, wait

# An even number: the first server leads again behind them.
FAILOVERS = 4
MEMBERS = 4
LIFETIME = 90


class Alarms:
    """The alarms of all members, as clients hear them."""

    def __init__(self, stage, members):
        self.seen = {member.number: [] for member in members}
        for member in members:
            wire = stage.enter_context(member.events(["securityAlert"]))
            wire.settimeout(None)
            threading.Thread(target=self._listen, args=(member, wire), daemon=True).start()

    def _listen(self, member, wire):
        with contextlib.suppress(OSError, ValueError), wire.makefile("rb") as lines:
            for line in lines:
                event = json.loads(line).get("params", {})
                if "securityAlert" in json.dumps(event):
                    self.seen[member.number].append(event)

    def are_all(self, kind):
        """Whether each member has raised one of this kind."""
        return all(any(kind in json.dumps(event) for event in events) for events in self.seen.values())


def _one_refresh(fleet):
    """Has one member begin a refresh that takes a while, in the background."""
    fleet.backend.misbehave(fleet.random.choice(["delay-before-commit", "delay-after-commit"]), 1,
                            seconds=fleet.random.uniform(0.5, 2))
    member = fleet.random.choice(fleet.members)
    threading.Thread(target=member.call, args=("getAccessToken", 30), kwargs={"forceRefresh": True}, daemon=True).start()
    time.sleep(fleet.random.uniform(0.1, 1.5))


def _until_written(fleet, begun):
    """The seconds until a member has written a refresh again."""
    def is_new():
        member = fleet.random.choice(fleet.members)
        fleet.restore()
        return member.call("getAccessToken", 30, forceRefresh=True, timeoutSeconds=10)[0]

    wait(is_new, "a refresh behind the failover", 180, pause=0.2)
    return time.monotonic() - begun


def patroni(options, rows):
    """The scene."""
    if reason := absence():
        rows.skip("failovers", reason)
        return
    with Stage(options) as stage:
        pair = Pair(stage)
        fleet = Fleet(stage, pair.address + "owner", pair.address + ROLE, members=MEMBERS, lifetime=LIFETIME)
        pair.leader.query(GRANTS)
        fleet.start()
        fleet.must_log_in()
        alarms = Alarms(stage, fleet.members)
        fleet.begin_use(0.2)
        for number in range(FAILOVERS):
            pair.wait_for_standby()
            _one_refresh(fleet)
            old, begun = pair.leader, time.monotonic()
            old.kill()
            new = pair.leader
            led = time.monotonic() - begun
            took = _until_written(fleet, begun)
            rows.add(f"failover {number + 1}: the leader is killed under load, and members refresh with the new one",
                     new is not old, f"{old.name} to {new.name} after {led:.1f} s, refreshed after {took:.1f} s")
            old.start()
        for what, begin, finish in (("is killed", "kill", "start"), ("hangs", "hang", "go_on")):
            pair.wait_for_standby()
            _one_refresh(fleet)
            standby, begun = pair.standby, time.monotonic()
            getattr(standby, begin)()
            took = _until_written(fleet, begun)
            rows.add(f"the synchronous standby {what} under load: commits wait, and come", True, f"refreshed after {took:.1f} s")
            getattr(standby, finish)()
        _hang(rows, fleet, pair)
        fleet.end_use()
        fleet.backend.behave()
        pair.wait_for_standby()
        fleet.agree(rows)
        heard = sum(map(len, alarms.seen.values()))
        rows.add("no synchronous failover has lost a write", heard == 0, f"{heard} alarms")
        counts = fleet.counts + fleet.judge.judge(rows)
        rows.note("sums", ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
        _loss(rows, fleet, pair, alarms)


def _hang(rows, fleet, pair):
    """The leader, which the members' list of hosts names first, stands still."""
    pair.wait_for_standby()
    old, other = pair.nodes
    if not old.is_leader:
        other.kill()
        wait(lambda: old.is_leader, "the first server leads")
        other.start()
        pair.wait_for_standby()
    _one_refresh(fleet)
    begun = time.monotonic()
    old.hang()
    try:
        wait(lambda: other.is_leader, "the other one leads")
        led = time.monotonic() - begun
        # What was under way may count as a lost reply; a login needs no more than the database.
        for member in fleet.members:
            wait(lambda: fleet.log_in(member), f"a login at member {member.number} by the new leader, which leads after {led:.1f} s: "
                 + member.told.splitlines()[-1], 60, pause=0.5)
        rows.add("the leader, first of the list, hangs: members go to the second", True,
                 f"led after {led:.1f} s, all have logged in after {time.monotonic() - begun:.1f} s")
    except Failure as failure:
        rows.add("the leader, first of the list, hangs: members go to the second", False, failure)
    finally:
        old.go_on()


def _tokens(fleet):
    results = [member.call("getAccessToken", timeoutSeconds=10)[0] for member in fleet.members]
    return {result["accessToken"] if result else None for result in results}


def _loss(rows, fleet, pair, alarms):
    """A failover that loses the last writes."""
    pair.leader.ask("/config", {"synchronous_mode": False}, "PATCH")
    pair.wait_for_standby("async")
    if fleet.is_lost():
        fleet.must_log_in()
    wait(lambda: len(_tokens(fleet)) == 1 and None not in _tokens(fleet), "one token")
    before = _tokens(fleet)
    old, standby = pair.leader, pair.standby
    wait(lambda: old.query("SELECT pg_current_wal_lsn() = replay_lsn FROM pg_stat_replication") == "t", "the standby has all")
    old.proxy.cut()
    said = fleet.members[0].message("getAccessToken", forceRefresh=True)
    wait(lambda: len(_tokens(fleet)) == 1 and _tokens(fleet) != before and None not in _tokens(fleet), f"the new token at all: {said}")
    versions = [node.query("SELECT version FROM authbroker_fleet WHERE name = 'shop'") for node in (old, standby)]
    old.kill()
    old.proxy.mend()
    leader = pair.leader
    rows.add("asynchronous: the new leader has lost the last writes", leader is not old and versions[0] != versions[1],
             f"version {versions[0]} was lost for {versions[1]}")
    with contextlib.suppress(Exception):
        wait(lambda: alarms.are_all("storeRolledBack"), "alarms", 60)
    rows.add("each member that has seen the later version raises securityAlert storeRolledBack", alarms.are_all("storeRolledBack"),
             {number: [event.get("event", event) for event in events] for number, events in alarms.seen.items()})
    logged = [next((line for line in member.told.splitlines() if "older in the database" in line), "") for member in fleet.members]
    rows.add("their logs say so", all(logged), logged[0] or "nothing")
    done = fleet.command("status")
    rows.note("authbroker fleet status says of it", done.stdout + done.stderr)
    sent = len(fleet.backend.ledger)
    said = {member.message("getAccessToken", 40, forceRefresh=True, timeoutSeconds=10) for member in fleet.members}
    after = [entry for entry in fleet.backend.ledger[sent:] if entry["event"] == "refresh"]
    rows.add("none of them refreshes", not after and not any("accessToken" in one for one in said), said)
    rows.add("the living token is served", len(_tokens(fleet)) == 1 and None not in _tokens(fleet), f"{len(_tokens(fleet))} tokens")
    rows.note("what they say of the session", fleet.members[1].call("getSession")[0])
    fleet.must_log_in(fleet.members[0])
    with contextlib.suppress(Exception):
        wait(lambda: len(_tokens(fleet)) == 1 and None not in _tokens(fleet), "tokens", 60)
    said = [member.message("getAccessToken", 40, forceRefresh=True, timeoutSeconds=20) for member in fleet.members]
    rows.add("a login at one of them frees all", all("accessToken" in one for one in said), said)
    fleet.judge.judge(rows)
    old.start()
