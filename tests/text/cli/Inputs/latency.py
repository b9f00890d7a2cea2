"""Prints the latencies in `sluice bench --json` from stdin in ticks, and whether the grid of each row, if any, is in order."""

import json
import sys

for kernel in json.load(sys.stdin)["kernels"]:
    for row in kernel["strategies"]:
        print(row["strategy"], row["latency_ticks"])
        for key in ("to_barrier", "of_ideal"):
            grid = row.get(key + "_grid")
            if grid:
                good = len(grid["points"]) == 12 and grid["points"][0] == row[key] and grid["least"] == min(grid["points"])
                good = good and grid["least"] <= grid["median"] <= grid["most"] == max(grid["points"])
                print("grid", "good" if good else "bad")
