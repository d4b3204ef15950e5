#!/usr/bin/env bash
# Counts a corpus of about 20 MB with Parley and with PyPI's tiktoken, and fails at any difference.
#   tokens.sh [SEED]     compare
#   tokens.sh --golden   make tests/token/golden.txt anew
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)
make_corpus=$(built tests/make_token_corpus)
command -v zstd >/dev/null || give_up "needs the package zstd"

from_pypi tiktoken xxhash

mkdir "$work/corpus"
judge=("$python" "$root/tests/judges/tokens.py")
if [[ ${1:-} == --golden ]]; then
  "$make_corpus" "$work/corpus" 1 60000
  "${judge[@]}" golden "$work/corpus" 1 60000 >"$work/golden.txt"
  cp "$work/golden.txt" "$root/tests/token/golden.txt"
else
  seed=${1:-20261115}
  echo "tokens.sh: seed $seed"
  "$make_corpus" "$work/corpus" "$seed" 1400000
  "${judge[@]}" compare "$parley" "$work/corpus"
fi
