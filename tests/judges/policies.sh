#!/usr/bin/env bash
# Formats random conversations with Parley's policies and with PyPI's agentscope 1.0.21, and fails at any difference.
#   policies.sh [COUNT [SEED]]   so many conversations (default 400)
#   policies.sh --golden         make tests/corpus/policies/agentscope.jsonl anew
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
program=$(built tests/format_policy)

# Only what the formatters import: agentscope's own list of dependencies is about a hundred packages.
from_pypi docstring_parser filetype json_repair numpy pydantic requests shortuuid typing_extensions
from_pypi --no-deps agentscope==1.0.21

export TMPDIR=$work  # where agentscope leaves the files it saves
judge=("$python" "$root/tests/judges/policies.py")
if [[ ${1:-} == --golden ]]; then
  "${judge[@]}" golden >"$work/agentscope.jsonl"
  cp "$work/agentscope.jsonl" "$root/tests/corpus/policies/agentscope.jsonl"
else
  "${judge[@]}" compare "$program" "${1:-400}" "${2:-20261115}"
fi
