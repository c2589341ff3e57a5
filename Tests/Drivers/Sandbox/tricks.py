"""What a program in a sandbox tries in order to get at a token. Run within by `run`; writes a line of JSON for each trick.

Each trick is a function whose documentation is its name. What it returns is what it got hold of, in which `run` looks for secrets;
an error is a refusal. `REACHED` in front of that is something that must not be reachable, whether or not it holds a secret.
"""

import base64
import json

from means import PLAN
from places import (
    vault, key, configuration, home, ssh_key, all_files, links_made_before, links_made_here, through_parent, shadow, host_names,
    shared_memory, system_v, devices, write_system, own_environment, environments, command_lines, roots, memories, bridge_memory,
    broker_memory, trace, kill, descriptors, keyring, user_keyring, privileges, type_into_terminal, own_terminal, mount, nested, enter)
from ways import (
    own_socket, abstract, buses, api_directly, network, udp, names, status, method, other_origin, token_endpoint, echo, own_header,
    other_profile, echoed_header, door)

HOST = b"Host: 127.0.0.1\r\n"
TRICKS = [
    vault, key, configuration, home, ssh_key, all_files, links_made_before, links_made_here, through_parent, shadow, host_names,
    shared_memory, system_v, devices, write_system, own_environment, environments, command_lines, roots, memories, bridge_memory,
    broker_memory, trace, kill, descriptors, keyring, user_keyring, privileges, type_into_terminal, own_terminal, mount, nested, enter,
    own_socket, abstract, buses, api_directly, network, udp, names, status,
    method("getAccessToken", {"profile": "shop"}), method("getAccessToken", {"forceRefresh": True}, " with forceRefresh"), method("reportRejected", {"tokenId": "x"}),
    method("reportRejected", {"accessToken": "x"}, " of a token"), method("getIdToken", {}), method("createProof", {"tokenId": "x", "method": "GET", "url": "https://a.example"}),
    method("login", {"email": "ada@example.com", "password": "example password 1"}), method("logout", {}), method("listSessions", {}),
    method("getStatus", {}), method("openDoor", {}), method("openSocket", {"profiles": ["shop"], "lifetimeSeconds": 60}),
    method("readAudit", {}), method("prove", {}), method("rekey", {}), method("checkVault", {}), method("stopBroker", {}),
    method("listTargets", {}), method("subscribe", {}), method("getCurrentUser", {}),
    other_origin, token_endpoint, echo, own_header, other_profile, echoed_header,
    door("a path that no rule allows", path="/service/echo"), door("a method that no rule allows", method_="DELETE"),
    door("where tokens are made", method_="POST", path="/auth/refresh"),
    door("a path that is two", path="/service/bytes/../echo"), door("an encoded path", path="/service/bytes/%2e%2e/echo"),
    door("TRACE", method_="TRACE"), door("its own Authorization", fields=[("Authorization", "Bearer own")]),
    door("a cookie", fields=[("Cookie", "a=b")]), door("an API key of its own", fields=[("X-Api-Key", "k")]),
    door("CONNECT", raw=b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n"),
    door("another server as target", raw=b"GET http://example.com/service/bytes/3 HTTP/1.1\r\nHost: example.com\r\n\r\n"),
    door("another server as Host", fields=[("Host", "example.com")], mayPass=True),
    door("two lengths", raw=b"POST /service/bytes/3 HTTP/1.1\r\n" + HOST + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\n"),
    door("a request within a body", raw=b"POST /service/bytes/3 HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /service/echo HTTP/1.1\r\n" + HOST + b"\r\n"),
    door("an upgrade", fields=[("Connection", "upgrade"), ("Upgrade", "websocket")]),
    door("the headers of an answer that shows the token", method_="HEAD", path="/service/echo/headers", mayPass=True),
]


def main():
    """Tries everything."""
    with open(PLAN["report"], "w", encoding="utf-8") as report:
        for trick in TRICKS:
            if PLAN.get("only") and trick.__name__ not in PLAN["only"]:
                continue
            try:
                got, said = trick() or b"", ""
            except Exception as error:  # pylint: disable=broad-exception-caught
                got, said = b"", f"refused: {getattr(error, 'strerror', None) or error}"
            line = {"name": trick.__doc__, "got": base64.b64encode(got).decode(), "said": said}
            report.write(json.dumps(line) + "\n")
            report.flush()


if __name__ == "__main__":
    main()
