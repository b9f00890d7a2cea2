# late.sh FIFO INPUT FILE COMMAND...: runs the command; when FILE is there, INPUT is written into FIFO, which it reads.
fifo=$1 input=$2 file=$3
shift 3
{
  until test -e "$file"; do sleep 0.01; done
  cat "$input" > "$fifo"
} &
feeder=$!
timeout 60 "$@"
code=$?
kill $feeder 2> /dev/null
exit $code
