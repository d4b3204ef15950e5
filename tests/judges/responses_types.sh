#!/usr/bin/env bash
# Checks what the Responses API answers with the types of OpenAI's own SDK (PyPI: openai): made-up turns of every kind, then a
# server that the SDK talks to, over HTTP and WebSocket.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
samples=$(built tests/responses_samples)
parley=$(built parley)

from_pypi openai==3.49.0 websockets==15.0.1
"$samples" 500 7 >"$work/samples.jsonl"
"$python" -B "$root/tests/judges/responses_types.py" "$work/samples.jsonl"

serve --store memory:
"$python" -B "$root/tests/judges/responses_client.py" "$work/served"
