#!/usr/bin/env bash
# Runs the model client and the agent against npm's @copilotkit/aimock, which speaks the languages of the providers and
# which nobody here wrote. tests/peers/README.md says how. Fails at any difference from tests/peers/expected.txt.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
probe=$(built tests/agent_probe)

cp -r "$root/tests/peers/." "$work"
cd "$work"
from_npm

# The peer lives as long as its input is open.
coproc peer { exec "$node" serve.js fixtures.json peer-key; }
read -r -t 60 url <&"${peer[0]}" || give_up "the peer does not start"

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
