"""A broker with an account for the commands that other programs start, and those commands run instruction by instruction."""

import contextlib
import json
import os
import platform
import re
import select
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD") or os.path.join(HERE, "..", "..", "..", ".build")
HOST, MAIL = "tool.example.test", "smtps://mail.example.test:465"
SERVER = f"https://{HOST}"
CLUSTER = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
           "spec": {"cluster": {"server": SERVER}, "interactive": False}}
CRATES = {"v": 1, "registry": {"index-url": f"sparse+{SERVER}/"}, "kind": "get", "operation": "read"}

# The commands that other programs start for each of their requests, those first that run most often: the command line, what
# it reads, and the arguments of the least C program that does the same (../Benchmarks/ask.c).
COMMANDS = [
    (["token"], "", ["token"]),
    (["header"], "", ["header"]),
    (["helper", "git", "get"], f"protocol=https\nhost={HOST}\n\n", ["git"]),
    (["helper", "docker", "get"], f"{HOST}\n", ["url", SERVER]),
    (["helper", "kubectl"], "", ["once", SERVER]),
    (["helper", "cargo", "--cargo-plugin"], json.dumps(CRATES) + "\n", ["url", SERVER]),
    (["helper", "keyring", "get", SERVER, "user"], "", ["url", SERVER]),
    (["helper", "curl", SERVER], "", ["url", SERVER]),
    (["helper", "go", SERVER], "", ["url", SERVER]),
    (["helper", "bazel", "get"], json.dumps({"uri": SERVER}), ["once", SERVER]),
    (["helper", "terraform", "get", HOST], "", ["url", SERVER]),
    (["helper", "google"], "", ["url", SERVER]),
    (["helper", "sasl", MAIL, "user"], "", ["url", MAIL]),
]
SOCKET = "SOCKET"  # stands for the broker's
WITH_SOCKET = [(words, "", ["token"]) for words in (["token", "--socket", SOCKET], ["--socket", SOCKET, "token"])]
PASSWORD = "not-a-real-password-1"
# What each of these commands prints somewhere, in base64: the beginning of a JSON Web Token's header (RFC 7519), or that of an answer
# that is encoded as a whole, `user=user` of XOAUTH2.
TOKEN_MARKS = ("eyJ", "dXNlcj11c2Vy")
# More than any of these commands takes, on a machine that does much else.
PATIENCE = 120


# Ended from outside, a driver ends what it has started.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(f"{os.path.basename(sys.argv[0])}: ended"))


def fail(sentence):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {sentence}")


def compile_c(source, program, *options):
    """Compiles a C file of this folder, or one that is named by its whole path."""
    compiler = shutil.which("cc") or shutil.which("clang") or fail("there is no C compiler; install gcc")
    subprocess.run([compiler, "-O2", *options, "-o", program, os.path.join(HERE, source)], check=True, timeout=PATIENCE)


def environment(folder):
    """Writes a configuration into a folder, and returns the variables of commands that use it."""
    configuration = os.path.join(folder, "config.json")
    with open(os.open(configuration, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        json.dump({"profiles": {"default": {"provider": "local"}},
                   "targets": {SERVER: "default", MAIL: "default"}}, file)
    return {"PATH": os.environ["PATH"], "HOME": folder, "AUTHBROKER_STATE": os.path.join(folder, "state"),
            "AUTHBROKER_CONFIG": configuration, "KUBERNETES_EXEC_INFO": json.dumps(CLUSTER),
            "GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE": f"//{HOST}",
            "GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE": "urn:ietf:params:oauth:token-type:jwt"}


@contextlib.contextmanager
def broker(words, folder, variables, log):
    """A daemon for the state directory of these variables, until the body ends; gives the path of its socket.

    `words` are the daemon's program, behind a program that runs it where there is one.
    """
    path = os.path.join(folder, "broker.sock")
    reader, writer = os.pipe()
    with open(log, "wb") as file:
        process = subprocess.Popen(
            [*words, "--state", variables["AUTHBROKER_STATE"], "--socket", path, "--ready-fd", str(writer)],
            stdin=subprocess.DEVNULL, stdout=file, stderr=file, pass_fds=[writer], env=variables)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as said:
            if not select.select([said], [], [], PATIENCE)[0] or said.readline() != b"ready\n":
                with open(log, encoding="utf-8", errors="replace") as file:
                    fail(f"the daemon does not start:\n{file.read()[-2000:]}")
        yield path
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def can_step():
    """Whether programs can be run by single steps: they never end a pair of exclusive load and store, of which other processors make atomics."""
    return platform.machine() == "x86_64"


def compiler():
    """The compiler and its version, as `swift --version` says them first."""
    said = subprocess.run(["swift", "--version"], check=True, capture_output=True, text=True, timeout=PATIENCE).stdout
    return re.search(r"Swift version \S+", said)[0]


class Stepper:
    """Runs static programs instruction by instruction."""

    def __init__(self, folder, variables):
        if not can_step():
            fail(f"programs are run by single steps on x86_64 only, and this machine is {platform.machine()}")
        self.program, self.place, self.variables = os.path.join(folder, "steps"), os.path.join(folder, "addresses"), variables
        compile_c("steps.c", self.program)

    def run(self, words, text="", marks=("",)):
        """How often each instruction of a program's own text ran, by its address, in the order of the first time.

        What the program prints must hold one of the marks.
        """
        done = subprocess.run([self.program, self.place, *words], input=text, env=self.variables, capture_output=True, text=True,
                              check=False, timeout=PATIENCE)
        if done.returncode or not any(mark in done.stdout for mark in marks):
            fail(f"{' '.join(words)}: {done.stderr.strip()} (exit {done.returncode})")
        with open(self.place, encoding="ascii") as file:
            return {int(address, 16): int(count) for address, count in map(str.split, file)}


def layout(name):
    """The file that lists the functions of a released program in the order in which its file has them (.ci/lay-out)."""
    return os.path.join(BUILD, "layout", name)


def write_layout(name, names):
    os.makedirs(os.path.dirname(layout(name)), exist_ok=True)
    with open(layout(name) + ".new", "w", encoding="utf-8") as file:
        file.writelines(f"{one}\n" for one in names)
    os.replace(file.name, layout(name))


def functions(program):
    """The functions of a program: the names at each address."""
    names = {}
    for line in subprocess.run(["nm", "-n", program], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwWiI":
            names.setdefault(int(words[0], 16), []).append(words[2])
    return names or fail(f"{program} has no symbols")
