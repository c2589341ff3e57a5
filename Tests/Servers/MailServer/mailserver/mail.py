"""The mail server: aiosmtpd on three ports, which differ in TLS and in who may send."""

import asyncio
import logging
import secrets
import threading
import warnings

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

USER = "ann@example.com"
# Another one at each start: where it is found, it is no coincidence.
PASSWORD = "pässword with blanks: and =/+ " + secrets.token_hex(8)
# How long a client may keep silent.
PATIENCE = 300


class Mailbox:
    """Every mail that came, and how it came."""

    def __init__(self):
        self.lock, self.mails, self.refusal = threading.Lock(), [], None

    async def handle_RCPT(self, server, session, envelope, address, options):
        """Takes every recipient, unless a refusal is set."""
        if self.refusal:
            return self.refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        """Keeps a mail."""
        with self.lock:
            self.mails.append({
                "from": envelope.mail_from, "to": envelope.rcpt_tos, "data": envelope.content.decode(),
                "tls": session.ssl is not None or server.is_secure, "user": session.auth_data})
        return "250 OK"


class Server(SMTP):
    """One connection."""

    def __init__(self, handler, is_secure=False, **options):
        super().__init__(handler, hostname="mail.test", timeout=PATIENCE, **options)
        self.is_secure = is_secure


def authenticate(server, session, envelope, mechanism, data):
    """Knows one user."""
    expected = LoginPassword(USER.encode(), PASSWORD.encode())
    if isinstance(data, LoginPassword) and data == expected:
        return AuthResult(success=True, auth_data=USER)
    return AuthResult(success=False, handled=False)


def start(mailbox, context):
    """Listens; the addresses by name.

    `smtpUrl` takes mail from everybody in the clear, `startTlsUrl` after STARTTLS and a login, `smtpsUrl` over TLS after
    a login.
    """
    # A login without STARTTLS is safe where TLS comes first, which aiosmtpd does not know.
    warnings.simplefilter("ignore", UserWarning)
    for name in ("mail.log", "asyncio"):  # clients that give up are what is tested
        logging.getLogger(name).setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    login = {"auth_required": True, "authenticator": authenticate}
    plans = {
        "smtpUrl": ("smtp", {}, None),
        "startTlsUrl": ("smtp", {**login, "tls_context": context, "require_starttls": True}, None),
        "smtpsUrl": ("smtps", {**login, "auth_require_tls": False, "is_secure": True}, context),
    }
    places = {}
    for name, (scheme, options, secure) in plans.items():
        server = loop.run_until_complete(loop.create_server(
            lambda options=options: Server(mailbox, loop=loop, **options), "127.0.0.1", 0, ssl=secure))
        places[name] = f"{scheme}://localhost:{server.sockets[0].getsockname()[1]}"
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return places
