"""The command line."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from restserver.controlserver import serve
from restserver.tls import Certificates

from . import site
from .control import Control
from .faults import Faults
from .ledger import Ledger
from .listener import Listener
from .settings import TLS_MODES, Settings, UnknownSetting, parsed

GUIDE = """\
An OpenID Connect provider (django-oauth-toolkit) with made-up accounts listens on {issuer}. It ends with Ctrl-C.

Accounts: {user} ({password}), {other} ({other_password}). Client: cli (public, every grant).

Point a broker at it with this configuration:

  {{ profiles: {{ demo: {{ provider: "oidc", issuer: "{issuer}", clientId: "cli"{tls} }} }} }}

Open {base}/o/device/ for the code that `authbroker login` shows, or let the scripted person enter it:
  curl -s {control}/approve -d '{{"userCode":"CODE"}}'
Let access tokens live ten seconds:
  curl -s {control}/settings -d '{{"accessTokenLifetimeSeconds":10}}'
Lose the reply of the next token request:
  curl -s {control}/fault -d '{{"endpoint":"token","kind":"drop-after-commit"}}'
End all sessions of {user}:
  curl -s {control}/revoke -d '{{}}'
See every token request:
  curl -s '{control}/ledger?endpoint=token'
"""


def options():
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        prog="oidc-server", description="Runs django-oauth-toolkit as an OpenID Connect provider for tests.")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=JSON", help="any setting, may be repeated")
    parser.add_argument("--tls", nargs="?", const="ok", choices=TLS_MODES, help="https, with a throw-away authority")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--control-port", type=int, default=0)
    parser.add_argument("--stay", action="store_true", help="do not end when standard input closes")
    parser.add_argument("--guide", action="store_true", help="say in plain words what can be done")
    parser.add_argument("--install", action="store_true", help="install what the server is made of, and end")
    return parser.parse_args()


def main(cache):
    """Starts everything, prints where, and waits for the end of standard input or a signal."""
    given = options()
    try:
        settings = Settings(dict(parsed(one) for one in given.set) | ({"tlsMode": given.tls} if given.tls else {}))
    except UnknownSetting as error:
        print(f"oidc-server: {error}", file=sys.stderr)
        return 2
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: ended.set())
    folder = tempfile.mkdtemp(prefix="oidc-server-")
    try:
        run(given, settings, cache, folder, ended)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"oidc-server: {error}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.flush()
    os._exit(0)  # held exchanges must not keep the process


def run(given, settings, cache, folder, ended):
    """Serves until `ended` is set."""
    certificates = None
    if given.tls:
        certificates = throw_away_certificates(os.path.join(folder, "tls"))
    listener = Listener(given.port, certificates)
    listener.settings, listener.ledger, listener.faults = settings, Ledger(), Faults()
    site.new_folder(folder)
    site.configure(listener.base, folder, settings)
    site.database(cache, folder)
    from django.core.wsgi import get_wsgi_application

    listener.application = get_wsgi_application()
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    where = {
        "url": listener.base, "issuer": listener.base + "/o", "controlUrl": serve(Control(listener), given.control_port),
        "pid": os.getpid(), "clientSecret": site.SECRET,
    }
    if certificates:
        pins = {"pin": certificates.pin(), "backupPin": certificates.pin("backup")}
        where |= {"caFile": certificates.authority, **pins}
    print(json.dumps(where), flush=True)
    if given.guide:
        tls = f', tls: {{ caFile: "{where["caFile"]}" }}' if certificates else ""
        print(GUIDE.format(
            issuer=where["issuer"], base=listener.base, control=where["controlUrl"], tls=tls,
            user=site.USER["username"], password=site.USER["password"], other=site.OTHER["username"],
            other_password=site.OTHER["password"]), file=sys.stderr)
    if not given.stay:
        threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    ended.wait()


def throw_away_certificates(folder):
    """The authority and certificates of a server with TLS: those that the REST backend of the tests makes."""
    os.mkdir(folder, 0o700)
    return Certificates(folder)
