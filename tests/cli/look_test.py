#!/usr/bin/env python3
"""The look of a chat at a terminal, of a stored session, and of images.

    look_test.py PARLEY
"""
import base64
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import termios
import zlib

from screen import PARLEY, Screen, require, use_own_folders
from terminal_test import Terminal

SCRIPT = {"turns": [
    {"when": "time", "calls": [{"name": "clock", "arguments": {}},
                               {"name": "files", "arguments": {"command": "view", "path": "none.md"}}]},
    {"text": "It is **late**."},
]}


def lines_of(screen):
    return [line.rstrip() for line in screen.text().rstrip("\n").split("\n")]


def a_chat_looks_as_drawn():
    for environment, (prompt, done, failed, dot) in (({}, ("›", "✓", "✗", " · ")), ({"LC_ALL": "C"}, (">", "ok", "!!", ", "))):
        name = "plain" if environment else "talk"
        with Screen("chat", "-m", "openai/gpt-4o", "--tools", "clock,files", name, columns=60, environment=environment) as screen:
            screen.expect("/help")
            screen.expect(prompt)
            screen.type("what time is it")
            screen.press("Enter")
            screen.expect("1 tool failed")
            screen.type("typed")
            screen.expect("typed")
            lines = lines_of(screen)
            styled = screen.styled().replace("\x1b[49m", "").replace("\x1b[39m", "")  # the default colours
        require(lines[:3] == [f"parley  {name}{dot}gpt-4o{dot}2 tools{dot}/help", "", f"{prompt} what time is it"], f"the head: {lines}")
        require(lines[3] == "" and re.fullmatch(rf"  {done} clock +\d+ ms", lines[4]) and len(lines[4]) == 59, f"a call: {lines}")
        require(re.fullmatch(rf"  {failed} files  view none.md: .*\.\.\.  \d+ ms", lines[5]) and len(lines[5]) == 59, f"a failure: {lines}")
        require(lines[6:9] == ["", "It is late.", ""], f"the answer: {lines}")
        require(re.fullmatch(rf"  \d+ tokens{dot}\$0\.\d{{4}}{dot}\d+ ms{dot}1 tool failed", lines[9]), f"the status: {lines}")
        require(lines[10] == f"{prompt} typed", f"the prompt: {lines}")
        for each in (f"\x1b[94m{prompt}", "\x1b[1mparley", "\x1b[1mlate", f"\x1b[31m  {failed} files", f"\x1b[2m  {done} clock"):
            require(each in styled, f"{each!r} in {styled!r}")


def a_spinner_turns():
    for environment, frames in (({}, "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"), ({"LC_ALL": "C"}, "|/-\\")):
        with Screen("-m", "rehearsal", "--tools", "bash", "-p", "run: sleep 60", environment=environment) as screen:
            screen.expect("always")
            screen.type("y")
            screen.press("Enter")
            screen.wait_for(lambda: re.search(rf"  [{re.escape(frames)}] running bash \d+\.\d s", screen.text()), "a frame is drawn")
            screen.press("C-c")
            screen.expect("bash  sleep 60: interrupted")


def a_session_reads_like_a_talk():
    with open("talk.json", "w", encoding="utf-8") as out:
        picture = "data:image/png;base64," + base64.b64encode(png(640, 480)).decode()
        json.dump([
            {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {"url": picture}}]},
            {"role": "assistant", "content": "I *see*.", "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "gauge", "arguments": '{"station": "FRY-02"}'}}]},
            {"role": "tool", "tool_call_id": "c", "content": "2.41 m\nrising"},
            {"role": "assistant", "content": "- yes"}], out)
    subprocess.run([PARLEY, "sessions", "import", "-q", "--from", "openai", "--session", "s", "talk.json"], check=True)
    with Screen("sessions", "show", "s", columns=60) as screen:
        require(screen.exit_code() == 0, "show ends with 0")
        text = screen.text(scrolled=True)
    for each in ("user\nLook.\n  [image 640 × 480, PNG]\n", "\n\nassistant\nI see.\n  gauge  FRY-02\n", "2.41 m\n", "\n\nassistant\n• yes\n"):
        require(each in text, f"{each!r} in\n{text}")
    piped = subprocess.run([PARLEY, "sessions", "show", "s"], check=True, capture_output=True, text=True).stdout
    require("assistant: I *see*.\n" in piped, f"a pipe gets the words: {piped}")


def png(width, height):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    rows = b"".join(b"\0" + bytes(width) for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b""))


def at_terminal(*arguments, environment, exit=0):
    os.environ.update(environment)
    run = Terminal(*arguments, term=environment.get("TERM", "xterm"))
    while run.read():  # to the end: an image is more than a terminal holds
        pass
    status = run.exit()
    for name in environment:
        os.environ.pop(name)
    require(status == exit, f"{arguments}: exit {status}: {run.seen!r}")
    return run.seen.replace(b"\x1b[c", b"")  # the question for its attributes, which this terminal does not answer


def images_are_shown():
    os.environ["LC_ALL"] = "C.UTF-8"
    image = png(300, 40)
    name = "pic\x1b]0;t\x07.png"
    with open(name, "wb") as out:
        out.write(image)
    with open("bad.png", "wb") as out:
        out.write(image[:100])
    line = f"[image pic\\u001b]0;t\\u0007.png 300 × 40, PNG, {round(len(image) / 1000)} KB]"
    shown = at_terminal("media", "show", name, environment={"TERM": "xterm"})
    require(shown.decode() == line + "\r\n", f"a line stands for it: {shown!r}")
    for environment in ({"TERM": "xterm-kitty"}, {"TERM_PROGRAM": "ghostty"}, {"KITTY_WINDOW_ID": "1"}):
        shown = at_terminal("media", "show", name, environment=environment)
        pieces = re.findall(rb"\x1b_G([^;]*);([A-Za-z0-9+/=]*)\x1b\\", shown)
        require(pieces[0][0] == b"a=T,f=100,q=2,m=1" and pieces[-1][0] == b"m=0", f"Kitty's protocol: {pieces}")
        require(all(len(data) <= 4096 for _, data in pieces), "in pieces that it allows")
        require(base64.b64decode(b"".join(data for _, data in pieces)) == image, "the bytes of the image")
        require(re.sub(rb"\x1b_G[^\x1b]*\x1b\\", b"", shown).decode().strip() == line, f"and the line: {shown!r}")
    shown = at_terminal("media", "show", name, environment={"TERM_PROGRAM": "iTerm.app"})
    sent = re.search(rb"\x1b\]1337;File=inline=1;size=(\d+):([A-Za-z0-9+/=]*)\x07", shown)
    require(sent and int(sent[1]) == len(image) and base64.b64decode(sent[2]) == image, f"iTerm2's protocol: {shown!r}")
    shown = at_terminal("media", "show", name, environment={"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"})
    require(b"\x1b" not in shown, "a multiplexer gets the line")
    shown = at_terminal("media", "show", "bad.png", environment={"TERM": "xterm-kitty"}, exit=1)
    require(b"\x1b" not in shown and b"(bad.png)" in shown, f"an image that does not decode is refused: {shown!r}")
    piped = subprocess.run([PARLEY, "media", "show", name], check=True, capture_output=True, env={**os.environ, "TERM": "xterm-kitty"})
    require(piped.stdout.decode() == line + "\n", "a pipe gets the line")
    with Screen("chat", "-m", "rehearsal", "-a", name, "with") as screen:
        screen.expect(f"  {line}")


class SixelTerminal(Terminal):
    """A terminal that answers the question for its attributes, with a typed letter before the answer."""

    def __init__(self, *arguments, answer, path, columns=80):
        before = os.environ["PATH"]
        os.environ["PATH"] = path
        self.asked = 0
        self.answer = answer
        super().__init__(*arguments, columns=columns)
        os.environ["PATH"] = before

    def read(self):
        is_open = super().read()
        while self.seen.count(b"\x1b[c") > self.asked:
            require(not termios.tcgetattr(self.fd)[3] & (termios.ECHO | termios.ICANON), "the answer is not shown")
            self.asked += 1
            self.type(self.answer)
        return is_open

    def finish(self, exit=0):
        while self.read():
            pass
        status = self.exit()
        require(status == exit, f"exit {status}: {self.seen!r}")
        return self.seen


def sixels_are_drawn_where_the_terminal_has_them():
    program = shutil.which("img2sixel")
    require(program, "img2sixel is installed (libsixel-bin)")
    with_tool, without = os.path.dirname(program) + ":/usr/bin:/bin", os.path.join(os.getcwd(), "bin")
    os.makedirs(without)
    with open("pic.png", "wb") as out:
        out.write(png(300, 40))
    line = f"[image pic.png 300 × 40, PNG, {round(len(png(300, 40)) / 1000)} KB]"
    sixel = rb"\x1bPq\"1;1;(\d+);(\d+)[\x21-\x7e]+\x1b\\"

    shown = SixelTerminal("media", "show", "pic.png", "pic.png", answer=b"x\x1b[?62;4;22c", path=with_tool).finish()
    require(shown.count(b"\x1b[c") == 1, f"it is asked once: {shown!r}")
    sizes = re.findall(sixel, shown)
    require(sizes == [(b"300", b"40")] * 2, f"both images: {sizes}")
    require(re.sub(sixel, b"", shown).replace(b"\x1b[c", b"").decode().split("\r\n") == ["", line, "", line, ""], f"and their lines: {shown!r}")
    narrow = SixelTerminal("media", "show", "pic.png", answer=b"\x1b[?62;4c", path=with_tool, columns=20).finish()
    require(re.findall(sixel, narrow)[0][0] == b"160", f"no wider than the terminal: {narrow!r}")

    for answer in (b"\x1b[?62;22c", b"\x1b[?64;14;40c", b"4c", b""):
        shown = SixelTerminal("media", "show", "pic.png", answer=answer, path=with_tool).finish()
        require(shown.replace(b"\x1b[c", b"").decode() == line + "\r\n", f"{answer!r}: a line stands for it: {shown!r}")
    shown = SixelTerminal("media", "show", "pic.png", answer=b"\x1b[?62;4c", path=without).finish()
    require(shown.decode() == line + "\r\n", f"without img2sixel nothing is asked: {shown!r}")
    for says in ("exit 1", "printf 'no image'", "printf '\\033Pq~\\033]0;title\\007~\\033\\\\'", "printf '\\033Pq~\\033\\\\'; exit 3"):
        with open("bin/img2sixel", "w", encoding="ascii") as out:
            out.write(f"#!/bin/sh\n/bin/cat > /dev/null\n{says}\n")
        os.chmod("bin/img2sixel", 0o755)
        shown = SixelTerminal("media", "show", "pic.png", answer=b"\x1b[?62;4c", path=without).finish()
        require(shown.replace(b"\x1b[c", b"").decode() == line + "\r\n", f"{says}: nothing else is passed on: {shown!r}")

    chat = SixelTerminal("chat", "-m", "rehearsal", "-a", "pic.png", "sixels", answer=b"\x1b[?62;4c", path=with_tool)
    chat.expect(line.encode())
    chat.expect("›".encode())
    chat.expect_keys()
    require(len(re.findall(sixel, chat.seen)) == 1, f"an attachment: {chat.seen!r}")
    chat.type(b"/attach pic.png\r")
    chat.expect(line.encode())
    chat.expect(b"attached to the next request: pic.png, pic.png")
    require(len(re.findall(sixel, chat.seen)) == 2, f"and another: {chat.seen!r}")
    require(chat.seen.count(b"\x1b[c") == 1, "it is asked once")
    require(chat.exit(b"\x04") == 0, "the chat ends")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        use_own_folders(folder)
        for name in ("TERM_PROGRAM", "KITTY_WINDOW_ID", "VTE_VERSION"):
            os.environ.pop(name, None)
        with open("script.json", "w", encoding="utf-8") as out:
            json.dump(SCRIPT, out)
        server = subprocess.Popen([PARLEY, "rehearse", "--script", "script.json"], stdout=subprocess.PIPE)
        try:
            os.environ["OPENAI_BASE_URL"] = server.stdout.readline().decode().split()[-1]
            os.environ["OPENAI_API_KEY"] = "none"
            for test in (a_chat_looks_as_drawn, a_spinner_turns, a_session_reads_like_a_talk, images_are_shown,
                         sixels_are_drawn_where_the_terminal_has_them):
                test()
                print(f"look_test.py: {test.__name__}: as it should be")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
