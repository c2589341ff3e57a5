"""A mail server for submission with STARTTLS, whose passwords are access tokens, in the environment of MailServer.

    python3 smtpserver.py CERTIFICATE KEY ADDRESS

A login is judged at ADDRESS by basic authentication (RFC 7617): 200 lets the client in. Prints its port as a line, each
mail's sender, recipients and subject as a line of JSON, and ends when standard input closes.
"""

import base64
import json
import socket
import ssl
import sys
import urllib.error
import urllib.request

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult


class Mails:
    """Tells of each mail."""

    async def handle_DATA(self, server, session, envelope):
        """Takes a mail."""
        subject = next((line for line in envelope.content.decode().splitlines() if line.startswith("Subject: ")), "")
        print(json.dumps({"from": envelope.mail_from, "to": envelope.rcpt_tos, "subject": subject[9:]}), flush=True)
        return "250 taken"


def authenticator(address):
    """What decides about a login."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def judge(server, session, envelope, mechanism, data):
        header = base64.b64encode(data.login + b":" + data.password).decode()
        try:
            request = urllib.request.Request(address, headers={"Authorization": f"Basic {header}"})
            with opener.open(request, timeout=60) as reply:
                return AuthResult(success=reply.status == 200)
        except urllib.error.HTTPError:
            return AuthResult(success=False, handled=False)
    return judge


def main():
    """Serves until standard input closes."""
    certificate, key, address = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    controller = Controller(Mails(), hostname="127.0.0.1", port=0, tls_context=context, require_starttls=True,
                            auth_required=True, authenticator=authenticator(address))
    # The controller connects to the port that it was given, to see that it listens: a free one is chosen below.
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        controller.port = free.getsockname()[1]
    controller.start()
    print(controller.port, flush=True)
    sys.stdin.read()
    controller.stop()


main()
