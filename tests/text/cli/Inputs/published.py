"""Prints the published figures in `sluice bench --json --published` from stdin, a line for each kernel."""

import json
import sys

report = json.load(sys.stdin)
print("{source}: {note}".format(**report["published"]))
for kernel in report["kernels"]:
    rows = [(row["strategy"], row["published"]) for row in kernel["strategies"] if "published" in row]
    print(kernel["kernel"] + ":", "; ".join(
        f"{name} {row['semaphores']} {row.get('registers', '-')} {row['slots']} {row['code_kib']} {row['to_barrier']}" for name, row in rows))
