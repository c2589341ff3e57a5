"""How a login asks and tells a person: by callbacks, or at the terminal."""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Awaitable, Optional, Union

from ._errors import BrokerError, NoTerminal, plain
from ._values import OtpChallenge, UserAction


@dataclass(frozen=True, repr=False)
class Code:
    """A one-time code as an answer to a challenge; blanks and dashes in it do not count."""

    value: str


@dataclass(frozen=True, repr=False)
class BackupCode:
    """A backup code as an answer to a challenge that allows one."""

    value: str


@dataclass(frozen=True)
class Resend:
    """The wish for another code as an answer to a challenge."""


CodeAnswer = Union[Code, BackupCode, Resend]


class Prompts:
    """What a login asks: derive from it, and override what your logins need.

    For `AsyncBroker` each may be a coroutine function. An exception that one raises ends the login.
    """

    def account(self, field: str) -> Union[str, Awaitable[str]]:
        """Asks for the account's name: `field` is `email` or `phoneNumber`."""
        raise NoTerminal

    def password(self) -> Union[str, Awaitable[str]]:
        """Asks for the password."""
        raise NoTerminal

    def code(self, challenge: OtpChallenge) -> Union[CodeAnswer, Awaitable[CodeAnswer]]:
        """Asks for the one-time code; called again after a wrong one and after `Resend`."""
        raise NoTerminal

    def show_action(self, action: UserAction) -> Optional[Awaitable[None]]:
        """Tells what to do in a browser or at another device."""
        raise NoTerminal

    def show_refusal(self, error: BrokerError) -> Optional[Awaitable[None]]:
        """Tells that a code was wrong, or that another one cannot be sent yet; the login goes on."""
        return None


class TerminalPrompts(Prompts):
    """Asks at the terminal of the process (`/dev/tty`), secrets without echo; raises `NoTerminal` where there is none."""

    def account(self, field: str) -> str:
        """Asks, again after an empty line."""
        question = "Your phone number: " if field == "phoneNumber" else "Your e-mail address: "
        while True:
            answer = self._line(question)
            if answer:
                return answer

    def password(self) -> str:
        """Asks without echo."""
        return self._secret("Password: ")

    def code(self, challenge: OtpChallenge) -> CodeAnswer:
        """Says where the code is, and asks for it without echo; `r` sends another, a longer one is a backup code."""
        self._tell(_whereabouts(challenge))
        question = "Code or backup code" if challenge.backup_codes_allowed else "Code"
        typed = self._secret(question + (": " if challenge.method == "totp" else " (r sends another): "))
        if typed.strip().lower() in ("r", "resend"):
            return Resend()
        letters = sum(c.isascii() and c.isalpha() for c in typed)
        digits = sum(c.isascii() and c.isdigit() for c in typed)
        # One digit more than a code has is a slip.
        if challenge.backup_codes_allowed and (letters > 0 or digits >= challenge.otp_length + 2):
            return BackupCode(typed)
        return Code(typed)

    def show_action(self, action: UserAction) -> None:
        """Prints the address and the code."""
        place = "in a browser on this computer" if action.kind == "browser" else "on any device"
        code = f" and enter the code {plain(action.user_code)}" if action.user_code else ""
        self._tell(f"{place}, open {plain(action.verification_uri)}{code}")

    def show_refusal(self, error: BrokerError) -> None:
        """Prints the sentence, and how many attempts are left."""
        left = error.attempts_remaining
        attempts = "" if left is None else f" {left} attempt{'' if left == 1 else 's'} left."
        self._tell(error.message + attempts)

    @staticmethod
    def _tell(text: str) -> None:
        with _terminal() as terminal:
            terminal.write(f"{text}\n".encode(errors="replace"))

    @staticmethod
    def _line(question: str) -> str:
        with _terminal() as terminal:
            terminal.write(question.encode())
            line = terminal.readline()
        if not line:
            raise NoTerminal
        return line.decode(errors="replace").strip()

    @staticmethod
    def _secret(question: str) -> str:
        # Without a terminal, getpass would read with echo from standard input.
        _terminal().close()
        while True:
            answer = getpass.getpass(question)
            if answer:
                return answer


class _Terminal:
    """The controlling terminal, byte by byte: nothing that is typed ahead is lost to a buffer."""

    def __init__(self) -> None:
        try:
            self._descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            raise NoTerminal from None

    def __enter__(self) -> _Terminal:
        return self

    def __exit__(self, *arguments: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes it."""
        os.close(self._descriptor)

    def write(self, data: bytes) -> None:
        """Writes all."""
        while data:
            data = data[os.write(self._descriptor, data):]

    def readline(self) -> bytes:
        """Reads a line; empty at the end of the input."""
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self._descriptor, 1)
            if not byte:
                break
            line += byte
        return line


def _terminal() -> _Terminal:
    return _Terminal()


def _whereabouts(challenge: OtpChallenge) -> str:
    """Where the code is; an authenticator's code is not sent."""
    code = f"{challenge.otp_length}-digit code"
    if challenge.method == "totp":
        return f"enter the {code} of your authenticator"
    destination = f" to {plain(challenge.masked_destination)}" if challenge.masked_destination else ""
    minutes = max(1, round((challenge.expires_at - datetime.now(timezone.utc)).total_seconds() / 60))
    carrier = "SMS" if challenge.method == "sms" else "e-mail"
    return f"sent a {code}{destination} by {carrier}; it expires in {minutes} minute{'' if minutes == 1 else 's'}"
