"""A role with the grants of the guide, and with less; and pools by session and by transaction under troubles."""

import shutil

from chaos import TROUBLES, Troubles, play
from cluster import ROLE, Cluster, Pool
from fleet import Fleet
from stage import Failure, Stage, wait

POOL_SECONDS = 60


def least(options, rows):
    """The scene."""
    with Stage(options) as stage:
        cluster = Cluster(stage)
        local = f"host={cluster.folder} dbname=postgres user="
        cluster.ask("REVOKE CREATE ON SCHEMA public FROM PUBLIC; REVOKE ALL ON DATABASE postgres FROM PUBLIC; "
                    f"GRANT CONNECT ON DATABASE postgres TO {ROLE}")
        fleet = Fleet(stage, local + "owner", local + ROLE, members=2)
        cluster.ask(f"ALTER ROLE {ROLE} SET statement_timeout = 3000")
        with open(stage.folder + "/m0/config.json", encoding="utf-8") as file:
            stage.file("member.json", file.read())
        _without(rows, fleet, "no grant at all", [], "permission denied for table authbroker_fleet")
        cluster.grant()
        _with_all(rows, fleet, cluster)
        for grant in ("SELECT", "INSERT", "UPDATE"):
            _one_less(rows, fleet, cluster, grant)
        cluster.ask(f"REVOKE CONNECT ON DATABASE postgres FROM {ROLE}")
        _without(rows, fleet, "no CONNECT", [], "permission denied for database")
        cluster.ask(f"GRANT CONNECT ON DATABASE postgres TO {ROLE}; REVOKE USAGE ON SCHEMA public FROM PUBLIC")
        _without(rows, fleet, "no USAGE of the schema", [], "permission denied for schema public", "there is no table")
        cluster.ask("GRANT USAGE ON SCHEMA public TO PUBLIC; DROP TABLE authbroker_fleet")
        done = fleet.command("init", file="member.json")
        rows.add("fleet init by a role that may make no table says so", done.returncode != 0 and "permission denied" in done.stderr,
                 done.stderr)
        done = fleet.command("status", file="member.json")
        rows.add("fleet status without a table says what to do", "fleet init" in done.stderr, done.stderr)
    _durable(options, rows)
    for mode in ("session", "transaction"):
        _pool(options, rows, mode)


def _durable(options, rows):
    """A server that reports commits before they are on the disk, and is killed behind each refresh."""
    with Stage(options) as stage:
        cluster = Cluster(stage, synchronous_commit="off", wal_writer_delay="10s")
        local = f"host={cluster.folder} dbname=postgres user="
        fleet = Fleet(stage, local + "owner", local + ROLE, members=1)
        cluster.grant()
        cluster.ask("CREATE TABLE control (number int)")
        fleet.start()
        fleet.must_log_in()
        lost, kept = 0, []
        for _ in range(3):
            wait(lambda: fleet.members[0].call("getAccessToken", forceRefresh=True)[0], "a refresh")
            version = cluster.ask("SELECT version FROM authbroker_fleet WHERE name = 'shop'")
            control = int(cluster.ask("INSERT INTO control VALUES (1); SELECT count(*) FROM control"))
            cluster.kill()
            cluster.start()
            kept.append(cluster.ask("SELECT version FROM authbroker_fleet WHERE name = 'shop'") == version)
            lost += control - int(cluster.ask("SELECT count(*) FROM control"))
        rows.add("with synchronous_commit=off of the server, no refresh is lost when it is killed", all(kept) and lost > 0,
                 f"{kept.count(True)} of {len(kept)} refreshes kept, while {lost} commits of another client were lost")


def _without(rows, fleet, what, words, *reasons):
    done = fleet.command("status", *words, file="member.json")
    rows.add(f"fleet status with {what} says why", done.returncode != 0 and any(reason in done.stderr for reason in reasons),
             done.stderr)


def _with_all(rows, fleet, cluster):
    one, other = fleet.members
    fleet.start()
    fleet.must_log_in(one)
    wait(lambda: other.call("getAccessToken")[0], "the other member has the session")
    seen = [other.message("getAccessToken", forceRefresh=True), fleet.command("status", file="member.json").stdout]
    wait(lambda: one.call("getSession")[0]["state"] == "authenticated", "the first one as well")
    one.message("logout")
    wait(lambda: other.call("getSession")[0]["state"] == "signedOut", "the logout at the other member")
    fleet.must_log_in(other)
    owned = cluster.ask(f"SELECT count(*) FROM pg_class WHERE relowner = '{ROLE}'::regrole")
    rows.add("with SELECT, INSERT and UPDATE, and nothing of its own: login, tokens, refresh, status, logout, login",
             owned == "0" and "accessToken" in seen[0] and "is ready" in seen[1], seen)


def _one_less(rows, fleet, cluster, grant):
    """Takes one grant away, and tries what needs it."""
    one = fleet.members[0]
    wait(lambda: one.call("getAccessToken")[0], "the member has the session")
    told = len(one.told)
    if grant == "INSERT":
        # A row that is there is only updated.
        cluster.ask("DELETE FROM authbroker_fleet WHERE name = 'shop'")
        one.kill()
        one.start()
        wait(one.is_ready, "the member answers")
    cluster.ask(f"REVOKE {grant} ON authbroker_fleet FROM {ROLE}")
    if grant == "INSERT":
        said = one.message("login", email="ada@example.com", password="example password 1")
    else:
        said = one.message("getAccessToken", 60, forceRefresh=True)
    try:
        wait(lambda: "permission denied" in one.told[told:], "", 20)
    except Failure:
        pass
    line = next((line for line in reversed(one.told[told:].splitlines()) if "permission denied" in line), "nothing in the log")
    rows.add(f"without {grant}: storeFailed, and the log says why", "storeFailed" in said and "permission denied" in line,
             f"{said} | {line}")
    cluster.grant()
    wait(lambda: one.message("login", email="ada@example.com", password="example password 1") == "['session', 'status']",
         "a login with the grant again", pause=0.5)
    wait(lambda: one.call("getAccessToken")[0], "a token again")


def _pool(options, rows, mode):
    """Troubles, with a pool between the members and the database."""
    if not shutil.which("pgbouncer") and not shutil.which("pgbouncer", path="/usr/sbin"):
        rows.skip(f"pgbouncer by {mode}", "NOT TRIED: pgbouncer is not installed (package pgbouncer)")
        return
    with Stage(options) as stage:
        cluster = Cluster(stage)
        pool = Pool(stage, cluster, mode)
        fleet = Fleet(stage, f"host={cluster.folder} dbname=postgres user=owner", target=pool.socket, members=8)
        cluster.grant()
        rows.note("pgbouncer", f"by {mode}, {POOL_SECONDS} s")
        kinds = [kind for kind in TROUBLES if kind != options.without] + ["pool"]
        play(rows, fleet, Troubles(fleet, cluster, kinds, pool), POOL_SECONDS)
