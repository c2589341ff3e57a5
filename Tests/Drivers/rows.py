"""Drivers that play scenes: rows, and waiting."""

import importlib
import time
import traceback


class Failure(Exception):
    """A scene that cannot go on, with the reason."""


class Rows:
    """What is printed, and how much of it is wrong."""

    def __init__(self, scene):
        self.scene, self.count, self.failed = scene, 0, 0

    def add(self, what, is_right, seen=""):
        """A row; `seen` is what happened, without secrets."""
        self.count += 1
        self.failed += not is_right
        self._print("PASS" if is_right else "FAIL", what, seen)

    def skip(self, what, why):
        """Something that cannot be had here: a scene of which nothing was judged is none that is right."""
        self._print("SKIP", what, why)

    def note(self, what, seen):
        """A figure that is neither right nor wrong."""
        self._print("NOTE", what, seen)

    def _print(self, word, what, seen):
        print(f"{word} {self.scene} | {what} | {' '.join(str(seen).split())[:900]}", flush=True)


def play(scene, *arguments):
    """Plays one scene, the function of its module's name; whether all of its rows are right."""
    rows = Rows(scene)
    try:
        getattr(importlib.import_module(scene), scene)(*arguments, rows)
    except Exception as error:  # the other scenes are still played
        traceback.print_exc()
        rows.add("the scene itself", False, f"{type(error).__name__}: {error}")
    return rows.count > 0 and not rows.failed


def wait(is_done, what, limit, pause=0.05):
    """Waits until something is so; what it is.

    Raises: Failure once the time is over.
    """
    end = time.monotonic() + limit
    while True:
        value = is_done()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure(f"not within {limit} s: {what}")
        time.sleep(pause)
