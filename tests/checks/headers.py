"""Every public header compiles alone, as C11 and as C++17, without warnings.

usage: headers.py SOURCE_DIR
"""

import pathlib
import shutil
import sys

from tap import Tap

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror", "-fsyntax-only"]
COMPILERS = [
    ("gcc", ["-x", "c", "-std=c11"]),
    ("clang", ["-x", "c", "-std=c11"]),
    ("g++", ["-x", "c++", "-std=c++17"]),
    ("clang++", ["-x", "c++", "-std=c++17"]),
]


def main():
    include = pathlib.Path(sys.argv[1]) / "include"
    tap = Tap()
    for header in sorted((include / "sluice").glob("*.h")):
        source = f"#include <sluice/{header.name}>\nint sluice_header_test(void);\n"
        for compiler, language in COMPILERS:
            name = f"sluice/{header.name} alone, {compiler} {language[-1]}"
            if not shutil.which(compiler):
                tap.skip(name, f"{compiler} is not installed")
                continue
            tap.run(name, [compiler, *language, *WARNINGS, f"-I{include}", "-"], input=source)
    tap.finish()


main()
