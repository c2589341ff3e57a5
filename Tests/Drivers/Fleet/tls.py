"""The database by TLS: who is believed, who is refused, and who gets the password."""

import contextlib
import json
import os
import socket
import subprocess
import threading
import time

from certificates import Authority
from cluster import ROLE, Cluster
from fleet import Fleet
from impostor import Impostor
from stage import Failure, Stage, free_port, wait

NAME, ADDRESS = "db.fleet.test", "10.99.0.1"
PASSWORD = "password of the role 7"


@contextlib.contextmanager
def dummy_address():
    """An address of this machine that is not its loopback; nothing where that cannot be had."""
    words = ["dev", "lo"]
    added = os.geteuid() == 0 and subprocess.run(
        ["ip", "addr", "add", ADDRESS + "/32", *words], stderr=subprocess.DEVNULL, check=False).returncode == 0
    try:
        yield ADDRESS if added else None
    finally:
        if added:
            subprocess.run(["ip", "addr", "del", ADDRESS + "/32", *words], check=False)


class Questions:
    """`authbroker fleet status` with one connection string after another."""

    def __init__(self, stage, rows, authority):
        self.stage, self.rows, self.authority, self.count = stage, rows, authority, 0
        self.password = stage.file("password", PASSWORD + "\n")

    def ask(self, connection, ca="", front=(), **environment):
        """The exit code and what was said; `ca` None: none is named."""
        self.count += 1
        postgres = {"connection": f"{connection} dbname=postgres user={ROLE}" if "://" not in connection else connection,
                    "password": {"file": self.password}}
        if ca is not None:
            postgres["caFile"] = ca or self.authority.file
        path = self.stage.file(f"q{self.count}.json", json.dumps(
            {"store": {"fleet": "f", "postgres": postgres, "key": {"file": self.stage.folder + "/fleet.key"}}, "profiles": {"own": {"provider": "local"}}}))
        done = subprocess.run(
            [*front, self.stage.programs + "/authbroker", "fleet", "status", "--state", self.stage.folder + "/qs", "--config", path],
            capture_output=True, text=True, timeout=60, check=False,
            env={"HOME": self.stage.folder, "PATH": "/usr/bin:/bin"} | environment)
        return done.returncode, (done.stdout + done.stderr).strip()

    def works(self, what, connection, **how):
        """A row for what must work."""
        code, text = self.ask(connection, **how)
        self.rows.add("works: " + what, code == 0 and "is ready" in text, text)

    def refused(self, what, connection, reason, impostor=None, **how):
        """A row for what must be refused, with words that say why, and without the password to an impostor."""
        code, text = self.ask(connection, **how)
        seen = text
        is_right = code != 0 and any(word in text for word in reason)
        if impostor:
            got = impostor.received
            is_right = is_right and PASSWORD.encode() not in got and impostor.connections > 0
            seen += f" [it got {len(got)} bytes: {got[:24].hex()}]"
        self.rows.add("refused: " + what, is_right and PASSWORD not in text, seen)


def tls(options, rows):
    """The scene."""
    with Stage(options) as stage, dummy_address() as address:
        folder = stage.new_folder("tls")
        authority, other = Authority(folder, "right"), Authority(folder, "other")
        port = str(free_port())
        right = authority.issue("server", f"DNS:{NAME}", f"IP:{ADDRESS}")
        listens = "127.0.0.1" + ("," + address if address else "")
        cluster = Cluster(stage, listen_addresses=listens, port=port, ssl="on", ssl_cert_file=right[0], ssl_key_file=right[1])
        cluster.ask(f"ALTER ROLE {ROLE} PASSWORD '{PASSWORD}'")
        with open(cluster.folder + "/data/pg_hba.conf", "w", encoding="ascii") as file:
            file.write("local all all trust\nhost all all 0.0.0.0/0 scram-sha-256\n")
        owner = f"host={cluster.folder} port={port} dbname=postgres user=owner"
        fleet = Fleet(stage, owner, f"host={NAME} hostaddr=127.0.0.1 port={port} dbname=postgres user={ROLE}", members=2,
                      postgres={"password": {"file": stage.file("role", PASSWORD)}, "caFile": authority.file})
        cluster.grant()
        questions = Questions(stage, rows, authority)
        there = f"host={NAME} hostaddr=127.0.0.1 port={port}"

        def serve(certificate):
            cluster.kill()
            if certificate:
                cluster.settings |= {"ssl": "on", "ssl_cert_file": certificate[0], "ssl_key_file": certificate[1]}
            else:
                cluster.settings["ssl"] = "off"
            cluster.start()

        serve(right)
        _right_ones(stage, rows, questions, there, port, address)
        _members(rows, fleet, cluster)
        wrong = authority.issue("wrong", "DNS:other.fleet.test")
        expired = authority.issue("expired", f"DNS:{NAME}", is_expired=True)
        foreign = other.issue("server", f"DNS:{NAME}")
        serve(wrong)
        questions.refused("another host's certificate", there, ["does not match host name"])
        _log(rows, fleet.members[0], "a running member says why: another host's certificate", "does not match host name")
        serve(expired)
        # More is not to be had of libpq 15.
        questions.refused("an expired certificate", there, ["expired", "certificate verify failed"])
        serve(foreign)
        questions.refused("another authority's certificate", there, ["certificate verify failed"])
        fleet.members[1].kill()
        fleet.members[1].start()
        _log(rows, fleet.members[1], "a starting member says why: another authority's certificate", "certificate verify failed")
        serve(None)
        questions.refused("a server without TLS", there, ["does not support SSL"])
        _weaker(rows, questions, wrong, foreign)
        _loopback(rows, questions, cluster, port)
        _environment(stage, rows, questions, address)
        serve(right)
        begun = time.monotonic()
        wait(lambda: all(member.call("getAccessToken")[0] for member in fleet.members), "tokens again")
        rows.add("members come back by themselves to the right server", True, f"after {time.monotonic() - begun:.1f} s")
        _black_hole(rows, questions, port)


def _right_ones(stage, rows, questions, there, port, address):
    questions.works("right name and authority (host= and hostaddr=)", there)
    for mode in ("disable", "allow", "prefer", "require", "verify-ca"):
        questions.works(f"the same with sslmode={mode} in the string, which does not count", there + f" sslmode={mode}")
    questions.works("a URI", f"postgresql://{ROLE}@{NAME}:{port}/postgres?hostaddr=127.0.0.1&sslmode=disable")
    questions.refused("no authority is named, and none is at libpq's place", there, ["root certificate file"], ca=None)
    questions.refused("caFile names no file", there, ["root certificate file"], ca="/nonexistent/ca.pem")
    os.makedirs(stage.folder + "/.postgresql", exist_ok=True)
    with open(questions.authority.file, encoding="ascii") as file:
        stage.file(".postgresql/root.crt", file.read())
    questions.works("no caFile, but ~/.postgresql/root.crt", there, ca=None)
    questions.works("the same with sslrootcert= in the string and no caFile", f"{there} sslrootcert={questions.authority.file}", ca=None)
    if address:
        questions.refused("hostaddr= of elsewhere without a host", f"hostaddr={address} port={port}", ["host name must be specified"])
        questions.works("an address that the certificate names", f"host={address} port={port}")
        hosts = stage.file("hosts", f"127.0.0.1 localhost\n127.0.0.1 {NAME}\n", 0o644)
        front = ["unshare", "--mount", "sh", "-c", 'mount --bind "$1" /etc/hosts && shift && exec "$@"', "sh", hosts]
        questions.works("a name of /etc/hosts that is this machine's: TLS all the same", f"host={NAME} port={port}", front=front)
        questions.refused("a name of /etc/hosts that the certificate does not have", f"host=db2.fleet.test port={port}",
                          ["could not translate", "does not match"], front=front)
    else:
        rows.skip("an address, and names of /etc/hosts", "NOT TRIED: needs root, and no " + ADDRESS + " on this machine")


def _members(rows, fleet, cluster):
    fleet.start()
    fleet.must_log_in()

    def tokens():
        results = [member.call("getAccessToken")[0] for member in fleet.members]
        return {result["accessToken"] for result in results if result}, all(results)

    wait(lambda: tokens()[1], "tokens at all members")
    new = fleet.members[0].message("getAccessToken", forceRefresh=True)
    wait(lambda: tokens()[1] and len(tokens()[0]) == 1, "one token")
    versions = cluster.ask("SELECT string_agg(DISTINCT version, ' ') FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                           f"WHERE ssl AND usename = '{ROLE}'")
    rows.add("two members log in and refresh by TLS", "accessToken" in new and "TLSv1." in versions, versions)


def _log(rows, member, what, reason):
    """The log of a member that is starting now, or has been running."""
    try:
        # A member rests up to 15 s before it connects again.
        wait(lambda: reason in member.told, "", 40)
    except Failure:
        pass
    line = next((line for line in reversed(member.told.splitlines()) if "cannot be reached" in line), "nothing")
    rows.add(f"the log of {what}", reason in line and PASSWORD not in member.told, line)


def _weaker(rows, questions, wrong, foreign):
    for mode in ("disable", "prefer", "require", ""):
        given = f" sslmode={mode}" if mode else ""
        for what, certificate, reasons in (
                ("without TLS", None, ["does not support SSL"]), ("with another host's certificate", wrong, ["does not match"]),
                ("with another authority's", foreign, ["verify failed"])):
            with Impostor(certificate=certificate) as impostor:
                questions.refused(f"an impostor {what}{given}", f"host={NAME} hostaddr=127.0.0.1 port={impostor.port}{given}",
                                  reasons, impostor)
    with Impostor() as impostor:
        questions.refused(
            "an impostor in a list of hosts, of which one is this machine",
            f"host=127.0.0.1,{NAME} hostaddr=127.0.0.1,127.0.0.1 port={impostor.port},{impostor.port} sslmode=disable",
            ["does not support SSL"], impostor)
    with Impostor() as impostor:
        questions.refused("an impostor, and GSSAPI wanted", f"host={NAME} hostaddr=127.0.0.1 port={impostor.port} gssencmode=prefer "
                          "sslmode=disable", ["does not support SSL"], impostor)


def _loopback(rows, questions, cluster, port):
    questions.works("this machine without TLS (127.0.0.1)", f"host=127.0.0.1 port={port}")
    questions.works("this machine without TLS (localhost)", f"host=localhost port={port}")
    questions.works("a Unix socket", f"host={cluster.folder} port={port}")
    questions.works("hostaddr= of this machine alone", f"hostaddr=127.0.0.1 port={port}")
    with Impostor() as impostor:
        code, text = questions.ask(f"host=127.0.0.1 port={impostor.port}")
        rows.note("what listens on the loopback is believed, and gets the password in clear where it asks",
                  f"{PASSWORD.encode() in impostor.received}; {code} {text}")


def _environment(stage, rows, questions, address):
    with Impostor(host=address or "127.0.0.1") as impostor:
        elsewhere = address or "127.0.0.1"
        for variables in ({"PGSSLMODE": "disable"}, {"PGREQUIRESSL": "0"}, {"PGGSSENCMODE": "prefer"}):
            questions.refused(f"an impostor, and {variables} in the environment",
                              f"host={NAME} hostaddr={elsewhere} port={impostor.port}", ["does not support SSL"], impostor, **variables)
        service = stage.file("service", f"[away]\nhostaddr={elsewhere}\nport={impostor.port}\nsslmode=disable\n")
        if not address:
            rows.skip("variables that send a connection for this machine elsewhere", "NOT TRIED: needs root")
            return
        for variables in ({"PGHOSTADDR": elsewhere}, {"PGSERVICE": "away", "PGSERVICEFILE": service}):
            code, text = questions.ask(f"host=localhost port={impostor.port}", **variables)
            rows.add(f"host=localhost, and {sorted(variables)} in the environment: no password leaves this machine",
                     PASSWORD.encode() not in impostor.received, f"{code} {text}")
            impostor.received = b""


def _black_hole(rows, questions, port):
    """A host of the list is there, but its machine does not answer: the next one is taken."""
    with socket.socket() as hole, contextlib.ExitStack() as fillers:
        hole.bind(("127.0.0.1", 0))
        hole.listen(0)
        # Further ones are left without an answer.
        for _ in range(3):
            filler = fillers.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(hole.getsockname())
        begun = time.monotonic()
        code, text = questions.ask(f"host=127.0.0.1,127.0.0.1 port={hole.getsockname()[1]},{port}")
        rows.add("works: the first host of the list does not answer at all (its machine is gone), the second one does", code == 0,
                 f"after {time.monotonic() - begun:.1f} s: {text}")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        threading.Thread(target=lambda: [silent.accept() for _ in range(3)], daemon=True).start()
        begun = time.monotonic()
        code, text = questions.ask(f"host=127.0.0.1,127.0.0.1 port={silent.getsockname()[1]},{port}")
        rows.add("works: the first host of the list takes the connection and says nothing (it hangs), the second one answers",
                 code == 0, f"after {time.monotonic() - begun:.1f} s: {text}")
