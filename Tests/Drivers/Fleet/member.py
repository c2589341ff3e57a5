"""One broker of a fleet, on a machine of its own as far as it can tell."""

import contextlib
import datetime
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import uuid

from stage import end

_STARTS_MACHINE = """mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@" """


def machines_are_possible():
    """Whether members can have an uptime and a start of their own: brokers compare times of one start without a clock."""
    words = ["unshare", "--mount", "--time", "--boottime", "5", "sh", "-c", "mount --bind /dev/null /proc/sys/kernel/random/boot_id"]
    return os.geteuid() == 0 and bool(shutil.which("unshare")) and subprocess.run(
        words, stderr=subprocess.DEVNULL, check=False).returncode == 0


class Member:
    """The broker, its configuration and its log; `uptime` is how much longer its machine is up, nil for this one."""

    def __init__(self, fleet, number, configuration, proxy=None, uptime=None):
        self.fleet, self.number, self.proxy = fleet, number, proxy
        self.folder = f"{fleet.stage.folder}/m{number}"
        os.makedirs(self.folder)
        self.configuration = self.folder + "/config.json"
        with open(self.configuration, "w", encoding="utf-8") as file:
            json.dump(configuration, file)
        os.chmod(self.configuration, 0o600)
        self.log = open(self.folder + "/log", "ab")
        self.process, self.offset, self.machine, self.variables = None, 0, [], {}
        self.path = self.folder + "/s/b"
        if uptime is not None:
            with open(self.folder + "/boot", "w", encoding="ascii") as file:
                file.write(f"{uuid.UUID(int=fleet.random.getrandbits(128), version=4)}\n")
            offset = str(uptime)
            self.machine = ["unshare", "--mount", "--time", "--boottime", offset, "--monotonic", offset, "sh", "-c",
                            _STARTS_MACHINE, "sh", self.folder + "/boot"]

    def start(self, offset=0):
        """Starts it, with a clock that is wrong by so many seconds."""
        environment = {"HOME": self.folder, "PATH": os.environ.get("PATH", "/usr/bin:/bin")} | self.variables
        self.offset = offset
        if offset:
            environment |= self.fleet.wrong_clock(offset)
        self.process = subprocess.Popen(
            [*self.machine, self.fleet.stage.programs + "/authbrokerd", "--state", self.folder + "/state", "--config",
             self.configuration, "--socket", self.path], env=environment, stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log)

    def ask(self, method, patience=30, **params):
        """The whole answer; nothing where there is none."""
        try:
            with socket.socket(socket.AF_UNIX) as wire:
                wire.settimeout(patience)
                wire.connect(self.path)
                wire.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
                with wire.makefile("rb") as lines:
                    return json.loads(lines.readline())
        except (OSError, ValueError):
            return {}

    def call(self, method, patience=30, profile="shop", **params):
        """A result, or the word of the error; neither where it does not answer."""
        answer = self.ask(method, patience, profile=profile, **params)
        return answer.get("result"), answer.get("error", {}).get("data", {}).get("kind")

    def message(self, method, patience=30, profile="shop", **params):
        """What an error says to people; what the result is where there is none."""
        answer = self.ask(method, patience, profile=profile, **params)
        error = answer.get("error", {})
        return f"{error['data']['kind']}: {error['message']}" if error else str(sorted(answer.get("result", {"no answer": 0})))

    def is_ready(self):
        """Whether it answers."""
        return "result" in self.ask("ping", 5)

    def clock_error(self):
        """By how much its clock shows a later time than this program's, in seconds; nothing where it does not answer."""
        status = self.ask("getStatus", 10).get("result")
        if not status:
            return None
        started = datetime.datetime.fromisoformat(status["startedAt"].replace("Z", "+00:00")).timestamp()
        return started + status["uptimeSeconds"] - time.time()

    def events(self, kinds):
        """Listens to events; a context with the connection's lines."""
        wire = socket.socket(socket.AF_UNIX)
        wire.settimeout(1)
        wire.connect(self.path)
        wire.sendall(json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "subscribe", "params": {"events": kinds}}).encode() + b"\n")
        return contextlib.closing(wire)

    def signal(self, number):
        """Sends a signal where it runs."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)

    def kill(self):
        """As a power cut does."""
        end(self.process)

    def stop(self):
        """Ends it as a service manager does."""
        end(self.process, signal.SIGTERM)

    @property
    def cpu(self):
        """The seconds of a processor that it has used (proc(5))."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self):
        """Its memory in KiB, and the number of its descriptors."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
        return resident, len(os.listdir(f"/proc/{self.process.pid}/fd"))

    @property
    def told(self):
        """The text of its log."""
        with open(self.folder + "/log", encoding="utf-8", errors="replace") as file:
            return file.read()
