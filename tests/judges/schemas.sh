#!/usr/bin/env bash
# Makes schemas and values and compares Parley's verdicts with those of PyPI's jsonschema, for the drafts 2020-12,
# 2019-09, 7 and 6.
#   schemas.sh [COUNT [SEED]]   so many pairs (default 20000)
# Fails unless every verdict is the same.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
program=$(built tests/check_schemas)

from_pypi jsonschema==4.26.0
"$python" "$root/tests/judges/schemas.py" "$program" "${1:-20000}" "${2:-20261115}"
