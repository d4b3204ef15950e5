# What the judges share, to be sourced: $root is the tree, $work a folder of their own that is gone at the end.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

give_up() {
  echo "${0##*/}: $*" >&2
  exit 3
}

# built PROGRAM: prints where the build has it.
built() {
  [[ -x $root/build/release/$1 ]] || give_up "build/release/$1 is missing; run it as ./dev judges"
  echo "$root/build/release/$1"
}

# from_pypi ARGS...: `pip install ARGS` for $python, which is the judge's alone.
python=$work/venv/bin/python
from_pypi() {
  [[ -x $python ]] || python3 -m venv "$work/venv"
  "$python" -m pip install -q --disable-pip-version-check "$@"
}

# from_npm: what the package-lock.json of the folder of work names. The packages need a newer Node than Debian has, so it
# comes with them, as $node.
from_npm() {
  command -v npm >/dev/null || give_up "needs npm"
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  local found=(node_modules/node-linux-*/bin/node)
  [[ -x ${found[0]} ]] || give_up "npm has no Node for this machine"
  node=$PWD/${found[0]}
}

# serve ARGS...: starts `parley serve ARGS` on a free port, with an environment that has no keys and no configuration of the
# user. $url is its address, $server its process; it ends with the judge.
serve() {
  local variable
  for variable in $(compgen -e); do
    case $variable in PARLEY_* | *_API_KEY | *_AUTH_TOKEN | *_BASE_URL | OLLAMA_HOST | XDG_*) unset "$variable" ;; esac
  done
  mkdir -p "$work/home"
  : >"$work/served"
  HOME=$work/home "$parley" serve --listen 127.0.0.1:0 --json "$@" >"$work/served" &
  server=$!
  trap 'kill "$server" 2>/dev/null && wait "$server"; rm -rf "$work"' EXIT
  until [[ -s $work/served ]]; do
    kill -0 "$server" 2>/dev/null || give_up "the server does not start"
    sleep 0.02
  done
  url=$(sed 's/.*"url":"\([^"]*\)".*/\1/' "$work/served")
}
