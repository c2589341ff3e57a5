"""A broker whose profile `work` is logged in at the OpenID Connect server of the tests, with an ID token."""

import contextlib
import json
import os
import subprocess
import urllib.request

from toolbox import HERE, Broker, Failure

SERVER = os.path.join(HERE, "..", "..", "Servers", "OIDCServer", "oidc-server")


def browse(control, address):
    """Lets the scripted person of the server open an address, log in and agree."""
    request = urllib.request.Request(control + "/browse", json.dumps({"url": address, "deliver": True}).encode())
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as reply:
        reply.read()


@contextlib.contextmanager
def oidc_broker(**settings):
    """The broker, logged in; the server ends with it."""
    server = subprocess.Popen([SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        line = server.stdout.readline()
        if not line:
            raise Failure("the OpenID Connect server of the tests does not start")
        where = json.loads(line)
        profile = {"provider": "oidc", "issuer": where["issuer"], "clientId": "cli", "allowIdToken": True,
                   "scopes": ["openid"]}
        with Broker(profiles={"work": profile}, **settings) as broker:
            # With a browser, since the server gives no ID token for a password alone.
            action = broker.call("login", profile="work", method="browser")["action"]
            browse(where["controlUrl"], action["verificationUri"])
            broker.call("awaitLogin", loginFlowId=action["loginFlowId"], timeoutSeconds=60)
            yield broker
    finally:
        server.stdin.close()
        server.wait(60)
        server.stdout.close()
