#!/usr/bin/env bash
# Runs openai-python's own tests of responses, conversations and chat (from its source distribution) against `parley serve`
# with the offline model. openai_sdk.py makes the objects that the tests name, and lists what must fail, with the reason.
#   openai_sdk.sh [ARGS...]   for pytest: -k cancel
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)

from_pypi openai[aiohttp]==3.49.0 pytest==9.2.0 pytest-asyncio==1.5.0 respx==0.23.1 time-machine==3.6.0 inline-snapshot==0.36.1 \
  hatchling==1.33.0 hatch-fancy-pypi-readme==25.1.0
cd "$work"
"$python" -m pip download -q --disable-pip-version-check --no-deps --no-build-isolation --no-binary openai openai==3.49.0
tar xzf openai-3.49.0.tar.gz

printf '%s\n' 'model = "rehearsal"' '[aliases]' '"gpt-6-astra" = "rehearsal"' 'model = "rehearsal"' >parley.toml
serve --config parley.toml --store "sqlite:$work/store.db"

cd openai-3.49.0/tests/..
tests=(test_responses.py test_conversations.py conversations responses chat)
PARLEY=$url TEST_API_BASE_URL=$url/v1 PYTHONPATH=src:$root/tests/judges PYTHONDONTWRITEBYTECODE=1 \
  "$python" -m pytest -q -p openai_sdk -p no:cacheprovider -o addopts= --tb=no --no-summary "${tests[@]/#/tests/api_resources/}" "$@"
