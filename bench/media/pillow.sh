#!/usr/bin/env bash
# OpenManus' validator of images in base64 in Python with PyPI's Pillow 11.1.0, and Parley's, on the same images in
# one run: milliseconds, and how many times as fast Parley is. Needs `./dev bench` to have built, and python3-venv.
#   pillow.sh [ROUNDS]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check pillow==11.1.0
mkdir "$work/images"
"$work/venv/bin/python" "$root/bench/media/pillow.py" make "$work/images"
"$work/venv/bin/python" "$root/bench/media/pillow.py" time "$work/images" "${1:-20}" >"$work/python"
"$root/build/bench/bench/parley_bench" --task validate --document .b64 --images "$work/images" --rounds "${1:-20}" >"$work/parley"
awk -F ' *[|] *' '
  BEGIN { wanted["noise.png.b64"] = 10; wanted["noise.jpeg.b64"] = 20 }
  FNR == NR { split($0, word, " "); bytes[word[1]] = word[2]; theirs[word[1]] = word[3]; next }
  $2 == "validate" && $4 ~ /^Parley/ {
    if (!header++) print "| image | bytes | Python ms | Parley | ms | x Python | goal |\n|---|---|---|---|---|---|---|"
    ours = $5 / 1000
    goal = $4 ~ /validate_base64_image$/ ? ">= " wanted[$3] (theirs[$3] / ours >= wanted[$3] ? "" : " MISSED") : ""
    printf "| %s | %d | %.1f | %s | %.2f | %.1f | %s |\n", $3, bytes[$3], theirs[$3], substr($4, 8), ours, theirs[$3] / ours, goal
  }' "$work/python" "$work/parley"
