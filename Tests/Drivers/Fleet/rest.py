"""What a fleet costs the database and its members while nothing happens, and what a cached token costs."""

import json
import socket
import time

from cluster import Cluster
from fleet import Fleet
from stage import Stage, wait

SECONDS = 60
CALLS = 10_000


def _log_in(fleet, member, profiles):
    """Logs in each of the profiles at one member, and waits until all members have all sessions; the seconds that it took."""
    begun = time.monotonic()
    for profile in profiles:
        fleet.must_log_in(member, profile)
    for other in fleet.members:
        wait(lambda: all(other.call("getSession", profile=profile)[0]["state"] == "authenticated"
                         for profile in (profiles[0], profiles[-1])), "all know the last session")
    return time.monotonic() - begun


def _measure(fleet, cluster):
    """The statements, transactions and bytes of a minute, and the processor time of a member, in seconds."""
    def now():
        proxies = [member.proxy for member in fleet.members]
        return (time.monotonic(), cluster.statements(), cluster.transactions(), sum(proxy.received for proxy in proxies),
                sum(proxy.sent for proxy in proxies), sum(member.cpu for member in fleet.members))

    before = now()
    time.sleep(SECONDS)
    took, *growth = (after - then for after, then in zip(now(), before))
    return [value * 60 / took for value in growth]


def _ask_cached(member, profile, count):
    """Asks for a token so many times on one connection; how often that worked, and the seconds."""
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "getAccessToken", "params": {"profile": profile}}).encode() + b"\n"
    right, begun = 0, time.monotonic()
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(60)
        wire.connect(member.path)
        with wire.makefile("rb") as lines:
            for _ in range(count):
                wire.sendall(request)
                right += "accessToken" in json.loads(lines.readline()).get("result", {})
    return right, time.monotonic() - begun


def rest(options, rows):
    """The scene."""
    with Stage(options) as stage:
        cluster = Cluster(stage)
        profiles = [f"p{number:04d}" for number in range(options.profiles)]
        limits = {f"maxLoginsPer{what}": 10000 for what in ("Connection", "Account", "Provider")}
        fleet = Fleet(stage, f"host={cluster.folder} dbname=postgres user=owner", target=cluster.socket, lifetime=86400, poll=5,
                      profiles=profiles, limits=limits)
        cluster.grant()
        fleet.start()
        took = _log_in(fleet, fleet.members[0], profiles)
        count = len(fleet.members)
        size = cluster.ask("SELECT sum(length(sealed)) FROM authbroker_fleet")
        rows.add(f"{len(profiles)} sessions, logged in at one member, are at all {count}", True,
                 f"{took:.1f} s; the rows have {size} bytes; members of {max(one.memory[0] for one in fleet.members)} KiB at most")
        statements, transactions, received, sent, cpu = _measure(fleet, cluster)
        rows.note(f"a minute of {count} members at rest, {len(profiles)} profiles",
                  f"{statements:.0f} statements ({transactions:.0f} transactions of all), {received / 1e6:.2f} MB from and "
                  f"{sent / 1e6:.3f} MB to the database; a member {1000 * cpu / count:.0f} ms of a processor")
        rows.add("no more than a reading of each member in three quarters of pollSeconds", statements <= count * 60 / 3.75 + count,
                 f"{statements:.0f} a minute")
        for member in fleet.members[1:]:
            member.kill()
        time.sleep(1)
        before, begun = cluster.statements(), time.monotonic()
        right, took = _ask_cached(fleet.members[0], profiles[0], CALLS)
        grown, allowed = cluster.statements() - before, (time.monotonic() - begun) / 3.75 + 1
        rows.add(f"{CALLS} cached tokens cost no statement but those of the readings", right == CALLS and grown <= allowed,
                 f"{right} tokens in {took:.2f} s, {grown} statements; readings may be {allowed:.1f}")
