"""A terminal that shows what a person would see: parley runs inside of tmux, and the test reads tmux's screen.

    with Screen("chat", "-m", "rehearsal") as screen:
        screen.expect("›")
        screen.type("hello")
        screen.press("Enter")
        screen.expect("Rehearsal heard: hello")

terminal_test.py reads the bytes that parley writes; this reads the cells that they become. A program that imports this
takes the path of the command as its first argument.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import termios
import time

PARLEY = os.path.abspath(sys.argv[1])
LONGEST = 120  # seconds to wait for what should come at once: a bound on a hang, not a measure


class Screen:
    """One run of parley in a tmux of its own. `environment` is added to the present one."""

    def __init__(self, *arguments, columns=80, rows=24, environment=None, program=PARLEY):
        self.folder = tempfile.TemporaryDirectory()
        self.socket = f"{self.folder.name}/tmux"
        own = {"LC_ALL": "C.UTF-8", **(environment or {})}
        # tmux starts commands with the environment of its server, and sets TERM itself.
        values = " ".join(f"{name}={shlex.quote(value)}" for name, value in own.items())
        command = " ".join(shlex.quote(each) for each in (program, *arguments))
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "sleep 3600")
        self.tmux("set-option", "-g", "remain-on-exit", "on")
        self.tmux("set-option", "-g", "escape-time", "0")
        self.tmux("set-option", "-g", "status", "off")
        self.tmux("respawn-pane", "-k", f"exec env {values} {command}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-u", "-S", self.socket, "kill-server"], capture_output=True)
        self.folder.cleanup()

    def tmux(self, *arguments):
        ran = subprocess.run(["tmux", "-u", "-S", self.socket, *arguments], capture_output=True, text=True,
                             env={**os.environ, "LC_ALL": "C.UTF-8"})
        if ran.returncode != 0:
            raise AssertionError(f"tmux {arguments}: {ran.stderr}")
        return ran.stdout

    def text(self, scrolled=False):
        """The screen as lines of text; with `scrolled`, what has scrolled away comes first."""
        return self.tmux("capture-pane", "-p", *(["-S", "-"] if scrolled else []))

    def styled(self, scrolled=False):
        """The same with the escape sequences of colours and attributes."""
        return self.tmux("capture-pane", "-p", "-e", *(["-S", "-"] if scrolled else []))

    def expect(self, text, scrolled=False):
        """Waits until the screen shows `text`."""
        self.wait_for(lambda: text in self.text(scrolled), f"the screen shows {text!r}")

    def wait_for(self, holds, what):
        end = time.monotonic() + LONGEST
        while not holds():
            require(time.monotonic() < end, f"{what}, but it shows:\n{self.text(scrolled=True)}")
            time.sleep(0.05)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def press(self, *keys):
        """Keys by tmux's names: Enter, C-c, M-Enter, Up, ..."""
        self.tmux("send-keys", *keys)

    def paste(self, text):
        """As a terminal with bracketed paste does."""
        self.tmux("set-buffer", text)
        self.tmux("paste-buffer", "-p")

    def at_prompt(self):
        """Waits for the prompt of a chat at the end of the screen, and until it takes single keys."""
        def is_there():
            lines = self.text().rstrip().splitlines()
            return bool(lines) and bool(re.search(r"^\S{0,20}[>›]$", lines[-1].rstrip())) and self.takes_keys()
        self.wait_for(is_there, "the screen ends with the prompt")

    def clear(self):
        """At the prompt of a chat: leaves only the prompt on the screen, so that what is expected next is new."""
        self.at_prompt()
        self.press("C-l")
        self.wait_for(lambda: len(self.text().strip().splitlines()) == 1, "the screen is clear")
        self.tmux("clear-history")
        self.at_prompt()

    def takes_keys(self):
        """False while the terminal gathers lines, and the program gets none of the keys alone."""
        terminal = os.open(self.tmux("display-message", "-p", "#{pane_tty}").strip(), os.O_RDWR | os.O_NOCTTY)
        try:
            return not termios.tcgetattr(terminal)[3] & termios.ICANON
        finally:
            os.close(terminal)

    def exit_code(self):
        """Waits for the end of the command; 128 and the number of the signal, if one ended it."""
        def end():
            self.tmux("run-shell", "-b", "true")  # tmux misses the end of a command at times, until another one ends
            return self.tmux("display-message", "-p", "#{pane_dead_status} #{pane_dead_signal}").rstrip("\n").split(" ")
        # A pane is dead when its terminal is closed; its status is known a moment later.
        self.wait_for(lambda: end() != ["", ""], "the command ends")
        status, ended_by = end()
        return int(status) if status else 128 + int(ended_by)


def at_shell(command, columns=80, rows=24, environment=None):
    """A shell in which `parley COMMAND` was typed; "exit N" follows what it prints."""
    screen = Screen(columns=columns, rows=rows, program="sh", environment={"PS1": "ready ", **(environment or {})})
    screen.expect("ready")
    screen.type(f"clear; {PARLEY} {command}; echo exit $?")
    screen.press("Enter")
    return screen


def require(is_so, what):
    if not is_so:
        raise AssertionError(what)


def use_own_folders(folder):
    """Configuration, data and state below `folder`, no keys, no colours chosen by the caller."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"):
        os.environ[name] = folder
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name in ("PARLEY_CONFIG", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "EDITOR", "VISUAL"):
            os.environ.pop(name)
