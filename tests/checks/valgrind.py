"""The commands of the demo under valgrind: no invalid access, no use of undefined values, no leak.

usage: valgrind.py SOURCE_DIR SLUICE
"""

import pathlib
import shutil
import sys

from tap import Tap

VALGRIND = ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all",
            "--error-exitcode=99"]


def main():
    root, tool = pathlib.Path(sys.argv[1]), sys.argv[2]
    kernel = str(root / "bench/table2/rmsnorm.slu")
    faulty = str(root / "tests/text/check/Inputs/faulty.slu")
    commands = [
        ["sync", "--alloc=shadow", kernel],
        ["sync", "--alloc=per-loop", kernel],
        ["sync", "--alloc=barrier", kernel],
        ["sync", "--emit=json", kernel],
        ["check", "--kernel=right", "--minimal", faulty],
        ["check", "--kernel=right", "--json", faulty],
        ["check", "--kernel=right", "--format=sarif", faulty],
        ["deps", "--all", kernel],
        ["deps", kernel, "--explain", "q0", "ld0"],
        ["bench", kernel],
        ["fmt", "--verify", kernel],
        ["targets", "trn2"],
    ]
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        sys.exit(77)
    tap = Tap()
    for command in commands:
        name = " ".join(word.replace(str(root) + "/", "") for word in command)
        tap.run(f"valgrind: sluice {name}", [*VALGRIND, tool, *command])
    tap.finish()


main()
