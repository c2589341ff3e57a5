"""The tricks that have to do with sockets: those of the machine, the limited socket, and the door."""

import glob
import http.client
import json
import os
import socket

from means import PLAN, every

# Sockets and the network

def connect(address, family=socket.AF_INET, kind=socket.SOCK_STREAM):
    """Connects, and reads what comes by itself."""
    with socket.socket(family, kind) as client:
        client.settimeout(2)
        client.connect(address)
        if kind == socket.SOCK_DGRAM:
            client.send(b"x" * 12)
        try:
            return b"REACHED" + client.recv(4096)
        except TimeoutError:
            return b"REACHED"


def own_socket():
    """the broker's own socket, by its path"""
    return every([PLAN["socket"], PLAN["state"] + "/run/broker.sock"], lambda path: connect(path, socket.AF_UNIX))


def abstract():
    """sockets with an abstract name"""
    return connect("\0" + PLAN["abstract"], socket.AF_UNIX)


def buses():
    """D-Bus, the user's manager and agents"""
    paths = ["/run/dbus/system_bus_socket", "/var/run/dbus/system_bus_socket", *glob.glob("/run/user/*/*"),
             *glob.glob("/tmp/ssh-*/*"), *glob.glob("/run/*.sock"), "/run/systemd/private", "/var/run/docker.sock"]
    return every(paths, lambda path: connect(path, socket.AF_UNIX))


def api_directly():
    """the API, past the door"""
    return connect(("127.0.0.1", PLAN["api"]))


def network():
    """the network"""
    return every([("1.1.1.1", 443), ("169.254.169.254", 80)], connect)


def udp():
    """the network by UDP"""
    return connect(("1.1.1.1", 53), kind=socket.SOCK_DGRAM)


def names():
    """names (DNS)"""
    return b"REACHED" + str(socket.getaddrinfo("example.com", 443)).encode()


# The limited socket

def call(method, params):
    """The answer of the limited socket."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect(os.environ["AUTHBROKER_SOCKET"])
        client.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
        answer = json.loads(client.makefile().readline())
    if "error" in answer:
        error = answer["error"]
        raise PermissionError(1, f"{error.get('data', {}).get('kind')}")
    return json.dumps(answer["result"]).encode()


def method(name, params, label=""):
    """A trick that calls a method."""
    def trick():
        return b"REACHED" + call(name, params)
    trick.__doc__, trick.__name__ = f"the limited socket: {name}{label}", name + label
    return trick


def status():
    """the limited socket: what it says of the broker and its sessions"""
    return b"".join(every([name], lambda name: call(name, {})) for name in ("initialize", "ping", "rpc.discover"))


def other_origin():
    """the limited socket: a request to another server"""
    return call("sendRequest", {"method": "GET", "url": "https://example.com/"})


def token_endpoint():
    """the limited socket: a request to where tokens are made"""
    return call("sendRequest", {"method": "POST", "url": PLAN["origin"] + "/auth/refresh", "body": "{}"})


def echo():
    """the limited socket: an address that shows the token, by no rule"""
    return call("sendRequest", {"method": "GET", "url": PLAN["origin"] + "/service/echo"})


def own_header():
    """the limited socket: its own Authorization"""
    return call("sendRequest", {"method": "GET", "url": PLAN["origin"] + "/service/bytes/3", "headers": {"Authorization": "Bearer x"}})


def other_profile():
    """the limited socket: another profile"""
    return call("sendRequest", {"profile": "private", "method": "GET", "url": PLAN["origin"] + "/service/bytes/3"})


def echoed_header():
    """the limited socket: the headers of an answer that shows the token"""
    return call("sendRequest", {"method": "HEAD", "url": PLAN["origin"] + "/service/echo/headers"})


# The door

def ask(method_, path, fields=(), raw=None):
    """The answer of the door."""
    port = int(os.environ["AUTHBROKER_DOOR_URL"].rsplit(":", 1)[1])
    if raw is not None:
        with socket.create_connection(("127.0.0.1", port), 60) as client:
            client.sendall(raw)
            client.shutdown(socket.SHUT_WR)
            answer = b""
            while more := client.recv(65536):
                answer += more
        status_ = int(answer.split()[1]) if answer else 0
        text = answer
    else:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        client.putrequest(method_, path, skip_host=any(name == "Host" for name, _ in fields))
        for name, value in fields:
            client.putheader(name, value)
        client.endheaders()
        reply = client.getresponse()
        status_, text = reply.status, str(reply.headers).encode() + reply.read()
    if status_ >= 400 or status_ == 0:
        raise PermissionError(1, f"status {status_}")
    return text


def door(name, method_="GET", path="/service/bytes/3", fields=(), raw=None, mayPass=False):
    """A trick that asks the door."""
    def trick():
        return (b"" if mayPass else b"REACHED") + ask(method_, path, fields, raw)
    trick.__doc__ = f"the door: {name}"
    return trick
