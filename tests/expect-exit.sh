#!/bin/sh
# expect-exit.sh CODE COMMAND...: succeeds when the command exits with exactly CODE.
expected=$1
shift
"$@"
code=$?
if [ "$code" -ne "$expected" ]; then
  echo "expect-exit: exit code $code instead of $expected: $*" >&2
  exit 1
fi
