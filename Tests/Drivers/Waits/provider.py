"""A provider of OpenID Connect whose refresh tokens serve once, which takes its time and keeps a ledger.

A refresh is acted on when it has arrived: the old token is spent, and its successor exists from then on, whether its
reply is ever read or not. A spent token that comes again is a reuse: it ends the session, as RFC 9700, section 4.14.2,
wants it. Python's standard library.
"""

import asyncio
import json
import secrets
import threading
from urllib.parse import parse_qs

STATUSES = {200: "OK", 400: "Bad Request", 404: "Not Found"}


class Session:
    """One session: its newest refresh token, and those that are spent."""

    def __init__(self):
        self.number, self.current, self.spent, self.reuses = 0, None, set(), 0

    def rotate(self):
        if self.current:
            self.spent.add(self.current)
        self.number += 1
        self.current = secrets.token_urlsafe(24)
        return self.current


class Provider:
    """Issuers at one port of this machine: `/D/N` answers a refresh after D milliseconds once it is slow."""

    def __init__(self):
        self.sessions, self.tokens, self.is_slow = {}, {}, False
        self.most, self.under_way, self.answered, self.cut_off = 0, 0, 0, 0
        started = threading.Event()
        threading.Thread(target=self.run, args=(started,), daemon=True).start()
        started.wait()

    def run(self, started):
        asyncio.run(self.serve(started))

    async def serve(self, started):
        server = await asyncio.start_server(self.connected, "127.0.0.1", 0, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await server.serve_forever()

    def issuer(self, milliseconds, number):
        return f"http://127.0.0.1:{self.port}/{milliseconds}/{number}"

    def begin(self, number):
        """A session, and the refresh token that it begins with."""
        session = self.sessions[str(number)] = Session()
        token = session.rotate()
        self.tokens[token] = session
        return token

    @property
    def reuses(self):
        return sum(session.reuses for session in self.sessions.values())

    async def connected(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lines = head.decode("latin-1").split("\r\n")
                method, path, _ = lines[0].split(" ")
                fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                status, answer, delay = self.answer(method, path, body.decode("latin-1"))
                if delay:
                    self.under_way += 1
                    self.most = max(self.most, self.under_way)
                    # The end of the connection while the reply is awaited.
                    end = asyncio.ensure_future(reader.read(1))
                    done, _ = await asyncio.wait({end}, timeout=delay)
                    self.under_way -= 1
                    if done:
                        self.cut_off += 1
                        return
                    end.cancel()
                    self.answered += 1
                data = json.dumps(answer).encode()
                close = "close" if delay else "keep-alive"
                writer.write(
                    f"HTTP/1.1 {status} {STATUSES[status]}\r\nContent-Type: application/json\r\nConnection: {close}\r\n"
                    f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
                await writer.drain()
                if delay:
                    return
        except (OSError, asyncio.IncompleteReadError, ValueError):
            pass
        finally:
            writer.close()

    def answer(self, method, path, body):
        _, delay, number, *rest = path.split("/")
        issuer = self.issuer(delay, number)
        if method == "GET" and rest[-1:] == ["openid-configuration"]:
            return 200, {
                "issuer": issuer, "token_endpoint": issuer + "/token", "authorization_endpoint": issuer + "/authorize",
                "jwks_uri": issuer + "/keys", "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
                "token_endpoint_auth_methods_supported": ["none"]}, 0
        if method != "POST" or rest != ["token"]:
            return 404, {"error": "not_found"}, 0
        form = {name: values[0] for name, values in parse_qs(body).items()}
        token = form.get("refresh_token", "")
        session = self.tokens.get(token)
        pause = int(delay) / 1000 if self.is_slow else 0
        if form.get("grant_type") != "refresh_token" or session is None:
            return 400, {"error": "invalid_grant"}, pause
        if token in session.spent:
            session.reuses += 1
            session.current = None
        if token != session.current:
            return 400, {"error": "invalid_grant"}, pause
        refresh = session.rotate()
        self.tokens[refresh] = session
        return 200, {
            "access_token": f"access-{number}-{session.number}", "token_type": "Bearer", "expires_in": 3600,
            "refresh_token": refresh, "scope": "files"}, pause
