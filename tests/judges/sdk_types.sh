#!/usr/bin/env bash
# Makes bodies of requests and answers from the types of the providers' own SDKs (PyPI: openai, anthropic, google-genai,
# ollama, botocore) and lets Parley read and convert them: with what is required, with all members, with nulls.
#   sdk_types.sh [DIALECT...]   of these only
# Fails unless every body comes back byte for byte, has the same value by way of `parley`, and is taken to every other
# provider. What is refused is printed with its body.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
parley=$(built parley)

from_pypi openai==3.49.0 anthropic==2.8.0 google-genai==3.1.0 ollama==0.6.3 botocore==1.44.0
mkdir "$work/bodies"
"$python" -B "$root/tests/judges/sdk_types.py" "$parley" "$work/bodies" "$@"
