"""The Python package where no broker runs."""

import json
import os
import threading
import unittest

from authbroker import AuthenticationRequired, Broker, NoBroker

from support import PATIENCE, Case


class StartTests(Case):
    """Where there is no broker."""

    def test_nothing_is_started_where_that_is_not_wanted(self):
        """The sentence says what to do."""
        with self.assertRaises(NoBroker) as raised:
            Broker(start=False).session()
        self.assertIn("authbroker serve", str(raised.exception))
        with self.assertRaises(NoBroker) as raised:
            Broker(socket=os.path.join(self.root, "none.sock")).session()
        self.assertIn("none.sock", str(raised.exception))
        self.assertIsNone(self.pid())

    def test_a_daemon_that_cannot_be_started_is_named(self):
        """No program, and one that is no daemon."""
        for program, text in (("/proc/nonexistent/authbrokerd", "AUTHBROKER_DAEMON"), ("/bin/true", "broker.log")):
            os.environ["AUTHBROKER_DAEMON"] = program
            with self.assertRaises(NoBroker) as raised:
                Broker().session()
            self.assertIn(text, str(raised.exception))

    def test_a_daemon_says_itself_why_it_does_not_start(self):
        """A configuration that is wrong."""
        os.environ["AUTHBROKER_CONFIG"] = os.path.join(self.root, "config.json")
        with open(os.environ["AUTHBROKER_CONFIG"], "w", encoding="utf-8") as file:
            file.write('{"profile": {}}')
        with self.assertRaises(NoBroker) as raised:
            Broker().session()
        self.assertIn("profile", str(raised.exception))

    def test_thirty_clients_start_one_broker(self):
        """Each reaches it."""
        pids = []

        def ask():
            with Broker() as broker:
                pids.append(broker.call("getStatus")["pid"])

        threads = [threading.Thread(target=ask) for _ in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(pids, [self.pid()] * 30)

    def test_another_configuration_than_that_of_the_broker_is_refused(self):
        """It belongs to the owner."""
        with Broker() as broker:
            broker.session()
        path = os.path.join(self.root, "other.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({}, file)
        with self.assertRaises(NoBroker) as raised:
            Broker(config=path).session()
        self.assertIn("other.json", str(raised.exception))

    def test_a_session_is_required(self):
        """The class of the error says so."""
        with Broker() as broker, self.assertRaises(AuthenticationRequired) as raised:
            broker.access_token()
        self.assertEqual((raised.exception.kind, raised.exception.next_action), ("loginRequired", "login"))


if __name__ == "__main__":
    unittest.main()
