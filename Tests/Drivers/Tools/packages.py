"""Environments with tools from PyPI, one for each file of `requirements`, installed once and kept in the build folder."""

import os
import subprocess
import sys

from broker import HERE, REPOSITORY, Failure

sys.path.append(os.path.join(REPOSITORY, "Tests", "Servers", "RESTServer"))
from restserver.packages import installed  # noqa: E402


def programs_of(name):
    """The folder of the programs that `requirements/NAME.txt` names, with a `python3` that finds their modules."""
    requirements = os.path.join(HERE, "requirements", name + ".txt")
    try:
        return os.path.dirname(installed("tools-" + name, requirements))
    except (subprocess.CalledProcessError, OSError) as error:
        raise Failure(f"{requirements} cannot be installed: {error}") from error


def python_client(broker):
    """A folder with the Python client as it is installed, for PYTHONPATH: module, metadata and entry points."""
    folder = broker.folder("python-client")
    if not os.listdir(folder):
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", folder,
             os.path.join(REPOSITORY, "clients", "python")],
            stdin=subprocess.DEVNULL, stdout=sys.stderr, env={**os.environ, "HOME": broker.home, "PIP_ROOT_USER_ACTION": "ignore"}, check=False)
        if done.returncode:
            raise Failure("the Python client cannot be installed")
    return folder
