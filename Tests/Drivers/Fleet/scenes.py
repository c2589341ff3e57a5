"""Plays the scenes, each in a process of its own."""

import argparse
import contextlib
import os
import signal
import sys
import traceback

from chaos import TROUBLES
from rows import play

SCENES = ["tls", "least", "clocks", "expiry", "rest", "patroni", "chaos"]


def _stop(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def in_process(name, options):
    """The same in a process of its own."""
    child = os.fork()
    if child == 0:
        # Ended from outside, a scene still ends what it has started.
        signal.signal(signal.SIGTERM, _stop)
        code = 1
        try:
            code = 0 if play(name, options) else 1
        except BaseException:  # no traceback of the parent's
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    def end(*_):
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(child, signal.SIGTERM)
            os.waitpid(child, 0)
        sys.exit(1)

    signal.signal(signal.SIGTERM, end)
    return os.waitpid(child, 0)[1] == 0


def main():
    """Plays those that are named, or all."""
    parser = argparse.ArgumentParser(prog="Tests/Drivers/Fleet/run", description="Plays a fleet for real.")
    parser.add_argument("programs", help="the folder with authbroker and authbrokerd")
    parser.add_argument("scenes", nargs="*", metavar="scene", help=f"of {', '.join(SCENES)}; all of them where none is named")
    parser.add_argument("--members", type=int, default=5, help="of chaos, expiry and rest")
    parser.add_argument("--seconds", type=int, default=120, help="of chaos")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lifetime", type=int, default=40, help="of access tokens in chaos, in seconds")
    parser.add_argument("--only", choices=TROUBLES, help="the one trouble of chaos")
    parser.add_argument("--without", choices=TROUBLES, help="all troubles but this one")
    parser.add_argument("--rounds", type=int, default=5, help="of expiry")
    parser.add_argument("--profiles", type=int, default=1000, help="of rest")
    parser.add_argument("--keep", action="store_true", help="the folders, with the logs")
    options = parser.parse_args()
    options.programs = os.path.abspath(options.programs)
    names = options.scenes or SCENES
    unknown = [name for name in names if name not in SCENES]
    if unknown:
        parser.error(f"there is no scene {unknown[0]}; there are {' '.join(SCENES)}")
    failed = [name for name in names if not in_process(name, options)]
    print(f"\n{len(names)} scenes, {len(failed)} failed{': ' + ' '.join(failed) if failed else ''}")
    return 1 if failed else 0
