"""How figures grow: with profiles, connections, subscribers and refreshes at one instant. Draws a plot of each."""

import contextlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import time

import measuring
import plot

PROFILES = [1, 10, 100, 1000, 10000]
CONNECTIONS = [1, 10, 100, 1000, 5000]
SUBSCRIBERS = [1, 10, 100, 1000, 2000]
STORM = [1, 10, 100, 1000]
# As many tokens as one user has in use: performance with more profiles is about these, and about the one that is not.
WORKING_SET = 500
ANSWERED_AT_ONCE = 32
LOGIN = {"email": "bench@example.test", "password": "not-a-real-password-1"}


class Fleet:
    """A daemon with many profiles at a provider of this machine, all of them with a session."""

    def __init__(self, bench, count, alike=True):
        """`alike` profiles have equal settings, others each their own address."""
        self.bench, self.count = bench, count
        self.folder = os.path.join(bench.folder, f"fleet-{count}")
        os.mkdir(self.folder, 0o700)
        self.provider = subprocess.Popen([bench.compile("provider", "-pthread"), "36000"], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        address = f"http://127.0.0.1:{self.provider.stdout.readline().strip()}"
        self.configuration = os.path.join(self.folder, "config.json")
        with open(os.open(self.configuration, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            limits = dict.fromkeys(["maxLoginsPerConnection", "maxLoginsPerProvider", "maxLoginsPerAccount"], 10000)
            json.dump({"profiles": {f"p{n}": {"provider": "rest", "baseUrl": address + ("" if alike else f"/{n}")} for n in range(count)},
                       "limits": limits}, file, separators=(",", ":"))
        self.server = None
        self.start()
        # Fewer at a time than the logins of one connection that may be in flight.
        self.ask([{"method": "login", "params": {"profile": f"p{n}"} | LOGIN} for n in range(count)], 8)

    def start(self):
        """Starts the daemon; returns the seconds until it says that it is ready."""
        state, path = os.path.join(self.folder, "state"), os.path.join(self.folder, "broker.sock")
        os.makedirs(state, 0o700, exist_ok=True)
        reader, writer = os.pipe()
        began = time.perf_counter()
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.server = subprocess.Popen(
                [self.bench.daemon, "--state", state, "--socket", path, "--config", self.configuration, "--ready-fd", str(writer)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[writer], env=self.bench.environment)
        os.close(writer)
        with os.fdopen(reader, "rb") as said:
            word = said.readline()
        if word != b"ready\n":
            raise SystemExit(f"bench: {self.count} profiles: {word.decode(errors='replace')}")
        self.path = path
        return time.perf_counter() - began

    def stop(self):
        if self.server:
            self.server.terminate()
            self.server.wait()
            self.server = None

    def restart(self):
        self.stop()
        return self.start()

    def connect(self):
        return measuring.Server.connect(self)

    def ask(self, requests, window=ANSWERED_AT_ONCE):
        """Sends requests, so many at a time; returns the seconds that each took from when it was sent."""
        took, sent = [], []
        with self.connect() as connection, connection.makefile("rwb") as stream:
            while len(took) < len(requests):
                while len(sent) < len(requests) and len(sent) - len(took) < window:
                    stream.write(json.dumps(requests[len(sent)] | {"jsonrpc": "2.0", "id": len(sent)}).encode() + b"\n")
                    sent.append(time.perf_counter())
                stream.flush()
                reply = json.loads(stream.readline() or b"{}")
                if "result" not in reply:
                    raise SystemExit(f"bench: {reply}")
                took.append(time.perf_counter() - sent[reply["id"]])
        return took

    def tokens(self, names, **params):
        return [{"method": "getAccessToken", "params": {"profile": f"p{n}"} | params} for n in names]

    def end(self):
        self.stop()
        self.provider.stdin.close()
        self.provider.wait()
        shutil.rmtree(self.folder)


def profiles(bench):
    """Start-up, the first token of a profile, and tokens of the working set, by the number of profiles."""
    starts, others, cold, warm = [], [], [], []
    for count in PROFILES:
        fleet = Fleet(bench, count)
        try:
            starts.append((count, statistics.median(fleet.restart() for _ in range(3)) * 1e3))
            first = fleet.ask(fleet.tokens(range(min(count, 1000))), 1)
            cold.append((count, statistics.median(first) * 1e6))
            used = [n % count for n in range(WORKING_SET)]
            fleet.ask(fleet.tokens(used), 1)
            warm.append((count, statistics.median(fleet.ask(fleet.tokens(used * 4), 1)) * 1e6))
        finally:
            fleet.end()
        fleet = Fleet(bench, count, alike=False)
        try:
            others.append((count, statistics.median(fleet.restart() for _ in range(3)) * 1e3))
        finally:
            fleet.end()
        print(f"{count:>6} profiles: start {starts[-1][1]:.1f} ms ({others[-1][1]:.1f} ms with settings of their own), first token {cold[-1][1]:.1f} µs, working set {warm[-1][1]:.1f} µs", flush=True)
    return {"scaling-start": ("Start with sealed sessions", "profiles with a session", "ms until ready",
                              {"equal settings": starts, "settings of their own": others}),
            "scaling-profiles": ("getAccessToken", "profiles with a session", "µs, median",
                                 {"working set of 500": warm, "first of its profile": cold})}


def connections(bench, broker):
    """The latency of one request beside idle connections, and the memory of each of those."""
    latency, memory = [], []
    for count in CONNECTIONS:
        before = broker.memory_kib("Pss")
        with contextlib.ExitStack() as stack:
            for _ in range(count):
                stack.enter_context(broker.connect()).sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            found = [bench.measure(broker, ["pingpong"]) for _ in range(3)]
            after = broker.memory_kib("Pss")
        latency.append((count, statistics.median(one["p50"] for one in found if one)))
        if before and after:
            memory.append((count, max(after - before, 0) / count))
        print(f"{count:>6} connections: p50 {latency[-1][1]:.1f} µs, {memory[-1][1] if memory else 0:.2f} KiB each", flush=True)
    plots = {"scaling-connections": ("getAccessToken beside idle connections", "connections", "µs, median", {"request": latency})}
    if any(y > 0 for _, y in memory):
        plots["scaling-memory"] = ("Memory of a connection", "connections", "KiB each", {"memory": memory})
    return plots


def subscribers(bench):
    """One event, from the first subscriber that has it to the last."""
    spread = []
    for count in SUBSCRIBERS:
        # The profile may be refreshed twenty times in a minute: a broker of its own for each count.
        with fresh_broker(bench, f"subscribers-{count}") as server:
            found = bench.load("fanout", "--connections", count, "--count", measuring.EVENTS, "--prelude", measuring.SUBSCRIBE,
                               "--request", measuring.REFRESH, "--socket", server.path)
        if found:
            spread.append((count, max(found["p50"], 0.1)))
            print(f"{count:>6} subscribers: {found['p50']:.1f} µs from the first to the last", flush=True)
    return {"scaling-subscribers": ("One event, first subscriber to last", "subscribers", "µs, median", {"event": spread})}


@contextlib.contextmanager
def fresh_broker(bench, name):
    state = os.path.join(bench.folder, name)
    os.mkdir(state, 0o700)
    server = bench.broker(state)
    try:
        server.ask(measuring.REGISTER)
        yield server
    finally:
        server.stop()


def storm(bench):
    """All profiles refresh at one instant: the time until the last of them has its new token."""
    whole, each = [], []
    fleet = Fleet(bench, max(STORM))
    try:
        for count in STORM:
            began = time.perf_counter()
            # As many as a connection may have in flight, on as many connections as it needs.
            with contextlib.ExitStack() as stack:
                streams = []
                for first in range(0, count, 50):
                    stream = stack.enter_context(stack.enter_context(fleet.connect()).makefile("rwb"))
                    names = range(first, min(first + 50, count))
                    for request in fleet.tokens(names, forceRefresh=True):
                        stream.write(json.dumps(request | {"jsonrpc": "2.0", "id": 1}).encode() + b"\n")
                    streams.append((stream, len(names)))
                for stream, _ in streams:
                    stream.flush()
                for stream, length in streams:
                    for _ in range(length):
                        reply = json.loads(stream.readline() or b"{}")
                        if "result" not in reply:
                            raise SystemExit(f"bench: {reply}")
            took = time.perf_counter() - began
            whole.append((count, took * 1e3))
            each.append((count, took * 1e3 / count))
            print(f"{count:>6} refreshes at once: {took * 1e3:.1f} ms, {took * 1e3 / count:.2f} ms each", flush=True)
    finally:
        fleet.end()
    return {"scaling-storm": ("Refreshes at one instant, each made durable", "profiles", "ms", {"until the last": whole, "each": each})}


def run(bench, folder):
    """Measures all of it and writes an SVG of each plot into a folder."""
    os.makedirs(folder, exist_ok=True)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    plots = {}
    plots |= storm(bench)
    with fresh_broker(bench, "connections") as broker:
        plots |= connections(bench, broker)
    plots |= subscribers(bench)
    plots |= profiles(bench)
    for name, (title, across, upward, lines) in plots.items():
        with open(os.path.join(folder, name + ".svg"), "w", encoding="utf-8") as file:
            file.write(plot.draw(title, across, upward, lines))
