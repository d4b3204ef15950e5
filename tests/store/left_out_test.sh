#!/usr/bin/env bash
# Configures where neither libpq nor hiredis can be found: nothing that needs them is built, and a program that asks
# for what was left out hears why. Only the file that knows is built anew; the rest comes from the ordinary LIBRARIES.
#   left_out_test.sh CMAKE SOURCE CXX LIBRARIES...
set -euo pipefail

cmake=$1
source=$2
cxx=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/pkg-config" <<'EOF'
#!/usr/bin/env bash
for word; do case $word in libpq* | hiredis*) exit 1 ;; esac; done
exec pkg-config "$@"
EOF
chmod +x "$work/pkg-config"
"$cmake" -S "$source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$cxx" \
  -DPARLEY_TESTS=OFF -DPKG_CONFIG_EXECUTABLE="$work/pkg-config" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
grep -xF -e '-- libpq is not there: what needs it is left out (Debian package libpq-dev)' "$work/log"
grep -xF -e '-- hiredis is not there: what needs it is left out (Debian package libhiredis-dev)' "$work/log"

if ninja -C "$work/build" -t targets all | grep -E 'store/.*(postgres|redis).*\.o:'; then
  echo "what needs the libraries is still built"
  exit 1
fi
open=src/store/CMakeFiles/parley_store.dir/open.cc.o
ninja -C "$work/build" "$open" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

cat >"$work/main.cc" <<'EOF'
#include <cstdio>

#include "parley/store/store.h"

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    const auto store = parley::store::open_store(words[i]);
    const bool is_left_out = !store && store.error().code == parley::Code::Unsupported;
    std::printf("%s%s\n", is_left_out ? "left out: " : "", store ? "there" : store.error().message.c_str());
  }
}
EOF
"$cxx" -std=c++23 -I"$source/include" "$work/main.cc" "$work/build/$open" "$@" -o "$work/main"
"$work/main" postgresql://h postgres://h redis://h redis+unix:///s memory: >"$work/said"
diff - "$work/said" <<'EOF'
left out: this build has no support for 'postgresql:': it was built without libpq
left out: this build has no support for 'postgres:': it was built without libpq
left out: this build has no support for 'redis:': it was built without hiredis
left out: this build has no support for 'redis+unix:': it was built without hiredis
there
EOF
