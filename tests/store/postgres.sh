#!/usr/bin/env bash
# A PostgreSQL for tests: its data and its socket are in one folder, it listens to nothing else, and it ends with
# the process it was started for.
#
#   postgres.sh start FOLDER [PID] makes FOLDER and a server in it, which is stopped when the process PID ends
#                                  (without PID: the process that called this)
#   postgres.sh kill FOLDER        kills all its processes at once (kill -9)
#   postgres.sh restart FOLDER     starts it again
#   postgres.sh stop FOLDER        stops it and removes FOLDER
set -euo pipefail

verb=$1
folder=$2
data=$folder/data

bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
if [[ -z $bin ]]; then
  echo "there is no PostgreSQL server here: ./dev test installs postgresql-15" >&2
  exit 1
fi

# The server refuses to run as root.
as_server=()
if ((EUID == 0)); then as_server=(setpriv --reuid=postgres --regid=postgres --clear-groups); fi

run_server() {
  # Connections through the socket only; a proxy in a test may stand before it.
  (cd "$folder" && "${as_server[@]}" "$bin/pg_ctl" -D "$data" -w -t 60 -s -l "$folder/log" \
    -o "-k $folder -c listen_addresses= -c max_connections=200 -c shared_buffers=32MB" start >/dev/null)
}

server_pid() { head -n 1 "$data/postmaster.pid"; }

case $verb in
  start)
    if [[ -d $folder ]]; then "$0" stop "$folder"; fi  # left over from a run that was killed with its watcher
    mkdir -m 0700 "$folder"
    if ((EUID == 0)); then chown postgres:postgres "$folder"; fi
    (cd "$folder" && "${as_server[@]}" "$bin/initdb" -D "$data" -U parley -A trust -E UTF8 --no-locale --no-sync \
      --no-instructions >"$folder/initdb.log")
    run_server
    # In a session of its own: a signal to the whole group of the caller must not end it.
    setsid "$0" watch "$folder" "${3:-$PPID}" </dev/null >/dev/null 2>&1 &
    ;;
  watch)
    tail --pid="$3" -f /dev/null
    if [[ -d $folder ]]; then "$0" stop "$folder"; fi
    ;;
  kill)
    pid=$(server_pid)
    # The subprocesses would run for a moment without their parent, so all are killed in one go.
    kill -KILL "$pid" $(cat "/proc/$pid/task/$pid/children")
    ;;
  restart)
    # Their locks name processes that may still be known to the system, as dead.
    rm -f "$data/postmaster.pid" "$folder"/.s.PGSQL.*
    run_server
    ;;
  stop)
    if [[ -f $data/postmaster.pid ]]; then
      (cd "$folder" && "${as_server[@]}" "$bin/pg_ctl" -D "$data" -w -s -m immediate stop >/dev/null) || true
    fi
    rm -rf "$folder"
    ;;
esac
