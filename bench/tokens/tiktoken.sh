#!/usr/bin/env bash
# Parley and PyPI's tiktoken on the same texts in one run: MB/s, and how many times as fast Parley is.
# Needs `./dev test` and `./dev bench` to have built, and python3-venv and zstd.
#   tiktoken.sh [ROUNDS [VERSION]]    VERSION of tiktoken, the newest unless given
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check "tiktoken${2:+==$2}"
mkdir "$work/corpus"
"$root/build/release/tests/make_token_corpus" "$work/corpus" 1 1048576
(cd "$work/corpus" && find . -name '*.txt' ! -name english.txt ! -name chinese.txt ! -name code.txt -delete)

"$work/venv/bin/python" "$root/tests/judges/tokens.py" time "$work/corpus" >"$work/tiktoken"
"$root/build/bench/bench/parley_bench" --task tokens --rounds "${1:-20}" >"$work/parley"
awk -F ' *[|] *' '
  FNR == NR { split($0, word, " "); theirs[word[2] " " word[1]] = word[4]; count[word[2] " " word[1]] = word[3]; next }
  $2 ~ /^tokens / && $4 ~ /^Parley/ {
    key = substr($2, 8) " " $3
    ours = 1048576 / $5  # bytes a microsecond
    if (!header++) print "| encoding and text | tokens | tiktoken MB/s | Parley | MB/s | x tiktoken |\n|---|---|---|---|---|---|"
    printf "| %s | %d | %.1f | %s | %.1f | %.1f |\n", key, count[key], theirs[key], substr($4, 9), ours, ours / theirs[key]
  }' "$work/tiktoken" "$work/parley"
