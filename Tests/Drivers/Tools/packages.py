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
