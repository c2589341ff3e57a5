"""Plays the scenes, each in a process of its own, which is an ordinary user's."""

import os
import shutil
import sys
import tempfile

from stage import ORDINARY
from rows import play

SCENES = ["throughput", "smuggling", "programs", "bodies", "parsers", "users", "login", "slow", "proofs"]
# Scenes in which root starts programs of several users.
OF_ROOT = {"users"}


def in_process(name, programs):
    """The same in a process of its own."""
    child = os.fork()
    if child == 0:
        if os.getuid() == 0 and name not in OF_ROOT:
            os.setgroups([])
            os.setgid(ORDINARY)
            os.setuid(ORDINARY)
            os.environ["HOME"] = "/nonexistent"
        code = 0 if play(name, programs) else 1
        sys.stdout.flush()
        os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def main():
    """Plays those that are named, or all."""
    if len(sys.argv) < 2:
        print("usage: run BIN-FOLDER [SCENE …]", file=sys.stderr)
        return 2
    names = sys.argv[2:] or SCENES
    unknown = [name for name in names if name not in SCENES]
    if unknown:
        print(f"there is no scene {unknown[0]}; there are {' '.join(SCENES)}", file=sys.stderr)
        return 2
    # The programs where every user can start them.
    folder = tempfile.mkdtemp(prefix="ab-", dir="/tmp")
    os.chmod(folder, 0o755)
    try:
        for name in ("authbroker", "authbrokerd"):
            shutil.copy(os.path.join(sys.argv[1], name), folder)
            os.chmod(os.path.join(folder, name), 0o755)
        failed = [name for name in names if not in_process(name, folder)]
    finally:
        shutil.rmtree(folder)
    print(f"\n{len(names)} scenes, {len(failed)} failed{': ' + ' '.join(failed) if failed else ''}")
    return 1 if failed else 0
