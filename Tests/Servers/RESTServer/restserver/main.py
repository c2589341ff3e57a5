"""The command line."""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import threading

from .control import Control, described_catalogue
from .controlserver import serve
from .dialect import DIALECTS
from .server import Server
from .settings import CHOICES, Settings, UnknownSetting
from .tls import Certificates, OpenSSLFailed

DEMO = [
    {"email": "demo@example.com", "password": "demo-password-1", "name": "Demo User"},
    {
        "email": "sms@example.com",
        "password": "demo-password-1",
        "name": "Demo With Code",
        "phoneNumber": "+15550100",
        "backupCodes": ["demo-aaaa", "demo-bbbb"],
    },
]
GUIDE = """\
A backend of made-up accounts listens on {url} (control: {control}). It ends with Ctrl-C.

Accounts: demo@example.com and, with a code by SMS, sms@example.com (+15550100); both passwords are demo-password-1.

Point a broker at it with this configuration:

  {{ profiles: {{ demo: {{ provider: "rest", baseUrl: "{url}"{tls} }} }} }}

Read the code of the last SMS:
  curl -s '{control}/codes?phone=%2B15550100'
Lose the reply of the next refresh:
  curl -s {control}/misbehave -d '{{"endpoint":"refresh","name":"drop-after-commit"}}'
Be unavailable for three requests:
  curl -s {control}/misbehave -d '{{"name":"status-503-retry-seconds","times":3}}'
Be a captive portal until told:
  curl -s {control}/misbehave -d '{{"name":"captive-portal","times":-1}}'
Behave again:
  curl -s -X DELETE {control}/misbehave
Answer in another shape:
  curl -s {control}/settings -d '{{"shape":"oauth"}}'
Let access tokens live five seconds:
  curl -s {control}/settings -d '{{"accessTokenLifetimeSeconds":5}}'
See every use of a refresh token:
  curl -s '{control}/ledger?event=refresh'
All {count} misbehaviours:
  {program} --list-misbehaviours
"""


def options():
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        prog="rest-server", description="Plays a backend with accounts and tokens, and misbehaves on demand."
    )
    parser.add_argument("--shape", choices=CHOICES["shape"], help="shape of the token replies (nested)")
    parser.add_argument("--dialect", help=f"names of paths and members: {', '.join(DIALECTS)}, or a JSON file (seeds)")
    parser.add_argument("--rotation", choices=CHOICES["rotation"], help="of refresh tokens (always)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=JSON", help="any setting, may be repeated")
    parser.add_argument("--account", action="append", default=[], metavar="JSON", help="an account, may be repeated")
    parser.add_argument(
        "--accounts", metavar="FILE", help="a JSON array of accounts; `-` is the first line of standard input"
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--control-port", type=int, default=0)
    parser.add_argument("--host", default="127.0.0.1", help="loopback address to listen on")
    parser.add_argument(
        "--tls", nargs="?", const="ok", choices=CHOICES["tlsMode"], help="https, with a throw-away authority"
    )
    parser.add_argument("--certificate", metavar="PEM", help="use this certificate in place of a throw-away one")
    parser.add_argument("--key", metavar="PEM")
    parser.add_argument("--ca-file", metavar="PEM", help="authority of --certificate, to be printed")
    parser.add_argument("--ledger", metavar="FILE", help="append the ledger as JSON lines")
    parser.add_argument("--stay", action="store_true", help="do not end when standard input closes")
    parser.add_argument(
        "--guide", action="store_true", help="add demo accounts, and say in plain words what can be done"
    )
    parser.add_argument("--list-misbehaviours", action="store_true")
    return parser.parse_args()


def chosen_settings(given):
    """The settings that the command line asks for."""
    changes = {}
    if given.dialect:
        changes["dialect"] = given.dialect
        if given.dialect not in DIALECTS:
            with open(given.dialect, encoding="utf-8") as file:
                changes["dialect"] = json.load(file)
    changes.update(
        {
            name: value
            for name, value in (("shape", given.shape), ("rotation", given.rotation), ("tlsMode", given.tls))
            if value
        }
    )
    for setting in given.set:
        name, _, value = setting.partition("=")
        changes[name] = (
            json.loads(value) if value[:1] in '{["-0123456789tf' and value not in CHOICES.get(name, ()) else value
        )
    return changes


def chosen_accounts(given):
    """The accounts that the command line asks for."""
    accounts = [json.loads(account) for account in given.account] + (DEMO if given.guide else [])
    if given.accounts == "-":
        accounts += json.loads(sys.stdin.readline())
    elif given.accounts:
        with open(given.accounts, encoding="utf-8") as file:
            accounts += json.load(file)
    return accounts


def main():
    """Starts everything, prints where, and waits for the end of standard input or a signal."""
    given = options()
    if given.list_misbehaviours:
        for one in described_catalogue():
            print(f"{one['name']:28} {one['moment']:8} {one['summary']}")
        return 0
    try:
        changes, accounts = chosen_settings(given), chosen_accounts(given)
        settings = Settings(changes)
    except (UnknownSetting, ValueError, OSError) as error:
        print(f"rest-server: {error}", file=sys.stderr)
        return 2
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: ended.set())
    folder = tempfile.mkdtemp(prefix="rest-server-") if given.tls or given.certificate else None
    try:
        run(given, settings, accounts, folder, ended)
    except (OpenSSLFailed, OSError) as error:
        print(f"rest-server: {error}", file=sys.stderr)
        return 1
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.flush()
    os._exit(0)  # held exchanges must not keep the process


def run(given, settings, accounts, folder, ended):
    """Serves until `ended` is set."""
    if given.certificate and not given.key:
        given.key = given.certificate
    certificates = Certificates(folder, given.certificate, given.key, given.ca_file) if folder else None
    server = Server(settings, certificates, given.host, given.port, given.ledger)
    control = Control(server, accounts)
    control.POST_accounts({}, accounts)
    where = {"url": server.url, "controlUrl": serve(control, given.control_port), "pid": os.getpid()}
    if certificates:
        certificates.context(settings["tlsMode"])
        where |= {"caFile": certificates.authority, "pin": certificates.pin(), "backupPin": certificates.pin("backup")}
    print(json.dumps(where), flush=True)
    if given.guide:
        tls = (
            f', tls: {{ caFile: "{where["caFile"]}", pins: ["{where["pin"]}", "{where["backupPin"]}"] }}'
            if certificates
            else ""
        )
        print(
            GUIDE.format(
                url=server.url,
                control=where["controlUrl"],
                tls=tls,
                count=len(described_catalogue()),
                program=sys.argv[0],
            ),
            file=sys.stderr,
        )
    if not given.stay:
        threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    ended.wait()
