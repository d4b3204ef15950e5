#!/usr/bin/env python3
"""The list of sessions, doctor and -v at a terminal: ops_test.py PARLEY."""
import os
import re
import subprocess
import tempfile

from screen import PARLEY, at_shell, require, use_own_folders

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/cli.md")


def blocks_of_page():
    """The pictures of output in docs/cli.md."""
    with open(PAGE, encoding="utf-8") as page:
        return re.findall("```text\n(.*?)```", page.read(), re.DOTALL)


def chat(session, text):
    subprocess.run([PARLEY, "chat", "-q", "-m", "rehearsal", session], input=text, text=True, check=True,
                   capture_output=True)


def list_fits_the_screen():
    chat("oslo", "Will the Akerselva flood this weekend, and what shall we do about all of it?\n")
    chat("kalibrering", "水位計の較正手順を教えてください\nmore\n")
    for columns in (60, 80, 120):
        with at_shell("sessions list", columns) as screen:
            screen.expect("exit 0")
            lines = screen.text(scrolled=True).splitlines()
            lines = lines[next((i for i, line in enumerate(lines) if line.startswith("NAME")), 0):]
            require(lines[0].split() == ["NAME", "TITLE", "MODEL", "TURNS", "TOKENS", "ACTIVE"], lines[0])
            require(blocks_of_page()[0].splitlines()[0].split() == lines[0].split(), "docs/cli.md shows this list")
            require(lines[1].startswith("kalibrering") and lines[1].endswith("now"), lines[1])
            require(lines[2].startswith("oslo") and lines[2].endswith("now"), lines[2])
            require(lines[3].startswith("2 sessions"), lines[3])
            require(columns == 120 or "..." in lines[2], f"the title gives way: {lines[2]}")


def doctor_is_read_at_a_terminal():
    with at_shell("doctor", 160, 40) as screen:
        screen.expect("exit 0")
        text = screen.text()
        for part in ("store   ok", "config  ok", "model   ok", "files   store", "tools   ", "keys    none"):
            require(part in text, f"{part!r} in:\n{text}")


def verbose_lines_do_not_break_the_answer():
    with at_shell("-v -m rehearsal hello", 120) as screen:
        screen.expect("exit 0")
        lines = screen.text().splitlines()
        require("Rehearsal heard: hello" in [line.rstrip() for line in lines], "\n".join(lines))
        require(any(line.startswith("parley: http: POST ") for line in lines), "\n".join(lines))
        require(any(line.startswith("parley: http: end of ") for line in lines), "\n".join(lines))
        forms = [re.sub("[0-9.]+", "0", line).split(" http://")[0].split(" https://")[0] for line in lines]
        pictured = blocks_of_page()[1].splitlines()
        require(pictured[0].startswith("parley: http: POST https://") and "parley: http: POST" in forms, "docs/cli.md, -v")
        require(any(form.startswith("parley: http: 0 from 0, connect 0 ms, first byte 0 ms") for form in forms), f"{forms}")
        require(re.sub("[0-9.]+", "0", pictured[1]).endswith(", connect 0 ms, first byte 0 ms"), pictured[1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        use_own_folders(folder)
        os.chdir(folder)
        for test in (list_fits_the_screen, doctor_is_read_at_a_terminal, verbose_lines_do_not_break_the_answer):
            test()
            print(f"ok: {test.__name__}")


main()
