#!/bin/bash
# scale.sh: how the tool behaves on very large straight-line kernels. bench/README.md says what the lines mean.
#
#   bench/scale.sh [path of sluice]      default: $SLUICE, else build/bin/sluice or build/sluice
#
# Environment: RUNS (5), SMALL (100000), LARGE (1000000), CC (cc). Exits 1 when a bound below is not kept.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
runs=${RUNS:-5} small=${SMALL:-100000} large=${LARGE:-1000000}
seconds_bound=5 megabytes_bound=1500 ratio_bound=12

find_sluice() {
  local candidate
  for candidate in "${1:-}" "${SLUICE:-}" "$here/../build/bin/sluice" "$here/../build/sluice"; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then echo "$candidate"; return; fi
  done
  echo "scale.sh: no sluice found; build first, or name one" >&2
  exit 2
}

find_mlir_opt() {
  local candidate
  for candidate in mlir-opt-19 /usr/lib/llvm-19/bin/mlir-opt; do
    if command -v "$candidate" >/dev/null; then command -v "$candidate"; return; fi
  done
}

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", (b > 0 ? a / b : 0) }'; }
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'; }

sluice=$(find_sluice "${1:-}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in straight_line measure; do
  "${CC:-cc}" -std=gnu11 -O2 -o "$work/$program" "$here/$program.c"
done
"$work/straight_line" "$small" >"$work/small.slu"
"$work/straight_line" "$large" >"$work/large.slu"

failed=0
bound() { # what, value, bound
  if ! at_most "$2" "$3"; then echo "  NOT KEPT: $1 $2 > $3"; failed=1; fi
}

echo "parse + shadow + print, straight-line kernel on 8 streams, median of $runs runs:"
read -r small_time small_size < <("$work/measure" "$runs" "$sluice" sync --alloc=shadow --no-check -o /dev/null "$work/small.slu")
read -r large_time large_size < <("$work/measure" "$runs" "$sluice" sync --alloc=shadow --no-check -o /dev/null "$work/large.slu")
row='  %9d instructions %9d dependences  %8s s user+sys  %6s MB resident\n'
printf "$row" "$small" $((2 * small)) "$small_time" "$small_size"
printf "$row" "$large" $((2 * large)) "$large_time" "$large_size"
growth=$(ratio "$large_time" "$small_time")
echo "  time($large) / time($small) = $growth"
if [ "$large" = 1000000 ] && [ "$small" = 100000 ]; then
  bound seconds "$large_time" "$seconds_bound"
  bound megabytes "$large_size" "$megabytes_bound"
  bound ratio "$growth" "$ratio_bound"
fi

echo "read and print again, $large instructions or operations, median of $runs runs:"
read -r fmt_time fmt_size < <("$work/measure" "$runs" "$sluice" fmt "$work/large.slu")
printf '  sluice fmt   %8s s user+sys  %6s MB resident\n' "$fmt_time" "$fmt_size"
mlir_opt=$(find_mlir_opt)
if [ -z "$mlir_opt" ]; then
  echo "  mlir-opt     skipped: mlir-opt-19 is not installed"
else
  "$work/straight_line" "$large" --mlir >"$work/large.mlir"
  read -r mlir_time mlir_size < <("$work/measure" "$runs" "$mlir_opt" --allow-unregistered-dialect "$work/large.mlir")
  printf '  mlir-opt     %8s s user+sys  %6s MB resident\n' "$mlir_time" "$mlir_size"
  echo "  mlir-opt / sluice fmt = $(ratio "$mlir_time" "$fmt_time")"
fi
exit "$failed"
