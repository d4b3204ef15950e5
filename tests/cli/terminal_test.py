#!/usr/bin/env python3
"""Talks at a terminal: a pseudo-terminal types, waits for what must appear, and looks at what was stored.

    terminal_test.py PARLEY
"""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

PARLEY = os.path.abspath(sys.argv[1])
LONGEST = 120  # seconds to wait for what should come at once: a bound on a hang, not a measure

PROMPT = b"\x1b[94m>\x1b[0m "

SCRIPT = {"turns": [
    {"text": "one two three four five six seven eight nine ten", "fault": {"stall_after": 700, "times": 9}},
    {"text": "back again"},
    {"when": "make a file", "calls": [{"name": "bash", "arguments": {"command": "echo made > made.txt"}}]},
    {"text": "that was it"},
    {"when": "long call", "calls": [{"name": "bash", "arguments": {"command": "true " + "x" * 9000 + "MIDDLE" +
                                                                            "x" * 9000 + "; touch end-of-call"}}]},
    {"text": "that was long"},
]}


class Terminal:
    """One run of parley, at a terminal of its own."""

    def __init__(self, *arguments, program=PARLEY, term="xterm", columns=80):
        self.seen = b""
        self.at = 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.environ["TERM"] = term
            os.execv(program, [program, *arguments])

    def read(self):
        readable, _, _ = select.select([self.fd], [], [], 0.2)
        if not readable:
            return True
        try:
            piece = os.read(self.fd, 65536)
        except OSError:  # the other side has closed
            return False
        self.seen += piece
        return bool(piece)

    def expect(self, text):
        """Reads until `text` comes after what was expected before; "> " may also be the prompt with its colour."""
        end = time.monotonic() + LONGEST
        texts = (PROMPT, text) if text == b"> " else (text,)
        while True:
            for each in texts:
                found = self.seen.find(each, self.at)
                if found >= 0:
                    self.at = found + len(each)
                    return
            if time.monotonic() > end or not self.read():
                self.kill()
                raise AssertionError(f"{text!r} did not come, but: {self.seen[self.at:]!r}")

    def expect_keys(self):
        """Waits until single keys are taken: libedit shows its prompt a moment before."""
        end = time.monotonic() + LONGEST
        while termios.tcgetattr(self.fd)[3] & termios.ICANON:
            require(time.monotonic() < end, "single keys are taken")
            time.sleep(0.02)

    def type(self, keys):
        try:
            os.write(self.fd, keys)
        except OSError:  # it has ended
            pass

    def exit(self, keys=b""):
        """Types `keys` until it has ended: libedit shows its prompt a moment before it takes single keys."""
        end = time.monotonic() + LONGEST
        is_open = True
        while time.monotonic() < end:
            if is_open and keys:
                self.type(keys)
            is_open = is_open and self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.05)
        self.kill()
        raise AssertionError("it does not end")

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def stored(session):
    out = subprocess.run([PARLEY, "sessions", "export", "-q", "--to", "parley", session], check=True, capture_output=True)
    return json.loads(out.stdout)


def text_of(message):
    content = message["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def require(is_so, what):
    if not is_so:
        raise AssertionError(what)


def an_interrupt_ends_a_prompt():
    run = Terminal("-m", "openai/x", "-p", "count")
    run.expect(b"three")
    run.type(b"\x03")
    run.expect(b"(the answer was cut)")
    require(run.exit() == 130, "an interrupted prompt exits with 130")


def an_interrupt_in_a_chat_keeps_what_was_said():
    chat = Terminal("chat", "-m", "openai/x", "talk")
    chat.expect(b"> ")
    chat.type(b"count\n")
    chat.expect(b"three")
    chat.type(b"\x03")
    chat.expect(b"(the answer was cut)")
    chat.expect(b"> ")
    chat.type(b"and now?\n")
    chat.expect(b"back again")
    chat.expect(b"> ")
    require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")
    messages = stored("talk")
    require([m["role"] for m in messages] == ["user", "assistant", "user", "assistant"], f"four turns, not {messages}")
    cut = messages[1]
    require(text_of(cut).startswith("one two three"), "what came before the interrupt is stored")
    require(cut["metadata"]["cut"] == "stopped", "and says that it was stopped")


def a_tool_that_changes_the_world_asks():
    for answer, is_made in ((b"n\n", False), (b"Yes \n", True)):
        chat = Terminal("chat", "-m", "openai/x", "--tools", "bash", "made" if is_made else "refused")
        chat.expect(b"> ")
        chat.type(b"make a file\n")
        chat.expect(b"echo made > made.txt")
        chat.expect(b"N no > ")
        chat.type(answer)
        chat.expect(b"that was it")
        chat.expect(b"> ")
        chat.type(b"/quit\n")
        require(chat.exit() == 0, "/quit ends a chat with 0")
        require(os.path.exists("made.txt") == is_made, f"after {answer!r} the command has {'not ' if is_made else ''}run")


def a_person_who_says_always_is_asked_once():
    chat = Terminal("chat", "-m", "openai/x", "--tools", "bash", "always")
    for question in (b"N no > ", None):
        chat.expect(b"> ")
        chat.type(b"make a file\n")
        if question:
            chat.expect(question)
            chat.type(b"always\n")
        before = chat.at
        chat.expect(b"that was it")
    require(b"N no " not in chat.seen[before:], "what may always be done is not asked for again")
    chat.expect(b"> ")
    require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")
    roles = [message["role"] for message in stored("always")]
    require(roles == ["user", "assistant", "tool", "assistant"] * 2, f"two calls, not {roles}")


def always_allows_one_program():
    chat = Terminal("chat", "-m", "rehearsal", "--tools", "bash", "programs")
    chat.expect(b"> ")
    chat.type(b"run: touch one\n")
    chat.expect(b"'always' allows every bash command that runs only 'touch' for the rest of this chat")
    chat.expect(b"N no > ")
    chat.type(b"always\n")
    chat.expect(b"> ")
    before = chat.at
    chat.type(b"run: touch 'two'\n")
    chat.expect(b"bash")
    chat.expect(b"> ")
    require(b"N no " not in chat.seen[before:chat.at], "the same program is not asked for again")
    require(os.path.exists("one") and os.path.exists("two"), "both commands have run")
    for command in (b"touch three; touch four", b"touch $(touch three)", b"touch x > three", b"mkdir three",
                    b"eval touch three", b"X=1 touch three",
                    b"touch x # it's", b"printf -v 'a[$(touch three)]' x"):
        chat.type(b"run: " + command + b"\n")
        chat.expect(b"bash wants to run")
        is_program = command.startswith(b"mkdir")
        chat.expect(b"runs only 'mkdir'" if is_program else b"'always' allows exactly this call of bash")
        chat.expect(b"N no > ")
        chat.type(b"n\n")
        chat.expect(b"> ")
    require(not os.path.exists("three"), "no other command has run")
    require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")


def a_long_call_shows_its_end_and_all_of_it_on_request():
    chat = Terminal("chat", "-m", "openai/x", "--tools", "bash", "long")
    chat.expect(b"> ")
    chat.type(b"long call\n")
    chat.expect(b"true xxx")
    chat.expect(b"bytes not shown]")
    chat.expect(b"; touch end-of-call")
    chat.expect(b"s show all")
    chat.expect(b"N no > ")
    require(b"MIDDLE" not in chat.seen, "the middle is cut")
    chat.type(b"show\n")
    chat.expect(b"MIDDLE")
    chat.expect(b"; touch end-of-call")
    chat.expect(b"N no > ")
    chat.type(b"n\n")
    chat.expect(b"that was long")
    chat.expect(b"> ")
    require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")
    require(not os.path.exists("end-of-call"), "the command has not run")


def a_history_that_is_a_fifo_is_left_alone():
    history = os.path.join(os.environ["XDG_STATE_HOME"], "parley", "history")
    os.rename(history, history + ".kept")
    os.mkfifo(history)
    chat = Terminal("chat", "-m", "rehearsal", "fifo")
    chat.expect(b"> ")
    chat.type(b"hello\n")
    chat.expect(b"Rehearsal heard: hello")
    chat.expect(b"> ")
    require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")
    os.remove(history)
    os.rename(history + ".kept", history)


def a_line_of_another_talk_comes_back():
    for talk, keys in (("first", b"a line to remember\n"), ("second", b"\x1b[A\n")):
        chat = Terminal("chat", "-m", "rehearsal", talk)
        chat.expect(b"> ")
        chat.type(keys)
        chat.expect(b"Rehearsal heard: a line to remember")
        chat.expect(b"> ")
        require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")


def thinking_is_dim():
    run = Terminal("-m", "rehearsal", "-p", "think about ducks")
    run.expect(b"\x1b[2mRehearsal thinks\x1b[0m")
    run.expect(b"come to nothing.")
    require(run.exit() == 0, "a prompt ends with 0")


def a_paste_of_several_lines_is_one_message():
    chat = Terminal("chat", "-m", "rehearsal", "paste")
    chat.expect(b"> ")
    chat.type(b"\x1b[200~first line\nsecond line\x1b[201~\n")
    chat.expect(b"heard")
    chat.expect(b"> ")
    require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")
    require(text_of(stored("paste")[0]) == "first line\nsecond line", "a paste is one message")


def a_stopped_talk_goes_on_where_it_was():
    shell = Terminal("--norc", "--noprofile", "-i", program="/bin/bash")
    shell.type(f"PS1='$ '; {PARLEY} chat -m rehearsal stopped\n".encode())
    shell.expect(PROMPT)
    shell.expect_keys()
    shell.type(b"half a line")
    shell.expect(b"half a line")
    shell.type(b"\x1a")
    shell.expect(b"\x1b[?2004l")
    shell.expect(b"Stopped")
    shell.type(b"fg\n")
    shell.expect(PROMPT + b"half a line")
    shell.expect_keys()
    shell.type(b" and the rest\n")
    shell.expect(b"Rehearsal heard: half a line and the rest")
    shell.expect(b"> ")
    shell.type(b"/quit\n")
    shell.expect(b"$ ")
    require(shell.exit(b"exit\n") == 0, "the shell ends")


def a_signal_gives_the_terminal_back():
    chat = Terminal("chat", "-m", "rehearsal", "ended")
    chat.expect(b"> ")
    chat.expect_keys()
    os.kill(chat.pid, signal.SIGTERM)
    chat.expect(b"\x1b[?2004l")
    require(termios.tcgetattr(chat.fd)[3] & termios.ICANON, "the terminal takes whole lines again")
    require(chat.exit() == 143, "SIGTERM is 143")


def a_line_is_drawn_for_the_size_the_terminal_has_now():
    chat = Terminal("chat", "-m", "rehearsal", "size")
    chat.expect(PROMPT)
    chat.expect_keys()
    chat.type(b"words")
    chat.expect(b"words")
    fcntl.ioctl(chat.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    chat.expect(PROMPT + b"words")
    chat.type(b"\n")
    chat.expect(b"Rehearsal heard: words")
    chat.expect(b"> ")
    require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")


def a_spinner_turns_while_an_approved_tool_runs_and_never_takes_two_rows():
    chat = Terminal("chat", "-m", "rehearsal", "narrow", columns=12)
    chat.expect(b"> ")
    chat.type(b"run: sleep 60\n")
    chat.expect(b"N no > ")
    chat.type(b"y\n")
    before = chat.at
    chat.expect(b"  - running\x1b[0m")
    require(b"running b" not in chat.seen[before:], "a spinner fits into its row")
    chat.type(b"\x03")
    chat.expect(b"\r\n\x1b[31m  !! bas...")
    chat.expect(b"> ")
    require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")


def an_interrupt_at_a_question_is_no():
    chat = Terminal("chat", "-m", "rehearsal", "question")
    chat.expect(b"> ")
    chat.type(b"run: touch asked\n")
    chat.expect(b"N no > ")
    chat.type(b"\x03")
    chat.expect(b"^C\r\n")
    chat.expect(b"denied")
    chat.expect(b"> ")
    require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")
    require(not os.path.exists("asked"), "the command has not run")


def a_tab_completes_a_command():
    chat = Terminal("chat", "-m", "rehearsal", "tab")
    chat.expect(b"> ")
    chat.expect_keys()
    chat.type(b"/mod\t\n")
    chat.expect(b"model: rehearsal")
    chat.expect(b"> ")
    require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")


def a_dumb_terminal_has_a_prompt():
    chat = Terminal("chat", "-m", "rehearsal", "dumb", term="dumb")
    chat.expect(b"> ")
    chat.type(b"hello\n")
    chat.expect(b"Rehearsal heard: hello")
    chat.expect(b"> ")
    chat.type(b"\x03")
    chat.expect(b"press Ctrl-C again, or Ctrl-D, to end the chat")
    chat.expect(b"> ")
    require(b"\x1b" not in chat.seen, "a dumb terminal gets no escape sequences")
    require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("script.json", "w", encoding="utf-8") as out:
            json.dump(SCRIPT, out)
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"):
            os.environ[name] = folder
        os.environ["TERM"] = "xterm"
        os.environ["LC_ALL"] = "C"  # the signs are ASCII
        server = subprocess.Popen([PARLEY, "rehearse", "--script", "script.json"], stdout=subprocess.PIPE)
        try:
            os.environ["OPENAI_BASE_URL"] = server.stdout.readline().decode().split()[-1]
            os.environ["OPENAI_API_KEY"] = "none"
            for test in (an_interrupt_ends_a_prompt, an_interrupt_in_a_chat_keeps_what_was_said,
                         a_tool_that_changes_the_world_asks, a_person_who_says_always_is_asked_once,
                         always_allows_one_program, a_long_call_shows_its_end_and_all_of_it_on_request,
                         a_line_of_another_talk_comes_back, thinking_is_dim,
                         a_paste_of_several_lines_is_one_message, a_stopped_talk_goes_on_where_it_was,
                         a_signal_gives_the_terminal_back, a_line_is_drawn_for_the_size_the_terminal_has_now,
                         a_spinner_turns_while_an_approved_tool_runs_and_never_takes_two_rows,
                         an_interrupt_at_a_question_is_no,
                         a_history_that_is_a_fifo_is_left_alone, a_tab_completes_a_command, a_dumb_terminal_has_a_prompt):
                test()
                print(f"terminal_test.py: {test.__name__}: as it should be")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
