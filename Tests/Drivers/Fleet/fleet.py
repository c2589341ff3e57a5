"""The members of a fleet, their backend, and clients that want tokens of them."""

import collections
import json
import os
import random
import struct
import subprocess
import threading
import time
import urllib.request

from cluster import ROLE
from judge import Judge, digest
from member import Member, machines_are_possible
from proxy import Proxy
from stage import EMAIL, HERE, PASSWORD, REPOSITORY, Failure, wait


class Backend:
    """The provider, with its ledger."""

    def __init__(self, stage, lifetime):
        self.process = subprocess.Popen(
            [REPOSITORY + "/Tests/Servers/RESTServer/rest-server", "--shape", "oauth", "--account",
             json.dumps({"email": EMAIL, "password": PASSWORD, "name": "Ada"}), "--set",
             f"accessTokenLifetimeSeconds={lifetime}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stage.callback(self.end)
        addresses = json.loads(self.process.stdout.readline())
        self.url, self.control = addresses["url"], addresses["controlUrl"]

    def ask(self, path, body=None, method=None):
        """Asks its control server."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.control + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"{}")

    def misbehave(self, name, times=1, **how):
        """Misbehaves at the next refreshes."""
        self.ask("/misbehave", {"endpoint": "refresh", "name": name, "times": times} | how)

    def behave(self):
        """Ends that."""
        self.ask("/misbehave", method="DELETE")

    @property
    def ledger(self):
        """What it has seen."""
        return self.ask("/ledger")["entries"]

    def end(self):
        """Ends it."""
        self.process.stdin.close()
        self.process.wait(30)


class Fleet:
    """So many members over one database; each has a proxy of its own where `target` says what is behind it."""

    def __init__(self, stage, owner, connection=None, target=None, members=None, lifetime=60, poll=1, profiles=("shop",),
                 own_machines=True, postgres=None, limits=None, **settings):
        self.stage, options = stage, stage.options
        self.random = random.Random(options.seed)
        self.lifetime, self.poll = lifetime, poll
        self.backend = Backend(stage, lifetime)
        self.judge = Judge(self.backend, lifetime)
        self.counts = collections.Counter()
        self.key = stage.folder + "/fleet.key"
        self.profiles, self.postgres, self.limits = profiles, postgres or {}, limits or {}
        self.settings = {"provider": "rest", "baseUrl": self.backend.url, "shared": True, "rotation": "always",
                         "refreshSkewSeconds": 15} | settings
        self.has_machines = own_machines and machines_are_possible()
        self.connection, self.target = connection, target
        stage.file("config.json", json.dumps(self.configuration(owner)))
        done = self.command("init", "--new-key", self.key)
        if done.returncode:
            raise Failure("fleet init: " + done.stderr.strip())
        self.clock = stage.folder + "/clock.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.clock, HERE + "/../clock.c", "-ldl"], check=True)
        self.members, self.is_over = [], False
        stage.callback(self.end)
        for _ in range(members or options.members):
            self.add()

    def configuration(self, connection, **store):
        """The configuration of a member."""
        postgres = {"connection": connection} | self.postgres
        return {"store": {"fleet": "f", "pollSeconds": self.poll, "postgres": postgres, "key": {"file": self.key}} | store,
                "limits": self.limits, "profiles": {name: self.settings for name in self.profiles}}

    def wrong_clock(self, offset):
        """The variables of a program whose wall clock is wrong by so many seconds.

        libfaketime moves absolute times of timerfd_settime(2) on the boot clock as well, so that they never end.
        """
        path = f"{self.clock}.{offset}"
        # Programs that run have it mapped.
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(struct.pack("l", offset))
        return {"LD_PRELOAD": self.clock, "CLOCK_OFFSET": path}

    def command(self, *words, file="config.json"):
        """Runs `authbroker fleet` with a configuration of the stage's folder."""
        return subprocess.run(
            [self.stage.programs + "/authbroker", "fleet", *words, "--state", self.stage.folder + "/state", "--config",
             self.stage.folder + "/" + file], capture_output=True, text=True, timeout=60, check=False,
            env={"HOME": self.stage.folder, "PATH": "/usr/bin:/bin"})

    def add(self, connection=None):
        """One more member, not started yet."""
        proxy = None
        connection = connection or self.connection
        if self.target:
            proxy = Proxy(self.target)
            connection = f"host=127.0.0.1 port={proxy.port} dbname=postgres user={ROLE}"
        uptime = self.random.randrange(10, 10_000_000) if self.has_machines else None
        self.members.append(Member(self, len(self.members), self.configuration(connection), proxy, uptime))
        return self.members[-1]

    def start(self):
        """Starts all members, and waits until they answer."""
        for member in self.members:
            member.start()
        for member in self.members:
            wait(member.is_ready, f"member {member.number} answers: {member.folder}/log")

    def log_in(self, member=None, profile="shop"):
        """Logs in at a member; whether that worked."""
        member = member or self.random.choice(self.members)
        result, kind = member.call("login", 10, profile=profile, email=EMAIL, password=PASSWORD)
        is_done = bool(result) and result.get("status") == "authenticated"
        self.counts["logins" if is_done else f"refused login {kind}"] += 1
        return is_done

    @property
    def refreshes(self):
        """How often a refresh token was sent."""
        return sum(entry["event"] == "refresh" for entry in self.backend.ledger)

    def must_log_in(self, member=None, profile="shop"):
        """Logs in, again where a member cannot yet."""
        wait(lambda: self.log_in(member, profile), "a login", pause=0.5)

    def use(self, member, draw, forces):
        """A client that wants tokens of one member, as long as the run goes on."""
        while not self.is_over:
            asked = time.monotonic()
            result, kind = member.call("getAccessToken", forceRefresh=draw.random() < forces, timeoutSeconds=10)
            if result:
                self.judge.served(result, asked, member)
                self.counts["tokens"] += 1
                self.counts["tokens of a member with a wrong clock"] += bool(member.offset)
            else:
                self.counts[f"error {kind or 'no answer'}"] += 1
            time.sleep(draw.uniform(0, 2))

    def begin_use(self, forces=0.05):
        """Starts a client for each member; the end of them is `end_use`."""
        self.is_over = False
        self.clients = [
            threading.Thread(target=self.use, args=(member, random.Random(f"{self.stage.options.seed} {member.number}"), forces),
                             daemon=True) for member in self.members]
        for client in self.clients:
            client.start()

    def end_use(self):
        """Waits until the clients have what they have asked for."""
        self.is_over = True
        for client in self.clients:
            client.join(60)

    def is_lost(self):
        """Whether members that answer say that there is no session any more."""
        return self._that_lost_it() is not None

    def restore(self):
        """Logs in again where the session is lost, at a member that says so."""
        if member := self._that_lost_it():
            self.log_in(member)

    def _that_lost_it(self):
        some = self.random.sample(self.members, min(4, len(self.members)))
        kinds = {member: member.call("getAccessToken", 2, timeoutSeconds=1)[1] for member in some}
        lost = [member for member, kind in kinds.items() if kind in ("loginRequired", "sessionExpired")]
        return lost[0] if len(lost) > len([kind for kind in kinds.values() if kind is None]) else None

    def agree(self, rows, limit=150):
        """Whether all members come to one token by themselves, once all troubles are over; logs in where the session is lost."""
        begun, seen = time.monotonic(), {}

        def is_one():
            seen.clear()
            for member in self.members:
                result, kind = member.call("getAccessToken", 15, timeoutSeconds=10)
                is_good = result and not result.get("offline")
                seen[member.number] = digest(result["accessToken"]) if is_good else kind or str(bool(result))
                if kind in ("loginRequired", "sessionExpired"):
                    self.restore()
                    return False
            return len(set(seen.values())) == 1 and kind is None and bool(result)

        try:
            wait(is_one, "one token", limit, pause=0.5)
            rows.add("behind the troubles all members come to one token by themselves", True,
                     f"{len(self.members)} members after {time.monotonic() - begun:.1f} s")
        except Failure:
            rows.add("behind the troubles all members come to one token by themselves", False, f"after {limit} s: {seen}")

    def end(self):
        """Ends all."""
        for member in self.members:
            member.kill()
            member.log.close()
            if member.proxy:
                member.proxy.close()
