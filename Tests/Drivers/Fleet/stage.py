"""What all scenes share: rows, waiting, free ports, and programs that end with the scene."""

import contextlib
import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
# Long: the machines that this runs on have few cores and much to do.
PATIENCE = 90
EMAIL, PASSWORD = "ada@example.com", "example password 1"

sys.path.append(os.path.dirname(HERE))
import rows  # noqa: E402
from rows import Failure  # noqa: E402


def wait(is_done, what, limit=PATIENCE, pause=0.05):
    """As ``rows.wait``, for as long as a scene has patience."""
    return rows.wait(is_done, what, limit, pause)


def free_port(host="127.0.0.1"):
    """A port that no one listens on."""
    with socket.socket() as free:
        free.bind((host, 0))
        return free.getsockname()[1]


def percentiles(values):
    """The middle, the 99th of a hundred and the largest of some figures, in milliseconds."""
    ordered = sorted(values)
    at = [ordered[min(len(ordered) - 1, int(len(ordered) * part))] for part in (0.5, 0.99)] + [ordered[-1]]
    return "p50 %.0f ms, p99 %.0f ms, max %.0f ms" % tuple(1000 * value for value in at)


def as_nobody():
    """How a program is started that refuses to be root's."""
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []


def own(path):
    """Gives a folder or file to the user of those programs."""
    if os.geteuid() == 0:
        shutil.chown(path, "nobody", "nogroup")


def postgresql(program):
    """The path of one of PostgreSQL's programs.

    Raises: Failure where the package is missing.
    """
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{program}"), key=lambda path: int(path.split("/")[4]))
    if not found:
        raise Failure("PostgreSQL is not installed (package postgresql)")
    return found[-1]


def end(process, kind=signal.SIGKILL):
    """Ends a program that was started here."""
    if process is not None and process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.send_signal(kind)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Stage(contextlib.ExitStack):
    """The folder of a scene, and what is undone at its end."""

    def __init__(self, options):
        super().__init__()
        self.options, self.programs = options, options.programs
        # Short: the path of a Unix socket has room for 107 bytes.
        self.folder = tempfile.mkdtemp(prefix="ab-fleet-", dir="/tmp")
        os.chmod(self.folder, 0o755)
        if options.keep:
            print("kept: " + self.folder, flush=True)
        else:
            self.callback(shutil.rmtree, self.folder, ignore_errors=True)

    def new_folder(self, name):
        """A folder of the user of PostgreSQL's programs."""
        path = os.path.join(self.folder, name)
        os.makedirs(path)
        own(path)
        return path

    def file(self, name, text, mode=0o600):
        """Writes a file; its path."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path
