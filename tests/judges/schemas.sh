#!/usr/bin/env bash
# Makes schemas and values and compares Parley's verdicts with those of PyPI's jsonschema (draft 2020-12).
#   schemas.sh [COUNT [SEED]]   so many pairs (default 20000)
# Fails unless every verdict is the same.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$root/build/release/tests/check_schemas
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -x $program ]] || { echo "schemas.sh: build/release is missing; run it as ./dev judges" >&2; exit 3; }

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check jsonschema==4.23.0
"$work/venv/bin/python" "$root/tests/judges/schemas.py" "$program" "${1:-20000}" "${2:-20261115}"
