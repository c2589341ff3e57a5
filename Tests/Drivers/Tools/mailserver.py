"""A real mail server for the tests: Dovecot of Debian 13, over TLS, that takes access tokens only (XOAUTH2, OAUTHBEARER).

Dovecot asks `Introspection` whether a token is current; mail that is submitted goes on to the mail server of the tests.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import urllib.parse
import urllib.request

from apiserver import APIServer, certificate
from toolbox import EMAIL, HERE, REPOSITORY, Failure, wait_until

DEBIAN13 = [os.path.join(HERE, "debian13"), "run"]
RELAY = os.path.join(REPOSITORY, "Tests", "Servers", "MailServer", "mail-server")

CONFIGURATION = """dovecot_config_version = 2.4.0
dovecot_storage_version = 2.4.0
base_dir = {place}/run
state_dir = {place}/state
log_path = {place}/log
listen = 127.0.0.1
protocols = imap submission
default_internal_user = nobody
default_internal_group = nogroup
default_login_user = nobody
first_valid_uid = 1
mail_driver = maildir
mail_home = {place}/mail
mail_path = {place}/mail/Maildir
mail_uid = nobody
mail_gid = nogroup
ssl = required
ssl_server_cert_file = {certificate}
ssl_server_key_file = {key}
auth_mechanisms = xoauth2 oauthbearer
auth_failure_delay = 0
oauth2 {{
  introspection_mode = post
  introspection_url = {introspection}/introspect
  force_introspection = yes
  active_attribute = active
  active_value = true
  username_attribute = username
}}
userdb static {{
  fields {{
    home = {place}/mail
  }}
}}
service imap-login {{
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = {imaps}
    ssl = yes
  }}
}}
service submission-login {{
  inet_listener submission {{
    port = {submission}
  }}
  inet_listener submissions {{
    port = {submissions}
    ssl = yes
  }}
}}
hostname = localhost
submission_relay_host = 127.0.0.1
submission_relay_port = {relay}
submission_relay_trusted = yes
"""


class Introspection(APIServer):
    """Says whether a token is current and whose it is (RFC 7662)."""

    def is_public(self, request):
        """The token is in the form."""
        return True

    def answer(self, request, body):
        """The state of the token."""
        token = urllib.parse.parse_qs(body.decode()).get("token", [""])[0]
        active = bool(token) and self.accepts(token)
        with self.lock:
            self.seen[-1] = ("POST", "/introspect", "form", "", "accepted" if active else "refused")
        answer = {"active": active, "username": EMAIL} if active else {"active": False}
        return 200, [("Content-Type", "application/json")], json.dumps(answer).encode()


def free_ports(count):
    """Ports that nobody listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class MailServer:
    """Dovecot, its introspection endpoint, and the server that gets the mail; a context manager."""

    def __init__(self, broker):
        if os.getuid() != 0:
            raise Failure("dovecot has processes of several users: this test needs root")
        self.broker = broker
        self.imaps, self.submissions, self.submission = free_ports(3)

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.start(stack)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *arguments):
        self.stack.close()

    def start(self, stack):
        """Starts the three servers; the stack ends them."""
        self.tokens = stack.enter_context(Introspection(self.broker, tls=False))
        relay = subprocess.Popen([RELAY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(self.end_relay, relay)
        self.relay = json.loads(relay.stdout.readline())
        # Not in the home, which only its owner enters: dovecot's processes have users of their own.
        self.place = tempfile.mkdtemp(prefix="abm-", dir="/tmp")
        stack.callback(shutil.rmtree, self.place, ignore_errors=True)
        os.chmod(self.place, 0o755)
        os.makedirs(os.path.join(self.place, "mail"))
        shutil.chown(os.path.join(self.place, "mail"), "nobody", "nogroup")
        self.ca, chain, key = certificate(self.broker.folder("mail-tls"))
        settings = self.broker.file("dovecot.conf", CONFIGURATION.format(
            place=self.place, certificate=chain, key=key, introspection=self.tokens.url, imaps=self.imaps,
            submissions=self.submissions, submission=self.submission,
            relay=urllib.parse.urlsplit(self.relay["smtpUrl"]).port))
        server = subprocess.Popen(
            [*DEBIAN13, "dovecot", "-F", "-c", settings], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        stack.callback(self.end, server)
        wait_until("dovecot listens", lambda: self.listens(server))

    def listens(self, server):
        """Whether a connection to each port succeeds; raises where the server has ended."""
        if server.poll() is not None:
            raise Failure(f"dovecot has ended: {self.log()}")
        for port in [self.imaps, self.submissions]:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)):
                    return False
        return True

    @staticmethod
    def end(server):
        """Ends dovecot with all its processes."""
        server.terminate()
        server.wait(30)

    @staticmethod
    def end_relay(relay):
        """Ends the server of the tests, which goes when its input closes."""
        relay.stdin.close()
        relay.wait(30)
        relay.stdout.close()

    def mails(self):
        """The texts of the mails that were submitted."""
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                self.relay["controlUrl"] + "/mails", timeout=30) as reply:
            return [mail["data"] for mail in json.load(reply)["mails"]]

    def deliver(self, name, subject):
        """Puts a mail into the mailbox."""
        folder = os.path.join(self.place, "mail", "Maildir", "new")
        for each in ["new", "cur", "tmp"]:
            os.makedirs(os.path.join(os.path.dirname(folder), each), exist_ok=True)
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(f"From: bob@example.com\nTo: {EMAIL}\nSubject: {subject}\n\nHello.\n")
        for top, folders, files in os.walk(os.path.join(self.place, "mail")):
            for each in [top, *(os.path.join(top, file) for file in files)]:
                shutil.chown(each, "nobody", "nogroup")

    def log(self):
        """The end of dovecot's log."""
        with contextlib.suppress(OSError), open(os.path.join(self.place, "log"), encoding="utf-8") as file:
            return file.read()[-1500:]
        return ""
