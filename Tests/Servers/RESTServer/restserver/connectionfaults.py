"""Misbehaviours of time and connection: the reply is the right one, if it ever comes."""

import time

from .misbehaviour import misbehaviour
from .wire import Hangup

SETTLE = 0.05  # seconds before a reset, which throws away what the client has not read yet
LONG = 900.0  # seconds: longer than any time limit of the clients


@misbehaviour("ok", "nothing: a step that lets a request through unharmed")
def ok(exchange, step):
    exchange.send(exchange.commit())


def _end_early(moment, words):
    @misbehaviour(f"reset-{words}", f"reset the connection {moment[1]}", moment[0])
    def reset(connection, server, step):
        connection.reset()
        raise Hangup

    @misbehaviour(f"close-{words}", f"close the connection {moment[1]}", moment[0])
    def close(connection, server, step):
        connection.close()
        raise Hangup


_end_early(("accept", "as soon as it is accepted, before TLS"), "at-accept")
_end_early(("arrival", "when a request waits, with none of it read"), "before-reading")


@misbehaviour("stall-at-accept", "accept, then neither read nor write (`seconds`, or until released)", "accept")
def stall_at_accept(connection, server, step):
    server.gate.wait(
        step.get("seconds", LONG), {"connection": connection.record["connection"], "misbehaviour": "stall-at-accept"}
    )
    connection.close()
    raise Hangup


@misbehaviour("banner-at-accept", "greet as a mail server does, before TLS and before any request", "accept")
def banner_at_accept(connection, server, step):
    connection.send(b"220 mail.example.com ESMTP\r\n")


@misbehaviour(
    "stall-before-reading", "leave a waiting request unread (`seconds`, or until released), then serve it", "arrival"
)
def stall_before_reading(connection, server, step):
    server.gate.wait(
        step.get("seconds", LONG),
        {"connection": connection.record["connection"], "misbehaviour": "stall-before-reading"},
    )


@misbehaviour("reset-while-reading", "read `bytes` (16) of the request, then reset", "arrival")
def reset_while_reading(connection, server, step):
    connection.receive(step.get("bytes", 16))
    connection.reset()
    raise Hangup


@misbehaviour("close-while-reading", "read `bytes` (16) of the request, then close", "arrival")
def close_while_reading(connection, server, step):
    connection.receive(step.get("bytes", 16))
    connection.close()
    raise Hangup


@misbehaviour("drop-before-commit", "read the request, do nothing, close without a reply")
def drop_before_commit(exchange, step):
    exchange.close()


@misbehaviour("drop-after-commit", "do what is asked, then close without a reply")
def drop_after_commit(exchange, step):
    exchange.commit()
    exchange.close()


@misbehaviour("reset-before-commit", "read the request, do nothing, reset")
def reset_before_commit(exchange, step):
    exchange.reset()


@misbehaviour("reset-after-commit", "do what is asked, then reset without a reply")
def reset_after_commit(exchange, step):
    exchange.commit()
    exchange.reset()


@misbehaviour("delay-before-commit", "wait `seconds` (1), then do and answer")
def delay_before_commit(exchange, step):
    exchange.wait(step.get("seconds", 1.0))
    exchange.send(exchange.commit())


@misbehaviour("delay-after-commit", "do what is asked, wait `seconds` (1), then answer")
def delay_after_commit(exchange, step):
    reply = exchange.commit()
    exchange.wait(step.get("seconds", 1.0))
    exchange.send(reply)


@misbehaviour("hold-before-commit", "wait until released (at most `seconds`, 900), then do and answer")
def hold_before_commit(exchange, step):
    exchange.wait(step.get("seconds", LONG))
    exchange.send(exchange.commit())


@misbehaviour("hold-then-forget", "wait until released (at most `seconds`, 900), do nothing, close without a reply")
def hold_then_forget(exchange, step):
    exchange.wait(step.get("seconds", LONG))
    exchange.close()


@misbehaviour("hold-after-commit", "do what is asked, wait until released (at most `seconds`, 900), then answer")
def hold_after_commit(exchange, step):
    reply = exchange.commit()
    exchange.wait(step.get("seconds", LONG))
    exchange.send(reply)


@misbehaviour(
    "hold-then-drop", "do what is asked, wait until released (at most `seconds`, 900), then close without a reply"
)
def hold_then_drop(exchange, step):
    exchange.commit()
    exchange.wait(step.get("seconds", LONG))
    exchange.close()


def _first_part(exchange, where):
    head, body = exchange.whole()
    exchange.raw(head[: len(head) // 2] if where == "headers" else head + body[: len(body) // 2], "partial")


def _cut(where, name):
    @misbehaviour(f"reset-{name}", f"do what is asked, send the reply up to half of its {where}, reset")
    def reset(exchange, step):
        _first_part(exchange, where)
        time.sleep(SETTLE)
        exchange.reset()

    @misbehaviour(f"close-{name}", f"do what is asked, send the reply up to half of its {where}, close")
    def close(exchange, step):
        _first_part(exchange, where)
        exchange.close()

    @misbehaviour(
        f"stall-{name}",
        f"do what is asked, send the reply up to half of its {where}, then nothing (`seconds`, or until released)",
    )
    def stall(exchange, step):
        _first_part(exchange, where)
        exchange.wait(step.get("seconds", LONG))
        exchange.close()


_cut("body", "half-way")
_cut("headers", "in-headers")


def _drip(exchange, data, step):
    size, interval = step.get("bytes", 1), step.get("interval", 0.2)
    for start in range(0, len(data), size):
        exchange.raw(data[start : start + size], "partial")
        time.sleep(interval)


@misbehaviour("drip", "do what is asked, send the whole reply `bytes` (1) by `bytes` every `interval` (0.2) seconds")
def drip(exchange, step):
    head, body = exchange.whole()
    _drip(exchange, head + body, step)
    exchange.delivery = "written"


@misbehaviour("drip-body", "the head at once, the body in drips")
def drip_body(exchange, step):
    head, body = exchange.whole()
    exchange.raw(head, "partial")
    _drip(exchange, body, step)
    exchange.delivery = "written"


@misbehaviour("drip-spaces", "the head at once, then an endless body of spaces in drips, so that no pause is ever long")
def drip_spaces(exchange, step):
    reply = exchange.commit()
    exchange.status = reply.status
    exchange.raw(reply.head(exchange.now(), length=False), "partial")
    for _ in range(step.get("count", 1000)):
        exchange.raw(b" ", "partial")
        time.sleep(step.get("interval", 0.2))
    exchange.close()


@misbehaviour("close-after-reply", "answer well, then close the kept-alive connection without having said so")
def close_after_reply(exchange, step):
    exchange.send(exchange.commit())
    exchange.close()


@misbehaviour("reset-after-reply", "answer well, then reset the kept-alive connection")
def reset_after_reply(exchange, step):
    exchange.send(exchange.commit())
    time.sleep(SETTLE)
    exchange.reset()
