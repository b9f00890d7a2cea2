#!/usr/bin/env python3
"""deps.py: how long finding and reducing dependences takes. bench/README.md says what the lines mean.

    python3 bench/deps.py [path of sluice]     default: build/sluice

Environment: RUNS (5). Exits 1 when a bound below is not kept.
"""
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

BUFFERS = 16
BYTES = 4 * 1024 * 1024 // 128  # of a buffer, per partition: 16 times 4 MiB
ENGINES = 8


class Kernel:
    """Writes a kernel whose accesses are anywhere in 64 MiB of buffers; the same bytes on every machine."""

    def __init__(self, path):
        self.file = open(path, "w")
        self.random = random.Random(1)
        self.line("sluice 1\n\nkernel generated(n = 4, m = 4) target generic {")
        for buffer in range(BUFFERS):
            self.line(f"  buffer b{buffer} : sbuf u8[128p, {BYTES}]")
        for buffer in range(4):
            self.line(f"  buffer r{buffer} : sbuf u8[2, 128p, {BYTES}]")

    def line(self, text):
        self.file.write(text + "\n")

    def access(self, rotation):
        length = self.random.choice([64, 128, 256, 512, 1024])
        first = self.random.randrange(0, (BYTES - length) // 64) * 64
        if rotation and self.random.random() < 0.5:
            return f"r{self.random.randrange(4)}[{rotation} % 2, :, {first} +: {length}]"
        return f"b{self.random.randrange(BUFFERS)}[:, {first} +: {length}]"

    def instruction(self, indent, rotation=None):
        engine = self.random.randrange(ENGINES)
        accesses = [self.access(rotation) for _ in range(3)]
        self.line(f"{indent}e{engine}.op {accesses[0]} <- {accesses[1]}, {accesses[2]}")

    def end(self):
        self.line("}")
        self.file.close()


def straight(kernel, count):
    for _ in range(count):
        kernel.instruction("  ")


def nest(kernel, count, rotation=None):
    kernel.line("  loop i < n {\n    loop j < m {\n      loop k < n {")
    for _ in range(count):
        kernel.instruction("        ", rotation)
    kernel.line("      }\n    }\n  }")


def branches(kernel, count):
    for _ in range(count):
        kernel.line("  if ?c {")
        kernel.instruction("    ")
        kernel.line("  } else {")
        kernel.instruction("    ")
        kernel.line("  }")


def nests(kernel, count, rotation=None):
    for _ in range(count):
        nest(kernel, 2, rotation)


def measure(sluice, path, runs):
    """Median of the processor time of the passes `deps` and `reduce`, in seconds."""
    times = []
    for _ in range(runs):
        result = subprocess.run([sluice, "sync", "--no-check", "--time-passes", "-o", os.devnull, path],
                                capture_output=True, text=True, check=True)
        rows = re.findall(r"^ *([0-9.]+) +[0-9.]+% +(\w+)$", result.stderr + result.stdout, re.MULTILINE)
        passes = {name: float(seconds) for seconds, name in rows}
        times.append((passes["deps"], passes["reduce"]))
    return tuple(statistics.median(column) for column in zip(*times))


SHAPES = [  # what, how it is written, bound in seconds
    ("100,000 instructions, straight line", lambda k: straight(k, 100_000), None),
    ("1,000,000 instructions, straight line", lambda k: straight(k, 1_000_000), 3.0),
    ("10,000 in the innermost of three loops", lambda k: nest(k, 10_000), 5.0),
    ("  the same, half of them rotating", lambda k: nest(k, 10_000, "k"), 5.0),
    ("a row of 3,000 if/else", lambda k: branches(k, 3_000), 0.5),
    ("a row of 3,000 nests of three loops", lambda k: nests(k, 3_000), 0.5),
    ("  the same, half of them rotating", lambda k: nests(k, 3_000, "k"), None),
]
GROWTH = 12.0  # of straight-line code, for ten times the instructions


def main():
    sluice = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "build", "sluice")
    runs = int(os.environ.get("RUNS", "5"))
    failed = False
    totals = []
    print(f"three accesses per instruction, anywhere in 64 MiB; user+sys seconds, medians of {runs} runs")
    print(f"  {'':40} {'deps':>8} {'reduce':>8} {'both':>8}")
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "kernel.slu")
        for what, write, bound in SHAPES:
            kernel = Kernel(path)
            write(kernel)
            kernel.end()
            deps, reduce = measure(sluice, path, runs)
            totals.append(deps + reduce)
            kept = bound is None or totals[-1] <= bound
            failed |= not kept
            print(f"  {what:40} {deps:8.3f} {reduce:8.3f} {totals[-1]:8.3f}" + ("" if kept else f"  NOT KEPT: > {bound}"))
    growth = totals[1] / totals[0]
    failed |= growth > GROWTH
    print(f"  time(1,000,000) / time(100,000) = {growth:.2f}" + ("" if growth <= GROWTH else f"  NOT KEPT: > {GROWTH}"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
