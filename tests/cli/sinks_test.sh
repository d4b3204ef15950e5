#!/usr/bin/env bash
# Holds how the command prints: sinks_test.sh SOURCE_FOLDER_OF_THE_COMMAND
#   - Only terminal.cc writes to a stream (process.cc: constants in a signal handler, and its own pipes; secret_tool.cc: a
#     key into the pipe to its subprocess), and only it and styled_text.cc spell escape sequences (line_editor.cc and
#     terminal_query.cc know the ones that a terminal sends).
#   - Only the files that print conversations and texts, which stay byte for byte, get around the redaction; and keys.cc,
#     which shows a new key once.
set -uo pipefail
cd "$1" || exit 1
failed=0

# allow PATTERN WHAT FILE...: the lines that match stand in these files alone.
allow() {
  local pattern=$1 what=$2 found name
  shift 2
  found=$(grep -nHE "$pattern" ./*.cc ./*.h | sed 's|^\./||' | grep -v '^[a-z_]*_test\.cc:' | grep -vE '^[^:]*:[0-9]*: *//')
  for name in "$@"; do
    grep -q "^$name:" <<<"$found" || { echo "$name: no longer $what: take it off the list"; failed=1; }
    found=$(grep -v "^$name:" <<<"$found")
  done
  [[ -z $found ]] || { echo "$what:"; sed 's/^/    /' <<<"$found"; failed=1; }
}

allow '(^|[^A-Za-z_])::(p?writev?|sendto|sendmsg|send)\(' 'writes to a stream' terminal.cc process.cc secret_tool.cc
allow '\bf?puts\(|\b(f|d|vf|vd)?printf\(|fwrite\(|\bf?putc(har)?\(|perror\(|std::(cout|cerr|clog|ofstream|fstream|print)|fmt::print|fopen\(' \
  'prints past terminal.cc'
allow '\\x1b|\\033|\\e\[|\\u001b' 'spells an escape sequence' terminal.cc styled_text.cc process.cc \
  line_editor.cc terminal_query.cc
allow '(\.|->)write\(|print_content\(' 'prints past the redaction' chat_verbs.cc convert.cc filter.cc output.cc output.h \
  keys.cc media_show.cc rehearse.cc screen.cc sessions.cc conversation_text.cc
((failed == 0)) && echo "what is printed goes through one place"
exit $failed
