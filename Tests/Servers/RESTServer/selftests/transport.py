"""Connections, TLS, the control interface's power over time, and the life of the process."""

import base64
import hashlib
import json
import os
import socket
import ssl
import subprocess
import threading
import unittest

from .driver import HERE, WAIT, Client, RestServer, connect, receive, request_bytes
from .journey import ACCOUNTS, EMAIL, PASSWORD, Journey


class Connections(Journey):
    """Keep-alive, refusal, and the counting of bytes."""

    def records(self):
        return self.server.control("GET", "/ledger")["connections"]

    def test_a_connection_is_kept_alive_and_counted(self):
        first, second = self.login(), self.login()
        self.assertEqual((first.end, second.end), ("open", "open"))
        record = self.records()[-1]
        body = json.dumps({"email": EMAIL, "password": PASSWORD}).encode()
        sent = len(request_bytes("POST", "/auth/login", body, [("Content-Type", "application/json")]))
        self.assertEqual((record["requests"], record["applicationBytesReceived"]), (2, 2 * sent))
        self.assertEqual(record["applicationBytesSent"], len(first.data) + len(second.data))

    def test_a_client_that_wants_to_close_is_obeyed(self):
        seen = self.client.send("GET", "/auth/me", headers=[("Connection", "close")], whole=True)
        self.assertEqual((seen.end, seen.headers("Connection")), ("closed", ["close"]))

    def test_a_chunked_request_is_read(self):
        with connect(self.server.address) as connection:
            body = json.dumps({"email": EMAIL, "password": PASSWORD}).encode()
            connection.sendall(
                b"POST /auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
            )
            self.tokens(receive(connection))

    def test_nonsense_is_answered_and_closed(self):
        with connect(self.server.address) as connection:
            connection.sendall(b"what is this\r\n\r\n")
            seen = receive(connection, whole=True)
        self.assertEqual((seen.status, seen.end), (400, "closed"))

    def test_the_port_can_be_closed_and_opened(self):
        self.server.control("POST", "/listen", {"open": False})
        with self.assertRaises(ConnectionRefusedError):
            connect(self.server.address)
        self.server.control("POST", "/listen", {"open": True})
        self.tokens(self.login())

    def test_idle_connections_can_be_closed_and_reset(self):
        for reset, end in ((False, "closed"), (True, "reset")):
            with self.subTest(end):
                self.login()
                self.assertGreaterEqual(self.server.control("POST", "/end-connections", {"reset": reset})["ended"], 1)
                self.assertEqual(receive(self.client.connection).end, end)
                self.client.close()

    def test_who_is_held_is_known_and_can_be_released(self):
        self.misbehave("hold-after-commit", "login")
        seen = []
        thread = threading.Thread(target=lambda: seen.append(self.login()))
        thread.start()
        held = self.server.control("GET", f"/held?waitSeconds={WAIT}")["held"]
        self.assertEqual((held[0]["endpoint"], held[0]["misbehaviour"], seen), ("login", "hold-after-commit", []))
        self.assertEqual(len(self.server.ledger("login")), 1)
        self.assertEqual(self.server.control("POST", "/release")["released"], 1)
        thread.join(WAIT)
        self.tokens(seen[0])

    def test_many_clients_at_once(self):
        clients = [Client(self.server) for _ in range(40)]
        statuses = []
        threads = [
            threading.Thread(
                target=lambda client=client: statuses.append(
                    client.post("/auth/login", {"email": EMAIL, "password": PASSWORD}).status
                )
            )
            for client in clients
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT)
        for client in clients:
            client.close()
        self.assertEqual(statuses, [200] * 40)


class TLS(unittest.TestCase):
    """One server, switched from mode to mode."""

    @classmethod
    def setUpClass(cls):
        cls.server = RestServer("--tls", "--account", json.dumps(ACCOUNTS[0]))
        cls.addClassCleanup(lambda: cls.server.stop())

    def setUp(self):
        self.server.control("POST", "/reset")

    def mode(self, mode):
        self.server.control("POST", "/settings", {"tlsMode": mode})

    def last(self):
        """The record of the newest connection, once it has ended."""
        for _ in range(100):
            record = self.server.control("GET", "/ledger?waitSeconds=0.02&after=1000000")["connections"][-1]
            if record["closed"]:
                return record
        return self.fail(str(record))

    def test_the_right_authority_and_pin(self):
        client = Client(self.server, self.server.where["caFile"])
        seen = client.post("/auth/login", {"email": EMAIL, "password": PASSWORD})
        self.assertEqual(seen.status, 200)
        certificate = client.connection.getpeercert(binary_form=True)
        pem = ssl.DER_cert_to_PEM_cert(certificate)
        public = subprocess.run(
            ["openssl", "x509", "-pubkey", "-noout"], input=pem.encode(), capture_output=True, check=True
        ).stdout.decode()
        der = base64.b64decode("".join(line for line in public.splitlines() if not line.startswith("-")))
        self.assertEqual(self.server.where["pin"], "sha256//" + base64.b64encode(hashlib.sha256(der).digest()).decode())
        self.assertNotEqual(self.server.where["pin"], self.server.where["backupPin"])
        client.close()
        record = self.last()
        self.assertEqual((record["tls"], record["handshake"], record["requests"]), ("TLSv1.3", "done", 1))

    def test_certificates_that_no_client_should_accept(self):
        reasons = {
            "expired": "expired",
            "wrong-host": "mismatch",
            "self-signed": "self-signed|self signed",
            "unknown-ca": "unable to get local issuer",
        }
        for mode, words in reasons.items():
            with self.subTest(mode):
                self.mode(mode)
                with self.assertRaisesRegex(ssl.SSLError, words):
                    connect(self.server.address, self.server.where["caFile"])
                record = self.last()
                self.assertEqual((record["applicationBytesReceived"], record["requests"]), (0, 0))

    def test_tls_1_1_is_refused_by_modern_clients_and_spoken_to_old_ones(self):
        self.mode("tls1.1-only")
        with self.assertRaises(ssl.SSLError):
            connect(self.server.address, self.server.where["caFile"])
        self.assertRegex(self.last()["handshake"], "failed")
        old = subprocess.run(
            [
                "openssl",
                "s_client",
                "-connect",
                "127.0.0.1:%d" % self.server.address[1],
                "-tls1_1",
                "-cipher",
                "ALL:@SECLEVEL=0",
            ],
            input=b"",
            capture_output=True,
            check=False,
        )
        self.assertIn(b"TLSv1.1", old.stdout)

    def test_tls_1_2_alone(self):
        self.mode("tls1.2-only")
        with connect(self.server.address, self.server.where["caFile"]) as connection:
            self.assertEqual(connection.version(), "TLSv1.2")

    def test_what_comes_unencrypted_is_noticed(self):
        with connect(self.server.address) as connection:
            connection.sendall(request_bytes("GET", "/"))
            receive(connection, whole=True)
        record = self.last()
        self.assertEqual((record["plaintextOnTLSPort"], record["applicationBytesReceived"]), (True, 0))

    def test_misbehaviour_over_tls(self):
        client = Client(self.server, self.server.where["caFile"])
        for name, end in (
            ("reset-after-commit", "reset"),
            ("drop-after-commit", "closed"),
            ("reset-half-way", "reset"),
            ("reset-before-reading", "reset"),
        ):
            with self.subTest(name):
                self.server.control("POST", "/misbehave", {"name": name})
                seen = client.post("/auth/login", {"email": EMAIL, "password": PASSWORD})
                self.assertEqual((seen.end, bool(seen.data)), (end, name == "reset-half-way"))

    def test_a_goodbye_is_not_taken_for_a_request(self):
        for mode in ("tls1.2-only", "ok"):
            self.mode(mode)
            client = Client(self.server, self.server.where["caFile"])
            client.post("/auth/login", {"email": EMAIL, "password": PASSWORD})
            self.server.control("POST", "/misbehave", {"name": "reset-before-reading"})
            client.connection.setblocking(False)
            try:
                client.connection.unwrap()
            except (ssl.SSLError, OSError):
                pass
            client.close()
            self.last()
            self.assertEqual(len(self.server.control("GET", "/state")["pendingMisbehaviours"]), 1)
            self.server.control("DELETE", "/misbehave")


class Process(unittest.TestCase):
    """How it starts and how it ends."""

    def run_program(self, *arguments, **options):
        return subprocess.run(
            [os.path.join(HERE, "rest-server"), *arguments], capture_output=True, timeout=WAIT, check=False, **options
        )

    def test_it_lists_at_least_sixty_misbehaviours(self):
        self.assertGreaterEqual(len(self.run_program("--list-misbehaviours").stdout.splitlines()), 60)

    def test_accounts_come_by_standard_input_and_its_end_is_the_end(self):
        done = self.run_program("--accounts", "-", "--tls", input=json.dumps(ACCOUNTS).encode() + b"\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(os.path.exists(json.loads(done.stdout)["caFile"]))

    def test_wrong_options_are_refused(self):
        for arguments in (
            ["--set", "nothing=1"],
            ["--set", "rotation=perhaps"],
            ["--set", 'otpLength="six"'],
            ["--dialect", "/nowhere"],
        ):
            with self.subTest(arguments):
                done = self.run_program(*arguments, stdin=subprocess.DEVNULL)
                self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_wrong_calls_change_nothing(self):
        server = RestServer()
        self.addCleanup(server.stop)
        before = server.control("GET", "/settings")
        for path, body in (
            ("/settings", {"shape": "oauth", "rotation": "perhaps"}),
            ("/misbehave", {"name": "no-such"}),
            ("/accounts", {"email": "a"}),
            ("/backup-codes", {"email": "nobody@example.com"}),
            ("/nothing", {}),
        ):
            with self.subTest(path), self.assertRaisesRegex(OSError, "40[04]") as caught:
                server.control("POST", path, body)
            caught.exception.close()
        self.assertEqual(server.control("GET", "/settings"), before)

    def test_the_port_can_be_chosen(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = RestServer("--port", str(port))
        self.assertEqual(server.address[1], port)
        server.stop()
