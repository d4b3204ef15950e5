#!/usr/bin/env bash
# Compiles the README's C++ example as it stands and runs it.
#   example_test.sh CXX ROOT "COMPILE FLAGS" LIBRARIES...
set -euo pipefail

cxx=$1
root=$2
flags=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -n '/^```cpp$/,/^```$/p' "$root/README.md" | sed '/^```/d' >"$work/example.cc"
lines=$(sed -n '/^int main/,$p' "$work/example.cc" | wc -l)
((lines >= 8 && lines <= 14)) || { echo "the example has $lines lines"; exit 1; }
# Flags are words.
# shellcheck disable=SC2086
"$cxx" -std=c++23 $flags -I"$root/include" "$work/example.cc" -o "$work/example" "$@"
"$work/example" >"$work/printed"
cat "$work/printed"
grep -q '"role":"tool","content":"12 degrees, rain","name":"weather","tool_call_id":"call_1"' "$work/printed"
