"""A broker with an account for the commands that other programs start, and those commands run instruction by instruction."""

import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HOST, MAIL = "tool.example.test", "smtps://mail.example.test:465"
SERVER = f"https://{HOST}"
CLUSTER = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
           "spec": {"cluster": {"server": SERVER}, "interactive": False}}
GIT_QUESTION = f"protocol=https\nhost={HOST}\n\n"
PASSWORD = "not-a-real-password-1"
# More than any of these commands takes, on a machine that does much else.
PATIENCE = 120


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
        json.dump({"profiles": {"default": {"provider": "local", "allowIdToken": True}},
                   "targets": {SERVER: "default", MAIL: "default"}}, file)
    return {"PATH": os.environ["PATH"], "HOME": folder, "AUTHBROKER_STATE": os.path.join(folder, "state"),
            "AUTHBROKER_CONFIG": configuration, "KUBERNETES_EXEC_INFO": json.dumps(CLUSTER),
            "GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE": "authbroker",
            "GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE": "urn:ietf:params:oauth:token-type:id_token"}


@contextlib.contextmanager
def broker(daemon, folder, variables, log):
    """A daemon for the state directory of these variables, until the body ends; gives the path of its socket."""
    path = os.path.join(folder, "broker.sock")
    reader, writer = os.pipe()
    with open(log, "wb") as file:
        process = subprocess.Popen(
            [daemon, "--state", variables["AUTHBROKER_STATE"], "--socket", path, "--ready-fd", str(writer)],
            stdin=subprocess.DEVNULL, stdout=file, stderr=file, pass_fds=[writer], env=variables)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as said:
            if said.readline() != b"ready\n":
                with open(log, encoding="utf-8", errors="replace") as file:
                    fail(f"the daemon does not start:\n{file.read()[-2000:]}")
        yield path
    finally:
        process.terminate()
        process.wait(PATIENCE)


class Stepper:
    """Runs static programs instruction by instruction."""

    def __init__(self, folder, variables):
        # Single steps never end a pair of exclusive load and store, which atomics of other processors are made of.
        if platform.machine() != "x86_64":
            fail(f"programs are run by single steps on x86_64 only, and this machine is {platform.machine()}")
        self.program, self.place, self.variables = os.path.join(folder, "steps"), os.path.join(folder, "addresses"), variables
        compile_c("steps.c", self.program)

    def run(self, words, text=""):
        """How often each instruction of a program's own text ran, by its address, in the order of the first time."""
        done = subprocess.run([self.program, self.place, *words], input=text, env=self.variables, capture_output=True, text=True,
                              check=False, timeout=PATIENCE)
        if done.returncode:
            fail(f"{' '.join(words)}: {done.stderr.strip()} (exit {done.returncode})")
        with open(self.place, encoding="ascii") as file:
            return {int(address, 16): int(count) for address, count in map(str.split, file)}


def functions(program):
    """The functions of a program: the names at each address."""
    names = {}
    for line in subprocess.run(["nm", "-n", program], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwWiI":
            names.setdefault(int(words[0], 16), []).append(words[2])
    return names or fail(f"{program} has no symbols")
