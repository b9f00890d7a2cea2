#!/bin/bash
# demo.sh: a kernel of the benchmark table before and after synchronization, and the strategies side by side.
#
#   tools/demo.sh [path of sluice]       called by `make demo`; exits non-zero when anything fails
#
# Excerpts leave out what stands in brackets and braces, so that the waits fit on a line.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
sluice=$(realpath "${1:-$root/build/sluice}")
cd "$root"
kernel=bench/table2/rmsnorm.slu
shown='ld0|sq0|sq3|ssum|rstd|sc0|gm0|q0|q3|st'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

bold='' plain=''
if [ -t 1 ]; then bold=$'\e[1m' plain=$'\e[0m'; fi
width=${COLUMNS:-$(tput cols 2>/dev/null || echo 100)}

title() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }

# Statements on one line each, without indices, attributes and comments.
compact() {
  sed -E '/^ *#/d; s/  #.*$//' "$1" |
    awk '/^ +(wait|inc) / { sub(/^ +/, "  "); line = line $0; next } { if (NR > 1) print line; line = $0 } END { print line }' |
    sed -E 's/\[[^]]*\]//g; s/ \{ [^}]* \}//'
}

# The loop over tiles: its head, the instructions shown, and the register operations at its end.
excerpt() {
  compact "$1" | sed -n '/^  loop t /,/^  }/p' >"$work/loop"
  grep -E "^  loop|^ +($shown): " "$work/loop" | cut -c1-"$width"
  grep -E '\.reg_' "$work/loop" | tail -n 3 | cut -c1-"$width" || true
  local more
  more=$(grep -oE '\.reg_' "$work/loop" | wc -l || true)
  if [ "$more" -gt 0 ]; then echo "    ...                        $more register operations in all"; fi
  echo "  }"
}

"$sluice" sync "$kernel" -o "$work/rmsnorm.sync.slu"

title "1. $kernel: $(grep -cE '^ +[a-z0-9]+: ' "$kernel") instructions on five streams, unordered"
excerpt "$kernel"

title "2. sluice deps $kernel"
"$sluice" deps "$kernel" >"$work/deps"
sed -n '1p; /^ld0 /,/^$/p; /^sq0 /,/^$/p; /^dq /,/^$/p' "$work/deps" | cut -c1-"$width"
echo "  ..."

title "3. sluice sync $kernel"
excerpt "$work/rmsnorm.sync.slu"

title "4. sluice bench $kernel"
"$sluice" bench "$kernel"

title "Next"
echo "  $(realpath --relative-to=. "$sluice") sync --alloc=per-loop bench/table2/tiled_matmul.slu"
echo "  README.md, docs/strategies.md"
