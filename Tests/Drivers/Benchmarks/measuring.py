"""What the benchmarks share: servers, the load program, rounds in turn, and rows with ratios and budgets."""

import contextlib
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Counts"))
import counting  # noqa: E402

REGISTER = {"jsonrpc": "2.0", "id": 1, "method": "register",
            "params": {"email": "bench@example.test", "password": "not-a-real-password-1"}}
REFRESH = '{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":{"forceRefresh":true}}'
SUBSCRIBE = '{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"events":["tokenRefreshed"]}}'
SUBSCRIBERS, EVENTS, EVENT_TURNS = 1000, 12, 4  # fewer events than the refreshes that a profile may have in a minute
IDLE_CONNECTIONS = 1000

# (name, mode and options of `load`, what is compared, budget as a ratio to the floor)
AGAINST_THE_FLOOR = [
    ("ping-pong, 1 connection", ["pingpong"], "p50", "≤ 1.10"),
    ("  the slow end of it", None, "p99", "≤ 1.25"),
    ("  CPU of the server per request", None, "cpu", "≤ 1.20"),
    ("8 connections", ["pipeline", "--connections", "8"], "perSecond", "≥ 0.85"),
    ("64 connections", ["pipeline", "--connections", "64"], "perSecond", "≥ 0.85"),
    ("depth 32, 1 connection", ["pipeline", "--depth", "32"], "perSecond", "≥ 0.75"),
    ("depth 32, 8 connections", ["pipeline", "--depth", "32", "--connections", "8"], "perSecond", "≥ 0.60"),
    # Each of them on a processor of its own: where they wander, the same server takes 0.8 to 1.9 times as long.
    ("a connection for each request, pinned", ["connect"], "p50", "≤ 1.03"),
]
UNITS = {"p50": "µs", "p99": "µs", "cpu": "µs", "perSecond": "/s"}


class Server:
    """A process that listens on a Unix socket."""

    def __init__(self, arguments, path, environment=None, log=None):
        self.path = path
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        deadline = time.monotonic() + 20
        while True:
            try:
                with self.connect():
                    return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.stop()
                    raise SystemExit(f"bench: {arguments[0]} does not listen on {path} (exit {self.process.poll()})")
                time.sleep(0.01)

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(20)
        try:
            connection.connect(self.path)
        except OSError:
            connection.close()
            raise
        return connection

    def line(self, request):
        """Sends one request on a connection of its own and returns the line that answers it."""
        with self.connect() as connection, connection.makefile("rwb") as stream:
            stream.write(json.dumps(request).encode() + b"\n")
            stream.flush()
            return stream.readline()

    def ask(self, request):
        """Sends one request on a connection of its own and returns its result."""
        reply = json.loads(self.line(request) or b"{}")
        if "result" not in reply:
            raise SystemExit(f"bench: {request['method']}: {reply}")
        return reply["result"]

    def cpu_microseconds(self):
        """The time on a processor of all its threads, ended ones too: the process's own CPU clock (clock_getcpuclockid(3))."""
        return time.clock_gettime((~self.process.pid << 3) | 2) * 1e6

    def run_on(self, processors):
        """Lets all of its threads run on these processors only."""
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread), processors)

    def memory_kib(self, kind):
        """A kind of the memory it holds, by the words of proc_pid_smaps(5): `Pss` divides shared pages by those who share them.

        None where the kernel does not tell.
        """
        try:
            lines = read(f"/proc/{self.process.pid}/smaps_rollup").splitlines()
        except OSError:
            return None
        return next((int(line.split()[1]) for line in lines if line.startswith(kind + ":")), None)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Bench:
    """One run: its tools, its temporary folder, its servers, and what it found."""

    def __init__(self, binaries, folder, quick, peers=None):
        self.folder, self.quick = folder, quick
        # Short turns: what else the machine does lasts longer, and meets floor and broker alike.
        self.rounds, self.seconds = (5, 0.2) if quick else (17, 0.4)
        self.daemon, self.command = (os.path.join(binaries, name) for name in ("authbrokerd", "authbroker"))
        self.tools = {name: self.compile(name) for name in ("floor", "load")}
        self.tools["ask"] = self.compile("ask", "-static")
        self.state = os.path.join(folder, "state")
        os.mkdir(self.state, 0o700)
        self.environment = counting.environment(folder)
        self.rows, self.failed, self.peers = [], False, peers
        self.client_processors = os.sched_getaffinity(0)

    def compile(self, name, *options):
        program = os.path.join(self.folder, name)
        subprocess.run([shutil.which("gcc") or "cc", "-O2", *options, "-o", program, os.path.join(HERE, name + ".c")], check=True)
        return program

    def floor(self, *options):
        path = os.path.join(self.folder, f"floor{''.join(options)}.sock")
        return Server([self.tools["floor"], path, str(self.answer_bytes), *options], path)

    def broker(self, state):
        path = os.path.join(self.folder, os.path.basename(state) + ".sock")
        with open(os.path.join(self.folder, os.path.basename(state) + ".log"), "ab") as log:
            return Server([self.daemon, "--state", state, "--socket", path], path, self.environment, log)

    def load(self, *arguments):
        """Runs `load` and returns what it measured; None, with a word, when it could not."""
        done = subprocess.run([self.tools["load"], *map(str, arguments)], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=300,
                              preexec_fn=lambda: os.sched_setaffinity(0, self.client_processors))
        if done.returncode != 0:
            self.failed = True
            print(f"  could not measure: {done.stderr.strip()[-300:]}", file=sys.stderr)
            return None
        return json.loads(done.stdout)

    @contextlib.contextmanager
    def pinned(self, *servers):
        """Keeps the servers on one processor and `load` on another, where there are two."""
        every = os.sched_getaffinity(0)
        if len(every) < 2:
            print("  one processor only: nothing is pinned", file=sys.stderr)
            yield
            return
        first, second = sorted(every)[:2]
        for server in servers:
            server.run_on({first})
        self.client_processors = {second}
        try:
            yield
        finally:
            self.client_processors = every
            for server in servers:
                server.run_on(every)

    def measure(self, server, arguments):
        before = server.cpu_microseconds()
        found = self.load(*arguments, "--socket", server.path, "--seconds", self.seconds)
        if found:
            found["cpu"] = (server.cpu_microseconds() - before) / found["requests"]
        return found

    def in_turn(self, ways, rounds=None):
        """Calls the ways one after the other, again and again, and returns the results of each."""
        results = [[] for _ in ways]
        for _ in range(rounds or self.rounds):
            for way, found in zip(ways, results):
                if (one := way()) is not None:
                    found.append(one)
        return results

    def row(self, name, unit, base, ours, budget):
        """Keeps and prints one line: medians, their ratio, the spread of the ratios, the budget."""
        if not base or not ours:
            print(f"{name:<44} {'—':>12} {'—':>12}")
            return
        base_median, our_median = statistics.median(base), statistics.median(ours)
        ratio = our_median / base_median
        pairs = sorted(b / a for a, b in zip(base, ours))
        self.rows.append({"name": name.strip(), "unit": unit, "floor": base_median, "broker": our_median,
                          "ratio": ratio, "budget": budget})
        print(f"{name:<44} {base_median:>9,.1f} {unit:<2} {our_median:>9,.1f} {unit:<2} {ratio:>6.2f}  "
              f"{budget:<8} {pairs[0]:.2f}–{pairs[-1]:.2f}", flush=True)

    def value(self, name, value, unit, budget):
        """Keeps and prints one line that has no floor."""
        self.rows.append({"name": name, "unit": unit, "broker": value, "budget": budget})
        shown = "—" if value is None else f"{value:,.2f}"
        print(f"{name:<44} {'':>12} {shown:>9} {unit:<3} {'':>5}  {budget}", flush=True)

    def against_the_floor(self, floor, broker):
        found = [[], []]
        for name, arguments, what, budget in AGAINST_THE_FLOOR:
            if arguments:
                place = self.pinned(floor, broker) if "pinned" in name else contextlib.nullcontext()
                with place:
                    found = self.in_turn([lambda: self.measure(floor, arguments), lambda: self.measure(broker, arguments)])
            self.row(name, UNITS[what], [one[what] for one in found[0]], [one[what] for one in found[1]], budget)

    def stdio(self, broker):
        private = os.path.join(self.folder, "private")
        os.mkdir(private, 0o700)
        relay = ["--seconds", self.seconds, "--", self.command, "serve", "--stdio", "--state", self.state]
        alone = ["--seconds", self.seconds, "--prelude", json.dumps(REGISTER | {"id": 0}), "--",
                 self.command, "serve", "--stdio", "--private", "--state"]

        def private_once():
            # A state of its own each time: the same account cannot be registered twice.
            return self.load("pingpong", *alone, tempfile.mkdtemp(dir=private))

        base, relayed, own = self.in_turn(
            [lambda: self.measure(broker, ["pingpong"]), lambda: self.load("pingpong", *relay), private_once], 7)
        for name, found, budget in (("serve --stdio (relay) : socket", relayed, "≤ 2.20"),
                                    ("serve --stdio --private : socket", own, "≈ 1")):
            self.row(name, "µs", [one["p50"] for one in base], [one["p50"] for one in found], budget)

    def processes(self, broker):
        """The commands that scripts and tools start for each request, against a static C program that does the same."""
        question = os.path.join(self.folder, "question")
        for words, text, least in counting.COMMANDS:
            with open(question, "w", encoding="utf-8") as file:
                file.write(text)
            count = ["--count", 20, "--input", question]
            # To the helper for kubectl, a second question of one process means that the token was refused.
            mode = "children" if "kubectl" in words else "spawn"
            base, ours = self.in_turn([lambda: self.load(mode, *count, "--", self.tools["ask"], *least),
                                       lambda: self.load(mode, *count, "--", self.command, *words)], 8 if self.quick else 30)
            name = " ".join(words[:2] if words[0] == "helper" else words)
            self.row(f"`authbroker {name}`: static C program", "µs", [one["p50"] for one in base], [one["p50"] for one in ours], "≤ 1.30")

    def fanout(self, broker):
        arguments = ["fanout", "--connections", SUBSCRIBERS, "--count", EVENTS // EVENT_TURNS, "--prelude", SUBSCRIBE,
                     "--request", REFRESH]
        floor = self.floor("--fanout")
        base, ours = self.in_turn([lambda server=server: self.load(*arguments, "--socket", server.path) for server in (floor, broker)],
                                  EVENT_TURNS)
        floor.stop()
        self.row(f"one event, {SUBSCRIBERS} subscribers, first to last", "µs", [one["p50"] for one in base],
                 [one["p50"] for one in ours], "≤ 1.30")

    def memory(self, broker):
        """Call it on a daemon that has done nothing yet."""
        broker.ask({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        idle, dirty = broker.memory_kib("Pss"), broker.memory_kib("Private_Dirty")
        self.value("idle daemon, its own memory", dirty / 1024 if dirty else None, "MiB", "≤ 1.5 MiB")
        self.value("  with its share of files (PSS)", idle / 1024 if idle else None, "MiB", "")
        with contextlib.ExitStack() as stack:
            for _ in range(IDLE_CONNECTIONS):
                connection = stack.enter_context(broker.connect())
                connection.sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
                connection.recv(4096)
            full = broker.memory_kib("Private_Dirty")
        self.value("  each idle connection more", (full - dirty) / IDLE_CONNECTIONS if dirty and full else None, "KiB", "< 0.5 KiB")

    def run(self):
        print(f"{'':<44} {'floor':>12} {'broker':>12} {'ratio':>6}  {'budget':<8} ratios of the rounds")
        broker, floor = self.broker(self.state), None
        try:
            self.memory(broker)
            status = broker.ask(REGISTER)["status"]
            if status != "authenticated":
                raise SystemExit(f"bench: registering says {status}, not authenticated")
            # An answer as long as the broker's: with many in flight, what there is to copy counts.
            self.answer_bytes = len(broker.line({"jsonrpc": "2.0", "id": 1, "method": "getAccessToken"}))
            floor = self.floor()
            self.against_the_floor(floor, broker)
            self.stdio(broker)
            self.processes(broker)
            if self.peers:
                self.peers(self, broker)
            self.fanout(broker)
            after = broker.memory_kib("Pss")
            self.value("after all of this, PSS", after / 1024 if after else None, "MiB", "")
        finally:
            broker.stop()
            if floor:
                floor.stop()
