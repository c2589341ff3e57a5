"""The server's idea of the time, which a test can move instead of waiting for it."""

import datetime
import time


class Clock:
    """Seconds since 1970, with an offset that only the control interface changes."""

    def __init__(self):
        self.offset = 0.0

    def now(self):
        """The server's time; token lifetimes, codes and cooldowns all go by it."""
        return time.time() + self.offset

    def advance(self, seconds):
        """Makes lifetimes run out without anybody having to sleep."""
        self.offset += seconds


def rfc3339(seconds):
    """A point in time as the replies and the ledger write it: UTC, milliseconds, `Z`."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def http_date(seconds):
    """A point in time as HTTP header fields write it (RFC 9110 section 5.6.7)."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    days, months = "Mon Tue Wed Thu Fri Sat Sun".split(), "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
    return f"{days[moment.weekday()]}, {moment:%d} {months[moment.month - 1]} {moment:%Y %H:%M:%S} GMT"
