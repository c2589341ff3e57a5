"""Keys and certificates of the scripted servers, made with openssl(1)."""

import base64
import hashlib
import os
import ssl
import subprocess
import threading

CERTIFICATES = {"good": "localhost", "other-host": "elsewhere.example", "expired": "localhost", "self-signed": "localhost",
                "tls11": "localhost"}


def openssl(*arguments):
    return subprocess.run(["openssl", *arguments], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


class Certificates:
    """Keys and certificates of one run, made when first asked for, removed at the end."""

    def __init__(self, folder):
        self.folder = folder
        self.lock = threading.Lock()

    def path(self, name):
        """The file of a certificate with its key; of the authority, the certificate alone."""
        with self.lock:
            path = os.path.join(self.folder, name)
            if not os.path.exists(path):
                self.make(name.removesuffix(".pem"), path)
            return path

    def make(self, name, path):
        key = path + ".key"
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
        if name in ("ca", "self-signed"):
            subject = "/CN=Authority of a test" if name == "ca" else "/CN=localhost"
            extra = [] if name == "ca" else ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
            openssl("req", "-x509", "-new", "-key", key, "-subj", subject, "-days", "30", *extra, "-out", path + ".crt")
        else:
            authority = os.path.join(self.folder, "ca.pem")
            if not os.path.exists(authority):
                self.make("ca", authority)
            host = CERTIFICATES[name]
            names = f"subjectAltName=DNS:{host}" + (",IP:127.0.0.1" if host == "localhost" else "")
            with open(path + ".ext", "w", encoding="ascii") as file:
                file.write(names)
            openssl("req", "-new", "-key", key, "-subj", f"/CN={host}", "-out", path + ".csr")
            openssl("x509", "-req", "-in", path + ".csr", "-CA", authority, "-CAkey", authority + ".key", "-extfile",
                    path + ".ext", "-days", "-1" if name == "expired" else "30", "-set_serial", str(len(name)), "-out", path + ".crt")
        with open(path, "w", encoding="ascii") as file:
            for part in [path + ".crt"] + ([] if name == "ca" else [key]):
                with open(part, encoding="ascii") as source:
                    file.write(source.read())

    def context(self, name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path(name + ".pem"))
        if name == "tls11":
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        return context

    def pin(self, name):
        public = openssl("x509", "-in", self.path(name + ".pem") + ".crt", "-pubkey", "-noout")
        der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], check=True, input=public, stdout=subprocess.PIPE).stdout
        return "sha256//" + base64.b64encode(hashlib.sha256(der).digest()).decode()
