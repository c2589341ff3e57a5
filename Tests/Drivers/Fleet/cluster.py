"""A PostgreSQL server in a folder of its own, and pgbouncer before it."""

import os
import subprocess
import time

from stage import Failure, as_nobody, end, own, postgresql, wait

# The role of a member, which owns nothing; `owner` may do everything.
ROLE = "authbroker"
GRANTS = "GRANT SELECT, INSERT, UPDATE ON authbroker_fleet TO authbroker"


class Cluster:
    """The server; it runs as nobody where this is root, listens on a socket and, where that is asked for, on addresses."""

    def __init__(self, stage, name="db", **settings):
        self.folder = stage.new_folder(name)
        self.settings = {
            "unix_socket_directories": self.folder, "listen_addresses": "", "max_connections": "200",
            # What is left in /dev/shm by a server that is killed stays there.
            "dynamic_shared_memory_type": "mmap",
            "shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track_utility": "off"} | settings
        # What is added to the environment of the server.
        self.variables, self.process = {}, None
        self.log = open(self.folder + "/log", "ab")
        stage.callback(self.end)
        self.run("initdb", "-D", self.folder + "/data", "-U", "owner", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        self.start()
        self.ask(f"CREATE ROLE {ROLE} LOGIN; CREATE EXTENSION pg_stat_statements")

    def run(self, program, *words, is_checked=True):
        """Runs one of PostgreSQL's programs; what it prints."""
        done = subprocess.run([*as_nobody(), postgresql(program), *words], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        if is_checked and done.returncode:
            raise Failure(f"{program}: {done.stderr.strip()}")
        return done.returncode, done.stdout.strip()

    def start(self):
        """Starts the server, and waits until it takes connections."""
        words = ["-D", self.folder + "/data"]
        for name, value in self.settings.items():
            words += ["-c", f"{name}={value}"]
        # The processes of one that was killed may be there for a moment, and keep the next from starting.
        limit = time.monotonic() + 120
        while time.monotonic() < limit:
            self.process = subprocess.Popen([*as_nobody(), postgresql("postgres"), *words], cwd=self.folder, stdout=self.log,
                                            stderr=self.log, env=dict(os.environ) | self.variables)
            while self.process.poll() is None:
                if self.run("pg_isready", "-q", "-h", self.folder, "-p", self.port, is_checked=False)[0] == 0:
                    return
                time.sleep(0.05)
            time.sleep(0.1)
        raise Failure(f"PostgreSQL does not start: {self.folder}/log")

    def kill(self):
        """As a power cut does."""
        end(self.process)

    def end(self):
        """The end of the scene."""
        self.kill()
        self.log.close()

    def ask(self, statement, role="owner"):
        """Carries out a statement; the rows as text."""
        return self.run("psql", "-X", "-h", self.folder, "-p", self.port, "-U", role, "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-qAtc",
                        statement)[1]

    def grant(self):
        """What the guide says that a member's role needs."""
        self.ask(GRANTS)

    @property
    def port(self):
        """Its port, which its socket has in its name."""
        return self.settings.get("port", "5432")

    @property
    def socket(self):
        """The path of its socket."""
        return self.folder + "/.s.PGSQL." + self.port

    def statements(self):
        """How many statements on the table of fleets were carried out, by pg_stat_statements."""
        return int(self.ask("SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query LIKE '%authbroker\\_fleet%' "
                            "AND query NOT LIKE '%pg_stat%'"))

    def transactions(self):
        """How many transactions have ended, by pg_stat_database; each member's statement is one."""
        return int(self.ask("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'postgres'"))


class Pool:
    """pgbouncer before a server."""

    def __init__(self, stage, cluster, mode):
        self.folder, self.process = stage.new_folder("pool"), None
        lines = [
            "[databases]", f"postgres = host={cluster.folder} dbname=postgres user={ROLE}", "[pgbouncer]", "listen_addr =",
            f"unix_socket_dir = {self.folder}", "listen_port = 6432", "auth_type = any", f"pool_mode = {mode}",
            "max_client_conn = 400", f"default_pool_size = {5 if mode == 'transaction' else 60}",
            f"logfile = {self.folder}/log", ""]
        self.file = stage.file("pool/pool.ini", "\n".join(lines))
        own(self.file)
        self.socket = self.folder + "/.s.PGSQL.6432"
        stage.callback(self.kill)
        self.cluster = cluster
        self.start()

    def start(self):
        """Starts it, and waits until it takes connections."""
        if os.path.exists(self.socket):
            os.unlink(self.socket)
        self.process = subprocess.Popen([*as_nobody(), "pgbouncer", "-q", self.file], cwd=self.folder,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait(lambda: self.cluster.run("pg_isready", "-q", "-h", self.folder, "-p", "6432", is_checked=False)[0] == 0,
             f"pgbouncer takes connections: {self.folder}/log")

    def kill(self):
        """As a crash does."""
        end(self.process)
