#!/usr/bin/env bash
# AgentScope 1.0.21's memories on SQLite (SQLAlchemy) and on Redis, and Parley's stores: messages of 2 KB added one by one,
# in one run on the disk of TMPDIR. Needs `./dev bench` to have built, redis-tools and python3-venv.
#   agentscope.sh [COUNT]   COUNT messages for AgentScope, whose Redis memory is slower the more it has (default 1000)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
count=${1:-1000}
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
# Only what these memories import: agentscope's own list of dependencies is about a hundred packages.
pip=("$work/venv/bin/pip" install -q --disable-pip-version-check)
"${pip[@]}" 'sqlalchemy[asyncio]==2.1.8' aiosqlite==0.22.1 redis==8.1.0 shortuuid typing_extensions pydantic
"${pip[@]}" --no-deps agentscope==1.0.21

# The program of redis-tools under the name that makes it a server.
ln -s /usr/bin/redis-check-rdb "$work/redis-server"
"$work/redis-server" --port 0 --unixsocket "$work/socket" --dir "$work" --save '' >"$work/log" &
server=$!
until [[ -S $work/socket ]]; do sleep 0.1; done

theirs() { "$work/venv/bin/python" -B "$root/bench/store/agentscope_memories.py" "$1" "$2" "$count"; }
sqlalchemy=$(theirs sqlalchemy "$work/theirs.db")
redis=$(theirs redis "$work/socket")
for task in sqlite redis; do "$root/build/bench/bench/parley_bench" --task $task; done >"$work/parley"
awk -F ' *[|] *' -v sqlalchemy="$sqlalchemy" -v redis="$redis" '
  function row(name, theirs, ours) {
    printf "| %s | %d | %d | %.1f | >= 10%s |\n", name, theirs, ours, ours / theirs, (ours / theirs < 10 ? " MISSED" : "")
  }
  $3 == "Parley" { ours[$2] = $4 }
  END {
    print "| adds a second | AgentScope | Parley | x AgentScope | goal |\n|---|---|---|---|---|"
    row("SQLite, by SQLAlchemy", sqlalchemy, ours["SQLite, append, 1 thread"])
    row("Redis, in memory", redis, ours["Redis, in memory, append, 1 connection"])
  }' "$work/parley"
