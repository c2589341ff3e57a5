"""The owner's ways to answer whether a client may have a token, as the guide writes them (Consent.md), each really run."""

import json
import os
import re
import shutil
import subprocess
import sys

GUIDE = "Sources/Command/authbroker/AuthBroker.docc/Guides/Consent.md"
REPLY = "/lib/systemd/systemd-reply-password"
QUESTIONS = "/run/systemd/ask-password"


def recipes(root):
    """The scripts of the guide, by the program that asks."""
    with open(os.path.join(root, GUIDE), encoding="utf-8") as file:
        blocks = re.findall(r"```sh\n(#!/bin/sh\n.*?)```", file.read(), re.S)
    names = ("zenity", "systemd-ask-password", "pkcheck", "curl")
    return {name: next(block for block in blocks if name in block) for name in names}


def ask(broker):
    """A client's request for a token: its exit code."""
    return subprocess.Popen(
        ["authbroker", "token", "-p", "work"], env=broker.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def click(display, wait):
    """Answers a window with Allow, which is the button behind the default one."""
    environment = {**os.environ, "DISPLAY": display}

    def xdotool(*words):
        return subprocess.run(["xdotool", *words], env=environment, capture_output=True, text=True, check=False)

    window = wait(lambda: xdotool("search", "--onlyvisible", "--name", "AuthBroker").stdout.split())[0]
    # A window that is not shown yet takes no focus; keys wait in the order in which they come.
    wait(lambda: xdotool("windowfocus", "--sync", window).returncode == 0)
    xdotool("key", "Tab", "Return")


def reply(wait, word):
    """Answers a question of systemd-ask-password(1), as its agents do."""

    def question():
        for name in os.listdir(QUESTIONS) if os.path.isdir(QUESTIONS) else []:
            if name.startswith("ask."):
                with open(os.path.join(QUESTIONS, name), encoding="utf-8") as file:
                    text = file.read()
                socket = re.search(r"^Socket=(.*)$", text, re.M)
                if "AuthBroker" in text or "token" in text:
                    return socket and socket.group(1)
        return None

    socket = wait(question)
    subprocess.run([REPLY, "1", socket], input=word, text=True, check=True)


def scenes(Broker, webhook, address, wait):
    """What each way of asking came to: a name, whether it is right, and what it was."""
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
    scripts = recipes(root)

    def answered(name, script, by, variables=None):
        broker = Broker(sys.argv[1], [], variables)
        path = os.path.join(broker.home, "ask")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        os.chmod(path, 0o700)
        try:
            account = ("register", "-p", "work", "--email", "ann@example.com", "--password-stdin")
            broker.run(*account, text="example password 1\n")
            broker.configure(access={
                "rules": [{"profiles": ["work"], "confirm": "always"}], "confirm": {"command": [path], "timeoutSeconds": 30}})
            broker.run("reload")
            client = ask(broker)
            by()
            return name, client.wait(60)
        finally:
            broker.close()

    if all(map(shutil.which, ("zenity", "Xvfb", "xdotool", "jq"))):
        with subprocess.Popen(["Xvfb", ":77", "-screen", "0", "800x600x24"], stderr=subprocess.DEVNULL) as server:
            try:
                wait(lambda: os.path.exists("/tmp/.X11-unix/X77"))
                name, code = answered("zenity, Allow", scripts["zenity"], lambda: click(":77", wait), {"DISPLAY": ":77"})
                yield name, code == 0, f"exit code {code}"
            finally:
                server.terminate()
    if os.path.exists(REPLY) and os.getuid() == 0:
        for word, wanted in (("yes", 0), ("no", 6)):
            name, code = answered(
                f"systemd-ask-password, {word}", scripts["systemd-ask-password"], lambda word=word: reply(wait, word))
            yield name, code == wanted, f"exit code {code}"
    for status, wanted in ((204, 0), (403, 6)):
        webhook.status = status
        count = len(webhook.bodies)
        script = scripts["curl"].replace("https://approve.example.com/authbroker", address)
        name, code = answered(f"a service that answers {status}", script, lambda: None)
        body = json.loads(webhook.bodies[-1]) if len(webhook.bodies) > count else {}
        yield name, code == wanted and body.get("profile") == "work", f"exit code {code}"
