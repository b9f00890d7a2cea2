"""Every rule id has a text test that is refused by it and one that is accepted although the rule applies.

Rejecting: an expectation line (`# CHECK...: ... [id]`) in a test under tests/text. Accepting: a test with the line
`# ACCEPTS: id` (several ids, separated by commas, are fine). Ids used in tests must exist.

usage: rules.py SOURCE_DIR
"""

import pathlib
import re
import sys

from tap import Tap

RULE = re.compile(r'^SL_RULE\(\w+,\s*"([^"]+)"', re.MULTILINE)
EXPECTATION = re.compile(r"^\s*(?:#|//)\s*[A-Z][A-Z0-9_-]*:(.*)$", re.MULTILINE)
ACCEPTS = re.compile(r"#\s*ACCEPTS:\s*(.+)$", re.MULTILINE)
RUN = re.compile(r"#\s*RUN:")


def main():
    root = pathlib.Path(sys.argv[1])
    rules = RULE.findall((root / "src/base/rules.def").read_text(encoding="utf-8"))
    tap = Tap()
    rejected, accepted = {}, {}
    for path in sorted((root / "tests/text").rglob("*")):
        if not path.is_file() or "Inputs" in path.parts:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if not RUN.search(text):
            continue
        for line in EXPECTATION.findall(text):
            for rule in re.findall(r"\[([A-Za-z-]+)\]", line):
                rejected.setdefault(rule, path)
        for line in ACCEPTS.findall(text):
            for rule in re.split(r"[,\s]+", line.strip()):
                accepted.setdefault(rule, path)
    for rule in rules:
        tap.check(rule in rejected, f"[{rule}] has a rejecting test", f"no CHECK line under tests/text has [{rule}]")
        tap.check(rule in accepted, f"[{rule}] has an accepting test", f"no test has the line '# ACCEPTS: {rule}'")
    for rule, path in sorted(accepted.items()):
        if rule not in rules:
            tap.check(False, f"{path.relative_to(root)} accepts [{rule}]", "there is no such rule")
    tap.check(len(set(rules)) == len(rules), "rule ids are unique")
    tap.finish()


main()
