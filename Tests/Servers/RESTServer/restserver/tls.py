"""A throw-away certification authority and the certificates of each TLS mode, made by the openssl program on first
use."""

import base64
import hashlib
import os
import ssl
import subprocess
import threading
import warnings

NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1"
SETTINGS = """
[ca]
default_ca = here
[here]
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
"""


class OpenSSLFailed(Exception):
    """The openssl program has refused something; its own words."""


class Certificates:
    """A folder with one authority, a second one that nobody is told of, and a server key whose public half is the
    pin."""

    def __init__(self, folder, certificate=None, key=None, authority=None):
        self.folder, self.given = folder, (os.path.abspath(certificate), os.path.abspath(key)) if certificate else None
        self.authority = authority or os.path.join(folder, "ca.pem")
        self.contexts, self.lock = {}, threading.Lock()
        with open(os.path.join(folder, "ca.cnf"), "w", encoding="ascii") as file:
            file.write(SETTINGS)
        open(os.path.join(folder, "index.txt"), "w", encoding="ascii").close()
        with open(os.path.join(folder, "serial"), "w", encoding="ascii") as file:
            file.write("1000\n")
        if not self.given:
            self._authority("ca")
        for name in ("server", "backup"):
            self._key(name)

    def pin(self, name="server"):
        """`sha256//…` of the key's SubjectPublicKeyInfo, as libcurl and the configuration write it."""
        source = (
            ["x509", "-in", self.given[0], "-pubkey", "-noout"]
            if self.given and name == "server"
            else ["pkey", "-in", name + ".key", "-pubout"]
        )
        text = self._openssl(*source).decode()
        der = base64.b64decode("".join(line for line in text.splitlines() if not line.startswith("-----")))
        return "sha256//" + base64.b64encode(hashlib.sha256(der).digest()).decode()

    def context(self, mode):
        """The server's context for a mode; certificates are made when they are first wanted."""
        with self.lock:  # two connections must not make the same files at once
            if mode not in self.contexts:
                self.contexts[mode] = self._new_context(mode)
            return self.contexts[mode]

    def _new_context(self, mode):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        context.load_cert_chain(*self._files(mode))
        if mode in ("tls1.1-only", "tls1.2-only"):
            version = ssl.TLSVersion.TLSv1_1 if mode == "tls1.1-only" else ssl.TLSVersion.TLSv1_2
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                context.minimum_version, context.maximum_version = version, version
            if mode == "tls1.1-only":
                context.set_ciphers("ALL:@SECLEVEL=0")  # OpenSSL 3 speaks TLS 1.1 at this level only
        return context

    def _files(self, mode):
        if self.given and mode in ("ok", "tls1.1-only", "tls1.2-only"):
            return self.given
        if self.given and mode != "self-signed" and not os.path.exists(os.path.join(self.folder, "ca.pem")):
            self._authority("ca")
        certificate, key = os.path.join(self.folder, mode + ".pem"), os.path.join(self.folder, "server.key")
        if mode == "self-signed":
            self._openssl(
                "req",
                "-x509",
                "-new",
                "-key",
                "server.key",
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
                "-addext",
                NAMES,
                "-out",
                certificate,
            )
        elif mode == "unknown-ca":
            self._authority("other-ca")
            self._sign(certificate, "other-ca", NAMES)
        elif mode == "wrong-host":
            self._sign(certificate, "ca", "subjectAltName=DNS:elsewhere.example.com")
        elif mode == "expired":
            self._sign(certificate, "ca", NAMES, "-startdate", "20200101000000Z", "-enddate", "20200201000000Z")
        else:
            self._sign(certificate, "ca", NAMES)
        return certificate, key

    def _authority(self, name):
        self._key(name)
        self._openssl(
            "req",
            "-x509",
            "-new",
            "-key",
            name + ".key",
            "-days",
            "30",
            "-subj",
            "/CN=throw-away CA of a test server",
            "-addext",
            "keyUsage=critical,keyCertSign,cRLSign",
            "-out",
            name + ".pem",
        )

    def _key(self, name):
        self._openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", name + ".key")

    def _sign(self, certificate, authority, names, *validity):
        self._openssl("req", "-new", "-key", "server.key", "-subj", "/CN=localhost", "-out", "request.csr")
        with open(os.path.join(self.folder, "extensions"), "w", encoding="ascii") as file:
            file.write(f"{names}\nbasicConstraints=CA:FALSE\nkeyUsage=digitalSignature\nextendedKeyUsage=serverAuth\n")
        self._openssl(
            "ca",
            "-batch",
            "-notext",
            "-config",
            "ca.cnf",
            "-cert",
            authority + ".pem",
            "-keyfile",
            authority + ".key",
            "-in",
            "request.csr",
            "-extfile",
            "extensions",
            "-out",
            certificate,
            *(validity or ("-days", "7")),
        )

    def _openssl(self, *arguments):
        done = subprocess.run(["openssl", *arguments], cwd=self.folder, capture_output=True, check=False)
        if done.returncode != 0:
            raise OpenSSLFailed(f"openssl {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout
