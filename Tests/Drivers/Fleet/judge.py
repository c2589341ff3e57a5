"""Judges a fleet by the ledger of its backend, and by the tokens that clients were given."""

import collections
import hashlib
import threading

# A provider counts the life of a token from its answer, a broker from its question; clocks that differ by less than five
# seconds count as the same.
TOLERANCE = 6


def digest(token):
    """A token as the ledger names it."""
    return hashlib.sha256(token.encode()).hexdigest()[:12]


class Judge:
    """No refresh token is sent twice while the access token that came with it lives, and no client gets a dead token as a living
    one."""

    def __init__(self, backend, lifetime):
        self.backend, self.lifetime = backend, lifetime
        self.tokens, self.lock = {}, threading.Lock()

    def served(self, result, asked, member):
        """Notes a token that a client was given, and when it had asked (the clock of time.monotonic)."""
        if result.get("offline"):
            return
        name = digest(result["accessToken"])
        with self.lock:
            last = self.tokens.get(name)
            if last is None or asked > last[0]:
                self.tokens[name] = (asked, f"member {member.number}, clock {member.offset:+d} s")

    def dead(self):
        """What clients were given as living and was dead."""
        made, late = {}, []
        for entry in self.backend.ledger:
            if entry["event"] in ("login", "refresh") and entry.get("accessHash"):
                made[entry["accessHash"]] = entry["monotonic"]
        for name, (asked, who) in self.tokens.items():
            if name in made and asked - made[name] > self.lifetime + TOLERANCE:
                late.append(f"{asked - made[name]:.1f} s old, by {who}")
        return late

    def judge(self, rows):
        """Adds the rows; the counts of what the backend has seen."""
        counts, issued, sendings = collections.Counter(), {}, collections.defaultdict(list)
        twice, late = [], self.dead()
        for entry in self.backend.ledger:
            if entry["event"] not in ("login", "refresh"):
                continue
            new = entry["refreshToken"] if entry["event"] == "login" else entry.get("rotatedTo")
            if new and entry.get("outcome", "rotated") == "rotated":
                issued[new] = entry["monotonic"]
            if entry["event"] == "refresh":
                sendings[entry["token"]].append(entry)
        for token, entries in sendings.items():
            counts["refreshes"] += 1
            for entry in entries[1:]:
                counts["sent again"] += 1
                rest = issued.get(token, 0) + self.lifetime - entry["monotonic"]
                if rest > TOLERANCE:
                    twice.append(f"{token} is sent again {rest:.1f} s before its access token ends: "
                                 + ", ".join(f"{one['outcome']} {one['monotonic']:.1f}" for one in entries))
            counts["sessions lost by a lost reply"] += any(entry["outcome"] == "replayDetected" for entry in entries)
        if self.tokens:
            counts["tokens that clients saw"] = len(self.tokens)
        rows.add("no refresh token is sent twice while its access token lives", not twice,
                 "; ".join(twice) or f"{counts['refreshes']} spent, {counts['sent again']} sent again after that")
        if self.tokens:
            rows.add("no dead access token is handed out as a living one", not late,
                     "; ".join(late) or f"{counts['tokens that clients saw']} tokens")
        return counts
