"""Drives a headless Chromium by the DevTools protocol, over a pair of pipes (`--remote-debugging-pipe`)."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

WAIT = 900  # seconds; a busy machine starts a browser slowly


class BrowserFailed(Exception):
    """The browser did not do what it was told, in time."""


class Chromium:
    """One browser with one page."""

    def __init__(self, program="chromium"):
        self.profile = tempfile.mkdtemp(prefix="authbroker-chromium-")
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        arguments = [
            program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-default-browser-check",
            "--no-proxy-server", "--ignore-certificate-errors", f"--user-data-dir={self.profile}", "--window-size=900,700",
            "--remote-debugging-pipe", "about:blank",
        ]
        # The browser reads from descriptor 3 and writes to 4, whatever these pipes are called here.
        script = f'exec 3<&{commands} 4>&{answers}; exec "$@"'
        environment = {"PATH": os.environ["PATH"], "HOME": self.profile, "LANG": "C.UTF-8"}
        with open(os.path.join(self.profile, "log"), "wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", script, "bash", *arguments], pass_fds=(commands, answers), stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env=environment, start_new_session=True)
        os.close(commands)
        os.close(answers)
        self.count, self.unread, self.events, self.session = 0, b"", [], None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(domain + ".enable")

    def close(self):
        """Ends the browser and removes all that it wrote."""
        try:
            self.session = None
            self.call("Browser.close")
        except (BrowserFailed, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self, deadline):
        """The next message of the browser; None at the deadline."""
        while b"\0" not in self.unread:
            if not select.select([self.answers], [], [], max(0, deadline - time.monotonic()))[0]:
                return None
            more = os.read(self.answers, 65536)
            if not more:
                raise BrowserFailed("the browser has ended: " + self.log())
            self.unread += more
        text, _, self.unread = self.unread.partition(b"\0")
        return json.loads(text)

    def log(self):
        """The end of what the browser said."""
        with open(os.path.join(self.profile, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()[-2000:]

    def call(self, method, **params):
        """Calls a method and gives its result; events that come meanwhile are kept."""
        self.count += 1
        number, deadline = self.count, time.monotonic() + WAIT
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message(deadline)
            if answer is None:
                raise BrowserFailed(f"{method}: no answer: {self.log()}")
            if answer.get("id") == number:
                if "error" in answer:
                    raise BrowserFailed(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def arrive(self):
        """Waits until another page than the marked one is there, whole."""
        deadline = time.monotonic() + WAIT
        there = "!window.leaving && document.readyState == 'complete' && !!document.body && location.protocol != 'chrome-error:'"
        while time.monotonic() < deadline:
            try:
                if self.run(there):
                    break
            except BrowserFailed:
                pass  # between two pages there is none
            time.sleep(0.02)
        else:
            raise BrowserFailed("the next page did not come")
        for event in self.events:
            self.note(event)
        self.events = []

    requests = ()

    def note(self, event):
        """Keeps the addresses that the browser asks for."""
        if event.get("method") == "Network.requestWillBeSent":
            self.requests = (*self.requests, event["params"]["request"]["url"])

    def run(self, script):
        """Runs JavaScript in the page; its value."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise BrowserFailed(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def open(self, address):
        """Opens an address and waits until the page is there; says whether nobody answered."""
        self.events, self.requests = [], ()
        self.run("window.leaving = true")
        error = self.call("Page.navigate", url=address).get("errorText")
        if error:
            return error
        self.arrive()
        return None

    def submit(self, script):
        """Runs JavaScript that leads to another page, and waits for that."""
        self.run("window.leaving = true")
        self.run(script)
        self.arrive()

    @property
    def address(self):
        """Where the page is from."""
        return self.run("location.href")

    @property
    def text(self):
        """What a person reads."""
        return self.run("document.body.innerText")

    def screenshot(self, path):
        """Writes a picture of the page (PNG)."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
