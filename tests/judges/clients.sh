#!/usr/bin/env bash
# Lets the official clients of the providers (npm: openai, @anthropic-ai/sdk, @google/genai, ollama, Bedrock's types) judge
# what Parley writes. tests/clients/README.md says how.
#   clients.sh [STREAMS...]   folders of streams to read beside those of tests/clients
# Fails unless the compiler takes every request for a client's type, every stream becomes the expected message in the
# client's hands, and both judges find out the same things broken.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)
make_streams=$(built tests/make_streams)

cp -r "$root/tests/clients/." "$work"
cd "$work"
from_npm

mkdir converted written
"$make_streams" written
"$node" selftest.js payloads streams
"$node" convert.js "$parley" "$root" converted
status=0
"$node" types.js payloads streams converted || status=1
"$node" streams.js streams written "$@" || status=1
exit "$status"
