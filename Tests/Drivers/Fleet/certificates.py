"""Certificates of a run, by openssl."""

import os
import subprocess

from stage import own


class Authority:
    """An authority, and the certificates that it issues, in a folder."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.file = f"{folder}/{name}.pem"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "3",
                      "-subj", f"/CN={name}", "-keyout", f"{folder}/{name}.key", "-out", self.file)

    def issue(self, name, *alternatives, is_expired=False):
        """A certificate for names such as `DNS:db.test`, and its key, for a server of PostgreSQL; their paths."""
        stem = f"{self.folder}/{self.name}-{name}"
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                      "-keyout", stem + ".key", "-out", stem + ".csr")
        with open(stem + ".cnf", "w", encoding="ascii") as file:
            file.write("subjectAltName=" + ",".join(alternatives) + "\n")
        # x509(1) of openssl 3.0 has no dates, and ca(1) needs a database.
        with open(stem + ".ca", "w", encoding="ascii") as file:
            file.write(f"[ca]\ndefault_ca=own\n[own]\ndatabase={stem}.index\nserial={stem}.serial\nnew_certs_dir={self.folder}\n"
                       f"default_md=sha256\npolicy=any\nunique_subject=no\n[any]\ncommonName=supplied\n")
        open(stem + ".index", "w", encoding="ascii").close()
        with open(stem + ".serial", "w", encoding="ascii") as file:
            file.write(os.urandom(8).hex() + "\n")
        dates = ["20200101000000Z", "20200201000000Z"] if is_expired else ["20200101000000Z", "20990101000000Z"]
        self._openssl("ca", "-batch", "-notext", "-config", stem + ".ca", "-cert", self.file, "-keyfile",
                      f"{self.folder}/{self.name}.key", "-in", stem + ".csr", "-out", stem + ".pem", "-extfile", stem + ".cnf",
                      "-startdate", dates[0], "-enddate", dates[1])
        for path in (stem + ".pem", stem + ".key"):
            own(path)
            os.chmod(path, 0o600)
        return stem + ".pem", stem + ".key"

    @staticmethod
    def _openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, stdin=subprocess.DEVNULL)
