"""A broker whose profile `work` is logged in at the OpenID Connect server of the tests, with an ID token."""

import contextlib
import json
import os
import subprocess

from toolbox import HERE, Broker, Failure

SERVER = os.path.join(HERE, "..", "..", "Servers", "OIDCServer", "oidc-server")


@contextlib.contextmanager
def oidc_broker(**settings):
    """The broker, logged in; the server ends with it."""
    server = subprocess.Popen([SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        line = server.stdout.readline()
        if not line:
            raise Failure("the OpenID Connect server of the tests does not start")
        profile = {"provider": "oidc", "issuer": json.loads(line)["issuer"], "clientId": "cli", "allowIdToken": True}
        with Broker(profiles={"work": profile}, **settings) as broker:
            broker.must("login", "--profile", "work", "--email", "alice", "--password-stdin", text="alice-password\n")
            yield broker
    finally:
        server.stdin.close()
        server.wait(60)
        server.stdout.close()
