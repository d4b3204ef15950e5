#!/usr/bin/env bash
# Runs the model client and the agent against npm's @copilotkit/aimock, which speaks the languages of the providers and
# which nobody here wrote. tests/peers/README.md says how. Fails at any difference from tests/peers/expected.txt.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
probe=$root/build/release/tests/agent_probe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -x $probe ]] || { echo "agent.sh: build/release is missing; run it as ./dev judges" >&2; exit 3; }
command -v npm >/dev/null || { echo "agent.sh: needs npm" >&2; exit 3; }

cp -r "$root/tests/peers/." "$work"
cd "$work"
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
# The peer needs a newer Node than Debian has, so it comes with it.
node=("$work"/node_modules/node-linux-*/bin/node)
[[ -x ${node[0]} ]] || { echo "agent.sh: npm has no Node for this machine" >&2; exit 3; }

# The peer lives as long as its input is open.
coproc peer { exec "${node[0]}" serve.js fixtures.json peer-key; }
read -r -t 60 url <&"${peer[0]}" || { echo "agent.sh: the peer does not start" >&2; exit 3; }

status=0
# Where each provider's own address would be.
while read -r provider path; do
  timeout 120 "$probe" "$provider" "$url${path:-}" peer-key >"$provider.txt" || { echo "agent.sh: $provider: the probe failed" >&2; status=1; }
  # What the peer itself cannot say in a language.
  exceptions=/dev/null
  [[ ! -f $provider.sed ]] || exceptions=$provider.sed
  diff -u --label expected --label "$provider" <(sed -f "$exceptions" expected.txt) "$provider.txt" || status=1
done <<<'openai /v1
responses /v1
anthropic
gemini
ollama'
((status != 0)) || echo "agent: $(grep -c '^==' expected.txt) talks in each of 5 languages, as expected"
exit "$status"
