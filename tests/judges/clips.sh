#!/usr/bin/env bash
# Makes audio and video of ten formats and damages it, and compares `parley media check` with FFmpeg (PyPI's av, which
# brings its encoders too) and mutagen.
#   clips.sh [MUTANTS [SEED]]   so many of each format (default 1000)
# Fails unless Parley says what FFmpeg says of every good file, says the same of base64, and of what it and the judge
# both read of mutants at most 1 % differs in a way that has no name. --keep FOLDER as first argument keeps the files.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
parley=$root/build/release/parley
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -x $parley ]] || { echo "clips.sh: build/release is missing; run it as ./dev judges" >&2; exit 3; }

folder=$work/clips
if [[ ${1:-} == --keep ]]; then
  folder=$2
  shift 2
fi
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check av==18.1.0 mutagen==1.48.1
mkdir -p "$folder"
"$work/venv/bin/python" -B "$root/tests/judges/clips.py" "$parley" "$folder" "${1:-1000}" "${2:-20261115}"
