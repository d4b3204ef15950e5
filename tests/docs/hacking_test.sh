#!/usr/bin/env bash
# The paths of the documents exist.
#   - Every path in backquotes of docs/hacking.md and docs/architecture.md, the files of the recipes among them. A part in
#     angle brackets stands for a name: some file of this form exists.
#   - Each recipe of hacking.md names at least three files, each question is answered by one path, and a conversion goes
#     through at most 12 files.
#   hacking_test.sh ROOT
set -uo pipefail
cd "$1" || exit 1
failed=0 paths=0

complain() {
  echo "$*"
  failed=$((failed + 1))
}

# The paths in backquotes of standard input, one on a line: what has a slash, or is a file of the root.
paths_in() {
  grep -o '`[^`]*`' | tr -d '`' |
    grep -E '^(\.ci|src|include|tests|docs|examples|bench|tools|cmake)/|^(README|CONTRIBUTING|SECURITY|CHANGELOG)\.md$|^CMakeLists\.txt$' |
    grep -v ' '
}

exists() {
  local pattern
  pattern=$(sed 's/<[a-z]*>/*/g' <<<"$1")
  compgen -G "$pattern" >/dev/null
}

for document in docs/hacking.md docs/architecture.md; do
  while IFS= read -r path; do
    paths=$((paths + 1))
    [[ $path == 'include/parley/<room>/' ]] || exists "$path" || complain "$document: there is no $path"
  done < <(paths_in <"$document")
done

section() { sed -n "/^## $2\$/,/^## /p" "$1" | sed '1d;/^## /d'; }

for recipe in dialect provider store tool command filter; do
  count=$(section docs/hacking.md "Add a $recipe" | grep -E '^[0-9]+\. `' | paths_in | sort -u | wc -l)
  ((count >= 3)) || complain "docs/hacking.md: the recipe 'Add a $recipe' names $count files"
done

questions=0
while IFS='|' read -r _ question answer _; do
  [[ $question == *'?'* ]] || continue
  questions=$((questions + 1))
  (($(paths_in <<<"$answer" | wc -l) == 1)) || complain "docs/hacking.md: not one path:$question"
done < <(section docs/hacking.md 'Where is it?')
((questions == 12)) || complain "docs/hacking.md: $questions questions, not 12"

files=$(section docs/architecture.md 'The files of one conversion' | grep -c '^| `src/')
((files > 0 && files <= 12)) || complain "docs/architecture.md: a conversion goes through $files files"

echo "$paths paths looked up, $failed wrong"
((paths > 60 && failed == 0))
