"""What a door costs beside nginx as a reverse proxy that adds a fixed header: the same server behind both, in one run."""

import re

from servers import nginx
from stage import Broker, Failure, Home, free_port

# Rounds of each, by turns, so that a slower moment of the machine meets both.
ROUNDS, SECONDS = 3, 8
# The aim: the median of a request, and how many go through.
MOST_TIME, LEAST_RATE = 1.5, 0.5
UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3}


def measure(home, url, connections, *fields):
    """One run of wrk: requests for each second, and the median and the 99th percentile in milliseconds."""
    words = [word for field in fields for word in ("-H", field)]
    done = home.run("wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", "--latency", *words, url)
    text = done.stdout
    errors = re.findall(r"(?:Non-2xx.*|Socket errors.*)", text)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", text)
    times = {name: float(number) * UNITS[unit] for name, number, unit in re.findall(r"(50|99)%\s+([\d.]+)(us|ms|s)\b", text)}
    if not rate or errors or len(times) != 2:
        raise Failure(f"wrk at {url}: {errors or text[-300:] or done.stderr}")
    return float(rate[1]), times["50"], times["99"]


def best(figures):
    """Of several runs the highest rate, and the lowest times."""
    return max(one[0] for one in figures), min(one[1] for one in figures), min(one[2] for one in figures)


def throughput(programs, rows):
    """Small answers and larger ones, with one connection and with many."""
    with Home() as home:
        port, proxy_port = free_port(), free_port()
        body = "x" * 200
        upstream = f"""server {{ listen 127.0.0.1:{port} backlog=1024; location /small {{ return 200 "{body}"; }} location / {{ root {home.folder('files')}; }} }}"""
        home.file("files/large", b"x" * 100_000)
        fixed = f"""upstream u {{ server 127.0.0.1:{port}; keepalive 64; keepalive_requests 10000000; }}
server {{ listen 127.0.0.1:{proxy_port} backlog=1024; location / {{ proxy_pass http://u; proxy_http_version 1.1;
  proxy_set_header Connection ""; proxy_set_header Authorization "Bearer fixed"; }} }}"""
        secret = home.file("secret", "made-up-secret-of-a-server")
        profiles = {"api": {"provider": "static", "secret": {"file": secret}, "requests": {"allow": [{"origin": f"http://127.0.0.1:{port}"}]}}}
        with nginx(home, port, upstream), nginx(home, proxy_port, fixed) as proxy, Broker(programs, profiles) as broker:
            door = broker.open("-p", "api", "--port", "0")
            for path, connections in (("/small", 1), ("/small", 16), ("/small", 48), ("/large", 8)):
                runs = [(measure(home, proxy.url + path, connections), measure(home, door.url + path, connections, door.slot))
                        for _ in range(ROUNDS)]
                other, own = best([one[0] for one in runs]), best([one[1] for one in runs])
                seen = (f"nginx {other[0]:.0f}/s, p50 {other[1]:.2f} ms, p99 {other[2]:.2f} ms; door {own[0]:.0f}/s, p50 {own[1]:.2f} ms, "
                        f"p99 {own[2]:.2f} ms: {own[0] / other[0]:.2f} x the rate, {own[1] / other[1]:.2f} x p50")
                rows.add(f"wrk, {path[1:]} answers, {connections} connections", True, seen)
                meets = own[1] <= MOST_TIME * other[1] and own[0] >= LEAST_RATE * other[0]
                print(f"     {'meets' if meets else 'misses'} the aim of {MOST_TIME} x p50 and {LEAST_RATE} x the rate", flush=True)
