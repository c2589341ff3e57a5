"""Reads the members of JSON objects, so that what does not fit is told by its place and never by its value."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Mapping, NoReturn, Optional, Tuple, TypeVar

from ._errors import UnexpectedAnswer

Value = TypeVar("Value")
# RFC 3339: date, time, fraction of a second, offset.
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))")


def parse_time(text: str) -> Optional[datetime]:
    """Reads a time as of RFC 3339; None for anything else."""
    match = _TIME.fullmatch(text)
    if not match:
        return None
    offset = timedelta(hours=int(match[9] or 0), minutes=int(match[10] or 0))
    fraction = int((match[7] or "0")[:6].ljust(6, "0"))
    try:
        # A leap second is told as the second before it: `datetime` has none.
        time = datetime(int(match[1]), int(match[2]), int(match[3]), int(match[4]), int(match[5]),
                        min(int(match[6]), 59), fraction, timezone.utc)
        return time - offset if match[8] == "+" else time + offset
    except (ValueError, OverflowError):
        return None


class Members:
    """Reads the members of a JSON object; what does not fit is an `UnexpectedAnswer` that names the member alone."""

    def __init__(self, value: object, pointer: str = "") -> None:
        """Takes a decoded value and where it stands in the result (RFC 6901)."""
        self.pointer = pointer
        if not isinstance(value, dict):
            raise UnexpectedAnswer(f"{pointer or 'the result'} must be an object")
        self.raw: Mapping[str, Any] = value

    def _refuse(self, name: str, expected: str) -> NoReturn:
        raise UnexpectedAnswer(f"{self.pointer}/{name} must be {expected}")

    def text(self, name: str) -> str:
        """A string that must be there."""
        value = self.raw.get(name)
        return value if isinstance(value, str) else self._refuse(name, "a string")

    def optional_text(self, name: str) -> Optional[str]:
        """A string, or None."""
        return self.text(name) if self.raw.get(name) is not None else None

    def flag(self, name: str) -> bool:
        """A Boolean; false where it is absent."""
        value = self.raw.get(name, False)
        return value if isinstance(value, bool) else self._refuse(name, "true or false")

    def optional_flag(self, name: str) -> Optional[bool]:
        """A Boolean, or None."""
        return self.flag(name) if self.raw.get(name) is not None else None

    def optional_number(self, name: str) -> Optional[float]:
        """A number, or None."""
        value = self.raw.get(name)
        if value is None:
            return None
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else self._refuse(
            name, "a number")

    def integer(self, name: str) -> int:
        """A whole number that must be there."""
        value = self.raw.get(name)
        if isinstance(value, bool) or not isinstance(value, int):
            self._refuse(name, "a whole number")
        return value

    def optional_integer(self, name: str) -> Optional[int]:
        """A whole number, or None."""
        return self.integer(name) if self.raw.get(name) is not None else None

    def time(self, name: str) -> datetime:
        """A time that must be there."""
        value = self.raw.get(name)
        time = parse_time(value) if isinstance(value, str) else None
        return time if time is not None else self._refuse(name, "a time")

    def optional_time(self, name: str) -> Optional[datetime]:
        """A time, or None."""
        return self.time(name) if self.raw.get(name) is not None else None

    def texts(self, name: str) -> Tuple[str, ...]:
        """A list of strings; empty where it is absent."""
        values = self.raw.get(name, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            self._refuse(name, "a list of strings")
        return tuple(values)

    def values(self, name: str, read: Callable[[Members], Value]) -> Tuple[Value, ...]:
        """A list of objects; empty where it is absent."""
        values = self.raw.get(name, [])
        if not isinstance(values, list):
            self._refuse(name, "a list")
        return tuple(read(Members(value, f"{self.pointer}/{name}/{index}")) for index, value in enumerate(values))

    def optional_value(self, name: str, read: Callable[[Members], Value]) -> Optional[Value]:
        """An object, or None."""
        value = self.raw.get(name)
        return None if value is None else read(Members(value, f"{self.pointer}/{name}"))
