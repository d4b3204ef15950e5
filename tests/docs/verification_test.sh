#!/usr/bin/env bash
# Holds the table of docs/verification.md to the tree: every test that a row names exists, every judge that a command
# names exists, and every `./dev test -R PATTERN` selects at least one test.
#   verification_test.sh CTEST BUILD ROOT
set -uo pipefail

ctest=$1
build=$2
root=$3
failed=0
rows=0

# All tests by name, one on a line.
known=$(cd "$build" && "$ctest" -N | sed -n 's/^ *Test *#[0-9]*: //p')

miss() {
  echo "docs/verification.md: row $1: $2"
  failed=$((failed + 1))
}

# The texts in backquotes of a cell, one on a line. A bar in one is written \| in a table.
quoted() { grep -o '`[^`]*`' <<<"$1" | tr -d '`' | tr '\001' '|'; }

while IFS='|' read -r _ number promise tests command _; do
  number=${number// /}
  [[ $number =~ ^[0-9]+\.[0-9]+$ ]] || continue
  rows=$((rows + 1))
  [[ -n ${promise// /} ]] || miss "$number" "says nothing"
  [[ -n $(quoted "$tests") ]] || miss "$number" "names no test"
  while IFS= read -r test; do
    if [[ $test == */* ]]; then
      [[ -e $root/$test ]] || miss "$number" "there is no file $test"
    elif [[ -n $test ]]; then
      # A name may end in an asterisk, and a parameterized suite has a prefix and a suffix.
      pattern=${test//./\\.}
      grep -qE "(^|/)${pattern//\*/.*}(/|$)" <<<"$known" || miss "$number" "there is no test $test"
    fi
  done < <(quoted "$tests")
  shown=$(quoted "$command")
  [[ -n $shown ]] || miss "$number" "names no command"
  while IFS= read -r line; do
    case $line in
      './dev test -R '*)
        pattern=${line#'./dev test -R '}
        pattern=${pattern#\'}
        pattern=${pattern%\'}
        grep -qE -- "$pattern" <<<"$known" || miss "$number" "selects no test: $line"
        ;;
      './dev judges '*)
        for judge in ${line#'./dev judges '}; do
          [[ -x $root/tests/judges/$judge.sh ]] || miss "$number" "there is no judge $judge"
        done
        ;;
      './dev '* | 'build/release/parley '* | 'parley '*) ;;
      '') ;;
      *) miss "$number" "not a command of this tree: $line" ;;
    esac
  done <<<"$shown"
done < <(sed 's/\\|/\x01/g' "$root/docs/verification.md")

echo "$rows rows, $failed wrong"
((rows >= 35 && failed == 0))
