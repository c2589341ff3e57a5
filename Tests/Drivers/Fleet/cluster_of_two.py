"""Two PostgreSQL servers under Patroni, which chooses the leader by etcd."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import urllib.error
import urllib.request

from cluster import ROLE
from proxy import Proxy
from stage import Failure, as_nobody, end, free_port, own, postgresql, wait

# In seconds: a leader that has died is replaced after the first.
TTL, LOOP, RETRY = 10, 1, 3


def absence():
    """Why there can be none; nothing where there can."""
    for program, package in (("patroni", "patroni"), ("etcd", "etcd-server")):
        if not shutil.which(program):
            return f"NO FAILOVER WAS TRIED: {program} is not installed (package {package})"
    return None


class Node:
    """A server with its Patroni; the other one replicates from it over a proxy."""

    def __init__(self, stage, name, etcd):
        self.name, self.folder, self.process = name, stage.new_folder(name), None
        self.port, self.rest = free_port(), free_port()
        self.proxy = Proxy(("127.0.0.1", self.port))
        users = {"superuser": "owner", "replication": "replicator", "rewind": "owner"}
        hba = ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
        dynamic = {"ttl": TTL, "loop_wait": LOOP, "retry_timeout": RETRY, "synchronous_mode": True,
                   "postgresql": {"use_pg_rewind": True, "use_slots": True}}
        configuration = {
            "scope": "fleet", "name": name, "etcd3": {"host": f"127.0.0.1:{etcd}"},
            "restapi": {"listen": f"127.0.0.1:{self.rest}", "connect_address": f"127.0.0.1:{self.rest}"},
            "bootstrap": {"dcs": dynamic, "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"], "pg_hba": hba},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}", "connect_address": f"127.0.0.1:{self.proxy.port}",
                "data_dir": self.folder + "/data", "bin_dir": os.path.dirname(postgresql("postgres")),
                "pgpass": self.folder + "/pgpass", "pg_hba": hba,
                "authentication": {kind: {"username": user, "password": "made-up"} for kind, user in users.items()},
                "parameters": {"unix_socket_directories": self.folder, "dynamic_shared_memory_type": "mmap",
                               "max_connections": 100}}}
        self.file = stage.file(f"{name}/patroni.yaml", json.dumps(configuration))
        own(self.file)
        self.log = open(self.folder + "/log", "ab")
        stage.callback(self.end)

    def start(self):
        """Starts Patroni, which starts its server."""
        self.process = subprocess.Popen(
            [*as_nobody(), "patroni", self.file], cwd=self.folder, stdout=self.log, stderr=self.log,
            env={"PATH": "/usr/bin:/bin", "HOME": self.folder, "LANG": "C.UTF-8"})

    def kill(self):
        """As a power cut of its machine does."""
        end(self.process)
        for pid in self._pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        with contextlib.suppress(OSError, ValueError):
            with open(self.folder + "/data/postmaster.pid", encoding="ascii") as file:
                server = int(file.readline())
            with open(f"/proc/{server}/cmdline", encoding="ascii") as file:
                if self.folder in file.read():
                    os.kill(server, signal.SIGKILL)
        # Its other processes end with it.
        wait(lambda: not self._pids(), "all of them have ended", pause=0.02)

    def hang(self):
        """As a machine does that stands still."""
        for pid in [self.process.pid, *self._pids()]:
            os.kill(pid, signal.SIGSTOP)

    def go_on(self):
        """Ends that."""
        for pid in [*self._pids(), self.process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def _pids(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/cwd") == self.folder + "/data":
                    found.append(int(pid))
        return found

    def end(self):
        """The end of the scene."""
        self.kill()
        self.proxy.close()
        self.log.close()

    def ask(self, path, body=None, method=None):
        """Asks its Patroni; nothing where it does not answer."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.rest}{path}", data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with contextlib.suppress(ValueError):
                return json.load(error)
        except (OSError, ValueError):
            pass
        return {}

    def query(self, statement):
        """Carries out a statement on its server; the rows as text."""
        done = subprocess.run([postgresql("psql"), "-X", "-h", "127.0.0.1", "-p", str(self.port), "-U", "owner", "-d", "postgres",
                               "-qAtc", statement], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failure(done.stderr.strip())
        return done.stdout.strip()

    @property
    def is_leader(self):
        """Whether its server takes writes, and Patroni says so."""
        try:
            return self.ask("/patroni").get("role") in ("master", "primary") and self.query("SELECT pg_is_in_recovery()") == "f"
        except Failure:
            return False


class Pair:
    """Both, and etcd."""

    def __init__(self, stage):
        client, peer = free_port(), free_port()
        folder = stage.new_folder("etcd")
        log = stage.enter_context(open(folder + "/log", "ab"))
        urls = [f"http://127.0.0.1:{port}" for port in (client, peer)]
        self.etcd = subprocess.Popen(
            [*as_nobody(), "etcd", "--data-dir", folder + "/data", "--unsafe-no-fsync", "--listen-client-urls", urls[0],
             "--advertise-client-urls", urls[0], "--listen-peer-urls", urls[1], "--initial-advertise-peer-urls", urls[1],
             "--initial-cluster", "default=" + urls[1]], cwd=folder, stdout=log, stderr=log,
            env={"PATH": "/usr/bin:/bin", "HOME": folder})
        stage.callback(end, self.etcd)
        self.nodes = [Node(stage, name, client) for name in ("n1", "n2")]
        self.nodes[0].start()
        wait(lambda: self.nodes[0].is_leader, f"the first server leads: {self.nodes[0].folder}/log")
        self.nodes[1].start()
        self.wait_for_standby()
        self.leader.query(f"CREATE ROLE {ROLE} LOGIN")
        ports = ",".join(str(node.port) for node in self.nodes)
        self.address = f"host=127.0.0.1,127.0.0.1 port={ports} dbname=postgres target_session_attrs=read-write user="

    @property
    def leader(self):
        """The one that takes writes.

        Raises: Failure where none comes to.
        """
        return wait(lambda: next((node for node in self.nodes if node.is_leader), None), "one of them leads", pause=0.1)

    @property
    def standby(self):
        """The other one."""
        leader = self.leader
        return next(node for node in self.nodes if node is not leader)

    def wait_for_standby(self, state="sync"):
        """Waits until the other one replicates, in this way (pg_stat_replication)."""
        def is_there():
            # Patroni takes as the next leader what etcd says, which it writes behind what the server does.
            roles = {one["role"] for one in self.leader.ask("/cluster").get("members", [])}
            with contextlib.suppress(Failure):
                found = self.leader.query("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'")
                return found == state and ("sync_standby" in roles) == (state == "sync")
            return False

        wait(is_there, f"the standby is {state}", 120, pause=0.2)
