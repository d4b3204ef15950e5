#!/usr/bin/env bash
# Makes audio and video of ten formats and damages it, and compares `parley media check` with FFmpeg (PyPI's av, which
# brings its encoders too) and mutagen.
#   clips.sh [MUTANTS [SEED]]   so many of each format (default 1000)
# Fails unless Parley says what FFmpeg says of every good file, says the same of base64, and of what it and the judge
# both read of mutants at most 1 % differs in a way that has no name. --keep FOLDER as first argument keeps the files.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)

folder=$work/clips
if [[ ${1:-} == --keep ]]; then
  folder=$2
  shift 2
fi
from_pypi av==18.1.0 mutagen==1.48.1
mkdir -p "$folder"
"$python" -B "$root/tests/judges/clips.py" "$parley" "$folder" "${1:-1000}" "${2:-20261115}"
