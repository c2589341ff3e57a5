"""Reading what clients send, as strictly as a backend may."""

import json
import urllib.parse

from .wire import MalformedRequest


def parse_form(body):
    """An `application/x-www-form-urlencoded` body as a dictionary; a name that comes twice is malformed."""
    try:
        pairs = urllib.parse.parse_qsl(
            body.decode("ascii"), keep_blank_values=True, strict_parsing=bool(body), errors="strict"
        )
    except ValueError:
        raise MalformedRequest("the form") from None
    if len({name for name, _ in pairs}) != len(pairs):
        raise MalformedRequest("a name twice in the form")
    return dict(pairs)


def parse_json(body):
    """A JSON object; duplicate names and other values are malformed."""

    def once(pairs):
        if len({name for name, _ in pairs}) != len(pairs):
            raise ValueError("a name twice")
        return dict(pairs)

    try:
        value = json.loads(body.decode("utf-8"), object_pairs_hook=once)
    except ValueError:
        raise MalformedRequest("the JSON") from None
    if not isinstance(value, dict):
        raise MalformedRequest("not a JSON object")
    return value
