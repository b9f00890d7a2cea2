"""Prints `sluice bench --json` from stdin: a line for each kernel and strategy."""

import json
import sys

for kernel in json.load(sys.stdin)["kernels"]:
    for row in kernel["strategies"]:
        print(kernel["kernel"], row["strategy"], *(("cannot",) if "reason" in row else (row["waits"], row["updates"])))
