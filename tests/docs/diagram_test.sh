#!/usr/bin/env bash
# docs/rooms.svg is what tools/make_diagram makes from docs/architecture.md: diagram_test.sh ROOT
set -uo pipefail
cd "$1" || exit 1
if ! diff -q docs/rooms.svg <(tools/make_diagram .) >/dev/null; then
  echo "docs/rooms.svg is out of date; run: tools/make_diagram >docs/rooms.svg"
  exit 1
fi
grep -q 'rooms.svg' docs/architecture.md || { echo "docs/architecture.md does not show rooms.svg"; exit 1; }
