"""nginx, Apache and haproxy with configurations of the scenes, as the ordinary user's programs."""

import os
import socket

from stage import Failure, end, wait

MODULES = "/usr/lib/nginx/modules"


def listens(port):
    """Whether someone listens on a port of the loopback."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


class Program:
    """A server that runs until it is left; a context manager."""

    def __init__(self, home, port, *command, **variables):
        self.home, self.port, self.command, self.variables = home, port, command, variables
        self.url = f"http://127.0.0.1:{port}"
        self.said = os.path.join(home.path, f"said-{port}")

    def __enter__(self):
        with open(self.said, "wb") as said:
            self.process = self.home.start(*self.command, variables=self.variables, stdout=said, stderr=said)
        wait(lambda: listens(self.port) or self.process.poll() is not None, f"{self.command[0]} listens")
        if self.process.poll() is not None:
            with open(self.said, encoding="utf-8", errors="replace") as said:
                raise Failure(f"{self.command[0]} has ended: {said.read()[-600:]}")
        return self

    def __exit__(self, *arguments):
        end(self.process)

    def lines(self, name):
        """The lines of a log that the configuration puts into the home."""
        path = os.path.join(self.home.path, name)
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()


def nginx(home, port, http, workers=1):
    """nginx with a block `http`, whose servers the scene writes; the first listens on `port`."""
    folder = home.folder(f"nginx-{port}")
    modules = "".join(f"load_module {MODULES}/{name};\n" for name in sorted(os.listdir(MODULES)) if name.endswith(".so"))
    places = "".join(f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    text = f"""{modules}daemon off; pid {folder}/pid; error_log {folder}/error.log warn; worker_processes {workers};
events {{ worker_connections 4096; }}
http {{ {places} access_log off; default_type application/octet-stream; include /etc/nginx/mime.types;
keepalive_requests 10000000;
{http}
}}
"""
    return Program(home, port, "nginx", "-e", f"{folder}/error.log", "-c", home.file(f"nginx-{port}.conf", text))


def apache(home, port, text, modules=()):
    """Apache with the lines of a configuration; `modules` are those beside the usual ones."""
    folder = home.folder(f"apache-{port}")
    names = ["mpm_event", "authz_core", "authz_host", "mime", "alias", "headers", "setenvif", "log_config", "env", *modules]
    built_in = {"log_config"}
    loads = "".join(
        f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in names if name not in built_in)
    whole = f"""ServerRoot {folder}
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile {folder}/pid
DefaultRuntimeDir {folder}
ErrorLog {folder}/error.log
{loads}TypesConfig /etc/mime.types
KeepAlive On
MaxKeepAliveRequests 0
{text}
"""
    return Program(home, port, "apache2", "-D", "FOREGROUND", "-f", home.file(f"apache-{port}.conf", whole))


def haproxy(home, port, backend, options="option http-server-close"):
    """haproxy in front of one server, `HOST:PORT` or `unix@PATH`, which it reaches without changing the header."""
    text = f"""global
  maxconn 500
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  {options}
frontend f
  bind 127.0.0.1:{port}
  default_backend b
backend b
  server s {backend}
"""
    return Program(home, port, "haproxy", "-db", "-f", home.file(f"haproxy-{port}.conf", text))
