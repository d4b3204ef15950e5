#!/usr/bin/env bash
# Runs the ```sh blocks of docs/serve.md against a real server with the offline model: each line must succeed and print something.
# The programs in other languages are run by the judge serve_clients.
#   docs_test.sh PARLEY ROOT
set -uo pipefail

parley=$1
page=$2/docs/serve.md
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT
for variable in $(compgen -e); do
  case $variable in PARLEY_* | *_API_KEY | *_AUTH_TOKEN | *_BASE_URL | OLLAMA_HOST | XDG_*) unset "$variable" ;; esac
done
mkdir "$work/bin" "$work/home"
ln -s "$parley" "$work/bin/parley"
export PATH=$work/bin:$PATH HOME=$work/home
cd "$work" || exit 1
: >announced
parley serve --listen 127.0.0.1:0 >announced &
server=$!
until [[ $(wc -l <announced) == 3 ]]; do kill -0 "$server" || exit 1; sleep 0.02; done
PARLEY=$(sed -n 's/^listening on //p' announced)
export PARLEY

ran=0 failed=0 kind=
while IFS= read -r line; do
  case $line in
    '```') kind= ;;
    '```'*) kind=${line#'```'} ;;
    'parley serve') ;;  # it runs
    *)
      [[ $kind == sh && -n $line ]] || continue
      ran=$((ran + 1))
      bash -o pipefail -c "$line" >printed 2>errors </dev/null || { echo "exits with $?: $line: $(head -c 300 errors)"; failed=$((failed + 1)); }
      [[ -s printed || $line == *'>id' ]] || { echo "prints nothing: $line"; failed=$((failed + 1)); }
      [[ $line != *parley/requests* ]] || grep -q '"identical":true' printed || { echo "not identical: $(head -c 300 printed)"; failed=$((failed + 1)); }
      ! grep -q '"error":{' printed || { echo "an error: $line: $(head -c 300 printed)"; failed=$((failed + 1)); }
      ;;
  esac
done <"$page"
echo "$ran commands ran, $failed failed"
((ran >= 10 && failed == 0))
