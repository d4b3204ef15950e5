#!/usr/bin/env bash
# Formats random conversations with Parley's policies and with PyPI's agentscope 1.0.21, and fails at any difference.
#   policies.sh [COUNT [SEED]]   so many conversations (default 400)
#   policies.sh --golden         make tests/corpus/policies/agentscope.jsonl anew
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$root/build/release/tests/format_policy
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -x $program ]] || { echo "policies.sh: build/release is missing; run it as ./dev judges" >&2; exit 3; }

# Only what the formatters import: agentscope's own list of dependencies is about a hundred packages.
python3 -m venv "$work/venv"
pip=("$work/venv/bin/pip" install -q --disable-pip-version-check)
"${pip[@]}" docstring_parser filetype json_repair numpy pydantic requests shortuuid typing_extensions
"${pip[@]}" --no-deps agentscope==1.0.21

export TMPDIR=$work  # where agentscope leaves the files it saves
judge=("$work/venv/bin/python" "$root/tests/judges/policies.py")
if [[ ${1:-} == --golden ]]; then
  "${judge[@]}" golden >"$work/agentscope.jsonl"
  cp "$work/agentscope.jsonl" "$root/tests/corpus/policies/agentscope.jsonl"
else
  "${judge[@]}" compare "$program" "${1:-400}" "${2:-20261115}"
fi
