"""Runs a command with a terminal as its stderr.

usage: terminal.py FIFO INPUT TEXT COMMAND...

When the terminal shows TEXT, INPUT is written into FIFO, which the command reads. Prints what the terminal got, with < for
every carriage return, and exits with the command's code.
"""

import os
import pathlib
import pty
import subprocess
import sys
import time

fifo, given, text, *command = sys.argv[1:]
ours, theirs = pty.openpty()
process = subprocess.Popen(command, stderr=theirs)
os.close(theirs)
got, is_fed, end = b"", False, time.monotonic() + 60
while time.monotonic() < end:
    try:
        chunk = os.read(ours, 4096)
    except OSError:  # how a terminal says that nobody has it open any more
        break
    got += chunk
    if not chunk:
        break
    if not is_fed and text.encode() in got:
        is_fed = True
        pathlib.Path(fifo).write_bytes(pathlib.Path(given).read_bytes())
print(got.decode().replace("\r\n", "\n").replace("\r", "<"))
sys.exit(process.wait(timeout=10))
