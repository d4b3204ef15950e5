#!/usr/bin/env bash
# Proves that tools/check_links accepts good links and refuses each kind of bad one.
#   check_links_test.sh PATH_OF_CHECK_LINKS
set -euo pipefail

check=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

good_tree() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/{docs,html,build/left}
  echo '[dead](nowhere.md)' >"$tree/build/left/out.md"
  {
    echo '# Parley: a tree'
    for ((i = 0; i < 60; i++)); do echo "[link](docs/page.md)"; done
    echo '[there](docs/page.md#a-heading-of-a-page) [here](#parley-a-tree) [web](https://example.com/x) ![p](docs/a.svg)'
    echo '`[code](dead.md)`'
    printf '```\n[code](dead.md)\n```\n'
  } >"$tree/README.md"
  printf '# Page\n\n## A heading, of `a` page\n\n[back](../README.md)\n' >"$tree/docs/page.md"
  touch "$tree/docs/a.svg"
  echo '<a href="group__base.html">base</a>' >"$tree/html/index.html"
  echo '<h1 id="top"><a href="classparley_1_1Text.html#text">Text</a></h1>' >"$tree/html/group__base.html"
  echo '<a id="text"></a><a href="group__base.html#top">base</a>' >"$tree/html/classparley_1_1Text.html"
}

# expect VERDICT NAME [HTML]
expect() {
  local verdict=good
  "$check" "$tree" "${@:3}" >"$tree.out" 2>&1 || verdict=bad
  if [[ $verdict != "$1" ]]; then
    echo "$2: expected $1"
    cat "$tree.out"
    failures=$((failures + 1))
  fi
  rm -f "$tree.out"
}

good_tree
expect good "a good tree"
expect good "a good reference" "$tree/html"
echo '[x](docs/other.md)' >>"$tree/README.md"
expect bad "a file that is missing"
good_tree
echo '![x](b.svg)' >>"$tree/docs/page.md"
expect bad "a picture that is missing"
good_tree
echo '[x](docs/page.md#nothing)' >>"$tree/README.md"
expect bad "a heading that is missing"
good_tree
echo '[x](#nothing)' >>"$tree/docs/page.md"
expect bad "a heading of the same page that is missing"
good_tree
echo '# Nothing' >"$tree/README.md"
expect bad "a tree without links"
good_tree
echo '<a href="gone.html">x</a>' >>"$tree/html/index.html"
expect bad "a page of the reference that is missing" "$tree/html"
good_tree
echo '<a href="group__base.html#gone">x</a>' >>"$tree/html/index.html"
expect bad "a place of the reference that is missing" "$tree/html"
good_tree
echo '<a href="index.html">x</a>' >"$tree/html/structparley_1_1Lost.html"
expect bad "a class that no group links to" "$tree/html"
good_tree
echo '<a href="index.html">x</a>' >"$tree/html/structparley_1_1Text_1_1Inner.html"
expect good "a class within one that a group links to" "$tree/html"

((failures == 0)) && echo "all as expected"
exit "$((failures > 0))"
