"""Bodies of all sizes both ways at nginx (with a certificate of its own authority) and Apache, encodings, events, and statuses."""

import gzip
import hashlib
import os
import socket
import statistics
import threading
import time

import brotli

from ledger import Ledger
from servers import apache, nginx
from stage import Broker, Home, free_port

SECRET, NEXT = "made-up-secret-of-the-server", "made-up-secret-that-is-new"
SIZES = [0, 1, 65_535, 65_536, 1_048_576, 1_048_577, 100_000_000]
# What the daemon's memory may grow by over transfers of 100 MB, in KiB: buffers of several connections.
MOST_GROWTH = 24 << 10
# How far behind the server's own events those of a door may be, in milliseconds.
MOST_LAG = 5.0
EVENTS = 400


def authority(home):
    """A certificate authority, and a certificate for 127.0.0.1: the paths of the authority, the certificate, and its key."""
    folder = home.folder("tls")
    home.file("tls/names", "subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    for words in (
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "2"],
            ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem", "-out", "request", "-subj", "/CN=127.0.0.1"],
            ["x509", "-req", "-in", "request", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "cert.pem", "-days", "2", "-extfile", "names"]):
        home.run("sh", "-c", 'cd "$0" && exec openssl "$@"', folder, *words)
    return folder + "/ca.pem", folder + "/cert.pem", folder + "/key.pem"


def digest(path):
    """What tells a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sizes(home, broker, rows, door, name, root):
    """Downloads and uploads of all sizes; the memory of the daemon."""
    ask = ["curl", "-sS", "-f", "-H", door.slot, "-H", "Expect:"]
    wrong, start = [], time.monotonic()
    for size in SIZES:
        if size == SIZES[-1]:
            # What every first request needs is there by now: libcurl, its connection, threads.
            before = broker.memory()
        source, down, up = f"{root}/{size}", home.path + "/down", f"{root}/up-{size}"
        # curl 7.88 itself sends no end of an empty body in chunks.
        for chunked in (False, True) if size else (False,):
            home.run("rm", "-f", down, up)
            done = home.run(*ask, "-o", down, f"{door.url}/{size}")
            if done.returncode or os.path.getsize(down) != size or digest(down) != digest(source):
                wrong.append(f"down {size}: {done.stderr}")
            done = home.run(*ask, "-T", source, *(["-H", "Transfer-Encoding: chunked"] if chunked else []), f"{door.url}/up-{size}")
            if done.returncode or not os.path.exists(up) or digest(up) != digest(source):
                wrong.append(f"up {size}{' in chunks' if chunked else ''}: {done.stderr}")
    grown = broker.memory() - before
    rows.add(f"{name}: bodies of 0 B to 100 MB, both ways, with a length and in chunks", not wrong, "; ".join(wrong) or f"{time.monotonic() - start:.1f} s")
    rows.add(f"{name}: the daemon's memory stays flat", grown <= MOST_GROWTH, f"VmHWM {before} KiB; over {SIZES[-1]} B four times {grown} KiB more")


def encodings(home, rows, door, name, text):
    """Bodies that the server encodes go along as they are."""
    for coding, decode in (("gzip", gzip.decompress), ("br", brotli.decompress)):
        done = home.run("curl", "-sS", "-f", "-o", home.path + "/encoded", "-D", home.path + "/head", "-H", door.slot, "-H", f"Accept-Encoding: {coding}", door.url + "/text.txt")
        with open(home.path + "/encoded", "rb") as body, open(home.path + "/head", encoding="latin-1") as head:
            said, data = head.read().lower(), body.read()
        try:
            is_right = f"content-encoding: {coding}" in said and decode(data) == text and len(data) < len(text)
        except Exception as error:  # what is no such coding
            is_right, said = False, f"{said} {error}"
        rows.add(f"{name}: {coding}", is_right and done.returncode == 0, f"{len(text)} bytes as {len(data)}" if is_right else said)


class Events:
    """A server of events, each of which says when it was written."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=16)
        self.port = self.listener.getsockname()[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        """Serves each connection once."""
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        """All events, at a small distance."""
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            for _ in range(EVENTS):
                time.sleep(0.005)
                connection.sendall(f"data: {time.perf_counter_ns()}\n\n".encode())


def lags(port, host, slot):
    """How long after their writing events are there, in milliseconds."""
    found, text = [], b""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"GET /events HTTP/1.1\r\nHost: {host}\r\n{slot}\r\nAccept: text/event-stream\r\n\r\n".encode())
        while len(found) < EVENTS:
            piece = connection.recv(65536)
            now = time.perf_counter_ns()
            if not piece:
                break
            text += piece
            while b"\n\n" in text and b"data: " in text:
                event, _, text = text.partition(b"\n\n")
                found.append((now - int(event.rpartition(b"data: ")[2])) / 1e6)
    return sorted(found)


def events(broker, rows, server):
    """Events by a door beside the same ones without it."""
    door = broker.open("-p", "api", "--port", "0", server.origin)
    own, by_door = lags(server.port, "x", "X: y"), lags(door.port, door.host, door.slot)
    figures = [(statistics.median(one), one[int(len(one) * 0.99)]) for one in (own, by_door)] if len(own) == len(by_door) == EVENTS else None
    is_right = figures is not None and figures[1][0] - figures[0][0] <= MOST_LAG
    rows.add("server-sent events: how far behind their writing", is_right, figures and (
        f"without a door median {figures[0][0]:.2f} ms, p99 {figures[0][1]:.2f} ms; by a door {figures[1][0]:.2f} ms, p99 {figures[1][1]:.2f} ms") or f"{len(own)} and {len(by_door)} came")


def statuses(home, broker, rows, ledger, elsewhere, secret):
    """What happens with 401 once and always, with 403, 429 and 5xx, and with a redirect to another host."""
    door = broker.open("-p", "api", "--port", "0", ledger.origin)

    def given(request):
        return (request.values("authorization") or [""])[0]

    def answer(status, *fields):
        head = "".join(f"{field}\r\n" for field in fields)
        return lambda request: f"HTTP/1.1 {status} x\r\n{head}X-Given: {given(request)}\r\nContent-Length: 0\r\n\r\n".encode()

    def ask(path, *words):
        ledger.taken()
        done = home.run("curl", "-sS", "-i", "-H", door.slot, *words, door.url + path)
        status = int(done.stdout.split()[1]) if done.stdout else 0
        return status, done.stdout, ledger.taken(), SECRET in done.stdout or NEXT in done.stdout
    challenge = 'WWW-Authenticate: Bearer error="invalid_token"'
    home.file("secret", NEXT)
    ledger.answers["/once"] = lambda request: answer(*((401, challenge) if given(request).endswith(SECRET) else (200,)))(request)
    status, text, came, leaks = ask("/once", "-d", "held body")
    rows.add("401 once: a new token, the same body", status == 200 and [one.body for one in came] in ([b"held body"] * 2, [b"held body"]) and given(came[-1]) == "Bearer " + NEXT and not leaks, f"{status}, {len(came)} arrived")
    ledger.answers["/always"] = answer(401, challenge)
    status, text, came, leaks = ask("/always")
    rows.add("401 always", status == 502 and len(came) in (1, 2) and not leaks and '"nextAction":"' in text and "authenticate" not in text.lower(), f"{status}, {len(came)} arrived: {text[-300:]}")
    for code, fields in ((403, ()), (429, ("Retry-After: 7",)), (500, ()), (502, ()), (503, ("Retry-After: 7",)), (504, ())):
        ledger.answers["/status"] = answer(code, *fields)
        status, text, came, leaks = ask("/status")
        is_right = status == code and len(came) == 1 and not leaks and all(field.lower() in text.lower() for field in fields)
        rows.add(f"{code}", is_right, f"{status}, {len(came)} arrived, {'; '.join(fields)}")
    ledger.answers["/away"] = answer(302, f"Location: {elsewhere.origin}/taken")
    status, text, came, leaks = ask("/away")
    rows.add("a redirect to another host", status == 302 and len(came) == 1 and not elsewhere.taken() and not leaks, f"{status}, returned and not followed")
    ask("/away", "-L")
    followed = elsewhere.taken()
    rows.add("a client that follows it by itself takes no token along", len(followed) == 1 and not any(secret.encode() in one.head for one in followed for secret in (SECRET, NEXT)), f"{len(followed)} arrived there")


def bodies(programs, rows):
    """All of it."""
    with Home() as home, Ledger(SECRET) as ledger, Ledger() as elsewhere:
        secret, root, (tls, http) = home.file("secret", SECRET), home.folder("files"), (free_port(), free_port())
        for size in SIZES:
            home.file(f"files/{size}", os.urandom(min(size, 1 << 20)) * (size // (1 << 20)) + os.urandom(size % (1 << 20)))
        text = b"a line of a text that is long enough\n" * 3000
        home.file("files/text.txt", text)
        ca, certificate, key = authority(home)
        ngx = f"""gzip on; gzip_types text/plain; brotli on; brotli_types text/plain; client_max_body_size 0;
server {{ listen 127.0.0.1:{tls} ssl; ssl_certificate {certificate}; ssl_certificate_key {key}; root {root};
location / {{ dav_methods PUT; if ($http_authorization != "Bearer {SECRET}") {{ return 403; }} }} }}"""
        httpd = f"""DocumentRoot {root}
DavLockDB {home.path}/davlock
<Directory {root}>
  Dav On
  Require expr "%{{HTTP:Authorization}} == 'Bearer {SECRET}'"
</Directory>
<Files "text.txt">
  SetOutputFilter BROTLI_COMPRESS;DEFLATE
</Files>"""
        server = Events()
        origins = [f"https://127.0.0.1:{tls}", f"http://127.0.0.1:{http}", server.origin, ledger.origin]
        rules = [{"origin": one, "methods": ["GET", "HEAD", "PUT", "POST"]} for one in origins]
        profiles = {"api": {"provider": "static", "secret": {"file": secret}, "requests": {"allow": rules}}}
        with nginx(home, tls, ngx), apache(home, http, httpd, ["dav", "dav_fs", "deflate", "brotli", "filter"]), \
                Broker(programs, profiles, network={"caFile": ca}) as broker:
            for name, origin in (("nginx over TLS", origins[0]), ("Apache", origins[1])):
                door = broker.open("-p", "api", "--port", "0", origin)
                sizes(home, broker, rows, door, name, root)
                encodings(home, rows, door, name, text)
            events(broker, rows, server)
            statuses(home, broker, rows, ledger, elsewhere, secret)
