"""What the server does wrong when a test asks for it: replies get lost, or say something else."""

import threading

KINDS = ("drop-after-commit", "drop-before", "answer", "hold")


class UnknownFault(Exception):
    """A fault that is none."""


class Faults:
    """Faults that wait for the next request of their endpoint."""

    def __init__(self):
        self.waiting, self.lock, self.released = [], threading.Lock(), threading.Event()

    def add(self, fault):
        """Plans a fault: `{"endpoint","kind","times"?,"status"?,"body"?,"fields"?}`; -1 times is for ever."""
        if fault.get("kind") not in KINDS:
            raise UnknownFault(f"kind is one of {', '.join(KINDS)}")
        with self.lock:
            self.waiting.append({"times": 1, "status": 400, "body": "", "fields": {}, **fault})
            return len(self.waiting)

    def clear(self):
        """Forgets what is planned, and lets go on who is held."""
        with self.lock:
            self.waiting = []
            held, self.released = self.released, threading.Event()
        held.set()

    def take(self, endpoint):
        """The fault of the next request to an endpoint, if there is one."""
        with self.lock:
            for fault in self.waiting:
                if fault.get("endpoint", endpoint) != endpoint:
                    continue
                fault["times"] -= 1
                if fault["times"] == 0:
                    self.waiting.remove(fault)
                return dict(fault)
        return None
