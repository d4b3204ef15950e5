#!/usr/bin/env bash
# Sends odd HTTP requests to Node's server and to Parley's reader of requests, and compares what each has read.
#   requests.sh [COUNT [SEED]]   a list of known tricks, and so many changes of them (default 20000)
# One of them may refuse what the other reads. But a request that both read is the same request, with the same body: a
# proxy that runs on one of them and a server that runs on the other cannot be made to disagree where it ends.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
program=$(built tests/read_requests)
command -v node >/dev/null || give_up "needs node"
node "$root/tests/judges/requests.js" "$program" "${1:-20000}" "${2:-20261118}"
