#!/usr/bin/env bash
# Makes images of six formats and damages them, and compares `parley media check` with PyPI's Pillow 11.1.0.
#   images.sh [MUTANTS [SEED]]   so many of each format (default 1000)
# Fails unless the verdict at level header is the same for all, level decode refuses all that load() refuses, and
# at most 0.5 % of what it loads. Differences are printed by name; --keep FOLDER as first argument keeps the files.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
parley=$root/build/release/parley
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -x $parley ]] || { echo "images.sh: build/release is missing; run it as ./dev judges" >&2; exit 3; }

folder=$work/images
if [[ ${1:-} == --keep ]]; then
  folder=$2
  shift 2
fi
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check pillow==11.1.0
mkdir -p "$folder"
"$work/venv/bin/python" -B "$root/tests/judges/images.py" "$parley" "$folder" "${1:-1000}" "${2:-20261115}" 2>"$work/stderr" ||
  { status=$?; grep -A20 Traceback "$work/stderr" >&2 || true; exit "$status"; }  # libtiff, within Pillow, talks
