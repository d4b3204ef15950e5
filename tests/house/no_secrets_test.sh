#!/usr/bin/env bash
# No secret that is planted comes out: not in what the tests print and write, not in what the command says.
#   no_secrets_test.sh PARLEY PARLEY_TESTS ROOT
#
# The tests that plant one (src/base/planted_secret_testing.h) run here with everything they print kept. Then the command gets
# documents with the secret in every place where input can be wrong. What it converts is content, which nobody
# asked to redact; everything it says about it is searched.
set -uo pipefail

parley=$1 tests=$2 root=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/said" "$work/in"
failed=0

# The same as planted_secret(), as little in one piece.
secret=sk-ant-api03-$(printf '%s%s' planted0canary 7d1f5b2c9e)

complain() { printf '%s\n' "$*"; failed=1; }

# In one piece it would be found in sources and data as well.
if grep -rqF --exclude-dir=build --exclude-dir=.git -- "$secret" "$root"; then complain "it is in the tree"; fi

(cd "$work" && "$tests" --gtest_filter='*Secret*:*Redact*:*Log*:*Error*:*Filter*:*Canary*' \
  --gtest_output="xml:$work/said/tests.xml" >"$work/said/tests" 2>&1) || complain "the tests failed"
grep -q 'PASSED' "$work/said/tests" || complain "no tests ran"

# What earlier tests of this build printed, as far as they ran.
for log in "${tests%/*}"/../Testing/Temporary/*.log*; do
  if [[ -f $log ]] && grep -qF -- "$secret" "$log"; then complain "it is in ${log##*/}"; fi
done

cd "$work/in" || exit 1
printf '[{"role":"%s","content":"x"}]' "$secret" >role.json
printf '[{"role":"user","content":"x","%s":1,"%s":2}]' "$secret" "$secret" >twice.json
printf '[{"role":"user","content":%s}]' "$secret" >syntax.json
printf '[{"role":"tool","tool_call_id":"%s","content":"x"}]' "$secret" >orphan.json
printf '{"%s":[{"role":7}]}' "$secret" >envelope.json
printf '[{"role":"user","content":"my key is %s"}]' "$secret" >content.json
printf '%s' "$secret" >"$secret.json"
runs=0
run() {
  runs=$((runs + 1))
  "$parley" "$@" >"$work/out" 2>"$work/said/$runs" </dev/null
  # Output is content, unless the input was refused or findings are printed.
  if [[ $1 == check || $1 == filter || $1 == media ]]; then cp "$work/out" "$work/said/$runs.out"; fi
}
for file in role twice syntax orphan envelope content "$secret"; do
  for dialect in openmanus agentscope agentscope2 parley; do
    run check --as $dialect "$file.json"
    run check --json --as $dialect "$file.json"
    run convert --strict --from $dialect --to openmanus "$file.json"
    run convert --repair --notes notes --from $dialect --to agentscope "$file.json"
    if [[ -f notes ]]; then mv notes "$work/said/$runs.notes"; fi
    run tokens --as $dialect "$file.json"
  done
  run filter secrets "$file.json"
  run media check "$file.json"
  run media check --json --base64 "$file.json"
done
run "$secret"
run convert --from "$secret" --to openmanus content.json
run check "$secret"
run filter "$secret"
run tokens --encoding "$secret" content.json
((runs > 100)) || complain "too few runs: $runs"

for file in "$work/said"/*; do
  if grep -qF -- "$secret" "$file"; then
    complain "it was said: ${file##*/}"
    grep -F -- "$secret" "$file" | head -2
  fi
done
echo "$runs runs of the command, $(grep -c 'OK \]' "$work/said/tests") tests"
exit $failed
