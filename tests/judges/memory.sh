#!/usr/bin/env bash
# Applies random operations to Parley's AgentScopeMemory and to the InMemoryMemory of PyPI's agentscope 1.0.21, and fails
# at any difference of results, errors or states.
#   memory.sh [COUNT [SEED]]   so many operations (default 20000)
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
program=$(built tests/drive_memory)

# Only what messages and the memory import: agentscope's own list of dependencies is about a hundred packages.
from_pypi docstring_parser pydantic shortuuid typing_extensions
from_pypi --no-deps agentscope==1.0.21
"$python" "$root/tests/judges/memory.py" "$program" "${1:-20000}" "${2:-20261115}"
