#!/usr/bin/env bash
# Has OpenTelemetry's own definitions (PyPI: opentelemetry-proto, opentelemetry-semantic-conventions) read the spans that
# Parley sends to a receiver on the loopback address. Fails if they do not take them for what they are.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$root/build/release/tests/send_spans
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -x $program ]] || { echo "traces.sh: build/release is missing; run it as ./dev judges" >&2; exit 3; }

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check \
  opentelemetry-proto==1.45.2 opentelemetry-semantic-conventions==0.66b2
"$work/venv/bin/python" "$root/tests/judges/traces.py" "$program"
