# complete.sh SCRIPT WORD...: what the completion offers for the last word.
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_sluice
printf '%s\n' "${COMPREPLY[@]}"
