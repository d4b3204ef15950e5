#!/usr/bin/env bash
# Every test that SECURITY.md names for a promise is there: security_test.sh ROOT
set -uo pipefail
cd "$1" || exit 1
failed=0 count=0
while read -r name; do
  count=$((count + 1))
  case $name in
    ./dev\ *) true ;;
    tests/* | *_test.cc) [[ -e $name || -n $(find src tests -name "$name") ]] ;;
    cli.*) [[ -e tests/cli/${name#cli.}.case ]] || grep -rqF "NAME $name" tests/cli/CMakeLists.txt ;;
    [a-z]*.*) grep -rqF "NAME $name" --include=CMakeLists.txt tests ;;
    *.*) grep -rqE "^TEST(_[FP])?\(${name%.*}, ${name#*.}\)" --include='*_test.cc' src tests ;;
    [A-Z][a-z]*) grep -rqE "^TEST(_[FP])?\($name, " --include='*_test.cc' src tests ;;
    *) false ;;
  esac || { echo "SECURITY.md names '$name', and there is no such test"; failed=1; }
done < <(sed -n '/^## What is promised/,/^## What is not/p' SECURITY.md | grep '^|' | sed 's/.*|\(.*\)|$/\1/' | grep -o '`[^`]*`' | tr -d '`')
((count > 20)) || { echo "SECURITY.md names only $count tests"; failed=1; }
((failed == 0)) && echo "all $count are there"
exit $failed
