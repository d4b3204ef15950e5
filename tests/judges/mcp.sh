#!/usr/bin/env bash
# Calls the tools of MCP servers that nobody here wrote: npm's @modelcontextprotocol/server-everything, over stdio and over
# HTTP, and server-filesystem. tests/mcp/README.md says more.
# Fails at any output that is not the expected one.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
probe=$(built tests/mcp_probe)
server=
# shellcheck disable=SC2317  # called by the trap
leave() {
  if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap leave EXIT

cp "$root"/tests/mcp/package*.json "$work"
cd "$work"
from_npm
packages=$work/node_modules/@modelcontextprotocol
everything=$packages/server-everything/dist/index.js

failed=0
# expect NAME CONFIG TOOL ARGUMENTS...: what the probe prints must be what stands on standard input.
expect() {
  local name=$1 config=$2
  shift 2
  cat >"$work/expected"
  if ! timeout 120 "$probe" "$config" "$@" >"$work/actual" || ! diff -u "$work/expected" "$work/actual"; then
    echo "mcp.sh: $name: not what was expected"
    failed=1
  else
    echo "mcp.sh: $name: $(($# / 2)) calls as expected"
  fi
}

# ---- server-everything, both ways

cat >"$work/stdio.json" <<JSON
{"mcpServers": {"everything": {"command": "$node", "args": ["$everything", "stdio"],
  "env": {"GIVEN": "yes"}}}}
JSON
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
PORT=$port "$node" "$everything" streamableHttp >"$work/http.log" 2>&1 &
server=$!
for ((i = 0; i < 300; i++)); do
  if grep -q listening "$work/http.log"; then break; fi
  kill -0 "$server" 2>/dev/null || { cat "$work/http.log" >&2; echo "mcp.sh: no HTTP server" >&2; exit 3; }
  sleep 0.1
done
cat >"$work/http.json" <<JSON
{"mcpServers": {"everything": {"type": "http", "url": "http://127.0.0.1:$port/mcp"}}}
JSON

for way in stdio http; do
  expect "server-everything over $way" "$work/$way.json" \
    mcp_everything_echo '{"message": "h\u00e9llo\n\"world\""}' \
    mcp_everything_get-sum '{"a": 2, "b": 40}' \
    mcp_everything_get-sum '{"a": "two", "b": 40}' \
    mcp_everything_get-tiny-image '{}' \
    mcp_everything_get-structured-content '{"location": "New York"}' \
    mcp_everything_get-annotated-message '{"messageType": "error", "includeImage": true}' \
    mcp_everything_get-resource-links '{"count": 1}' \
    mcp_everything_get-resource-reference '{"resourceType": "Blob", "resourceId": 0}' \
    mcp_everything_trigger-long-running-operation '{"duration": 1, "steps": 4}' \
    mcp_everything_echo '{"message": "still here"}' <"$root/tests/mcp/everything.expected"
done
# The client does not wait for long until a server has said goodbye.
for ((i = 0; i < 100; i++)); do
  if grep -q 'termination request' "$work/http.log"; then break; fi
  sleep 0.1
done
((i < 100)) || { echo "mcp.sh: the HTTP session was not ended"; failed=1; }

# What a server knows of this machine: the variables it was given.
OPENAI_API_KEY=canary timeout 120 "$probe" "$work/stdio.json" mcp_everything_get-env '{}' >"$work/env"
if ! grep -q '"GIVEN": "yes"' "$work/env" || grep -q canary "$work/env"; then
  echo "mcp.sh: the environment of a server is not what it was given"
  failed=1
fi

# ---- server-filesystem

mkdir "$work/files"
base64 -d >"$work/files/dot.png" <<<iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=
cat >"$work/files.json" <<JSON
{"mcpServers": {"files": {"command": "$node", "cwd": "$work/files",
  "args": ["$packages/server-filesystem/dist/index.js", "$work/files"]}}}
JSON
expect "server-filesystem over stdio" "$work/files.json" \
  mcp_files_write_file "{\"path\": \"$work/files/note.txt\", \"content\": \"twelve degrees\\n\"}" \
  mcp_files_read_text_file "{\"path\": \"$work/files/note.txt\"}" \
  mcp_files_edit_file "{\"path\": \"$work/files/note.txt\", \"edits\": [{\"oldText\": \"twelve\", \"newText\": \"nine\"}]}" \
  mcp_files_read_text_file "{\"path\": \"$work/files/note.txt\"}" \
  mcp_files_read_media_file "{\"path\": \"$work/files/dot.png\"}" \
  mcp_files_list_directory "{\"path\": \"$work/files\"}" \
  mcp_files_read_text_file '{"path": "/etc/hostname"}' \
  mcp_files_read_text_file '{}' < <(sed "s|WORK|$work/files|g" "$root/tests/mcp/filesystem.expected")

exit "$failed"
