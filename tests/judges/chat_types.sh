#!/usr/bin/env bash
# Checks Chat Completions, Conversations and Models with the types of OpenAI's own SDK (PyPI: openai) as a client of the server.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)

from_pypi openai==3.49.0
"$parley" serve --listen 127.0.0.1:0 --store memory: --json >"$work/address" 2>"$work/errors" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do
  [[ -s $work/address ]] && break
  sleep 0.1
done
[[ -s $work/address ]] || give_up "the server does not start: $(cat "$work/errors")"
"$python" -B "$root/tests/judges/chat_types.py" "$work/address"
