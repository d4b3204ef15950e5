#!/usr/bin/env bash
# with_serve.sh [OPTIONS] -- COMMAND: runs a command with a `parley serve` beside it; $base is its address, and $server its process.
# Prints what the command prints; exits as the server does, which gets SIGTERM, or what SIGNAL says.
set -uo pipefail

options=()
while [[ $1 != -- ]]; do
  options+=("$1")
  shift
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ " ${options[*]-} " == *' --listen '* ]] || options+=(--listen 127.0.0.1:0)
: >"$work/announced"
parley serve "${options[@]}" >"$work/announced" &
export server=$!
until [[ $(wc -l <"$work/announced") == 3 ]]; do
  kill -0 "$server" 2>/dev/null || { wait "$server"; exit; }
  sleep 0.02
done
base=$(sed -n 's/^listening on //p' "$work/announced")
export base announced=$work/announced
bash -c "$2"
kill -s "${SIGNAL:-TERM}" "$server"
wait "$server"
