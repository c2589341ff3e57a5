"""Members are killed, stopped and cut off, and replies of the backend lost; the ledger judges."""

import random
import signal
import threading
import time

from cluster import Cluster
from fleet import Fleet
from stage import Stage, wait

TROUBLES = ["reply", "kill", "stop", "server", "proxy", "clock"]
LEASE = 40
# By how many seconds clocks are wrong.
CLOCKS = [-3600, -30, 30, 3600]


class Troubles:
    """What happens to a fleet, as the seed says."""

    def __init__(self, fleet, cluster, kinds, pool=None):
        self.fleet, self.cluster, self.kinds, self.pool = fleet, cluster, kinds, pool
        self.random = random.Random(f"troubles {fleet.stage.options.seed}")
        self.timers, self.clock_errors = [], []

    def later(self, seconds, what):
        """Ends a trouble later."""
        timer = threading.Timer(seconds, what)
        timer.daemon = True
        timer.start()
        self.timers.append(timer)

    def begin(self):
        """One trouble; returns soon, and what it has begun ends by itself."""
        fleet, draw = self.fleet, self.random
        member, kind = draw.choice(fleet.members), draw.choice(self.kinds)
        fleet.counts["trouble " + kind] += 1
        if kind == "reply":
            name = draw.choice(["drop-after-commit", "drop-before-commit", "reset-before-reading", "delay-after-commit"])
            # Behind a lost reply a fleet waits for the end of its token: more of them would leave nothing to spend.
            if draw.random() < 0.4:
                fleet.backend.misbehave(name, draw.randint(1, 2))
        elif kind == "kill":
            member.kill()
            member.start(member.offset)
        elif kind == "stop":
            member.signal(signal.SIGSTOP)
            self.later(draw.choice([3, LEASE + 8]), lambda: member.signal(signal.SIGCONT))
        elif kind == "server":
            self.cluster.kill()
            time.sleep(draw.uniform(0, 4))
            self.cluster.start()
        elif kind == "pool":
            self.pool.kill()
            time.sleep(draw.uniform(0, 3))
            self.pool.start()
        elif kind == "proxy":
            if draw.random() < 0.5:
                member.proxy.cut()
                self.later(draw.uniform(1, 20), lambda: setattr(member.proxy, "is_cut", False))
            else:
                member.proxy.delay = draw.uniform(0, 4)
                self.later(20, lambda: setattr(member.proxy, "delay", 0))
        elif kind == "clock":
            member.kill()
            member.start(draw.choice(CLOCKS))
            self.later(15, lambda: self.check_clock(member))

    def check_clock(self, member):
        """Notes whether a wrong clock is in force."""
        wanted, found = member.offset, member.clock_error()
        if found is not None and wanted == member.offset:
            self.clock_errors.append((wanted, found))

    def end(self):
        """Ends all that is still going on; wrong clocks stay wrong."""
        for timer in self.timers:
            timer.cancel()
        self.fleet.backend.behave()
        if self.cluster.process.poll() is not None:
            self.cluster.start()
        for member in self.fleet.members:
            member.proxy.mend()
            member.signal(signal.SIGCONT)
        for member in self.fleet.members:
            wait(member.is_ready, f"member {member.number} answers again: {member.folder}/log")

    def judge_clocks(self, rows):
        """Whether clocks were wrong where they should have been."""
        if "clock" not in self.kinds:
            return
        right = sum(abs(found - wanted) < 10 for wanted, found in self.clock_errors)
        rows.add("wrong clocks are in force", 0 < right == len(self.clock_errors), f"{right} of {len(self.clock_errors)} measured")


def play(rows, fleet, troubles, seconds):
    """Makes troubles for so long, and judges."""
    if not fleet.has_machines:
        rows.skip("members on machines of their own",
                  "ALL MEMBERS HAVE ONE UPTIME, and compare times by it: needs root and time namespaces")
    fleet.start()
    fleet.must_log_in()
    fleet.begin_use()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(troubles.random.uniform(0.5, 4))
        troubles.begin()
        fleet.restore()
    fleet.end_use()
    troubles.end()
    fleet.agree(rows)
    counts = fleet.counts + fleet.judge.judge(rows)
    troubles.judge_clocks(rows)
    memories = [member.memory for member in fleet.members]
    rows.add("no member has more than 60 descriptors behind that", max(one[1] for one in memories) <= 60,
             f"at most {max(one[1] for one in memories)} descriptors, {max(one[0] for one in memories)} KiB")
    rows.note("sums", f"seed {fleet.stage.options.seed}, {len(fleet.members)} members, {seconds} s: "
              + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))


def chaos(options, rows):
    """The scene."""
    with Stage(options) as stage:
        cluster = Cluster(stage)
        owner = f"host={cluster.folder} dbname=postgres user=owner"
        fleet = Fleet(stage, owner, target=cluster.socket, lifetime=options.lifetime)
        cluster.grant()
        kinds = [options.only] if options.only else [kind for kind in TROUBLES if kind != options.without]
        play(rows, fleet, Troubles(fleet, cluster, kinds), options.seconds)
