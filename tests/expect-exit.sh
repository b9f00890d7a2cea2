#!/bin/sh
# expect-exit.sh CODE COMMAND...: succeeds when the command exits with exactly CODE.
expected=$1
shift
"$@"
code=$?
[ "$code" -eq "$expected" ] && exit 0

message="expect-exit: exit code $code instead of $expected: $*"
# Standard error may be on its way into FileCheck; that of the calling shell is the one that lit shows.
{ echo "$message" > "/proc/$PPID/fd/2"; } 2> /dev/null || echo "$message" >&2
exit 1
