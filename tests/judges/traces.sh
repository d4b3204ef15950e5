#!/usr/bin/env bash
# Has OpenTelemetry's own definitions (PyPI: opentelemetry-proto, opentelemetry-semantic-conventions) read the spans that
# Parley sends to a receiver on the loopback address. Fails if they do not take them for what they are.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
program=$(built tests/send_spans)

from_pypi opentelemetry-proto==1.45.2 opentelemetry-semantic-conventions==0.66b2
"$python" "$root/tests/judges/traces.py" "$program"
