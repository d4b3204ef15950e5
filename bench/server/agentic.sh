#!/usr/bin/env bash
# Installs agentic-api 0.9.0 from PyPI in build/agentic-api, unless it is there, and prints the path of its server.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$root/build/agentic-api/bin/agentic-server
if [[ ! -x $program ]]; then
  python3 -m venv "$root/build/agentic-api"
  "$root/build/agentic-api/bin/pip" install -q --disable-pip-version-check agentic-api==0.9.0 >&2
fi
printf '%s\n' "$program"
