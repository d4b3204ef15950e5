#!/usr/bin/env bash
# Counts a corpus of about 20 MB with Parley and with PyPI's tiktoken, and fails at any difference.
#   tokens.sh [SEED]     compare
#   tokens.sh --golden   make tests/token/golden.txt anew
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[[ -x $build/parley && -x $build/tests/make_token_corpus ]] ||
  { echo "tokens.sh: build/release is missing; run it as ./dev judges" >&2; exit 3; }
command -v zstd >/dev/null || { echo "tokens.sh: needs the package zstd" >&2; exit 3; }

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check tiktoken xxhash

mkdir "$work/corpus"
judge=("$work/venv/bin/python" "$root/tests/judges/tokens.py")
if [[ ${1:-} == --golden ]]; then
  "$build/tests/make_token_corpus" "$work/corpus" 1 60000
  "${judge[@]}" golden "$work/corpus" 1 60000 >"$work/golden.txt"
  cp "$work/golden.txt" "$root/tests/token/golden.txt"
else
  seed=${1:-20261115}
  echo "tokens.sh: seed $seed"
  "$build/tests/make_token_corpus" "$work/corpus" "$seed" 1400000
  "${judge[@]}" compare "$build/parley" "$work/corpus"
fi
