#!/usr/bin/env bash
# Usage: growth_test.sh PROGRAM
#
# Runs PROGRAM (growth.cc) under callgrind and compares the instructions of each input in its three sizes.
# From n to 2n and from 2n to 4n the work may grow by d and 2d; if it grows by more than 2.3d, it is not
# linear. What is small beside the size is left out: 4 instructions a byte. An input that is "whole" costs
# twice as much when it is twice as long, to within 5 %.
set -euo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

works=$(valgrind --tool=callgrind --callgrind-out-file=out --quiet "$program")
awk -v works="$works" '
  function off(a, b) { return a > b ? a / b - 1 : 1 - a / b }
  /^desc: Trigger: Client Request: / {
    sub(/^desc: Trigger: Client Request: /, "")
    times = $1
    sub(/^[0-9]+ /, "")
    name = $0
  }
  /^(totals|summary): / && name != "" {
    count[name, times] = $2
    if (!(name in seen)) { seen[name] = 1; names[++n] = name }
    name = ""
  }
  END {
    if (n != works) { print n " of " works " inputs were measured"; exit 1 }
    size = 8192
    for (i = 1; i <= n; ++i) {
      name = names[i]
      one = count[name, 1]; two = count[name, 2]; four = count[name, 4]
      if (one == "" || two == "" || four == "") { print name ": not measured"; bad = 1; continue }
      if (name ~ /^whole / && (off(two, 2 * one) > 0.05 || off(four, 2 * two) > 0.05)) {
        printf "%s: %d, %d, %d instructions: not twice as many each\n", name, one, two, four
        bad = 1
      }
      first = two - one; second = four - two
      if (first < 4 * size) first = 4 * size
      if (second > 2.3 * first) {
        printf "%s: %d, %d, %d instructions: faster than the size\n", name, one, two, four
        bad = 1
      }
    }
    if (!bad) print n " inputs cost as much as they are long"
    exit bad
  }' out.*
