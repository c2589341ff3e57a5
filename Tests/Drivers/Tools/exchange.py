"""Token services that exchange a token of the broker for one of their own, and the file that cloud libraries read."""

import contextlib
import os
import signal
import subprocess
import urllib.parse

from apiserver import APIServer
from toolbox import Failure, Result, wait_until

# What the services give; obviously no secret of anybody.
EXCHANGED = "made-up-token-of-the-cloud"


class TokenService(APIServer):
    """A service that takes a token in a form; `field` names where. Override `accepted` for its answer."""

    field, schemes = "subject_token", ()

    def __init__(self, broker, tls=False, identity=None):
        """`identity`, where it is given, tells whether an ID token is good."""
        super().__init__(broker, tls=tls)
        self.identity, self.forms = identity, []

    def is_public(self, request):
        """The token is in the form, not in the header."""
        return True

    def answer(self, request, body):
        """Judges the token in the form; requests without a form get `metadata`."""
        form = {name: values[0] for name, values in urllib.parse.parse_qs(body.decode()).items()}
        if self.field not in form:
            return self.metadata(request)
        is_good = (self.identity or self.accepts)(form[self.field])
        with self.lock:
            self.seen[-1] = (*self.seen[-1][:2], "form", "", "accepted" if is_good else "refused")
            self.forms.append({name: value for name, value in form.items() if name != self.field})
        return self.accepted(form) if is_good else self.refused_answer()

    def metadata(self, request):
        """The answer to a request without a form."""
        return 404, [], b"not found\n"

    def accepted(self, form):
        """The answer with a token of the service's own."""
        raise NotImplementedError

    def refused_answer(self):
        """The answer to a token that is not good (RFC 6749, section 5.2)."""
        return 400, [("Content-Type", "application/json")], b'{"error":"invalid_grant"}'


@contextlib.contextmanager
def kept_file(broker, *options):
    """Runs `authbroker file` for the length of the block; the path, which exists only while there is a token."""
    path = os.path.join(broker.folder("tokens"), "token")
    keeper = subprocess.Popen(
        [broker.command, "file", path, *options], env=broker.environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        yield path, keeper
    finally:
        with contextlib.suppress(ProcessLookupError):
            keeper.send_signal(signal.SIGTERM)
        keeper.communicate(timeout=30)
        if os.path.exists(path):
            raise Failure("the token file was left behind")


def settle(path, keeper, good):
    """Waits until the file is there, or until its keeper has said why it is not."""
    if good:
        wait_until("the token file is there", lambda: os.path.exists(path))
    elif keeper.poll() is None:
        wait_until("its keeper says why there is no file", lambda: bool(keeper.stderr.readline()) or
                   keeper.poll() is not None)


def judge(what, broker, service, done, must_work):
    """Whether the exchange came out as it must, and no secret was printed."""
    works = done.returncode == 0 and EXCHANGED in done.stdout
    is_good = works == must_work and bool(service.count("accepted")) == must_work
    leaks = broker.secrets_in(done.stdout, done.stderr)
    seen = f"exit {done.returncode}, {service.count('accepted')} accepted, {service.count('refused')} refused"
    if not must_work and is_good:
        seen += ": " + (done.stderr.strip().splitlines() or [""])[-1]
    seen += ", A SECRET WAS PRINTED" if leaks else ""
    return Result(what, is_good and not leaks, seen if is_good else seen + ": " + (done.stdout + done.stderr)[-500:])
