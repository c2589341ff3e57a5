"""The second factor: a code by SMS, with a number of attempts, an end, and a pause before the next message."""

import secrets

from .clock import rfc3339


class Flow:
    """One login that waits for its code."""

    def __init__(self, account, now, settings):
        self.id = f"flow-{secrets.token_hex(12)}"
        self.account, self.attempts_left = account, settings["otpMaxAttempts"]
        self.ended = None
        self.send(now, settings)

    def send(self, now, settings):
        """Makes a new code; the former one is worth nothing from now on."""
        self.code = "".join(secrets.choice("0123456789") for _ in range(settings["otpLength"]))
        self.expires = now + settings["otpLifetimeSeconds"]
        self.next_message = now + settings["otpResendCooldownSeconds"]

    def challenge(self, now, settings):
        """What the client is told. `minimal` is all that the seeds' backend says."""
        told = {"requires2FA": True, "otpFlowId": self.id, "maskedPhone": masked(self.account.phone)}
        if settings["challengeDetail"] == "minimal":
            return told
        return {
            **told,
            "method": "sms",
            "otpLength": len(self.code),
            "expiresInSeconds": round(self.expires - now),
            "expiresAt": rfc3339(self.expires),
            "nextAllowedAt": rfc3339(self.next_message),
            "attemptsRemaining": self.attempts_left,
            "backupCodesAllowed": settings["backupCodesAllowed"],
        }


def masked(phone):
    """A telephone number as people may see it: the last four digits."""
    return "*" * max(len(phone or "") - 4, 0) + (phone or "")[-4:]


class SecondFactor:
    """All flows, and every message ever sent, which the control interface shows in place of a telephone."""

    def __init__(self, clock, settings):
        self.clock, self.settings = clock, settings
        self.flows, self.messages = {}, []

    def begin(self, account):
        """Sends the first code. A login replaces the account's former one."""
        for flow in self.flows.values():
            if flow.account is account and not flow.ended:
                flow.ended = "replaced"
        flow = Flow(account, self.clock.now(), self.settings)
        self.flows[flow.id] = flow
        self._message(flow)
        return flow

    def again(self, flow):
        """Sends a new code, or returns the time from which that is allowed."""
        now = self.clock.now()
        if now < flow.next_message:
            return flow.next_message
        flow.send(now, self.settings)
        self._message(flow)
        return None

    def find(self, identifier):
        """An open flow, or the reason why there is none: `flow_not_found`, `otp_expired`, `too_many_attempts`."""
        flow = self.flows.get(identifier) if isinstance(identifier, str) else None
        if flow is None or flow.ended in ("answered", "replaced"):
            return None, "flow_not_found"
        if flow.ended:
            return None, flow.ended
        if self.clock.now() >= flow.expires:
            return None, "otp_expired"
        return flow, None

    def attempt_failed(self, flow):
        """Counts a wrong answer; the last one ends the flow."""
        flow.attempts_left -= 1
        if flow.attempts_left <= 0:
            flow.ended = "too_many_attempts"

    def _message(self, flow):
        now = self.clock.now()
        self.messages.append(
            {
                "phone": flow.account.phone,
                "email": flow.account.email,
                "code": flow.code,
                "otpFlowId": flow.id,
                "sentAt": rfc3339(now),
                "expiresAt": rfc3339(flow.expires),
            }
        )
