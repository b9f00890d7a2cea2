"""Prints `sluice bench --json` from stdin: a line for each kernel and strategy."""

import json
import sys

for kernel in json.load(sys.stdin)["kernels"]:
    for row in kernel["strategies"]:
        counts = (row[key] for key in ("waits", "updates") if key in row)
        print(kernel["kernel"], row["strategy"], *(("cannot",) if "reason" in row else counts))
