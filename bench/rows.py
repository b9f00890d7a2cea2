#!/usr/bin/env python3
"""What the nine kernels of bench/table2 give, as the tables of docs/simulator.md.

usage: rows.py SLUICE published|cleaned|grid|registers|check [ROW | --OPTION-OF-BENCH]...

Predicted by the model of the target with its default parameters, some of them calibrated, beside the published figures.
published: without clean-ups, the published setting; (!) marks a ratio of per-loop to barriers that is 1 or more, or further from
the published one than the model claims. cleaned: with all clean-ups. grid: per-loop as published over the points of --grid.
registers: what thresholds take, as published and cleaned. check: what is claimed of the published setting; a line for each row and
claim that does not hold, and exit code 1 if there is one.
"""

import json
import pathlib
import subprocess
import sys

TABLE2 = pathlib.Path(__file__).resolve().parent / "table2"
ROWS = ["add_many", "adamw", "flash_attn", "rmsnorm", "tiled_matmul", "tiled_matmul_k", "moe_384", "moe_2048", "moe_4096"]
WIDE = {"flash_attn": 0.15, "tiled_matmul": 0.15}  # the others: 0.10
# Rows in which the rule gives registers that nothing would use: a loop carries nothing.
BELOW_RULE = {"add_many", "tiled_matmul"}
PUBLISHED = "--cleanup=none"


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


def is_close(name, kernel):
    return abs(difference(kernel)) <= WIDE.get(name, 0.10)


def is_faster(kernel):
    return kernel["per-loop"]["to_barrier"] < 1


def keeps_rule(name, row):
    used, rule = row["wait_registers"], row["rule_registers"]
    return used < rule if name in BELOW_RULE else used == rule


def ratios(kernels):
    heads = ["row", "barrier, us", "per-loop", "published", "difference", "manual", "published", "unroll", "published", "ideal"]
    rows = []
    for name, kernel in kernels.items():
        mark = "" if is_close(name, kernel) and is_faster(kernel) else " (!)"
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


def registers(published_kernels, cleaned_kernels):
    heads = ["row", "published", "by the rule", "per-loop", "operations", "shadow, operations", "cleaned: per-loop", "operations",
             "shadow", "operations"]
    rows = []
    for name, kernel in published_kernels.items():
        row, clean = kernel["per-loop"], cleaned_kernels[name]
        cells = [row["published"]["registers"], row["rule_registers"], row["wait_registers"], row["register_operations"],
                 kernel["shadow"]["register_operations"]]
        for strategy in ("per-loop", "shadow"):
            cells += [clean[strategy]["wait_registers"], clean[strategy]["register_operations"]]
        rows.append([name, *map(str, cells)])
    print_table(heads, rows)


def check(kernels):
    """Prints which claims do not hold; returns how many."""
    broken = []
    for name, kernel in kernels.items():
        row, operations = kernel["per-loop"], {s: kernel[s]["register_operations"] for s in ("shadow", "per-loop")}
        if not is_close(name, kernel):
            broken.append(f"{name}: per-loop {ratio(row)} of barriers, published {published(row)}, off by more than {WIDE.get(name, 0.10)}")
        if not is_faster(kernel):
            broken.append(f"{name}: per-loop {ratio(row)} of barriers, not faster")
        if not keeps_rule(name, row):
            broken.append(f"{name}: per-loop uses {row['wait_registers']} registers, the rule says {row['rule_registers']}")
        if operations["shadow"] >= operations["per-loop"]:
            broken.append(f"{name}: shadow has {operations['shadow']} register operations, per-loop {operations['per-loop']}")
    print("\n".join(broken) or f"{len(kernels)} rows: ok")
    return len(broken)


def main():
    sluice, table = sys.argv[1], sys.argv[2]
    options = [word for word in sys.argv[3:] if word.startswith("--")]
    rows = [word for word in sys.argv[3:] if word not in options] or ROWS
    if table == "published":
        ratios(bench(sluice, rows, PUBLISHED, *options)[0])
    elif table == "cleaned":
        cleaned(bench(sluice, rows, *options)[0])
    elif table == "grid":
        grid(*bench(sluice, rows, PUBLISHED, "--grid", "--alloc=per-loop", *options))
    elif table == "registers":
        registers(bench(sluice, rows, PUBLISHED, *options)[0], bench(sluice, rows, *options)[0])
    elif table == "check":
        sys.exit(check(bench(sluice, rows, *(options or [PUBLISHED]))[0]) > 0)
    else:
        sys.exit(f"unknown table {table}")


if __name__ == "__main__":
    main()
