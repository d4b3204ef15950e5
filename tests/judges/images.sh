#!/usr/bin/env bash
# Makes images of six formats and damages them, and compares `parley media check` with PyPI's Pillow 11.1.0.
#   images.sh [MUTANTS [SEED]]   so many of each format (default 1000)
# Fails unless the verdict at level header is the same for all, level decode refuses all that load() refuses, and
# at most 0.5 % of what it loads. Differences are printed by name; --keep FOLDER as first argument keeps the files.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)

folder=$work/images
if [[ ${1:-} == --keep ]]; then
  folder=$2
  shift 2
fi
from_pypi pillow==11.1.0
mkdir -p "$folder"
"$python" -B "$root/tests/judges/images.py" "$parley" "$folder" "${1:-1000}" "${2:-20261115}" 2>"$work/stderr" ||
  { status=$?; grep -A20 Traceback "$work/stderr" >&2 || true; exit "$status"; }  # libtiff, within Pillow, talks
