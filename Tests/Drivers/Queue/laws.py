"""What the clients were told, and whether what reached the API fits it."""

import collections


class Entry:
    """A request that a client wanted to be queued."""

    def __init__(self, profile, number, key, user):
        self.profile, self.number, self.key, self.user = profile, number, key, user
        self.id = None  # once it is acknowledged
        # When a client was told that it had been taken out before it was sent, or while it was under way.
        self.cancelled_at = self.cancelled_under_way_at = None
        self.ended_before = None  # when it was seen as ended by a broker that had not ended it itself
        self.state = None


class Laws:
    """The laws of the queue over everything that has happened."""

    def __init__(self):
        self.entries, self.broken = [], []

    def fail(self, law, entry, what):
        """Writes down a violation."""
        self.broken.append(f"{law}: {entry.profile} {entry.number} key {entry.key}: {what}")

    def open_entries(self, profile=None):
        """Those that were acknowledged and are not known to have ended."""
        return [entry for entry in self.entries if entry.id and not entry.ended_before and profile in (None, entry.profile)]

    def see_after_start(self, listed, now):
        """A list of a broker that has just begun: nothing that was acknowledged may be missing."""
        by_id = {one["requestId"]: one for one in listed}
        for entry in self.open_entries():
            one = by_id.get(entry.id)
            if one is None:
                self.fail("an acknowledged entry survives", entry, "it is not listed after a start")
                entry.ended_before = now
                continue
            entry.state = one
            if one["idempotencyKey"] != entry.key:
                self.fail("never under another key", entry, one["idempotencyKey"])
            if entry.cancelled_at and one.get("kind") != "cancelled":
                self.fail("a cancelled entry stays so", entry, f"{one['state']} {one.get('kind')}")
        waiting = [one["idempotencyKey"] for one in listed if one["state"] in ("queued", "sending")]
        for profile in ("shop", "maps"):
            numbers = [entry.number for key in waiting for entry in self.entries if entry.key == key and entry.profile == profile]
            if numbers != sorted(numbers):
                self.broken.append(f"order of the list of {profile}: {numbers}")

    def judge(self, ledger):
        """Looks at all that has come, in its order."""
        by_key = {entry.key: entry for entry in self.entries}
        furthest = collections.defaultdict(int)
        for arrival in ledger.arrivals:
            entry = by_key.get(arrival.key)
            if entry is None or (entry.profile, entry.number) != (arrival.profile, arrival.number):
                self.broken.append(f"never under another key: {arrival.profile} {arrival.number} came with {arrival.key}")
                continue
            if arrival.user is not None and arrival.user != entry.user:
                self.fail("never under another user", entry, f"{entry.user} queued it, {arrival.user} sent it")
            if entry.cancelled_at and arrival.time > entry.cancelled_at:
                self.fail("a cancelled entry is never sent", entry, f"{arrival.time - entry.cancelled_at:.4f} s after that was said")
            if entry.ended_before and arrival.time > entry.ended_before:
                self.fail("what has ended is not sent again", entry, "it came after it had ended")
            if arrival.number < furthest[arrival.profile] and not entry.cancelled_under_way_at:
                self.fail("order", entry, f"it came after {furthest[arrival.profile]}")
            furthest[arrival.profile] = max(furthest[arrival.profile], arrival.number)
        acts = collections.Counter((arrival.profile, arrival.number) for arrival in ledger.effects.values())
        self.broken += [f"at most one effect: {what} had {count}" for what, count in acts.items() if count > 1]
        for profile in ("shop", "maps"):
            numbers = [arrival.number for arrival in ledger.effects.values() if arrival.profile == profile]
            if numbers != sorted(numbers):
                self.broken.append(f"order of effects of {profile}: {numbers}")

    def judge_ends(self, ledger, listed):
        """Looks at how each has ended: what was acknowledged and not cancelled has been done, and its answer is there."""
        by_id, ends = {one["requestId"]: one for one in listed}, collections.Counter()
        for entry in self.entries:
            if not entry.id:
                ends["never acknowledged, " + ("done" if entry.key in ledger.effects else "not done")] += 1
                continue
            one = by_id.get(entry.id, entry.state or {})
            end = f"{one.get('state')} {one.get('status') or one.get('kind')}"
            ends[end] += 1
            wanted = entry.cancelled_at or entry.cancelled_under_way_at or one.get("status") == 500
            if not wanted and (one.get("status") != 201 or entry.key not in ledger.effects):
                self.fail("an acknowledged entry is done", entry, f"{end}, done: {entry.key in ledger.effects}")
        return dict(ends)
