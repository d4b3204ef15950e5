#!/usr/bin/env bash
# Installs a build into a temporary prefix, then builds main.cc outside the tree against it, by CMake's
# find_package and by pkg-config, and static_main.cc with -static, and runs each result. Last, find_package names the Debian
# packages that are missing.
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

# configure FOLDER [ARGS...]: with find_package, into FOLDER/build. Prints the output if it fails.
configure() {
  "$cmake" -S "$1" -B "$1/build" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" "${@:2}" \
    >"$1/configure.log" 2>&1 || { cat "$1/configure.log"; return 1; }
}

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
configure "$work/outside"
"$cmake" --build "$work/outside/build" -- --quiet
"$work/outside/build/app"

mkdir "$work/static"
cp "$here/static_main.cc" "$work/static"
cat >"$work/static/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(static_program LANGUAGES CXX)
find_package(parley 0.1 CONFIG REQUIRED COMPONENTS static)
add_executable(static_program static_main.cc)
target_link_libraries(static_program PRIVATE parley::memory parley::net parley::static)
EOF
echo "with find_package and -static"
configure "$work/static"
# The linker warns that sqlite3 can load extensions, and that names are looked up by shared libraries.
"$cmake" --build "$work/static/build" -- --quiet >"$work/static/build.log" 2>&1 ||
  { cat "$work/static/build.log"; exit 1; }
"$work/static/build/static_program" "$work/static/test.db"
if readelf -d "$work/static/build/static_program" | grep NEEDED; then
  echo "a program linked with parley::static needs the shared libraries above"
  exit 1
fi

# A machine without two of the packages: pkg-config sees all modules but theirs.
mkdir "$work/modules"
for folder in $(pkg-config --variable pc_path pkg-config | tr : ' '); do
  [[ -d $folder ]] && find "$folder" -name '*.pc' -exec ln -sft "$work/modules" {} +
done
rm "$work/modules/sqlite3.pc" "$work/modules/libwebp.pc"
echo "with find_package, two packages missing"
if PKG_CONFIG_LIBDIR=$work/modules PKG_CONFIG_PATH='' configure "$work/outside" --fresh >/dev/null; then
  echo "find_package found parley without sqlite3"
  exit 1
fi
said=$(tr -s ' \n' ' ' <"$work/outside/configure.log")
for words in 'Parley needs ' 'Install the Debian packages: ' libsqlite3-dev libwebp-dev; do
  [[ $said == *"$words"* ]] || { echo "no '$words' in: $said"; exit 1; }
done

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
