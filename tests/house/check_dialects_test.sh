#!/usr/bin/env bash
# Proves that tools/check_dialects accepts a good tree and refuses each kind of bad one.
#   check_dialects_test.sh PATH_OF_CHECK_DIALECTS
set -euo pipefail

check=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

# A small tree that keeps every rule.
good_tree() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/src/{dialect/{core,formatters,openai,agentscope2},memory,model,server/{engine,openai},token,trace}
  echo 'FORMAT(OpenAI)' >"$tree/src/dialect/core/dialect.cc"
  echo 'auto d = Dialect::OpenAI;' >"$tree/src/dialect/openai/messages.cc"
  echo 'auto d = Dialect::AgentScope2;' >"$tree/src/dialect/agentscope2/messages.cc"
  printf '%s\n' '// Dialect::OpenAI in a comment' 'auto d = Dialect::Parley; auto s = SubDialect::OpenAI;' \
    >"$tree/src/dialect/core/write.cc"
  echo 'auto d = Dialect::Gemini;' >"$tree/src/dialect/core/write_test.cc"
  local file
  for file in dialect/formatters/openmanus.cc memory/agentscope_memory.cc memory/save.cc model/provider.cc model/rehearsal.cc \
    model/server_testing.h server/engine/engine_testing.h server/engine/engine_testing.cc server/openai/items.cc \
    token/openmanus_rule.cc trace/chat.cc; do
    echo 'auto d = parley::Dialect::OpenAI;' >"$tree/src/$file"
  done
}

accepts() {
  local output
  if ! output=$("$check" "$tree" 2>&1); then
    printf 'FAIL: refused %s:\n%s\n' "$1" "$output"
    failures=$((failures + 1))
  fi
}

# refuses WHAT TEXT: the check must fail and say TEXT.
refuses() {
  local output
  if output=$("$check" "$tree" 2>&1); then
    printf 'FAIL: accepted %s\n' "$1"
    failures=$((failures + 1))
  elif [[ $output != *"$2"* ]]; then
    printf 'FAIL: refused %s without saying "%s":\n%s\n' "$1" "$2" "$output"
    failures=$((failures + 1))
  fi
}

good_tree
accepts "a good tree"

good_tree
printf '%s\n' '' 'if (dialect == Dialect::Gemini) {}' >"$tree/src/dialect/core/read.cc"
refuses "a branch in shared code" "src/dialect/core/read.cc:2: names Dialect::Gemini"

good_tree
echo 'auto d = Dialect::Parley; auto e = parley::Dialect::Ollama;  // both' >"$tree/src/model/attempt.h"
refuses "a second name in a line" "src/model/attempt.h:1: names Dialect::Ollama"

good_tree
echo 'auto d = Dialect::OpenAI;' >"$tree/src/dialect/agentscope2/rules.cc"
refuses "another dialect's folder" "src/dialect/agentscope2/rules.cc:1: names Dialect::OpenAI"

good_tree
echo 'int none;' >"$tree/src/memory/save.cc"
refuses "an exception that is not needed" "src/memory/save.cc names no dialect"

rm -rf "${tree:?}"/src
refuses "a tree without sources" "no sources"

((failures == 0)) || exit 1
