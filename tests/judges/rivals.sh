#!/usr/bin/env bash
# Runs the tasks of the table in docs/features.md with llm and openai-agents (PyPI) and with Parley, all against the same offline
# servers on the loopback address. Prints the cells, and fails if the page has others.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)

from_pypi llm==0.36 openai-agents==0.24.0
cd "$work"
"$python" "$root/tests/judges/rivals.py" "$parley" "$root"
