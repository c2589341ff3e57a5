"""The catalogue of misbehaviours by name, and the plan of which one comes when.

There are three moments: `accept` (a connection has come, nothing is read), `arrival` (the first byte of a request
waits to be read, so nobody
knows its endpoint) and `request` (the request has been read). Steps for the first two moments ignore their endpoint.
"""

import threading

CATALOGUE = {}


class UnknownMisbehaviour(Exception):
    """A name that the catalogue has not."""


class Misbehaviour:
    """A named way to go wrong. `act` gets an exchange (or connection and server, before there is one) and the step
    with its parameters."""

    def __init__(self, name, moment, summary, act):
        self.name, self.moment, self.summary, self.act = name, moment, summary, act


def misbehaviour(name, summary, moment="request"):
    """Enters the function below into the catalogue."""

    def enter(act):
        assert name not in CATALOGUE, name
        CATALOGUE[name] = Misbehaviour(name, moment, summary, act)
        return act

    return enter


class Plan:
    """The steps to come, in order. Each is taken by the next request of its endpoint (`*`: of any), `times` times
    (-1: for ever)."""

    def __init__(self):
        self.lock = threading.Lock()
        self.steps = []

    def add(self, order):
        """Takes `{"endpoint", "steps": [{"name", "times", …}]}` or one step with its endpoint; `"replace": true`
        forgets the earlier ones."""
        endpoint = order.get("endpoint", "*")
        given = order.get("steps") or ([order] if "name" in order else [])
        steps = []
        for step in given:
            if step.get("name") not in CATALOGUE:
                raise UnknownMisbehaviour(f"no misbehaviour is called {step.get('name')!r}")
            moment = CATALOGUE[step["name"]].moment
            steps.append(
                {
                    "endpoint": endpoint if moment == "request" else moment,
                    "times": 1,
                    **{name: value for name, value in step.items() if name not in ("endpoint", "steps", "replace")},
                }
            )
        with self.lock:
            if order.get("replace") or order.get("clear"):
                self.steps.clear()
            self.steps += steps

    def take(self, moment, endpoint=None):
        """The step for this moment, or None; taking uses it up."""
        with self.lock:
            for step in self.steps:
                if CATALOGUE[step["name"]].moment != moment or (
                    moment == "request" and step["endpoint"] not in ("*", endpoint)
                ):
                    continue
                if step["times"] > 0:
                    step["times"] -= 1
                    if step["times"] == 0:
                        self.steps.remove(step)
                return dict(step)
            return None

    def clear(self):
        """Behaves from now on."""
        with self.lock:
            self.steps.clear()

    def pending(self):
        """What is still to come."""
        with self.lock:
            return [dict(step) for step in self.steps]


class Gate:
    """Where held exchanges wait, so that a test can act at a chosen moment without measuring time."""

    def __init__(self):
        self.condition = threading.Condition()
        self.opened, self.held = 0, []

    def wait(self, seconds, who):
        """Waits until the next `release`, or that many seconds."""
        with self.condition:
            opened = self.opened
            self.held.append(who)
            self.condition.notify_all()
            self.condition.wait_for(lambda: self.opened > opened, timeout=seconds)
            self.held.remove(who)
            self.condition.notify_all()

    def release(self):
        """Lets everybody go on; returns how many that were."""
        with self.condition:
            self.opened += 1
            self.condition.notify_all()
            return len(self.held)

    def wait_held(self, count, seconds):
        """Waits until at least that many are held; returns who."""
        with self.condition:
            self.condition.wait_for(lambda: len(self.held) >= count, timeout=seconds)
            return list(self.held)
