#!/usr/bin/env python3
"""What zsh makes of a Tab: types each line into a zsh at a pseudo-terminal and prints what it shows.

    zsh_completion.py LINE...

The command `parley` is on the PATH.
"""
import os
import pty
import re
import select
import subprocess
import sys
import time

LONGEST = 60  # seconds to wait for what should come at once: a bound on a hang, not a measure


def read_until(terminal, wanted):
    """Everything up to `wanted`, or to the end."""
    seen, end = "", time.monotonic() + LONGEST
    while wanted not in seen and time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            seen += os.read(terminal, 65536).decode(errors="replace")
        except OSError:
            break
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
    # A prompt that the command line itself does not contain.
    os.write(terminal, b"PS1='re''ady'; autoload -Uz compinit; compinit -D -u; source ./completion.zsh; "
                       b"setopt no_always_last_prompt; zstyle ':completion:*' list-prompt ''\n")
    read_until(terminal, "ready")
    for line in sys.argv[1:]:
        # After the completion a word that ends the line, and Ctrl-U, which takes it back.
        os.write(terminal, line.encode() + b"\t\t")
        os.write(terminal, b"\x15echo en\"\"ded\n")
        seen = read_until(terminal, "\nended")
        print(shown(seen))
    os.write(terminal, b"exit\n")
    os.close(terminal)
    os.waitpid(pid, 0)


main()
