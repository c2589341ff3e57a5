"""Members whose clocks are wrong: tokens live for as long as they do, and nothing is spent twice."""

import time

from chaos import LEASE
from cluster import ROLE, Cluster
from fleet import Fleet
from stage import Stage, wait

LIFETIME = 90
# Two are wrong in the same way: each of them sees the other's tokens.
OFFSETS = [0, 90, 90, -90, 3600, -3600]


def _of_the_database(options, rows, offset):
    """The server comes back with another clock, as after a failover to a machine whose clock is wrong."""
    with Stage(options) as stage:
        cluster = Cluster(stage)
        local = f"host={cluster.folder} dbname=postgres user="
        fleet = Fleet(stage, local + "owner", local + ROLE, members=3, lifetime=LIFETIME,
                      backgroundRefresh=False)
        cluster.grant()
        fleet.start()
        fleet.must_log_in(fleet.members[0])
        wait(lambda: all(member.call("getAccessToken")[0] for member in fleet.members), "tokens at all")
        cluster.kill()
        cluster.variables = fleet.wrong_clock(offset)
        cluster.start()
        shown = float(cluster.ask("SELECT extract(epoch FROM clock_timestamp())")) - time.time()
        wait(lambda: int(cluster.ask("SELECT count(*) FROM pg_stat_activity WHERE usename = 'authbroker'")) == 3, "all are back")
        made = next(entry["monotonic"] for entry in fleet.backend.ledger if entry["event"] == "login")
        # The record is from before the step, and who reads it from behind it; the others are not asked.
        time.sleep(max(0, made + LIFETIME - 30 - time.monotonic()))
        late = fleet.members[1]
        late.kill()
        late.start()
        wait(late.is_ready, "the member answers")
        while time.monotonic() < made + LIFETIME + 20:
            asked = time.monotonic()
            result = late.call("getAccessToken", minValiditySeconds=0, timeoutSeconds=3)[0]
            if result:
                fleet.judge.served(result, asked, late)
            time.sleep(0.5)
        # The guide asks for clocks of the database that agree: what it costs where they do not.
        rows.note(f"the clock of the database steps by {offset:+d} s, and a member starts behind that",
                  f"{fleet.refreshes} refreshes of one life of {LIFETIME} s; dead tokens: {fleet.judge.dead()}; its clock is "
                  f"{shown:+.0f} s")


def clocks(options, rows):
    """The scene."""
    for offset in (50, -50):
        _of_the_database(options, rows, offset)
    with Stage(options) as stage:
        cluster = Cluster(stage)
        local = f"host={cluster.folder} dbname=postgres user="
        fleet = Fleet(stage, local + "owner", local + ROLE, members=len(OFFSETS), lifetime=LIFETIME)
        if not fleet.has_machines:
            rows.skip("clocks", "NOT TRIED: members need uptimes of their own, which takes root and time namespaces")
            return
        cluster.grant()
        for member, offset in zip(fleet.members, OFFSETS):
            member.start(offset)
        for member in fleet.members:
            wait(member.is_ready, "all answer")
        errors = [member.clock_error() for member in fleet.members]
        rows.add("the clocks are wrong", all(abs(error - offset) < 2 for error, offset in zip(errors, OFFSETS)),
                 [round(error) for error in errors])
        fleet.must_log_in(fleet.members[0])
        wait(lambda: all(member.call("getAccessToken")[0] for member in fleet.members), "tokens at all")
        time.sleep(20)
        made = fleet.refreshes
        rows.add("a new token of 90 s is not refreshed within 20 s by anyone", not made, f"{made} refreshes")
        # A reply is lost, of whoever refreshes first, and the token that is there lives for most of its time.
        fleet.backend.misbehave("drop-after-commit", 1)
        fleet.must_log_in(fleet.members[0])
        time.sleep(5)
        kind = fleet.members[0].call("getAccessToken", 60, forceRefresh=True, timeoutSeconds=25)[1]
        begun, answers = time.monotonic(), set()
        while time.monotonic() - begun < LEASE + 12:
            for member in fleet.members:
                result, error = member.call("getAccessToken", timeoutSeconds=3)
                if not result:
                    answers.add(f"{error} of the member with {member.offset:+d} s")
            time.sleep(1)
        rows.add("behind a lost reply all of them serve the living token", not answers, f"{kind}; {sorted(answers)}")
        counts = fleet.judge.judge(rows)
        rows.note("sums", dict(counts))
