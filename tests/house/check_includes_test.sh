#!/usr/bin/env bash
# Proves that tools/check_includes accepts a good tree and refuses each kind of bad one.
#   check_includes_test.sh PATH_OF_CHECK_INCLUDES
set -euo pipefail

check=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

# A small tree that keeps every rule.
good_tree() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/{docs,src/{base,json,message,store,cli},include/parley/{base,json}}
  cat >"$tree/docs/architecture.md" <<'EOF'
# A table that is not about rooms

| Folder | Colour |
|---|---|
| `nothing` | blue |

| Folder | What lives there | May use |
|---|---|---|
| `base` | errors | std |
| `json` | reader, `Json` values | base |
| `message` | blocks | json |
| `store`, `shelf/` | contract | message (its interface only), base |
| `cli` | the command | everything above |
EOF
  cat >"$tree/include/parley/base/error.h" <<'EOF'
#include <sys/uio.h>
#include <expected>
EOF
  cat >"$tree/include/parley/json/json.h" <<'EOF'
#include <string_view>
#include "parley/base/error.h"
EOF
  echo '#include "parley/json/json.h"' >"$tree/include/parley/parley.h"
  echo 'int kernel();' >"$tree/src/json/kernel.h"
  printf '%s\n' '#include "json/kernel.h"' '#include "kernel.h"' '#include <sqlite3.h>' >"$tree/src/json/json.cc"
  echo '#include "parley/base/error.h"  // transitive' >"$tree/src/message/message.cc"
  echo '#include "parley/json/json.h"' >"$tree/src/store/store.cc"
  printf '%s\n' '#include "parley/parley.h"' '#include "parley/base/error.h"' >"$tree/src/cli/main.cc"
  # A test may look upwards.
  echo '#include "parley/message/message.h"' >"$tree/src/base/base_test.cc"
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
echo '#include "parley/json/json.h"' >"$tree/src/base/error.cc"
refuses "an arrow from base to json" "src/base/error.cc:1: room base may not use json"

good_tree
echo '#  include <parley/json/json.h>' >>"$tree/include/parley/base/error.h"
refuses "a wrong arrow in a public header, in <>" "include/parley/base/error.h:3: room base may not use json"

good_tree
echo '#include "message/private.h"' >"$tree/src/json/writer.cc"
refuses "a wrong arrow to a private header" "room json may not use message"

good_tree
echo '#include <simdjson.h>' >>"$tree/include/parley/json/json.h"
refuses "a third-party header in a public header" "include/parley/json/json.h:3: public header includes the third-party header <simdjson.h>"

good_tree
echo '#include <boost/json.hpp>' >"$tree/include/parley/parley.h"
refuses "a third-party header in the umbrella" "third-party header <boost/json.hpp>"

good_tree
echo '#include "json/kernel.h"' >>"$tree/include/parley/json/json.h"
refuses "a private header in a public one" "which is not installed"

good_tree
echo '#include "../base/error.h"' >"$tree/src/json/writer.cc"
refuses "a relative path" "by a relative path"

good_tree
echo '#include "parley/parley.h"' >"$tree/src/json/writer.cc"
refuses "the umbrella inside a room" "may not use the umbrella"

good_tree
echo '#include "sqlite3.h"' >"$tree/src/json/writer.cc"
refuses "a quoted name that is in no room" "which is in no room"

good_tree
mkdir "$tree/src/attic" && echo 'int x;' >"$tree/src/attic/x.cc"
refuses "a room the table does not name" "names no room attic"

good_tree
sed -i 's/^| `json` .*/| `json` | reader | base, store |/' "$tree/docs/architecture.md"
refuses "a table with an arrow downwards" "room json may use store, which no row above it names"

good_tree
sed -i 's/May use/Might use/' "$tree/docs/architecture.md"
refuses "a document without the table" "has no table"

good_tree
rm "$tree/docs/architecture.md"
refuses "a tree without the document" "is missing"

if ((failures)); then
  echo "$failures failures"
  exit 1
fi
echo "check_includes: 14 trees judged as expected"
