#!/usr/bin/env python3
"""The commands of a chat at a terminal: one session for each, and what its screen shows.

    chat_commands_test.py PARLEY
"""
import json
import os
import re
import subprocess
import tempfile

from screen import PARLEY, Screen, require, use_own_folders


def chat(*arguments, editor="true", **options):
    return Screen("chat", "-m", "rehearsal", *arguments, environment={"EDITOR": editor, "VISUAL": ""}, rows=50,
                  columns=options.pop("columns", 100), **options)


def say(screen, line, expected):
    screen.at_prompt()
    screen.type(line)
    screen.press("Enter")
    screen.expect(expected)


def leave(screen):
    screen.at_prompt()
    screen.press("C-d")
    require(screen.exit_code() == 0, "Ctrl-D ends a chat with 0")


def shown(session):
    """What the model sees, as (role, text)."""
    out = subprocess.run([PARLEY, "chat", "-q", "-m", "rehearsal", session], input="/export openai\n", check=True,
                         capture_output=True, text=True)
    return [(message["role"], message["content"]) for message in json.loads(out.stdout)]


def stored(session):
    out = subprocess.run([PARLEY, "sessions", "show", session], check=True, capture_output=True, text=True)
    return out.stdout


def write(name, text):
    with open(name, "w", encoding="utf-8") as out:
        out.write(text)


def read(name):
    with open(name, encoding="utf-8") as text:
        return text.read()


def help_is_grouped():
    with chat("help", columns=80) as screen:
        say(screen, "/help", "Ctrl-C stops an answer")
        lines = [line.rstrip() for line in screen.text().splitlines()]
        at = [lines.index(group) for group in ("Answer", "Session", "Context", "Model and tools", "Leave")]
        require(at == sorted(at), f"five groups, in order: {lines}")
        require(any(line.startswith("  /retry ") for line in lines[at[0]:at[1]]), "/retry is about the answer")
        require(any(line.startswith("  /attach   [FILE] ") for line in lines[at[2]:at[3]]), "/attach is context")
        require("parley:" not in "".join(lines[at[0]:]), "lines for people have no prefix")
        require(all(len(line) < 80 for line in lines[at[0]:]), f"no line is longer than a terminal: {lines}")
        leave(screen)


def a_chat_ends_by_several_words():
    for word in ("/exit", "/quit", "exit", "quit"):
        with chat("leaving") as screen:
            screen.at_prompt()
            screen.type(word)
            screen.press("Enter")
            require(screen.exit_code() == 0, f"{word} ends a chat with 0")
    piped = subprocess.run([PARLEY, "chat", "-q", "-m", "rehearsal"], input="exit\n", check=True, capture_output=True,
                           text=True)
    require(piped.stdout == "Rehearsal heard: exit\n", "in a pipe every line is a request")


def a_retry_hides_the_last_answer():
    with chat("retry") as screen:
        say(screen, "/retry", "nothing to retry: the session has no request")
        say(screen, "hello", "Rehearsal heard: hello")
        screen.clear()
        say(screen, "/retry", "Rehearsal heard: hello")
        say(screen, "what time is it", "clock gave back")
        screen.clear()
        say(screen, "/retry", "clock gave back")
        leave(screen)
    require([role for role, _ in shown("retry")] == ["user", "assistant", "user", "assistant", "tool", "assistant"],
            f"the model sees one answer to each request, with its calls: {shown('retry')}")
    require(stored("retry").count("Rehearsal heard: hello") == 2, "the session keeps both answers")


def a_new_session_is_empty():
    with chat("old") as screen:
        say(screen, "hello", "Rehearsal heard: hello")
        say(screen, "/new fresh", "new session fresh")
        say(screen, "/info", "session fresh, 0 messages")
        say(screen, "again", "Rehearsal heard: again")
        say(screen, "/new old", "session 'old' exists already: 'parley chat old' opens it")
        leave(screen)
    require(shown("fresh") == [("user", "again"), ("assistant", "Rehearsal heard: again")], "a session of its own")
    require(len(shown("old")) == 2, "the other one stays")


def an_edit_takes_the_place_of_the_last_request():
    with chat("edit", editor="sed -i s/wrong/right/") as screen:
        say(screen, "first", "Rehearsal heard: first")
        say(screen, "wrong words", "Rehearsal heard: wrong words")
        say(screen, "/edit", "Rehearsal heard: right words")
        say(screen, "/edit a wrong draft", "Rehearsal heard: a right draft")
        leave(screen)
    require([text for role, text in shown("edit") if role == "user"] == ["first", "right words", "a right draft"],
            f"the edited request replaces, a draft is added: {shown('edit')}")
    require("wrong words" in stored("edit"), "the session keeps what was replaced")


def an_edit_is_cancelled():
    for name, editor in (("not-saved", "true"), ("emptied", "truncate -s 0"), ("refused", "false")):
        with chat(name, editor=editor) as screen:
            say(screen, "first", "Rehearsal heard: first")
            say(screen, "/edit", "cancelled: nothing was saved")
            leave(screen)
        require(len(shown(name)) == 2, f"{editor} sends nothing")


def an_interrupt_in_the_editor_is_for_the_editor():
    write("editor.sh", "trap 'echo interrupted >\"$1\"; exit 0' INT\necho the editor waits\nwhile true; do sleep 1; done\n")
    with chat("interrupt", editor="bash editor.sh") as screen:
        say(screen, "first", "Rehearsal heard: first")
        say(screen, "/edit", "the editor waits")
        screen.press("C-c")
        screen.expect("Rehearsal heard: interrupted")
        leave(screen)


def a_file_is_attached_to_the_next_request():
    write("list.txt", "milk and eggs\n")
    with chat("attach") as screen:
        say(screen, "/attach", "nothing attached")
        say(screen, "/attach none.txt", "(none.txt)")
        screen.at_prompt()
        screen.type("/att")
        screen.press("Tab")
        screen.expect("/attach")
        screen.type("li")
        screen.press("Tab")
        screen.expect("/attach list.txt")
        screen.press("Enter")
        screen.expect("attached to the next request: list.txt")
        screen.clear()
        say(screen, "/attach", "attached to the next request: list.txt")
        say(screen, "what is on it?", "milk and eggs")
        screen.clear()
        say(screen, "/attach", "nothing attached")
        leave(screen)
    require("[file list.txt]\nmilk and eggs\n" in shown("attach")[0][1], f"{shown('attach')}")


def the_system_prompt_is_shown_and_set():
    with chat("system", "-s", "Be brief.") as screen:
        say(screen, "/system", "system: Be brief.")
        say(screen, "/system Answer in Norwegian.", "system prompt set")
        say(screen, "/system", "system: Answer in Norwegian.")
        say(screen, "/system ''", "system prompt removed")
        say(screen, "/system", "no system prompt; /system TEXT sets one")
        leave(screen)


def tokens_are_listed_by_what_takes_them():
    with chat("tokens", "--window", "8000", "--tools", "clock", "-s", "Be brief.") as screen:
        say(screen, "hello", "Rehearsal heard: hello")
        say(screen, "/tokens", "message budget: 6,000 tokens")
        text = screen.text()
        for part in (" of 8,000 (", "  system prompt ", "  tools ", "  1 tool", "  requests ", "  answers ", "  1 message"):
            require(part in text, f"{part!r} in\n{text}")
        leave(screen)


def the_last_answer_is_saved():
    with chat("save") as screen:
        say(screen, "/save none.md", "nothing to save: there is no answer")
        say(screen, "hello", "Rehearsal heard: hello")
        say(screen, "/save answer.md", "saved to answer.md")
        say(screen, "/save", "/save needs a file name")
        leave(screen)
    require(read("answer.md") == "Rehearsal heard: hello\n", "the answer alone")


def the_conversation_is_exported():
    with chat("export") as screen:
        say(screen, "hello", "Rehearsal heard: hello")
        say(screen, "/export anthropic talk.json", "exported to talk.json")
        say(screen, "/export ./native.json", "exported to ./native.json")
        say(screen, "/export antropic", "antropic")
        leave(screen)
    require(json.loads(read("native.json"))[0]["role"] == "user", "a file name alone is Parley's dialect")
    subprocess.run([PARLEY, "check", "-q", "--as", "anthropic", "talk.json"], check=True)
    require(not os.path.exists("antropic"), "a mistyped dialect is not a file")


def messages_are_listed():
    with chat("history") as screen:
        say(screen, "/history", "no messages yet")
        say(screen, "first " + "long " * 40, "Rehearsal heard: first")
        say(screen, "second", "Rehearsal heard: second")
        screen.clear()
        say(screen, "/history", "assistant  Rehearsal heard: second")
        lines = screen.text().splitlines()
        require(any(line.startswith("     1  user       first long") and line.rstrip().endswith("...") for line in lines),
                f"a long message is cut: {lines}")
        screen.clear()
        say(screen, "/history 1", "     4  assistant  Rehearsal heard: second")
        require("user  " not in screen.text(), "only one")
        say(screen, "/history x", "/history takes a number of messages")
        leave(screen)


def an_unknown_command_suggests_the_nearest():
    with chat("unknown") as screen:
        say(screen, "/hlep", "unknown command /hlep: did you mean /help? /help lists the commands")
        say(screen, "/nonsense", "unknown command /nonsense; /help lists the commands")
        leave(screen)


def the_model_and_the_tools_are_shown():
    with chat("model", "--tools", "clock,bash") as screen:
        say(screen, "/model", "model: rehearsal")
        say(screen, "/tools", "bash       allow for reads, ask for changes")
        leave(screen)


def a_line_feed_is_typed():
    with chat("lines") as screen:
        screen.at_prompt()
        screen.type("one")
        screen.press("M-Enter")
        screen.type("two")
        screen.press("Enter")
        screen.expect("Rehearsal heard: one")
        say(screen, "three\\", "...")
        screen.type("four")
        screen.press("Enter")
        screen.expect("Rehearsal heard: three")
        screen.at_prompt()
        screen.paste("five\nsix")
        screen.press("Enter")
        screen.expect("Rehearsal heard: five")
        leave(screen)
    require([text for role, text in shown("lines") if role == "user"] == ["one\ntwo", "three\nfour", "five\nsix"],
            f"three requests of two lines: {shown('lines')}")


def a_session_begins_with_its_last_exchange():
    with chat("again") as screen:
        say(screen, "an old request", "Rehearsal heard: an old request")
        say(screen, "the last request", "Rehearsal heard: the last request")
        leave(screen)
    for arguments in (("again",), ("-c",)):
        with chat(*arguments) as screen:
            screen.at_prompt()
            require("› the last request\n  Rehearsal heard: the last request\n" in screen.text(), screen.text())
            require("old request" not in screen.text(), "the last exchange only")
            require(re.search("\x1b\\[2m[^\x1b]*› the last request", screen.styled()), f"dim: {screen.styled()!r}")
            leave(screen)
    with chat("-q", "again") as screen:
        screen.at_prompt()
        require("the last request" not in screen.text(), "not with -q")
        leave(screen)
    piped = subprocess.run([PARLEY, "chat", "-m", "rehearsal", "-c"], input="", check=True, capture_output=True, text=True)
    require("the last request" not in piped.stdout + piped.stderr, "not in a pipe")


def a_long_last_exchange_is_shortened():
    with chat("long") as screen:
        screen.at_prompt()
        screen.paste("\n".join(f"row {i}" for i in range(30)))
        screen.press("Enter")
        screen.expect("row 29")
        leave(screen)
    with chat("long") as screen:
        screen.at_prompt()
        require("[27 more lines]" in screen.text() and "[22 more lines]" in screen.text(), screen.text())
        leave(screen)


def a_mistyped_session_is_asked_about():
    with chat("oslo-water") as screen:
        say(screen, "hello", "Rehearsal heard: hello")
        leave(screen)
    question = "no session 'oslo-watr': open 'oslo-water'? [Y/n/new]"
    with chat("oslo-watr") as screen:
        screen.expect(question)
        screen.press("Enter")
        say(screen, "/info", "session oslo-water, 2 messages")
        leave(screen)
    with chat("oslo-watr") as screen:
        screen.expect(question)
        screen.type("n")
        screen.press("Enter")
        require(screen.exit_code() == 1, "no session is opened")
    with chat("oslo-watr") as screen:
        screen.expect(question)
        screen.press("C-c")
        require(screen.exit_code() == 130, "Ctrl-C ends the command")
    with chat("oslo-watr") as screen:
        screen.expect(question)
        screen.type("new")
        screen.press("Enter")
        say(screen, "/info", "session oslo-watr, 0 messages")
        leave(screen)
    piped = subprocess.run([PARLEY, "chat", "-q", "-m", "rehearsal", "oslo-watter"], input="hi\n", check=True,
                           capture_output=True, text=True)
    require(piped.stderr == "", "a pipe is not asked")
    require(len(shown("oslo-watter")) == 2, "a pipe makes the session")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        use_own_folders(folder)
        for test in (help_is_grouped, a_chat_ends_by_several_words, a_retry_hides_the_last_answer, a_new_session_is_empty,
                     an_edit_takes_the_place_of_the_last_request, an_edit_is_cancelled,
                     an_interrupt_in_the_editor_is_for_the_editor,
                     a_file_is_attached_to_the_next_request, the_system_prompt_is_shown_and_set,
                     tokens_are_listed_by_what_takes_them, the_last_answer_is_saved, the_conversation_is_exported,
                     messages_are_listed, an_unknown_command_suggests_the_nearest, the_model_and_the_tools_are_shown,
                     a_line_feed_is_typed, a_session_begins_with_its_last_exchange, a_long_last_exchange_is_shortened,
                     a_mistyped_session_is_asked_about):
            test()
            print(f"chat_commands_test.py: {test.__name__}: as it should be", flush=True)


if __name__ == "__main__":
    main()
