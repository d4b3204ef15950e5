#!/usr/bin/env bash
# Installs a build into a temporary prefix, then builds main.cc outside the tree against it, by CMake's
# find_package and by pkg-config, and runs each result.
#   install_test.sh CMAKE BUILD_DIR CXX
set -euo pipefail

cmake=$1
build=$2
cxx=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
# Nothing installed may remember where it was built or installed: the tree works after a move.
mv "$work/first" "$prefix"
if grep -rlF -e "$build" -e "$work/first" "$prefix" --include='*.cmake' --include='*.pc' --include='*.h'; then
  echo "the files above name the build's own folders"
  exit 1
fi

mkdir "$work/outside"
cp "$here/main.cc" "$work/outside"
# The lines of the README, in a project; its program is `app`.
{
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(outside LANGUAGES CXX)\nadd_executable(app main.cc)\n'
  sed -n '/^```cmake$/,/^```$/p' "$here/../../README.md" | sed '/^```/d'
  printf 'find_package(parley 0.1 CONFIG REQUIRED)\n'
} >"$work/outside/CMakeLists.txt"
grep -q 'target_link_libraries(app ' "$work/outside/CMakeLists.txt" || { echo "the README has no lines for CMake"; exit 1; }
echo "with find_package"
"$cmake" -S "$work/outside" -B "$work/outside/build" -G Ninja \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log" 2>&1 ||
  { cat "$work/configure.log"; exit 1; }
"$cmake" --build "$work/outside/build" -- --quiet
"$work/outside/build/app"

pc=$(find "$prefix" -name parley.pc)
export PKG_CONFIG_PATH=${pc%/*}
try_pkg_config() {
  local flags
  # Words of flags are meant to split.
  # shellcheck disable=SC2206
  flags=($(pkg-config "${@:2}" --cflags --libs parley))
  echo "with pkg-config ${*:2} and $1"
  "$cxx" -std=c++23 "$1" "$here/main.cc" -o "$work/outside/program" "${flags[@]}"
  "$work/outside/program"
}
try_pkg_config -fexceptions
try_pkg_config -fno-exceptions
try_pkg_config -fno-exceptions --static

# The command, if this build has it.
if [[ -x $prefix/bin/parley ]]; then
  "$prefix/bin/parley" --version
fi
