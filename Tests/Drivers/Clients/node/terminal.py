"""Runs a program in a pseudo-terminal: what is read here is typed there, and what it shows is written here."""

import os
import pty
import select
import sys

child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
sources = [0, terminal]
while terminal in sources:
    for source in select.select(sources, [], [])[0]:
        try:
            data = os.read(source, 65536)
        except OSError:
            data = b""
        if not data:
            sources.remove(source)
        else:
            os.write(1 if source == terminal else terminal, data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255)
