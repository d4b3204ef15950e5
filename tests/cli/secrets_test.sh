#!/usr/bin/env bash
# Plants secrets wherever the command reads its settings, runs every command, and looks for them in what was printed:
#   secrets_test.sh PARLEY EXAMPLES
# A command that has no line here fails the test, and so does a line whose command does not exist.
set -uo pipefail

parley=$1 examples=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
for variable in $(compgen -e); do
  case $variable in
    PARLEY_* | *_API_KEY | *_AUTH_TOKEN | *_BASE_URL | OLLAMA_HOST | OTEL_* | XDG_* | *_PROXY | *_proxy | SSL_CERT_*) unset "$variable" ;;
  esac
done
export HOME=$work

# Each secret begins with this word, so that one search finds all of them.
word=canary
cat >mcp.json <<END
{"mcpServers":{
  "dies":{"command":"sh","args":["-c","echo \$ACCESS_TOKEN >&2; exit 1","--api-key","$word-mcp-argument"],"env":{"ACCESS_TOKEN":"$word-mcp-variable"}},
  "away":{"url":"http://127.0.0.1:1/mcp?token=$word-mcp-url","headers":{"X-Any":"$word-mcp-header"}}}}
END
cat >parley.toml <<END
model = "openai/x"
store = "redis://:$word-file-store@127.0.0.1:1/0"
[mcp]
file = "$work/mcp.json"
[trace]
endpoint = "http://trace:$word-file-trace@127.0.0.1:1"
[providers.openai]
api_key = "$word-file-api-key"
base_url = "http://$word-file-user@127.0.0.1:1/v1"
[providers.anthropic]
base_url = "http://127.0.0.1:1/v1?key=$word-file-query&x=y"
END
printf '[{"role":"user","content":"hello"}]' >talk.json
printf '[{"role":"nobody","content":"hello"}]' >bad.json
export PARLEY_CONFIG=$work/parley.toml
mkdir -p .config/parley
printf 'gemini = "%s-stored-key-0123456789"\n' "$word" >.config/parley/keys.toml

# The same settings by the environment; its values win over the file's.
with_environment() {
  env "PARLEY_STORE=postgresql://u:$word-store@127.0.0.1:1/db?password=$word-store-query&connect_timeout=1" \
    "OPENAI_API_KEY=$word-openai-key-0123456789" \
    "OPENAI_BASE_URL=http://$word-user:$word/pass@127.0.0.1:1/v1?key=$word" \
    "ANTHROPIC_API_KEY=$word-anthropic-key-0123456789" \
    "OLLAMA_HOST=$word-ollama@127.0.0.1:1" \
    "OTEL_EXPORTER_OTLP_ENDPOINT=http://u:$word-trace@127.0.0.1:1" \
    "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer $word-trace-header" \
    "http_proxy=http://u:$word-proxy@127.0.0.1:1" "https_proxy=gopher://u:$word-proxy@127.0.0.1:1" "$@"
}

failed=0 tried=()
look() {
  local shown status
  shown=$(timeout 60 "$@" </dev/null 2>&1)
  status=$?
  ((status != 124)) || { echo "does not end: $*"; failed=1; }
  ((status != 126 && status != 127)) || { echo "cannot be run: $*"; failed=1; }
  if grep -aqF "$word" <<<"$shown"; then
    echo "a secret in the output of: $*"
    grep -aF "$word" <<<"$shown" | head -n 5 | sed 's/^/    /'
    failed=1
  fi
}

# try COMMAND [ARGS]: with the file alone, and with the environment.
try() {
  tried+=("$1")
  look "$parley" "$@"
  look with_environment "$parley" "$@"
}

export -f with_environment  # for timeout
export word
timeout() { command timeout "$1" bash -c '"$@"' bash "${@:2}"; }

url="postgresql://u:$word-typed@127.0.0.1:1/db?password=$word-typed-query&connect_timeout=1"
for json in '' --json; do
  try models $json
  try config list $json
  try config get providers.openai.base_url
  try config get store
  try config key list $json
  try config key set gemini
  try doctor $json --model gemini/x
  try config set tenant "http://u:$word-typed@h"
  try models $json --online
  try doctor $json
  try doctor $json --model anthropic/x
  try doctor $json --model anthropic/x --online
  try doctor $json --model ollama/x --online
  try doctor $json --store "$url"
  try doctor $json --store "gopher://u:$word-typed@h"
  try doctor $json --store "sqlite:$work/none/store.db?password=$word-typed"
  try sessions list $json
  try sessions list $json --store "$url"
  try sessions search hello $json
  try sessions stats $json
  try run $json --timeout 5 --store memory: hello
  try prompt $json -p hello --timeout 5
  try prompt $json -v --retries 1 -p hello --timeout 5 --store memory:
  try prompt $json -v --retries 1 -p hello --timeout 5 --store memory: --model anthropic/x
  try run $json -v --retries 0 --timeout 5 --store memory: hello
  try prompt $json -p hello --timeout 5 --store memory: --model anthropic/x
  try check $json bad.json "http://u:$word-name@h/x.json"
  try media check $json "http://u:$word-name@h/x.png"
  try dialects $json
done
try chat
try sessions show x
try sessions export x
try sessions import talk.json
try sessions fork x
try sessions rm x
try sessions copy x "$url"
try sessions verify
try sessions backup x.db
try convert --from openai --to anthropic "http://u:$word-name@h/x.json"
try convert --from openai --to anthropic talk.json -o "/none/http://u:$word-name@h/x.json"
try tokens "http://u:$word-name@h/x"
try filter ansi "http://u:$word-name@h/x"
try rehearse --record "gopher://u:$word-typed@h" -o x
try rehearse --script "http://u:$word-name@h/x"
try serve --listen "http://u:$word-typed@h"
try serve --config "http://u:$word-name@h/x"
try serve --store "$url"
try keys list --store "$url"
try keys create laptop --role "http://u:$word-typed@h"
try completion "http://u:$word-typed@h"
try man
try "http://u:$word-typed@h"
try doctor "--none=http://u:$word-typed@h"
unset PARLEY_CONFIG
printf 'store = "redis://:%s-file-store@127.0.0.1:1/0"\nmodel = 3\n' $word >.parley.toml
try doctor
printf '[providers.openai]\napi_key = "%s-file-api-key\n' $word >.parley.toml
try doctor

for command in $("$parley" completion bash | sed -n "s/.*compgen -W '\([a-z ]*\) -p.*/\1/p"); do
  [[ " ${tried[*]} " == *" $command "* ]] || { echo "no line of this test runs '$command'"; failed=1; }
done
for command in $(printf '%s\n' "${tried[@]}" | grep -v '^http:' | sort -u); do
  "$parley" "$command" --help 2>&1 | grep -q "^Usage: parley $command " || { echo "there is no command '$command'"; failed=1; }
done
((failed == 0)) && echo "no secret in what ${#tried[@]} command lines printed"
exit $failed
