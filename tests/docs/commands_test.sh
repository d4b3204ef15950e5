#!/usr/bin/env bash
# Runs the commands of the ```sh blocks of the pages for users, against the offline model: each must succeed and print something.
#   - A line that runs `parley` is run here, in a folder with the files that the pages name, and templates as docs/cli.md shows one.
#   - ./dev, cmake and g++ are run by docs.console, install.outside_program and docs.example; a block that makes a Python
#     environment is run by the judge real_model. A line of any other kind is an error, and so is a block in a language that no
#     test reads.
#   commands_test.sh PARLEY ROOT
set -uo pipefail

parley=$1
root=$2
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT
for variable in $(compgen -e); do
  case $variable in PARLEY_* | *_API_KEY | *_AUTH_TOKEN | *_BASE_URL | OLLAMA_HOST | XDG_*) unset "$variable" ;; esac
done
mkdir -p "$work"/{bin,home/.config/parley/templates,here}
ln -s "$parley" "$work/bin/parley"
printf '#!/bin/sh\necho "+ a line"\n' >"$work/bin/git"
chmod +x "$work/bin/git"
export PATH=$work/bin:$PATH HOME=$work/home
cd "$work/here" || exit 1
echo 'Good night.' >letter.txt
cat >"$work/script.json" <<'EOF'
{"turns": [
  {"text": "Yes."}, {"text": "Yes."}, {"text": "Yes."},
  {"when": "Invent a dog", "text": "{\"name\": \"Rex\", \"age\": 3, \"bio\": \"Old.\"}"},
  {"when": "A city", "text": "{\"city\": \"Oslo\", \"country\": \"Norway\"}"},
  {"when": "bash script", "text": "Here:\n```bash\nls | wc -l\n```\n"},
  {"when": "Translate into", "text": "{\"text\": \"Bonne nuit\", \"language\": \"French\"}"}
]}
EOF
parley rehearse --script "$work/script.json" >"$work/url" &
server=$!
until [[ -s $work/url ]]; do kill -0 "$server" || exit 1; sleep 0.02; done
OPENAI_BASE_URL=$(sed 's/^listening on //' "$work/url")
export OPENAI_BASE_URL OPENAI_API_KEY=none

awk '/^```toml$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$root/docs/cli.md" >"$HOME/.config/parley/templates/translate.toml"
parley config set model openai/gpt-4o
parley config set aliases.fast openai/gpt-4o-mini

failed=0 ran=0
complain() {
  echo "$*"
  failed=$((failed + 1))
}

# One line of a block of commands of a page.
line_of() {
  local page=$1 line=$2 status=0
  case $line in
    '' | '#'* | 'export '* | './dev '* | 'cmake --build build/release && cmake --install '* | 'g++ -std=c++23 examples/first/agent.cc '*) ;;
    'parley '* | *' | parley '*)
      ran=$((ran + 1))
      : >printed
      bash -o pipefail -c "{ $line
        } >printed 2>errors" </dev/null || status=$?
      ((status == 0)) || complain "$page: exits with $status: $line: $(head -c 300 errors)"
      # A redirection of the command itself, as in "parley ... >count.sh", and a command that only sets something.
      [[ -s printed || $line == *'>'*.sh* || $line == 'parley config set '* || $line == 'parley chat'* ]] ||
        complain "$page: prints nothing: $line"
      ;;
    *) complain "$page: no test runs: $line" ;;
  esac
}

for page in README.md docs/quickstart.md docs/from-python.md docs/features.md docs/cli.md; do
  kind='' first=0
  while IFS= read -r line; do
    if [[ $line == '```' ]]; then
      kind=
    elif [[ $line == '```'* ]]; then
      kind=${line#'```'} first=1
      case $kind in
        sh | console | cpp | c++ | cmake) ;;
        toml) [[ $page == docs/cli.md ]] || complain "$page: no test reads its toml" ;;
        text) [[ $page == docs/from-python.md || $page == docs/cli.md ]] || complain "$page: no test reads its text" ;;  # cli.md: ops_test.py
        python) [[ $page == docs/from-python.md ]] || complain "$page: no test reads its python" ;;
        *) complain "$page: a block of a kind that no test reads: $kind" ;;
      esac
    elif [[ $kind == sh ]]; then
      if ((first)) && [[ $line == 'python3 -m venv '* ]]; then
        kind=judged
      else
        line_of "$page" "$line"
      fi
      first=0
    fi
  done <"$root/$page"
done

echo "$ran commands ran, $failed failed"
((ran >= 12 && failed == 0))
