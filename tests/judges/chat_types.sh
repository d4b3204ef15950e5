#!/usr/bin/env bash
# Checks Chat Completions, Conversations and Models with the types of OpenAI's own SDK (PyPI: openai) as a client of the server.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)

from_pypi openai==3.49.0
serve --store memory:
"$python" -B "$root/tests/judges/chat_types.py" "$work/served"
