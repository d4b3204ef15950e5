#!/usr/bin/env bash
# Makes odd URLs and compares how Parley reads them with PyPI's ada-url, an implementation of the WHATWG standard.
#   urls.sh [COUNT [SEED]]   so many URLs (default 20000), and hosts with one odd character each
# Fails unless verdict, host and href are the same for all; hosts that are not ASCII may be refused, for the reasons
# that are printed with their numbers.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$root/build/release/tests/parse_urls
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -x $program ]] || { echo "urls.sh: build/release is missing; run it as ./dev judges" >&2; exit 3; }

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ada-url==4.0.0
"$work/venv/bin/python" "$root/tests/judges/urls.py" "$program" "${1:-20000}" "${2:-20261115}"
