#!/usr/bin/env bash
# kill_import_test.sh PARLEY: kills imports at any moment. One that is run again to its end leaves what an
# import leaves that was not disturbed.
set -euo pipefail

parley=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for ((i = 0; i < 4000; i++)); do
  printf '{"role":"user","content":"message %d of a long talk"}\n{"role":"assistant","content":"answer %d"}\n' $i $i
done >talk.jsonl

import() { "$parley" sessions --store "sqlite:$1" import --from openmanus --session talk -q talk.jsonl >/dev/null; }
exported() { "$parley" sessions --store "sqlite:$1" export -q talk; }

start=${EPOCHREALTIME/./}
import whole.db
took=$((${EPOCHREALTIME/./} - start)) # microseconds

killed=0
for ((round = 0; round < ${KILLS:-40}; round++)); do
  import killed.db &
  victim=$!
  sleep "$(printf '0.%06d' $((RANDOM * RANDOM % took % 1000000)))"
  if kill -9 "$victim" 2>/dev/null; then killed=$((killed + 1)); fi
  wait "$victim" 2>/dev/null || true
  # Every few kills a new database, so that making it is disturbed too.
  if ((round % 8 == 7)); then
    import killed.db
    cmp <(exported whole.db) <(exported killed.db)
    "$parley" sessions --store sqlite:killed.db verify -q
    rm -f killed.db*
  fi
done
((killed > 0)) || { echo "no import was killed" >&2; exit 1; }
echo "$killed imports killed"
