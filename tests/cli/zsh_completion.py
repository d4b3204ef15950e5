#!/usr/bin/env python3
"""What zsh makes of a Tab: types each line into a zsh at a pseudo-terminal and prints what it shows.

    zsh_completion.py LINE...

The command `parley` is on the PATH.
"""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

LONGEST = 30  # seconds to wait for what should come at once: a bound on a hang, not a measure


def read_until(terminal, wanted):
    """Everything up to `wanted`."""
    seen, end = "", time.monotonic() + LONGEST
    while wanted not in seen and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 65536).decode(errors="replace")
    if wanted not in seen:
        sys.exit(f"zsh does not show {wanted!r}: {seen!r}")
    return seen


def shown(text):
    """The text without colours and bells, and without what backspaces take back."""
    out = []
    for each in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r|\x07", "", text):
        if each != "\b":
            out.append(each)
        elif out:
            out.pop()
    return "".join(out)


def main():
    script = subprocess.run(["parley", "completion", "zsh"], capture_output=True, text=True, check=True).stdout
    with open("completion.zsh", "w") as file:
        file.write(script)
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        os.execvp("zsh", ["zsh", "-f", "-i"])
    # A key that prints the line as it is then, after what the completion showed, and empties it.
    os.write(terminal, b"autoload -Uz compinit; compinit -D -u; source ./completion.zsh; "
                       b"show() { print -r -- \"<<<$BUFFER>>>\"; BUFFER=; }; zle -N show; bindkey '^]' show; "
                       b"print re''ady\n")
    read_until(terminal, "\nready")
    for line in sys.argv[1:]:
        os.write(terminal, line.encode() + b"\t\x1d")
        print(shown(read_until(terminal, ">>>")))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


main()
