"""Prints a program with argv[1] loops, one in another."""

import sys

depth = int(sys.argv[1])
loops = "".join(f'{{"kind": "loop", "var": "i{i}", "bound": "2", "body": [' for i in range(depth))
print('{"schema": "sluice-kernel-1", "kernels": [{"name": "k", "target": "generic", "body": [' + loops +
      "]}" * depth + "]}]}")
