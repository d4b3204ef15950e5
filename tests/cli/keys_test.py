#!/usr/bin/env python3
"""A key is typed at a terminal: it is not shown, and an interrupt gives the terminal back.

    keys_test.py PARLEY
"""
import os
import stat
import tempfile
import termios
import time

from terminal_test import LONGEST, Terminal, require

KEY = b"sk-test-0123456789-wxyz"


def echoes(run):
    return bool(termios.tcgetattr(run.fd)[3] & termios.ECHO)


def asked_for_key():
    run = Terminal("config", "key", "set", "openai")
    run.expect(b"Key for openai (not shown): ")
    end = time.monotonic() + LONGEST
    while echoes(run):
        require(time.monotonic() < end, "the terminal stops showing what is typed")
        time.sleep(0.02)
    return run


def a_key_is_not_shown(folder):
    run = asked_for_key()
    run.type(KEY + b"\n")
    run.expect(b"stored the key for openai (...wxyz)")
    require(KEY not in run.seen and KEY[:10] not in run.seen, f"the key is not shown: {run.seen!r}")
    require(run.exit() == 0, "it succeeds")
    file = f"{folder}/parley/keys.toml"
    require(stat.S_IMODE(os.stat(file).st_mode) == 0o600, "the file is for its owner only")
    with open(file, "rb") as keys:
        require(KEY in keys.read(), "the key is stored")


def an_interrupt_gives_the_terminal_back(folder):
    run = asked_for_key()
    run.type(b"sk-other\x03")
    _, status = os.waitpid(run.pid, 0)
    require(os.waitstatus_to_exitcode(status) == 130, "it ends as interrupted")
    require(echoes(run), "the terminal shows again what is typed")
    os.close(run.fd)
    with open(f"{folder}/parley/keys.toml", "rb") as keys:
        require(KEY in keys.read(), "the stored key is as it was")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"):
            os.environ[name] = folder
        for name in ("OPENAI_API_KEY", "PARLEY_CONFIG"):
            os.environ.pop(name, None)
        for test in (a_key_is_not_shown, an_interrupt_gives_the_terminal_back):
            test(folder)
            print(f"keys_test.py: {test.__name__}: as it should be")


if __name__ == "__main__":
    main()
