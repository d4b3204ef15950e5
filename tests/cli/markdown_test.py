#!/usr/bin/env python3
"""Markdown at a terminal: what a person sees of an answer, and that programs get its bytes.

    markdown_test.py PARLEY
"""
import json
import os
import re
import subprocess
import tempfile

from screen import PARLEY, Screen, require, use_own_folders

ANSWER = """# Steps

Some **bold** words, *others*, and `code`.

- one
- two that is long enough to be wrapped under its own text
  1. inner

> quoted

| Source | Now | 20:00 |
|---|--:|--:|
| Gauge 6.38.0 | 2.41 m | 2.64 m |
| 水位計 | 1 | 2 |

```sh
cd build && ninja   # as it is
```

See [the docs](https://example.org/docs)."""

SEEN = """Steps

Some bold words, others, and code.

• one
• two that is long enough to be wrapped
  under its own text
  1. inner

│ quoted

  Source           Now   20:00
  ────────────────────────────
  Gauge 6.38.0  2.41 m  2.64 m
  水位計             1       2

  cd build && ninja   # as it is

See the docs (https://example.org/docs).
"""


def seen(*arguments, environment=None, columns=40):
    with Screen("-m", "openai/x", "-q", "-p", "answer", *arguments, columns=columns, rows=40, environment=environment) as screen:
        require(screen.exit_code() == 0, "a prompt ends with 0")
        text, styled = screen.text(scrolled=True), screen.styled(scrolled=True)
    styled = styled.replace("\x1b[49m", "").replace("\x1b[39m", "")  # the default colours
    # tmux says at the end that the command has ended.
    return (re.sub(r"\n*\n?Pane is dead.*", "", each, flags=re.S).rstrip("\n") + "\n" for each in (text, styled))


def it_looks_as_drawn():
    text, styled = seen()
    require(text == SEEN, f"the screen shows\n{text}")
    for each in ("\x1b[1mSteps", "\x1b[1mbold", "\x1b[3mothers", "\x1b[94mcode", "\x1b[94mcd build", "\x1b[4mthe docs"):
        require(each in styled, f"{each!r} in {styled!r}")


def it_is_ascii_where_the_locale_is():
    text, _ = seen(environment={"LC_ALL": "C"})
    require(text == SEEN.replace("•", "-").replace("│", ">").replace("─", "-"), f"the screen shows\n{text}")


def without_colours_the_marks_stay():
    for arguments, environment in ((("--color", "never"), {}), ((), {"NO_COLOR": "1"}), ((), {"CLICOLOR": "0"})):
        text, styled = seen(*arguments, environment=environment)
        require("\x1b" not in styled.rstrip("\x1b[m0\n"), f"no styles: {styled!r}")
        require("# Steps" in text and "**bold**" in text and "`code`" in text and "─────" in text, f"the marks stay:\n{text}")
    _, styled = seen("--color", "always", environment={"NO_COLOR": "1"})
    require("\x1b[1mbold" in styled, "--color wins over NO_COLOR")


def it_is_raw_where_that_is_wanted():
    for arguments, environment in ((("--raw",), {}), ((), {"TERM": "dumb"}), ((), {"PARLEY_CONFIG": f"{os.getcwd()}/raw.toml"})):
        text, _ = seen(*arguments, environment=environment, columns=80)
        require(text == ANSWER + "\n", f"{arguments} {environment}: the screen shows\n{text}")
    text, _ = seen("-x")
    require(text == "cd build && ninja   # as it is\n", f"-x prints the code: {text}")


def programs_get_the_bytes():
    for arguments in ((), ("--color", "always")):
        out = subprocess.run([PARLEY, "-m", "openai/x", "-q", "-p", "answer", *arguments], check=True, capture_output=True).stdout
        require(out.decode() == ANSWER + "\n", f"a pipe gets the bytes: {out!r}")


def a_wrong_choice_is_refused():
    for arguments, exit, words in ((("--color", "blue"), 2, "--color: unknown choice 'blue': expected auto, always or never"),
                                   (("config", "set", "color", "blue"), 1, "'color' must be auto, always or never")):
        ran = subprocess.run([PARLEY, *(arguments if arguments[0] == "config" else ("-p", "x", *arguments))], capture_output=True, text=True)
        require(ran.returncode != 0 and words in ran.stderr, f"{arguments}: {ran.returncode} {ran.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        use_own_folders(folder)
        with open("script.json", "w", encoding="utf-8") as out:
            json.dump({"turns": [{"when": "answer", "text": ANSWER}]}, out)
        with open("raw.toml", "w", encoding="utf-8") as out:
            out.write("markdown = false\n")
        server = subprocess.Popen([PARLEY, "rehearse", "--script", "script.json"], stdout=subprocess.PIPE)
        try:
            os.environ["OPENAI_BASE_URL"] = server.stdout.readline().decode().split()[-1]
            os.environ["OPENAI_API_KEY"] = "none"
            for test in (it_looks_as_drawn, it_is_ascii_where_the_locale_is, without_colours_the_marks_stay,
                         it_is_raw_where_that_is_wanted, programs_get_the_bytes, a_wrong_choice_is_refused):
                test()
                print(f"markdown_test.py: {test.__name__}: as it should be")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
