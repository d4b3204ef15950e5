#!/usr/bin/env bash
# Lets the official clients of the providers (npm: openai, @anthropic-ai/sdk, @google/genai, ollama, Bedrock's types) judge
# what Parley writes. tests/clients/README.md says how.
#   clients.sh [STREAMS...]   folders of streams to read beside those of tests/clients
# Fails unless the compiler takes every request for a client's type, every stream becomes the expected message in the
# client's hands, and both judges find out the same things broken.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
parley=$root/build/release/parley
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -x $parley ]] || { echo "clients.sh: build/release is missing; run it as ./dev judges" >&2; exit 3; }
command -v npm >/dev/null || { echo "clients.sh: needs npm" >&2; exit 3; }

cp -r "$root/tests/clients/." "$work"
cd "$work"
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
# The clients need a newer Node than Debian has, so it comes with them.
node=("$work"/node_modules/node-linux-*/bin/node)
[[ -x ${node[0]} ]] || { echo "clients.sh: npm has no Node for this machine" >&2; exit 3; }

mkdir converted written
"$root/build/release/tests/make_streams" written
"${node[0]}" selftest.js payloads streams
"${node[0]}" convert.js "$parley" "$root" converted
status=0
"${node[0]}" types.js payloads streams converted || status=1
"${node[0]}" streams.js streams written "$@" || status=1
exit "$status"
