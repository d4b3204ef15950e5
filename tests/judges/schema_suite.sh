#!/usr/bin/env bash
# Runs JSON-Schema-Test-Suite for the drafts 2020-12, 2019-09, 7, 6 and 4, from the source distribution of PyPI's
# jsonschema. Fails at any verdict that differs, but for the exceptions in schema_suite.py, which are optional tests.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
program=$(built tests/check_schemas)

from_pypi jsonschema-specifications==2025.9.1
"$python" -m pip download -q --disable-pip-version-check --no-deps --no-binary jsonschema \
  -d "$work" jsonschema==4.26.0
tar -xzf "$work/jsonschema-4.26.0.tar.gz" -C "$work"
"$python" "$root/tests/judges/schema_suite.py" "$program" "$work/jsonschema-4.26.0/json"
