#!/usr/bin/env bash
# Runs the cases of a file against the command. Any contributor can add one.
#   run_cases.sh PARLEY EXAMPLES FILE.case...
#
# A case is a few lines; empty lines and lines that start with # say nothing:
#   case NAME     begins a case, in an empty folder of its own
#   when COMMAND  leaves the case out unless this succeeds
#   given COMMAND prepares something, and must succeed
#   run COMMAND   the command to look at, once a case; stdin is empty unless it says otherwise
#   exit N        its exit status (0 if not said)
#   out LINE      a line of its stdout      } without any of these the stream must be empty;
#   out= FILE     its stdout is this file   } the lines together are all of it, to the byte
#   out~ TEXT     its stdout holds this     } (beside out= or out~, each `out LINE` is a line somewhere in it)
#   err LINE, err= FILE, err~ TEXT          the same for stderr
#   then COMMAND  must succeed afterwards, and finds the streams in ../out and ../err
# Commands are bash; $EXAMPLES is the folder of examples and `parley` the command.
set -uo pipefail

export EXAMPLES=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$1" "$work/bin/parley"
export PATH=$work/bin:$PATH LC_ALL=C.UTF-8
# The tests ignore the user's configuration.
for variable in $(compgen -e); do
  case $variable in
    NO_COLOR | CLICOLOR* | PARLEY_* | *_API_KEY | *_AUTH_TOKEN | *_BASE_URL | OLLAMA_HOST | OTEL_* | XDG_* | *_PROXY | *_proxy | SSL_CERT_*) unset "$variable" ;;
  esac
done
export HOME=$work/home
shift 2

ran=0 failed=0 left_out=0
name='' file=''

complain() { printf '%s: %s: %s\n' "${file##*/}" "$name" "$*"; bad=1; }

in_folder() { (cd "$work/case" && bash -c "$1" </dev/null); }

# check_stream NAME: compares $work/NAME with what the case expects.
check_stream() {
  local stream=$1 mode text lines='' plain=() exact=1 i
  for ((i = 0; i < ${#modes[@]}; i++)); do
    mode=${modes[i]} text=${texts[i]}
    case $mode in
      "$stream") lines+=$text$'\n' plain+=("$text") ;;
      "$stream=")
        exact=0
        (cd "$work/case" && eval "cmp -s -- $text ../$stream") || complain "$stream is not $text"
        ;;
      "$stream~")
        exact=0
        grep -qF -- "$text" "$work/$stream" || complain "$stream does not hold: $text"
        ;;
    esac
  done
  if ((exact)); then
    printf '%s' "$lines" >"$work/expected"
    cmp -s "$work/expected" "$work/$stream" ||
      { complain "$stream differs:"; diff "$work/expected" "$work/$stream" | head -c 2000; }
  else
    for text in "${plain[@]}"; do grep -qxF -- "$text" "$work/$stream" || complain "$stream has no line: $text"; done
  fi
  ((bad == 0)) || { echo "  $stream was:"; head -c 1000 "$work/$stream" | sed 's/^/    /'; }
}

finish_case() {
  [[ -n $name ]] || return 0
  local bad=0 status=0 each
  rm -rf "$work/case" "$work/home"
  mkdir "$work/case" "$work/home"
  for each in "${whens[@]}"; do
    if ! in_folder "$each" >/dev/null 2>&1; then
      left_out=$((left_out + 1))
      return
    fi
  done
  for each in "${givens[@]}"; do
    in_folder "$each" || complain "cannot prepare: $each"
  done
  in_folder "$run" >"$work/out" 2>"$work/err" || status=$?
  ((status == expected_status)) || complain "exit $status instead of $expected_status"
  check_stream out
  check_stream err
  for each in "${thens[@]}"; do
    in_folder "$each" || complain "does not hold: $each"
  done
  ran=$((ran + 1))
  failed=$((failed + bad))
}

for file in "$@"; do
  name=''
  while IFS= read -r line || [[ -n $line ]]; do
    [[ -n $line && $line != '#'* ]] || continue
    word=${line%% *} rest=${line#* }
    [[ $line == *' '* ]] || rest=''
    case $word in
      case)
        finish_case
        name=$rest run='' expected_status=0 whens=() givens=() thens=() modes=() texts=()
        ;;
      when) whens+=("$rest") ;;
      given) givens+=("$rest") ;;
      run) run=$rest ;;
      exit) expected_status=$rest ;;
      out | err | out= | err= | out~ | err~) modes+=("$word") texts+=("$rest") ;;
      then) thens+=("$rest") ;;
      *) echo "$file: what is '$word'?"; exit 2 ;;
    esac
  done <"$file"
  finish_case
done

echo "$ran cases ran, $failed failed, $left_out left out"
((ran + left_out > 0 && failed == 0))
