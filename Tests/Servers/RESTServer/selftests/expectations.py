"""What the wire must show for each misbehaviour by name: a check of what a client sees. Names without an entry fail
the test."""

import json
import re

CHECKS = {}  # pattern of names to (check, parameters of the step, read to the end?, login with a code?)


def expect(pattern, check, step=None, whole=False, sms=False):
    """Enters a check for every name that the pattern matches whole."""
    CHECKS[re.compile(pattern)] = (check, step or {}, whole, sms)


def check_for(name):
    """The check of a name: (check, step, read to the end?, login with a code?), or None."""
    return next((found for pattern, found in CHECKS.items() if pattern.fullmatch(name)), None)


def nothing(end):
    """Not one byte, and that end."""
    return lambda seen, _: not seen.data and seen.end == end


def begins(end):
    """The head of a reply, not all of it, and that end."""
    return lambda seen, _: seen.data.startswith(b"HTTP/1.1 200") and seen.end == end


def sound(seen):
    """A reply that a login may have."""
    return seen.status == 200 and "access_token" in seen.json and "refresh_token" in seen.json


def unsound(seen):
    """A body that is not JSON by Python's reader."""
    try:
        json.loads(seen.body)
    except ValueError:
        return seen.status == 200
    return False


def member(seen, path):
    """The member at a dotted path, `KeyError` where there is none."""
    value = seen.json
    for name in path.split("."):
        value = value[name]
    return value


def absent(path):
    """The outermost object of the path is there, the member is not."""
    *parents, last = path.split(".")
    return lambda seen, _: last not in (member(seen, ".".join(parents)) if parents else seen.json)
