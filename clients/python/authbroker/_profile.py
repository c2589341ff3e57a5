"""The profile that is meant where a call names none."""

import os
from typing import Optional

#: The longest name has 64 characters.
_LONGEST = 256


def current(profile: Optional[str]) -> Optional[str]:
    """The given profile, else that of `AUTHBROKER_PROFILE`, else that of `authbroker profile use`; None: the broker's."""
    if profile is not None:
        return profile
    return os.environ.get("AUTHBROKER_PROFILE") or _of_file()


def _of_file() -> Optional[str]:
    base, home = os.environ.get("XDG_CONFIG_HOME", ""), os.environ.get("HOME", "")
    if not base.startswith("/"):
        if not home.startswith("/"):
            return None
        base = f"{home}/.config"
    try:
        # A FIFO must not block.
        descriptor = os.open(f"{base}/authbroker/profile", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(descriptor, _LONGEST).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return next(iter(text.splitlines()), None) or None
