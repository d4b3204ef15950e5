#!/usr/bin/env python3
"""What the approval prompt shows, and what its answers do: APPROVAL1 and APPROVAL3 of src/cli/call_view.h.

    approval_test.py PARLEY
"""
import json
import os
import subprocess
import tempfile

from screen import PARLEY, Screen, require, use_own_folders

LOG = "".join(f"line {i}\n" for i in range(1, 21))
ALLOW = "Allow?  y once · a always · e edit · N no ›"
ALLOW_CUT = "Allow?  y once · a always · e edit · s show all · N no ›"


def chat(session, editor="", **options):
    return Screen("chat", "-m", "rehearsal", session, environment={"EDITOR": editor, **options.pop("environment", {})},
                  columns=100, rows=60, **options)


def ask(screen, line):
    screen.clear()
    screen.type(line)
    screen.press("Enter")


def call(screen, tool, arguments):
    ask(screen, f"call {tool} {json.dumps(arguments)}")


def answer(screen, word, expected):
    screen.type(word)
    screen.press("Enter")
    screen.expect(expected)


def leave(screen):
    screen.at_prompt()
    screen.press("C-d")
    require(screen.exit_code() == 0, "Ctrl-D ends a chat with 0")


def write(name, text):
    with open(name, "w", encoding="utf-8", newline="") as out:
        out.write(text)


def read(name):
    with open(name, encoding="utf-8", newline="") as text:
        return text.read()


def stored(session):
    out = subprocess.run([PARLEY, "sessions", "export", "-q", "--to", "openai", session], check=True, capture_output=True)
    return json.loads(out.stdout)


def replace(old, new, path="log.md"):
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def all_of_a_command_is_shown():
    with chat("command") as screen:
        call(screen, "bash", {"command": "echo first\necho second > made.txt"})
        screen.expect(ALLOW)
        shown = screen.text()
        require("  bash wants to run\n    echo first\n    echo second > made.txt\n" in shown, shown)
        require("'always' allows exactly this call of bash for the rest of this chat" in shown, shown)
        answer(screen, "", "the user did not")
        require(not os.path.exists("made.txt"), "Enter alone is no")
        call(screen, "python", {"code": "open('made.txt', 'w').write('yes')\nprint('written')"})
        screen.expect("python wants to run")
        screen.expect("    print('written')")
        answer(screen, "y", "gave back")
        leave(screen)
    require(read("made.txt") == "yes", "y is yes")


def a_change_of_a_file_is_a_diff():
    write("log.md", LOG)
    with chat("change") as screen:
        for word, expected in (("n", "the user did not"), ("y", "has been edited")):
            call(screen, "files", replace("line 12\n", "order one\norder two\n"))
            screen.expect("+2 −1")
            screen.expect(ALLOW)
            require(read("log.md") == LOG, "nothing is written before the answer")
            rows = ("  files wants to change log.md", "     9   line 9", "    12 − line 12", "    12 + order one",
                    "    13 + order two", "    16   line 15")
            for row in rows:
                require(row in screen.text(), f"{row!r} in\n{screen.text()}")
            require("line 8" not in screen.text().split("wants to change")[-1], "three lines of context")
            styled = screen.styled()
            require("\x1b[31m    12 − line 12" in styled and "\x1b[32m    12 + order one" in styled, repr(styled))
            answer(screen, word, expected)
        leave(screen)
    require(read("log.md") == LOG.replace("line 12\n", "order one\norder two\n"), "y makes the change that was shown")


def two_changes_have_a_gap_between_them():
    write("log.md", LOG)
    with chat("gap") as screen:
        call(screen, "files", replace(LOG, LOG.replace("line 2\n", "").replace("line 19\n", "nineteen\n")))
        screen.expect("+1 −2")
        screen.expect("     2 − line 2\n")
        screen.expect("     4   line 5\n    ...\n    15   line 16\n")
        screen.expect("    19 − line 19\n    18 + nineteen\n")
        screen.expect(ALLOW)
        answer(screen, "n", "the user did not")
        leave(screen)


def a_new_file_and_a_removed_one():
    with chat("new") as screen:
        call(screen, "files", {"command": "create", "path": "new.md", "file_text": "a\nb"})
        screen.expect("files wants to create new.md")
        screen.expect("+2 −0")
        screen.expect("     2 + b")
        screen.expect("(no line feed at the end)")
        answer(screen, "y", "File created successfully")
        call(screen, "files", {"command": "undo_edit", "path": "new.md"})
        screen.expect("files wants to remove new.md")
        screen.expect("+0 −2")
        answer(screen, "y", "undone successfully")
        leave(screen)
    require(not os.path.exists("new.md"), "the file is removed")


def a_long_change_is_cut_and_shown_on_request():
    text = "".join(f"row {i}\n" for i in range(1, 301))
    with chat("long") as screen:
        call(screen, "files", {"command": "create", "path": "long.md", "file_text": text})
        screen.expect(ALLOW_CUT)
        shown = screen.text(scrolled=True)
        require("+300 −0" in shown and "+ row 1\n" in shown and "+ row 300\n" in shown, shown)
        require("[260 lines not shown]" in shown and "+ row 150\n" not in shown, shown)
        answer(screen, "s", "+ row 300")
        screen.expect("+ row 150\n", scrolled=True)
        screen.expect(ALLOW)
        answer(screen, "n", "the user did not")
        call(screen, "bash", {"command": "true " + "x" * 3000 + "MIDDLE" + "x" * 3000 + "; touch end-of-call"})
        screen.expect("bytes not shown]", scrolled=True)
        screen.expect("; touch end-of-call")
        screen.expect(ALLOW_CUT)
        require("MIDDLE" not in screen.text(scrolled=True).split("bash wants to run")[-1], "the middle is cut")
        answer(screen, "n", "the user did not")
        leave(screen)


def a_command_is_edited():
    with chat("edit", editor="sed -i s/one/two/") as screen:
        call(screen, "bash", {"command": "touch edit-one"})
        screen.expect("    touch edit-one")
        screen.expect(ALLOW)
        answer(screen, "e", "    touch edit-two")
        screen.wait_for(lambda: screen.text().count(ALLOW) == 2, "the edited call is asked for again")
        require(not os.path.exists("edit-two"), "an edit is no yes")
        answer(screen, "y", "the user replaced the arguments")
        leave(screen)
    require(os.path.exists("edit-two") and not os.path.exists("edit-one"), "the edited command has run")
    _, use, result, _ = stored("edit")
    require(json.loads(use["tool_calls"][0]["function"]["arguments"]) == {"command": "touch edit-one"},
            f"the tool use keeps what the model wrote: {use}")
    require(result["content"].startswith('[the user replaced the arguments of this call by {"command":"touch edit-two"}]'),
            f"the result says what ran: {result}")
    subprocess.run(f"{PARLEY} sessions export -q --to anthropic edit | {PARLEY} check -q --as anthropic -", shell=True,
                   check=True)


def events_have_the_model_s_call_and_the_edited_one():
    with Screen("run", "-m", "rehearsal", "--json", "--stream", "--tools", "bash", "run: touch json-one", columns=250,
                environment={"EDITOR": "sed -i s/one/two/"}) as screen:
        screen.expect(ALLOW)
        answer(screen, "e", "    touch json-two")
        screen.wait_for(lambda: screen.text().count(ALLOW) == 2, "the edited call is asked for again")
        answer(screen, "y", '"edited_arguments":"{\\"command\\":\\"touch json-two\\"}"')
        require('"arguments":"{\\"command\\":\\"touch json-one\\"}"' in screen.text(), screen.text())
        require(screen.exit_code() == 0, "the run ends with 0")


def arguments_are_edited_as_json():
    write("log.md", LOG)
    with chat("json", editor="sed -i s/wrong/right/") as screen:
        call(screen, "files", replace("line 3\n", "wrong\n"))
        screen.expect("+ wrong")
        screen.expect(ALLOW)
        answer(screen, "edit", "     3 + right")
        screen.wait_for(lambda: screen.text().count(ALLOW) == 2, "the edited call is asked for again")
        answer(screen, "y", "has been edited")
        leave(screen)
    require(read("log.md") == LOG.replace("line 3\n", "right\n"), "the edited change is made")


def an_edit_that_is_cancelled_or_broken_changes_nothing():
    for name, editor, message in (("cancel", "true", "not saved: the call is unchanged"),
                                  ("failed", "false", "not saved: the call is unchanged"),
                                  ("broken", "sed -i s/{/[/", "the edited arguments are not a JSON object")):
        write("log.md", LOG)
        with chat(name, editor=editor) as screen:
            call(screen, "files", replace("line 3\n", "three\n"))
            screen.expect(ALLOW)
            answer(screen, "e", message)
            screen.wait_for(lambda: screen.text().count(ALLOW) == 2, "it is asked for again")
            answer(screen, "y", "has been edited")
            leave(screen)
        require(read("log.md") == LOG.replace("line 3\n", "three\n"), "the call is the model's")


def hostile_text_does_not_act():
    hostile = "\x1b]0;owned\x07\x1b[2J\r\u202eevil"
    write("hostile.md", f"before {hostile}\n")
    with chat("hostile") as screen:
        for tool, arguments in (("bash", {"command": f"true {hostile}"}),
                                ("files", replace("before", f"after {hostile}", "hostile.md")),
                                ("files", {"command": "create", "path": f"x{hostile}", "file_text": ""}),
                                ("plan", {"command": "create", "title": hostile})):
            call(screen, tool, arguments)
            if tool != "plan":
                screen.expect(ALLOW)
                # Shown as it is spelled, not done.
                screen.expect("\\u001b]0;owned\\u0007\\u001b[2J\\u000d\\u202eevil", scrolled=True)
                answer(screen, "n", "the user did not")
        title = screen.tmux("display-message", "-p", "#{pane_title}")
        require("owned" not in title, f"the title of the terminal is {title!r}")
        leave(screen)


def signs_are_ascii_without_a_utf8_locale():
    write("log.md", LOG)
    with chat("ascii", environment={"LC_ALL": "C"}) as screen:
        call(screen, "files", replace("line 3\n", "three\n"))
        screen.expect("+1 -1")
        screen.expect("     3 - line 3")
        screen.expect("Allow?  y once, a always, e edit, N no >")
        answer(screen, "n", "the user did not")
        leave(screen)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        use_own_folders(folder)
        for test in (all_of_a_command_is_shown, a_change_of_a_file_is_a_diff, two_changes_have_a_gap_between_them,
                     a_new_file_and_a_removed_one,
                     a_long_change_is_cut_and_shown_on_request, a_command_is_edited,
                     events_have_the_model_s_call_and_the_edited_one, arguments_are_edited_as_json,
                     an_edit_that_is_cancelled_or_broken_changes_nothing, hostile_text_does_not_act,
                     signs_are_ascii_without_a_utf8_locale):
            test()
            print(f"approval_test.py: {test.__name__}: as it should be", flush=True)


if __name__ == "__main__":
    main()
