#!/usr/bin/env bash
# Compares the words that Parley shows of Markdown at a terminal with the examples of CommonMark's specification
# (npm: commonmark-spec). Fails unless they are the same for all examples but those whose reasons are printed.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)

command -v npm >/dev/null || give_up "needs npm"
cd "$work"
npm pack --silent commonmark-spec@0.31.2 >&2
tar -xzf commonmark-spec-0.31.2.tgz
python3 "$root/tests/judges/markdown.py" "$parley" package/spec.txt
