#!/usr/bin/env bash
# Writes the example of every dialect in every dialect, and checks what was written.
#   pairs_test.sh PARLEY EXAMPLES
#
# An example is named by its dialect: DIALECT_SUBJECT.json. Fails unless each dialect has one, in which `check` finds
# nothing, each is written in each dialect, and `check` finds no error in what was written.
set -uo pipefail

parley=$1 examples=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

complain() { printf '%s\n' "$*"; failed=$((failed + 1)); }

mapfile -t dialects < <("$parley" dialects | grep -o '^[a-z][a-z0-9]*')
((${#dialects[@]} >= 15)) || complain "only ${#dialects[@]} dialects are listed: ${dialects[*]}"

for from in "${dialects[@]}"; do
  found=("$examples/${from}"_*.json)
  [[ -f ${found[0]} ]] || { complain "$from has no example"; continue; }
  for example in "${found[@]}"; do
    said=$("$parley" check --as "$from" "$example" 2>&1) && [[ -z $said ]] || complain "check --as $from: $said"
    for to in "${dialects[@]}"; do
      mkdir -p "$work/$to"
      "$parley" convert --quiet --from "$from" --to "$to" "$example" >"$work/$to/${example##*/}" 2>"$work/said" ||
        complain "${example##*/} to $to: exit $?: $(<"$work/said")"
    done
  done
done

written=0
for to in "${dialects[@]}"; do
  said=$("$parley" check --as "$to" "$work/$to"/* 2>&1) || complain "written in $to: ${said//"$work/$to/"/}"
  written=$((written + $(find "$work/$to" -type f -size +0 | wc -l)))
done

echo "$written documents written in ${#dialects[@]} dialects, $failed failures"
((failed == 0 && written >= ${#dialects[@]} * ${#dialects[@]}))
