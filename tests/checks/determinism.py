"""The output of two builds of the tool (gcc's and clang's), and of two runs of one, is the same byte for byte on every
kernel of the repository: formatted, as JSON, and synchronized by every strategy; messages included.

usage: determinism.py SOURCE_DIR SLUICE OTHER_SLUICE
"""

import pathlib
import subprocess
import sys

from tap import Tap

COMMANDS = [
    ["fmt", "KERNEL"],
    ["fmt", "--emit=json", "KERNEL"],
    ["sync", "--alloc=shadow", "KERNEL"],
    ["sync", "--alloc=shadow", "--emit=json", "KERNEL"],
    ["sync", "--alloc=per-loop", "KERNEL"],
    ["sync", "--alloc=barrier", "KERNEL"],
    ["bench", "--max-steps=300000", "KERNEL"],  # some kernels loop for longer than anybody lives
]


def kernels(root):
    return sorted(path for place in ("bench", "examples", "tests") for path in (root / place).rglob("*.slu"))


def outcome(tool, command, kernel):
    words = [str(kernel) if word == "KERNEL" else word for word in command]
    done = subprocess.run([tool, *words], capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def difference(tool, other, kernel):
    """The first command whose outcome differs between the builds or between runs, or None."""
    for command in COMMANDS:
        first = outcome(tool, command, kernel)
        if first[0] not in (0, 1, 2, 3):
            return f"{command}: exit {first[0]}\n{first[2].decode(errors='replace')}"
        if first != outcome(tool, command, kernel):
            return f"{command}: two runs of {tool} differ"
        if first != outcome(other, command, kernel):
            return f"{command}: {tool} and {other} differ"
    return None


def main():
    root, tool, other = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    tap = Tap()
    for kernel in kernels(root):
        why = difference(tool, other, kernel)
        tap.check(why is None, f"{kernel.relative_to(root)} gives the same output", why)
    tap.finish()


main()
