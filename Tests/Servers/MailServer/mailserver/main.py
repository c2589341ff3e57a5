"""The command line and the control interface."""

import argparse
import json
import os
import shutil
import sys
import tempfile

from restserver.controlserver import find, no_such_call, serve
from restserver.tls import Certificates

from . import mail, sms


class Control:
    """Each call is a method; see README.md."""

    def __init__(self, mailbox, service):
        self.mailbox, self.service = mailbox, service

    def call(self, method, target, raw):
        """Status and answer of a call."""
        act, _ = find(self, method, target)
        return (200, act(json.loads(raw or b"{}"))) if act else no_such_call(self)

    def GET_mails(self, _):
        with self.mailbox.lock:
            return {"mails": list(self.mailbox.mails)}

    def GET_forms(self, _):
        with self.service.lock:
            return {"forms": list(self.service.forms)}

    def POST_refuse(self, body):
        self.mailbox.refusal = body.get("reply")
        return {}

    def POST_answer(self, body):
        with self.service.lock:
            self.service.answers += [(body["status"], body.get("body", {}))] * body.get("times", 1)
        return {}

    def POST_reset(self, _):
        with self.mailbox.lock:
            self.mailbox.mails, self.mailbox.refusal = [], None
        with self.service.lock:
            self.service.reset()
        return {}


def main():
    """Starts everything, prints where, and waits for the end of standard input."""
    argparse.ArgumentParser(
        prog="mail-server", description="Runs a mail server and a service for SMS for tests.").parse_args()
    folder = tempfile.mkdtemp(prefix="mail-server-")
    try:
        certificates = Certificates(folder)
        mailbox, service = mail.Mailbox(), sms.Service()
        where = {
            **mail.start(mailbox, certificates.context("ok")), "url": sms.start(service),
            "controlUrl": serve(Control(mailbox, service)), "caFile": certificates.authority,
            "user": mail.USER, "password": mail.PASSWORD,
        }
        print(json.dumps(where), flush=True)
        sys.stdin.read()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)  # connections that are held must not keep the process
