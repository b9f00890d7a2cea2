"""Which directory of src/ may include which: data flows one way. Also: what the tests' oracle may look at.

usage: layering.py SOURCE_DIR
"""

import pathlib
import re
import sys

from tap import Tap

# Directory -> directories its files may include besides its own. <sluice/...> is open to all.
ALLOWED = {
    "src/base": set(),
    "src/ir": {"base"},
    "src/target": {"base", "ir"},
    "src/deps": {"base", "ir", "target"},
    "src/sync": {"base", "ir", "target", "deps"},
    "src/lower": {"base", "ir", "target", "deps", "sync"},
    # These judge what src/sync made, so they share no code with it; dependences are the checker's input.
    "src/run": {"base", "ir", "target"},
    "src/check": {"base", "ir", "target", "deps", "run"},
    "src/sim": {"base", "ir", "target", "deps", "run"},
    "src/exec": {"base", "ir", "target"},
    # Views are made of what the public headers tell.
    "src/view": {"base"},
    "src/api": {"base", "ir", "target", "deps", "sync", "lower", "run", "check", "sim", "exec"},
    # The tool is a client of the public API.
    "src/cli": set(),
    # The oracle judges src/deps and src/sync, so it shares no code with them; properties call what they judge.
    "tests/oracle": {"base", "ir", "target", "property"},
    "tests/property": {"base", "ir", "target", "deps", "oracle"},
    "include/sluice": set(),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def own_name(directory):
    return directory.split("/")[-1]


def main():
    root = pathlib.Path(sys.argv[1])
    tap = Tap()
    present = {f"src/{path.name}" for path in (root / "src").iterdir() if path.is_dir()}
    unknown = present - set(ALLOWED)
    tap.check(not unknown, "every directory of src has a place in the layering", f"add to {__file__}: {unknown}")
    for directory, allowed in ALLOWED.items():
        wrong = []
        for path in sorted((root / directory).glob("*.[ch]")) + sorted((root / directory).glob("*.def")):
            for included in INCLUDE.findall(path.read_text(encoding="utf-8")):
                layer = included.split("/")[0] if "/" in included else own_name(directory)
                if directory == "include/sluice" or (layer != own_name(directory) and layer not in allowed):
                    wrong.append(f'{path.relative_to(root)} includes "{included}"')
        if not (root / directory).is_dir():
            continue
        tap.check(not wrong, f"{directory} includes only what it may", "\n".join(wrong))
    tap.finish()


main()
