#!/usr/bin/env bash
# with_rehearsal.sh [ARGS] -- COMMAND: runs COMMAND while `parley rehearse ARGS` serves, with the base URL it printed
# in $base. Then ends it by the signal $SIGNAL (TERM if not said), and ends as it ends.
set -uo pipefail

arguments=()
while [[ $1 != -- ]]; do
  arguments+=("$1")
  shift
done
shift

line=$(mktemp)
parley rehearse "${arguments[@]}" >"$line" &
server=$!
until [[ -s $line ]] || ! kill -0 "$server" 2>/dev/null; do sleep 0.02; done
base=$(sed 's/^listening on //' "$line")
rm "$line"
export base
bash -c "$1" || { kill -KILL "$server"; exit 99; }
kill "-${SIGNAL:-TERM}" "$server" 2>/dev/null
wait "$server"
