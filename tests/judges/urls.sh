#!/usr/bin/env bash
# Makes odd URLs and compares how Parley reads them with PyPI's ada-url, an implementation of the WHATWG standard.
#   urls.sh [COUNT [SEED]]   so many URLs (default 20000), and hosts with one odd character each
# Fails unless verdict, host and href are the same for all; hosts that are not ASCII may be refused, for the reasons
# that are printed with their numbers.
source "$(dirname "${BASH_SOURCE[0]}")/judge.bash"
program=$(built tests/parse_urls)

from_pypi ada-url==4.0.0
"$python" "$root/tests/judges/urls.py" "$program" "${1:-20000}" "${2:-20261115}"
