#!/usr/bin/env bash
# Runs the ```console blocks of the documents: every line "$ command" must print exactly the lines below it,
# up to the next command. "[exit N]" on a line of its own is the exit status (default 0).
#   console_test.sh PARLEY ROOT
set -uo pipefail

parley=$1
root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$parley" "$work/bin/parley"
export PATH=$work/bin:$PATH HOME=$work/home
mkdir "$HOME"
for variable in $(compgen -e); do
  case $variable in PARLEY_* | *_API_KEY | *_AUTH_TOKEN | *_BASE_URL | OLLAMA_HOST | XDG_*) unset "$variable" ;; esac
done
cd "$root" || exit 1

failed=0
ran=0

# Compares what `command` prints on stdout with the expected lines.
try() {
  local document=$1 command=$2 expected=$3 status=0 actual
  [[ -n $command ]] || return 0
  # ./dev run builds; here the build is given.
  # Nothing is typed: the rest of the document is not for the command.
  actual=$(bash -c "${command//.\/dev run/parley}" </dev/null 2>/dev/null) || status=$?
  ((status == 0)) || actual+=${actual:+$'\n'}"[exit $status]"
  ran=$((ran + 1))
  if [[ $actual != "$expected" ]]; then
    failed=$((failed + 1))
    printf '%s: %s\n  expected: %s\n  printed:  %s\n' "$document" "$command" "$expected" "$actual"
  fi
}

for document in README.md docs/*.md; do
  in_block=0 command= expected=
  while IFS= read -r line; do
    if [[ $line == '```console' ]]; then
      in_block=1
    elif [[ $line == '```'* ]]; then
      try "$document" "$command" "$expected"
      in_block=0 command= expected=
    elif ((in_block)) && [[ $line == '$ '* ]]; then
      try "$document" "$command" "$expected"
      command=${line#'$ '} expected=
    elif ((in_block)); then
      expected+=${expected:+$'\n'}$line
    fi
  done <"$document"
done

# The README's quick start, as it stands; its second line is the test run this belongs to.
quick=$(grep -m1 '^\./dev run ' README.md)
echo hello | bash -c "${quick//.\/dev run/parley}" >"$work/quick" 2>/dev/null || { echo "fails: $quick"; failed=$((failed + 1)); }
[[ -s $work/quick ]] || { echo "prints nothing: $quick"; failed=$((failed + 1)); }

echo "$ran commands ran, $failed failed"
((ran >= 5 && failed == 0))
