#!/usr/bin/env bash
# Runs the programs of docs/serve.md (PyPI: openai, openai-agents, langchain-openai; npm: openai) against `parley serve` with
# the offline model. Fails unless the store then has exactly the expected conversations, with their messages in order.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)

from_pypi openai==3.49.0 openai-agents==0.24.0 langchain-openai==1.7.3
cp "$root/tests/clients/package.json" "$root/tests/clients/package-lock.json" "$work"
cd "$work"
from_npm
# The programs, in their order: 1.py, 2.js, ...
awk '/^```/ { kind = ""; if ($0 ~ /^```(python|js)$/) { kind = substr($0, 4); sub("python", "py", kind); file = ++count "." kind }; next }
  kind != "" { print >file }' "$root/docs/serve.md"
for program in 1.py 2.js 3.py 4.py; do
  [[ -s $program ]] || give_up "docs/serve.md has no $program"
done

serve --store "sqlite:$work/store.db"
export OPENAI_BASE_URL=$url/v1 OPENAI_API_KEY=none
"$python" -B 1.py
mv 2.js 2.mjs
"$node" 2.mjs
echo
"$python" -B 3.py
"$python" -B 4.py

"$python" -B "$root/tests/judges/serve_clients.py" "$parley" "sqlite:$work/store.db"
