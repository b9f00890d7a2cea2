#!/usr/bin/env python3
"""What the nine kernels of bench/table2 give, as the tables of docs/simulator.md.

usage: rows.py SLUICE published|cleaned|grid [ROW...]

Predicted by the model of the target with its default parameters, some of them calibrated, beside the published figures.
published: without clean-ups, the published setting; (!) marks a ratio of per-loop to barriers that is 1 or more, or further from
the published one than the model claims. cleaned: with all clean-ups. grid: per-loop as published over the points of --grid.
"""

import json
import pathlib
import subprocess
import sys

TABLE2 = pathlib.Path(__file__).resolve().parent / "table2"
ROWS = ["add_many", "adamw", "flash_attn", "rmsnorm", "tiled_matmul", "tiled_matmul_k", "moe_384", "moe_2048", "moe_4096"]
WIDE = {"flash_attn": 0.15, "tiled_matmul": 0.15}  # the others: 0.10


def bench(sluice, rows, *options):
    """Kernels by name, each its rows by strategy; and the points of the grid."""
    paths = [str(TABLE2 / f"{row}.slu") for row in rows]
    run = subprocess.run([sluice, "bench", "--json", "--published", *options, *paths], stdout=subprocess.PIPE, check=True)
    report = json.loads(run.stdout)
    kernels = {kernel["kernel"]: {row["strategy"]: row for row in kernel["strategies"]} for kernel in report["kernels"]}
    return kernels, report["grid"]


def ratio(row):
    return f"{row['to_barrier']:.2f}" if row and "to_barrier" in row else "-"


def published(row):
    return f"{row['published']['to_barrier']:.2f}" if row and "published" in row else "-"


def print_table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def difference(kernel):
    row = kernel["per-loop"]
    return row["to_barrier"] - row["published"]["to_barrier"]


def is_within(name, kernel):
    return abs(difference(kernel)) <= WIDE.get(name, 0.10) and kernel["per-loop"]["to_barrier"] < 1


def ratios(kernels):
    heads = ["row", "barrier, us", "per-loop", "published", "difference", "manual", "published", "unroll", "published", "ideal"]
    rows = []
    for name, kernel in kernels.items():
        mark = "" if is_within(name, kernel) else " (!)"
        rows.append([name, f"{kernel['barrier']['latency_ns'] / 1000:.1f}", ratio(kernel["per-loop"]),
                     published(kernel["per-loop"]), f"{difference(kernel):+.2f}{mark}", ratio(kernel["manual"]),
                     published(kernel["manual"]), ratio(kernel["unroll"]), published(kernel["unroll"]), ratio(kernel["ideal"])])
    print_table(heads, rows)


def cleaned(kernels):
    names = ["shadow", "per-loop", "per-instruction", "per-engine", "unroll", "manual"]
    rows = []
    for name, kernel in kernels.items():
        cells = [f"{ratio(kernel[s])} ({100 * kernel[s]['of_ideal']:.0f} %)" if "of_ideal" in kernel[s] else "-" for s in names]
        rows.append([name, *cells, ratio(kernel["ideal"])])
    print_table(["row", *names, "ideal"], rows)


def point_name(point):
    return ", ".join(f"{name} {value:g}" for name, value in point.items()) or "defaults"


def grid(kernels, points):
    rows = []
    for i, point in enumerate(points):
        rows.append([point_name(point), *(f"{k['per-loop']['to_barrier_grid']['points'][i]:.2f}" for k in kernels.values())])
    for what in ("least", "median", "most"):
        rows.append([what, *(f"{kernel['per-loop']['to_barrier_grid'][what]:.2f}" for kernel in kernels.values())])
    print_table(["per-loop to barrier", *kernels], rows)


def main():
    sluice, table, rows = sys.argv[1], sys.argv[2], sys.argv[3:] or ROWS
    if table == "published":
        ratios(bench(sluice, rows, "--cleanup=none")[0])
    elif table == "cleaned":
        cleaned(bench(sluice, rows)[0])
    elif table == "grid":
        grid(*bench(sluice, rows, "--cleanup=none", "--grid", "--alloc=per-loop"))
    else:
        sys.exit(f"unknown table {table}")


if __name__ == "__main__":
    main()
