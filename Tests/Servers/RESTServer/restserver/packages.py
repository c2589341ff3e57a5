"""Environments for servers that are made of packages from PyPI, installed once and kept in the build folder."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..")
BUILD = os.environ.get("BUILD") or os.path.join(ROOT, ".build")


def installed(name, requirements, cache=None):
    """Makes the environment that a server runs in, unless it is there; its Python interpreter.

    It is kept in NAME of the build folder, or `cache`, for as long as the file of `requirements` says the same. Raises OSError or
    subprocess.CalledProcessError where it cannot be made.
    """
    cache = cache or os.path.join(BUILD, name)
    with open(requirements, "rb") as file:
        wanted = hashlib.sha256(file.read() + sys.version.encode()).hexdigest()[:16]
    os.makedirs(cache, exist_ok=True)
    place = os.path.join(os.path.realpath(cache), "venv-" + wanted)
    python = os.path.join(place, "bin", "python3")
    stamp = os.path.join(place, "complete")
    if os.path.exists(stamp):
        return python
    # Many tests start at once: one of them installs, the others wait for it.
    with open(os.path.join(cache, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(stamp):
            print(f"{name}: installing from PyPI, once …", file=sys.stderr, flush=True)
            shutil.rmtree(place, ignore_errors=True)
            # pip asks other programs for their versions, and those write into the home directory.
            surroundings = {**os.environ, "HOME": place}
            run = {"check": True, "stdin": subprocess.DEVNULL, "stdout": sys.stderr, "env": surroundings}
            subprocess.run([sys.executable, "-m", "venv", place], **run)
            pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
            subprocess.run([*pip, "install", "--requirement", requirements], **run)
            open(stamp, "w", encoding="ascii").close()
    return python
