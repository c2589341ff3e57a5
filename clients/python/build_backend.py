"""Builds the wheel and the source archive (PEP 517) of this package: pure Python, so that both are plain archives.

`pip install ./clients/python` therefore needs neither setuptools nor a network. Name, version, description and licence are those
of `pyproject.toml`, of whose TOML only single-line strings are read (Python 3.9 has no parser for it).
"""

import base64
import hashlib
import io
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "authbroker"
# What a ZIP archive can hold as its earliest time; the same input gives the same archive.
EPOCH = (1980, 1, 1, 0, 0, 0)


def project(name):
    """A string of the table `project`."""
    with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as file:
        return re.search(rf'^{re.escape(name)} = "([^"]*)"$', file.read(), re.MULTILINE)[1]


def stem():
    """What the names of archives begin with (PEP 427, PEP 625)."""
    return f"{PACKAGE}-{project('version')}"


def metadata():
    """The core metadata (PEP 566)."""
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    return (f"Metadata-Version: 2.1\nName: {project('name')}\nVersion: {project('version')}\n"
            f"Summary: {project('description')}\nLicense: {project('license')}\n"
            f"Requires-Python: {project('requires-python')}\nDescription-Content-Type: text/markdown\n\n{readme}")


def entry_points():
    """What other packages find by the installation: the backend of keyring."""
    return "[keyring.backends]\nauthbroker = authbroker.keyring_backend\n"


def sources():
    """Yields the files of the package: path in the archive and content."""
    folder = os.path.join(HERE, PACKAGE)
    for name in sorted(os.listdir(folder)):
        if name.endswith((".py", ".typed")):
            with open(os.path.join(folder, name), "rb") as file:
                yield f"{PACKAGE}/{name}", file.read()


def write_wheel(directory, files):
    """Writes an archive of files and of the record that a wheel has of them."""
    information = f"{stem()}.dist-info"
    files = [*files, (f"{information}/METADATA", metadata().encode()),
             (f"{information}/entry_points.txt", entry_points().encode()),
             (f"{information}/WHEEL",
              b"Wheel-Version: 1.0\nGenerator: authbroker\nRoot-Is-Purelib: true\nTag: py3-none-any\n")]
    record = ""
    for path, content in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files.append((f"{information}/RECORD", (record + f"{information}/RECORD,,\n").encode()))
    name = f"{stem()}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files:
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the wheel (PEP 517)."""
    return write_wheel(wheel_directory, list(sources()))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds a wheel that leads to this folder (PEP 660)."""
    return write_wheel(wheel_directory, [(f"{PACKAGE}.pth", HERE.encode() + b"\n")])


def build_sdist(sdist_directory, config_settings=None):
    """Builds the source archive (PEP 517)."""
    name = f"{stem()}.tar.gz"
    files = list(sources()) + [("PKG-INFO", metadata().encode())]
    for path in ("README.md", "build_backend.py", "pyproject.toml"):
        with open(os.path.join(HERE, path), "rb") as file:
            files.append((path, file.read()))
    with tarfile.open(os.path.join(sdist_directory, name), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path, content in files:
            entry = tarfile.TarInfo(f"{stem()}/{path}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return name
