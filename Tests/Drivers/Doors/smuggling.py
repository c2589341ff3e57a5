"""Messages that two servers could understand differently: at a door, and with real proxies in front of it and behind it.

The law: as many requests arrive as answers of the server come back, each answer belongs to its request, nothing in the body of a
message is ever taken for a request, the token is at the one server alone and in no answer, and the placeholder is at no server.
"""

import socket

from ledger import Ledger, answers
from servers import apache, haproxy, nginx
from stage import Broker, Home, free_port

SECRET = "made-up-secret-of-the-server"
HIDDEN = "GET /hidden HTTP/1.1\r\nHost: hidden.example\r\n\r\n"
REFUSED, PASSED = "refused", "passed"


def request(line, *fields, body=""):
    """A message; `H` stands for the host."""
    return "\r\n".join([line, "Host: H", "S", *fields, "", body])


def post(*fields, body=HIDDEN):
    """A message with a body that looks like a request."""
    return request("POST /p?n=1 HTTP/1.1", *fields, body=body)


SIZE = len(HIDDEN)
CHUNKED = f"{SIZE:x}\r\n{HIDDEN}\r\n0\r\n\r\n"
GET = "GET /g?n=1 HTTP/1.1"
# What it is, the message, and what a door must do with it: `S` stands for the field with the placeholder.
MESSAGES = [
    ("two equal lengths", post(f"Content-Length: {SIZE}", f"Content-Length: {SIZE}"), REFUSED),
    ("two different lengths", post("Content-Length: 0", f"Content-Length: {SIZE}"), REFUSED),
    ("a list of lengths", post(f"Content-Length: {SIZE}, {SIZE}"), REFUSED),
    ("a length with a sign", post(f"Content-Length: +{SIZE}"), REFUSED),
    ("a length in hexadecimal", post("Content-Length: 0x10"), REFUSED),
    ("a length beyond 64 bits", post("Content-Length: 18446744073709551617"), REFUSED),
    ("a length, then chunks (CL.TE)", post("Content-Length: 5", "Transfer-Encoding: chunked", body="0\r\n\r\n" + HIDDEN), REFUSED),
    ("chunks, then a length (TE.CL)", post("Transfer-Encoding: chunked", "Content-Length: 4", body=CHUNKED), REFUSED),
    ("chunked, identity", post("Transfer-Encoding: chunked, identity", body=CHUNKED), REFUSED),
    ("identity, chunked", post("Transfer-Encoding: identity, chunked", body=CHUNKED), REFUSED),
    ("identity", post("Transfer-Encoding: identity"), REFUSED),
    ("xchunked", post("Transfer-Encoding: xchunked", body=CHUNKED), REFUSED),
    ("chunked twice", post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body=CHUNKED), REFUSED),
    ("chunked behind a vertical tab", post("Transfer-Encoding: \x0bchunked", body=CHUNKED), REFUSED),
    ("a blank before the colon", post("Transfer-Encoding : chunked", body=CHUNKED), REFUSED),
    ("chunks of HTTP/1.0", request("POST /p?n=1 HTTP/1.0", "Transfer-Encoding: chunked", body=CHUNKED), REFUSED),
    ("chunks whose size has a sign", post("Transfer-Encoding: chunked", body="+1\r\nx\r\n0\r\n\r\n"), REFUSED),
    ("chunks whose size is 0x1", post("Transfer-Encoding: chunked", body="0x1\r\nx\r\n0\r\n\r\n"), REFUSED),
    ("chunks whose size is too long", post("Transfer-Encoding: chunked", body="10000000000000001\r\nx\r\n0\r\n\r\n"), REFUSED),
    ("chunks with bare line feeds", post("Transfer-Encoding: chunked", body="1\nx\n0\n\n"), REFUSED),
    ("chunks with a bare line feed in an extension", post("Transfer-Encoding: chunked", body="1;a\nx\r\nx\r\n0\r\n\r\n"), REFUSED),
    ("chunks that are longer than said", post("Transfer-Encoding: chunked", body="1\r\nxy\r\n0\r\n\r\n"), REFUSED),
    ("bare line feeds", request(GET).replace("\r\n", "\n"), REFUSED),
    ("one bare line feed", request(GET, "X-A: b\nX-B: c"), REFUSED),
    ("a bare carriage return", request(GET, "X-A: b\rX-B: c"), REFUSED),
    ("a folded field", request(GET, "X-A: b", " c"), REFUSED),
    ("a folded length", post("Content-Length:", f" {SIZE}"), REFUSED),
    ("a field without a name", request(GET, ": b"), REFUSED),
    ("a line without a colon", request(GET, "X-A"), REFUSED),
    ("a zero byte in a field", request(GET, "X-A: b\0c"), REFUSED),
    ("two hosts", request(GET, "Host: H"), REFUSED),
    ("two different hosts", request(GET, "Host: other.example"), REFUSED),
    ("no host", GET + "\r\nS\r\n\r\n", REFUSED),
    ("two credentials", request(GET, "S"), REFUSED),
    ("credentials of the client's own", request(GET, "Authorization: Bearer own"), REFUSED),
    ("Connection: authorization", request(GET, "Connection: authorization"), REFUSED),
    ("Connection: keep-alive, Authorization", request(GET, "Connection: keep-alive, Authorization"), REFUSED),
    ("a cookie", request(GET, "Cookie: a=b"), REFUSED),
    ("an upgrade", request(GET, "Connection: upgrade", "Upgrade: h2c"), REFUSED),
    ("an absolute target", request("GET http://H/g?n=1 HTTP/1.1"), REFUSED),
    ("an absolute target elsewhere", request("GET http://other.example/g?n=1 HTTP/1.1"), REFUSED),
    ("an absolute target with user name", request("GET http://me@H/g?n=1 HTTP/1.1"), REFUSED),
    ("a target that begins with a user name", request("GET @other.example/g?n=1 HTTP/1.1"), REFUSED),
    ("an IPv6 literal as target", request("GET http://[::1]/g?n=1 HTTP/1.1"), REFUSED),
    ("a path with an IPv6 literal", request("GET //[::1]/g?n=1 HTTP/1.1"), REFUSED),
    ("CONNECT", request("CONNECT other.example:443 HTTP/1.1"), REFUSED),
    ("TRACE", request("TRACE /g?n=1 HTTP/1.1"), REFUSED),
    ("..", request("GET /a/../g?n=1 HTTP/1.1"), REFUSED),
    ("%2e%2e", request("GET /a/%2e%2E/g?n=1 HTTP/1.1"), REFUSED),
    ("%2f", request("GET /a%2fg?n=1 HTTP/1.1"), REFUSED),
    ("%5c", request("GET /a%5Cg?n=1 HTTP/1.1"), REFUSED),
    ("two slashes", request("GET //g?n=1 HTTP/1.1"), REFUSED),
    ("a backslash", request("GET /a\\g?n=1 HTTP/1.1"), REFUSED),
    ("a fragment", request("GET /g?n=1#x HTTP/1.1"), REFUSED),
    ("two blanks in the first line", request("GET  /g?n=1 HTTP/1.1"), REFUSED),
    ("a tab in the first line", request("GET\t/g?n=1 HTTP/1.1"), REFUSED),
    ("HTTP/0.9", "GET /g?n=1\r\n\r\n", REFUSED),
    ("HTTP/2.0", request("GET /g?n=1 HTTP/2.0"), REFUSED),
    ("HTTP/1.10", request("GET /g?n=1 HTTP/1.10"), REFUSED),
    ("Expect: something", request(GET, "Expect: something"), REFUSED),
    ("a HEAD with a body", request("HEAD /g?n=1 HTTP/1.1", f"Content-Length: {SIZE}", body=HIDDEN), REFUSED),
    ("a length", post(f"Content-Length: {SIZE}"), PASSED),
    ("chunks", post("Transfer-Encoding: chunked", body=CHUNKED), PASSED),
    ("chunks with extension and trailers", post(
        "Transfer-Encoding: Chunked", "Trailer: X-T", body=f"{SIZE:X};a=b\r\n{HIDDEN}\r\n0\r\nX-T: y\r\nAuthorization: Bearer t\r\n\r\n"), PASSED),
    ("a GET with a body", request(GET, f"Content-Length: {SIZE}", body=HIDDEN), PASSED),
    ("an empty body", post("Content-Length: 0", body=""), PASSED),
    ("a HEAD", request("HEAD /g?n=1 HTTP/1.1"), PASSED),
    ("Expect: 100-continue", post("Expect: 100-continue", f"Content-Length: {SIZE}"), PASSED),
    ("HTTP/1.0", request("GET /g?n=1 HTTP/1.0"), PASSED),
    ("an IPv6 literal in the query", request("GET /g?n=1&x=[::1] HTTP/1.1"), None),
    ("a user name in the path", request("GET /me@other.example/g?n=1 HTTP/1.1"), None),
]
# Answers of the server: what they are, the path, and the bytes.
ODD_ANSWERS = [
    ("100 and 103 before the answer", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\nX-Given: %s\r\n\r\n"
     b"HTTP/1.1 200 OK\r\nX-Mark: 1\r\nContent-Length: 2\r\n\r\nok"),
    ("trailers", b"HTTP/1.1 200 OK\r\nX-Mark: 1\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2\r\nok\r\n0\r\nX-T: %s\r\n\r\n"),
    ("204 with a body", b"HTTP/1.1 204 No Content\r\nX-Mark: 1\r\nContent-Length: 2\r\n\r\nok"),
    ("304 with a body", b"HTTP/1.1 304 Not Modified\r\nX-Mark: 1\r\nContent-Length: 2\r\n\r\nok"),
    ("a body that is longer than said", b"HTTP/1.1 200 OK\r\nX-Mark: 1\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nX-Mark: 9\r\nContent-Length: 0\r\n\r\n"),
    ("a body that is shorter than said", b"HTTP/1.1 200 OK\r\nX-Mark: 1\r\nContent-Length: 20\r\n\r\nok"),
    ("two lengths", b"HTTP/1.1 200 OK\r\nX-Mark: 1\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\nok"),
    ("a length beside chunks", b"HTTP/1.1 200 OK\r\nX-Mark: 1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    ("malformed chunks", b"HTTP/1.1 200 OK\r\nX-Mark: 1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n"),
    ("a folded field", b"HTTP/1.1 200 OK\r\nX-Mark: 1\r\nX-A: b\r\n %s\r\nContent-Length: 2\r\n\r\nok"),
    ("bare line feeds", b"HTTP/1.1 200 OK\nX-Mark: 1\nX-Given: %s\nContent-Length: 2\n\nok"),
    ("no answer at all", b""),
    ("an upgrade nobody asked for", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
]


def exchange(connect, text, limit=20):
    """Sends a message, and reads to the end of the connection; what came, and whether it ended by itself."""
    with connect() as connection:
        connection.settimeout(limit)
        data = b""
        try:
            connection.sendall(text.encode("latin-1"))
            while True:
                piece = connection.recv(1 << 16)
                if not piece:
                    return data, True
                data += piece
        except (ConnectionResetError, BrokenPipeError):
            return data, True
        except socket.timeout:
            return data, False


def tcp(port):
    """Connects to a port."""
    return lambda: socket.create_connection(("127.0.0.1", port))


def judge(name, text, host, slot, connect, ledger, expected, placeholder):
    """Plays a message and one behind it; what is wrong, and what was seen."""
    # The second request ends the connection, which a refusal does as well.
    behind = request("GET /after?n=2 HTTP/1.1", "Connection: close")
    whole = (text + behind).replace("Host: H", "Host: " + host).replace("//H/", f"//{host}/").replace("@H/", f"@{host}/")
    lines = [slot if line == "S" else line for line in whole.split("\r\n")]
    message = "\r\n".join(line for line in lines if line is not None).replace("\nS\n", f"\n{slot}\n" if slot else "\n")
    ledger.taken()
    data, has_ended = exchange(connect, message)
    came = ledger.taken()
    wrong = [] if has_ended else ["the connection did not end"]
    try:
        # A proxy answers HTTP/0.9 without a head.
        got = answers(data, [text.partition(" ")[0], "GET"]) if expected or "HTTP/" in text.partition("\r\n")[0] else []
    except ValueError as error:
        return [str(error)], ""
    served = [one.value("x-mark") for one in got if one.value("x-mark")]
    if [one.mark for one in came] != served:
        wrong.append(f"{[one.line for one in came]} arrived, and {served} were answered")
    if any(one.path == "/hidden" for one in came):
        wrong.append("a body was taken for a request")
    if any(one.values("authorization") != ["Bearer " + SECRET] for one in came):
        wrong.append("the token was not attached, or not alone")
    if any(placeholder.encode() in one.head + one.body for one in came):
        wrong.append("the placeholder has arrived")
    if SECRET.encode() in data:
        wrong.append("the token came back")
    statuses = [one.status for one in got]
    first = next((one for one in came if one.mark == "1"), None)
    if expected == REFUSED and (first or any(one.status < 400 for one in got[:1])):
        wrong.append("it was not refused")
    if expected == PASSED and (not first or served != (["1"] if "HTTP/1.0" in text else ["1", "2"])):
        wrong.append("it was not passed on, or the one behind it was not")
    if expected == PASSED and first and "hidden" in text and first.body.decode() != HIDDEN:
        wrong.append(f"another body has arrived: {first.body!r}")
    return wrong, f"answered {statuses}, {len(came)} arrived"


def at_door(ledger, rows, door, name, exact=True):
    """All messages at a door, with a row for each, or one for all."""
    wrong = []
    for what, text, expected in MESSAGES:
        fault, happened = judge(
            what, text, door.host, door.slot, door.connect, ledger, expected if exact else None, door.placeholder)
        if exact:
            rows.add(f"{name}: {what}", not fault, "; ".join([happened, *fault]))
        elif fault:
            wrong.append(f"{what}: {', '.join(fault)}")
    if not exact:
        rows.add(f"{name}: {len(MESSAGES)} messages", not wrong, "; ".join(wrong) or "requests and answers agree")


def in_front(ledger, rows, door, port, name):
    """All messages at a proxy that stands in front of a door on a socket."""
    wrong, refused, passed = [], 0, 0
    for what, text, _ in MESSAGES:
        fault, happened = judge(what, text, f"127.0.0.1:{port}", None, tcp(port), ledger, None, door.placeholder)
        refused, passed = refused + ("0 arrived" in happened), passed + ("0 arrived" not in happened)
        if fault:
            wrong.append(f"{what}: {', '.join(fault)}")
    rows.add(f"{name} in front: {len(MESSAGES)} messages", not wrong, "; ".join(wrong) or f"{passed} with requests that arrived, {refused} without")


def odd_answers(ledger, rows, door):
    """Answers that could be understood differently: the next request on the connection still gets its own."""
    for what, template in ODD_ANSWERS:
        bytes_of_it = template.replace(b"%s", ("Bearer " + SECRET).encode())
        ledger.answers["/odd"] = lambda request, answer=bytes_of_it: answer or None
        wrong, seen = [], []
        for method in ("GET", "HEAD"):
            message = "".join(
                f"{verb} {path} HTTP/1.1\r\nHost: {door.host}\r\n{door.slot}\r\n{more}\r\n"
                for verb, path, more in ((method, "/odd?n=1", ""), ("GET", "/after?n=2", "Connection: close\r\n")))
            data, has_ended = exchange(door.connect, message)
            try:
                got = answers(data, [method, "GET"])
                marks = [one.value("x-mark") for one in got]
            except ValueError as error:
                wrong.append(str(error))
                continue
            if SECRET.encode() in data or not has_ended:
                wrong.append("the token came back" if has_ended else "the connection did not end")
            if "9" in marks or (len(got) > 1 and marks[1] != "2"):
                wrong.append(f"answers {marks}")
            seen.append(f"{method} {[(one.status, 'whole' if one.is_whole else 'cut') for one in got]}")
        rows.add(f"an answer: {what}", not wrong, "; ".join([*seen, *wrong]))


def proxied(home, port, ledger):
    """nginx and Apache as proxies behind a door."""
    ngx = f"""log_format l '$request_method $request_uri $status'; access_log {home.path}/nginx-behind.log l;
upstream u {{ server 127.0.0.1:{ledger.port}; keepalive 8; }}
server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://u; proxy_http_version 1.1; proxy_set_header Connection ""; }} }}"""
    other = free_port()
    httpd = f"""CustomLog {home.path}/apache-behind.log "%m %U%q %>s"
ProxyPass / http://127.0.0.1:{ledger.port}/
ProxyErrorOverride Off"""
    return nginx(home, port, ngx), apache(home, other, httpd, ["proxy", "proxy_http"])


def smuggling(programs, rows):
    """The whole table: at a port, at a socket, in front of nginx and Apache, behind haproxy and nginx; then odd answers."""
    with Home() as home, Ledger(SECRET) as ledger, Ledger("x") as elsewhere:
        secret = home.file("secret", SECRET)
        behind = proxied(home, free_port(), ledger)
        rules = {"methods": ["GET", "HEAD", "POST", "OPTIONS"]}
        origins = [ledger.origin, *(one.url for one in behind)]
        profiles = {"api": {"provider": "static", "secret": {"file": secret}, "requests": {"allow": [{"origin": one, **rules} for one in origins]}}}
        with behind[0], behind[1], Broker(programs, profiles) as broker:
            door = broker.open("-p", "api", "--port", "0", ledger.origin)
            at_door(ledger, rows, door, "a port")
            odd_answers(ledger, rows, door)
            socket_door = broker.open("-p", "api", ledger.origin)
            at_door(ledger, rows, socket_door, "a socket", exact=False)
            for name, server in zip(("nginx", "Apache"), behind):
                at_door(ledger, rows, broker.open("-p", "api", "--port", "0", server.url), f"{name} behind", exact=False)
            front = free_port()
            with haproxy(home, front, f"unix@{socket_door.path}"):
                in_front(ledger, rows, socket_door, front, "haproxy")
            front = free_port()
            http = f"""upstream d {{ server unix:{socket_door.path}; keepalive 8; }} server {{ listen 127.0.0.1:{front};
location / {{ proxy_pass http://d; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host; }} }}"""
            with nginx(home, front, http):
                in_front(ledger, rows, socket_door, front, "nginx")
            rows.add("another server has got nothing", not elsewhere.requests, "")
            rows.add("framing at the server behind all of it", not ledger.faults, ledger.faults[:3])
