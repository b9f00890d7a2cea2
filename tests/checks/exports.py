"""libsluice.so exports the functions that include/sluice declares, all of them, and nothing else.

usage: exports.py SOURCE_DIR LIBRARY
"""

import pathlib
import re
import subprocess
import sys

from tap import Tap

DECLARATION = re.compile(r"SLUICE_API\b[^;{]*?\b(\w+)\s*\(")


def declared(include):
    names = set()
    for header in include.glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.DOTALL)
        text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
        names.update(DECLARATION.findall(text))
    return names


def exported(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in listing.stdout.splitlines()}


def main():
    tap = Tap()
    public = declared(pathlib.Path(sys.argv[1]) / "include" / "sluice")
    symbols = exported(sys.argv[2])
    tap.check(len(symbols) > 0, "the library exports something")
    for name in sorted(symbols):
        tap.check(name.startswith("sluice_"), f"{name} has the prefix sluice_")
    tap.check(symbols <= public, "every exported symbol is declared in include/sluice", symbols - public)
    tap.check(public <= symbols, "every declared function is exported", public - symbols)
    dynamic = subprocess.run(["readelf", "-d", sys.argv[2]], capture_output=True, text=True, check=True).stdout
    tap.check(re.search(r"SONAME.*\[libsluice\.so\.\d+\]", dynamic), "the library has a SONAME with its major version",
              dynamic)
    tap.finish()


main()
