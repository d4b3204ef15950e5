#!/usr/bin/env bash
# A chat sends its spans to OTEL_EXPORTER_OTLP_ENDPOINT, as part of the trace of its caller.
#   trace_test.sh PARLEY
set -euo pipefail
parley=$1
work=$(mktemp -d)
trap 'kill "$receiver" 2>/dev/null || true; rm -rf "$work"' EXIT

# Keeps what is posted to it, one body a line.
python3 - "$work" <<'PYTHON' &
import http.server, os, sys
work = sys.argv[1]
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(work + "/spans", "ab") as out:
            out.write(self.path.encode() + b" " + (self.headers["x-team"] or "").encode() + b" " + body + b"\n")
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")
    def log_message(self, *words): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
with open(work + "/port.new", "w") as out: out.write(str(server.server_port))
os.rename(work + "/port.new", work + "/port")
server.serve_forever()
PYTHON
receiver=$!
until [[ -s $work/port ]]; do sleep 0.05; done

export XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work XDG_STATE_HOME=$work
export OTEL_EXPORTER_OTLP_HEADERS=x-team=owls TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:$(<"$work/port") "$parley" -q -m rehearsal --tools clock -p 'what time is it' >/dev/null

failed=0
expect() {
  grep -qF -- "$1" "$work/spans" || { echo "trace_test.sh: no '$1' was sent" >&2; failed=1; }
}
expect '/v1/traces owls {'
expect '"invoke_agent parley"'
expect '"execute_tool clock"'
expect 'chat '
expect '0af7651916cd43dd8448eb211c80319c'
if grep -qF 'what time is it' "$work/spans"; then
  echo "trace_test.sh: content was sent without being requested" >&2
  failed=1
fi

# Without a receiver the chat continues.
OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 "$parley" -q -m rehearsal -p hello >/dev/null || failed=1
# What is no endpoint is said.
if OTEL_EXPORTER_OTLP_ENDPOINT=nowhere "$parley" -q -m rehearsal -p hello >/dev/null 2>"$work/said"; then failed=1; fi
grep -q '(OTEL_EXPORTER_OTLP_ENDPOINT)' "$work/said" || { echo "trace_test.sh: it is not said what is wrong" >&2; failed=1; }
exit "$failed"
