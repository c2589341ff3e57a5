"""The examples of the Python package's README, run as they stand."""

import http.server
import os
import re
import threading
import unittest

from authbroker import Broker

from support import PASSWORD, AccountCase, until

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../clients/python/README.md")


class API(http.server.BaseHTTPRequestHandler):
    """An API that refuses the first token that it sees."""

    refused = None

    def do_GET(self):
        """Answers 401 for that token."""
        given = self.headers["Authorization"]
        API.refused = API.refused or given
        self.send_response(401 if given == API.refused else 200)
        self.end_headers()
        self.wfile.write(b"the body")

    def log_message(self, *arguments):
        """Says nothing."""


class ReadmeTests(AccountCase):
    """The examples of the README, run as they stand, in their order."""

    def test_the_examples_of_the_readme(self):
        """A token, a request, a login and events."""
        with open(README, encoding="utf-8") as file:
            blocks = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
        self.assertEqual(len(blocks), 4)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), API)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        names = {"url": f"http://127.0.0.1:{server.server_port}/", "ask_password": lambda: PASSWORD,
                 "ask_code": lambda _: self.newest()}
        try:
            exec(blocks[2], names)
            names["broker"].close()
            self.assertEqual(names["result"].status, "authenticated")
            exec(blocks[0], names)
            names["broker"].close()
            self.assertEqual(names["headers"], {"Authorization": "Bearer " + names["token"].value})
            exec(blocks[1], names)
            self.assertEqual(names["body"], b"the body")
            with Broker() as broker:
                logout = threading.Thread(target=lambda: (
                    until(lambda: broker.call("getStatus")["subscriptions"] == 1, "a subscriber"), broker.logout()))
                logout.start()
                exec(blocks[3], names)
                logout.join()
            self.assertGreater(names["last"], 0)
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


if __name__ == "__main__":
    unittest.main()
