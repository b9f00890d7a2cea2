"""The examples of a document are what the tool does.

usage: documented.py DOCUMENT SLUICE [--write]

A block between ``` lines whose first line is `# NAME.slu` is a file. One that starts with `$ sluice check` or
`$ sluice deps` is that command, run where the files are, and its output. Numbers of events may differ. --write puts the output there.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"# ([a-z_]+\.slu)\n")
COMMANDS = ("$ sluice check", "$ sluice deps")

EVENTS = re.compile(r"[0-9]+ events")

document = pathlib.Path(sys.argv[1])
text = document.read_text(encoding="utf-8")
wrong = commands = 0
with tempfile.TemporaryDirectory() as directory:
    for block in BLOCK.findall(text):
        name = NAME.match(block)
        if name:
            (pathlib.Path(directory) / name.group(1)).write_text(block, encoding="utf-8")
        if not block.startswith(COMMANDS):
            continue
        command = block.split("\n")[0]
        done = subprocess.run([sys.argv[2], *command.split()[2:]], cwd=directory, capture_output=True, encoding="utf-8")
        actual = f"{command}\n{done.stdout}{done.stderr}"
        commands += 1
        if EVENTS.sub("events", actual) != EVENTS.sub("events", block):
            wrong += 1
            print(f"{document.name}: the output of `{command[2:]}` is\n{actual}")
            text = text.replace(f"```\n{block}```", f"```\n{actual}```")
if "--write" in sys.argv:
    document.write_text(text, encoding="utf-8")
print(f"{commands} commands, {wrong} with another output")
sys.exit(wrong > 0 or commands == 0)
