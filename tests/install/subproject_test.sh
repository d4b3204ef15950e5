#!/usr/bin/env bash
# Uses the tree as a part of an outside project, by add_subdirectory and by FetchContent. Both are configured; one builds a
# program with the lowest room, which takes seconds (the whole library takes minutes, and its other users build it). Neither
# has Parley's tests, benchmarks, command or install rules.
#   subproject_test.sh CMAKE SOURCE_DIR CXX
set -euo pipefail

cmake=$1
source=$2
cxx=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# project NAME LINES: an outside project that gets parley by LINES and has a program.
project() {
  mkdir "$work/$1"
  cat >"$work/$1/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(outside LANGUAGES CXX)
$2
add_executable(outside main.cc)
target_link_libraries(outside PRIVATE parley::base)
# All of it is there to link.
add_executable(whole EXCLUDE_FROM_ALL main.cc)
target_link_libraries(whole PRIVATE parley::parley)
EOF
  cat >"$work/$1/main.cc" <<'EOF'
#include <parley/base/text.h>

int main() { return parley::Text("na\xC3\xAFve").size() == 6 ? 0 : 1; }
EOF
  local launcher=()
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  "$cmake" -S "$work/$1" -B "$work/$1/build" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" "${launcher[@]}" \
    >"$work/$1/configure.log" 2>&1 || { cat "$work/$1/configure.log"; exit 1; }
  local targets
  targets=$("$cmake" --build "$work/$1/build" --target help)
  if grep -E '^(parley_(tests|cli|static|bench)|fuzz)' <<<"$targets"; then
    echo "$1: an outside project does not want the targets above"
    exit 1
  fi
  if [[ -e $work/$1/build/CTestTestfile.cmake ]]; then
    echo "$1: tests are registered"
    exit 1
  fi
}

echo "with add_subdirectory"
project subdirectory "add_subdirectory(\"$source\" parley)"
"$cmake" --build "$work/subdirectory/build" --target outside -- --quiet
"$work/subdirectory/build/outside"

echo "with FetchContent"
project fetched "include(FetchContent)
FetchContent_Declare(parley SOURCE_DIR \"$source\")
FetchContent_MakeAvailable(parley)"
