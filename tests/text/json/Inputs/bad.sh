# Prints a program whose one statement, alone on the second line, has the members $1.
printf '{"schema": "sluice-kernel-1", "kernels": [{"name": "k", "target": "generic", "body": [\n'
printf '%s\n' "{$1}"
printf ']}]}\n'
