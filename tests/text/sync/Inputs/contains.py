"""contains.py FILE PART: fails unless the lines of PART, of which there must be some, stand in FILE in one row."""

import pathlib
import sys


def main():
    whole, part = (pathlib.Path(name).read_text(encoding="utf-8").rstrip("\n") for name in sys.argv[1:])
    if not part or "\n" + part + "\n" not in "\n" + whole + "\n":
        sys.exit(f"{sys.argv[1]} does not show this output:\n{part}")


main()
