#!/usr/bin/env bash
# Runs the 17 cases of Open Responses against `parley serve` with the offline model: our own port of them (open_responses.py).
#   open_responses.sh DIR   the official suite instead, from a checkout of its repository; Bun and zod come from npm
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)

if (($# == 0)); then
  from_pypi openai==3.49.0 websockets==15.0.1
  serve --store "sqlite:$work/store.db"
  "$python" -B "$root/tests/judges/open_responses.py" "$url" rehearsal
  exit
fi

[[ -f $1/bin/compliance-test.ts ]] || give_up "$1 is not a checkout of Open Responses"
command -v npm >/dev/null || give_up "needs npm"
mkdir "$work/suite"
cp -r "$1/bin" "$1/src" "$1/tsconfig.json" "$work/suite"
cd "$work/suite"
echo '{}' >package.json
npm install --ignore-scripts --no-audit --no-fund --loglevel=error @oven/bun-linux-x64@1.4.4 zod@3.25.76 >&2
serve --store "sqlite:$work/store.db"
node_modules/@oven/bun-linux-x64/bin/bun run bin/compliance-test.ts -u "$url/v1" -k none -m rehearsal
