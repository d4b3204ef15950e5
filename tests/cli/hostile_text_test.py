#!/usr/bin/env python3
"""Text that would act on a terminal: it is planted wherever the command prints what others wrote, and nothing of it may
reach the terminal as it is. Pipes and files keep the bytes.

    hostile_text_test.py PARLEY
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from terminal_test import PARLEY, Terminal, require

# Clipboard, title, a question to the terminal, C1 controls, DEL, backspace, a line written over, bidi, separators.
HOSTILE = ("\x1b]52;c;aGVsbG8=\x07\x1b]0;title\x07\x1b[6n\x1b[2J\u009b6n\u0090q\u009c\x7f\x08\x0b\x0c\x0e"
           "safe\rover \u202e\u2066\u2069\u200e\u200f\u061c\u2028\u2029 end")
# The command's own: styles, links to pages, erased lines, bracketed paste.
OWN = re.compile(rb"\x1b\[(?:0|(?:1|2|3|4|9|31|94)(?:;(?:2|3|4|9|31|94))*)m|\r\x1b\[K|\x1b\[\?2004[hl]|"
                 rb"\x1b\]8;(?:id=\d+)?;(?:(?:https?://|mailto:)[!-~]+)?\x1b\\")


def refuse_hostile(shown, what):
    text = OWN.sub(b"", shown).replace(b"\r\n", b"\n").decode("utf-8", "strict")
    acting = sorted({hex(ord(c)) for c in text if (ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 or
                     c in "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"})
    require(not acting, f"{what}: {acting} reach the terminal: {shown!r}")


def at_terminal(*arguments, exit=0, keys=b""):
    run = Terminal(*arguments)
    status = run.exit(keys)
    require(status == exit, f"{arguments}: exit {status} instead of {exit}: {run.seen!r}")
    refuse_hostile(run.seen, arguments)
    return run.seen.replace(b"\r\n", b"\n").decode()


def in_pipe(*arguments):
    return subprocess.run([PARLEY, *arguments], check=True, capture_output=True, stdin=subprocess.DEVNULL).stdout


def documents(text):
    """One document, or one in each line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.split("\n") if line]


def write_conversation():
    messages = [
        {"role": "user", "name": "ann" + HOSTILE, "content": HOSTILE},
        {"role": "assistant", "content": HOSTILE, "tool_calls": [
            {"id": "c" + HOSTILE, "type": "function",
             "function": {"name": "tool" + HOSTILE, "arguments": json.dumps({"x": HOSTILE}, ensure_ascii=False)}}]},
        {"role": "tool", "tool_call_id": "c" + HOSTILE, "name": "tool" + HOSTILE, "content": HOSTILE},
        {"role": "assistant", "content": "done"},
    ]
    with open("talk.json", "w", encoding="utf-8") as out:
        json.dump(messages, out, ensure_ascii=False)
    with open("text", "w", encoding="utf-8", newline="") as out:
        out.write(HOSTILE)


def stored_text_is_shown():
    in_pipe("sessions", "import", "-q", "--from", "openai", "--session", "s", "talk.json")
    shown = at_terminal("sessions", "show", "s")
    require("\\u001b]52;c;" in shown and "\\u009b6n" in shown and "\\u202e" in shown, "what acts is shown as an escape")
    piped = in_pipe("sessions", "show", "s").decode()
    require(HOSTILE in piped, "a pipe gets the bytes")
    at_terminal("sessions", "list")
    at_terminal("sessions", "search", "safe")
    for arguments in (("sessions", "list", "--json"), ("sessions", "search", "safe", "--json"),
                      ("sessions", "export", "s", "-q"), ("sessions", "export", "s", "-q", "--to", "openai"),
                      ("convert", "-q", "--from", "openai", "--to", "openai", "talk.json"),
                      ("convert", "-q", "--from", "openai", "--to", "anthropic", "talk.json"),
                      ("sessions", "export", "s", "-q", "--jsonl"),
                      ("convert", "-q", "--from", "openai", "--to", "anthropic", "--pretty", "talk.json")):
        require(documents(at_terminal(*arguments)) == documents(in_pipe(*arguments).decode()),
                f"{arguments}: the same JSON at a terminal")
    require("\u009b6n".encode() in in_pipe("sessions", "export", "s", "-q"), "a pipe gets the bytes")
    require("\u202e".encode() in in_pipe("sessions", "export", "s", "-q"), "of direction marks, too")


def names_are_shown():
    name = HOSTILE.replace("/", "")
    at_terminal("sessions", "show", name, exit=1)
    at_terminal("sessions", "fork", "s", name, exit=1)  # control characters are refused in ids
    at_terminal("sessions", "fork", "s", "id\u202e\u2066\u200f")
    at_terminal("sessions", "list")
    at_terminal("sessions", "export", name, "--to", name, exit=2)
    at_terminal("sessions", "list", "--store", "gopher:" + name, exit=2)
    at_terminal("check", name, exit=3)
    at_terminal("check", "--json", name, exit=3)
    at_terminal("media", "check", name, exit=3)
    at_terminal("media", "check", "--json", name, exit=3)
    at_terminal("tokens", name, exit=3)
    at_terminal("filter", name, exit=2)
    at_terminal("rehearse", "--script", name, exit=3)
    at_terminal(name, exit=2)
    at_terminal("doctor", "--" + name, exit=2)
    at_terminal("-m", "openai/" + name, "-p", "quote")
    at_terminal("-m", name, "-p", "hello", exit=2)
    os.environ["PARLEY_CONFIG"] = name
    at_terminal("doctor", exit=3)
    with open("parley.toml", "w", encoding="utf-8", newline="") as out:
        out.write(f"[providers.openai]\nbase_url = {json.dumps('http://127.0.0.1:1/' + HOSTILE)}\n"
                  f"[trace]\nendpoint = {json.dumps('gopher:' + HOSTILE)}\n"
                  f"[tools]\nuse = [{json.dumps(HOSTILE)}]\n[mcp]\nfile = {json.dumps(HOSTILE)}\n")
    os.environ["PARLEY_CONFIG"] = "parley.toml"
    base = os.environ.pop("OPENAI_BASE_URL")
    at_terminal("doctor", "-m", "openai/x", exit=3)
    require(json.loads(at_terminal("doctor", "--json", "-m", "openai/x", exit=3)), "doctor's JSON is JSON")
    del os.environ["PARLEY_CONFIG"]
    os.environ["OPENAI_BASE_URL"] = base


def documents_are_shown():
    with open("findings.json", "w", encoding="utf-8") as out:
        json.dump([{"role": "tool", "content": "x", "tool_call_id": HOSTILE}, {"role": HOSTILE}], out, ensure_ascii=False)
    at_terminal("check", "--as", "openai", "findings.json", exit=1)
    at_terminal("check", "--as", "openai", "--json", "findings.json", exit=1)
    at_terminal("convert", "--from", "openai", "--to", "gemini", "findings.json", exit=1)
    at_terminal("convert", "--from", "openai", "--to", "sharegpt", "talk.json")
    at_terminal("filter", "size", "text")
    at_terminal("filter", "size", "text", "-o", "/dev/tty")
    require(in_pipe("filter", "size", "text") == HOSTILE.encode(), "a pipe gets the bytes")


def a_model_is_shown():
    shown = at_terminal("-m", "openai/x", "-p", "quote")
    require("\\u001b]52" in shown, "what a model says")
    require(in_pipe("-m", "openai/x", "-p", "quote").decode() == HOSTILE + "\n", "a pipe gets the bytes")
    at_terminal("-m", "openai/x", "-p", "think")
    at_terminal("-m", "openai/x", "-p", "fail", exit=3)
    last = at_terminal("-m", "openai/x", "-p", "quote", "--json").splitlines()[-1]
    require(json.loads(last)["text"] == HOSTILE, "the same JSON at a terminal")
    for line in at_terminal("-m", "openai/x", "-p", "quote", "--json", "--stream").splitlines():
        json.loads(line)
    at_terminal("doctor", "-m", "openai/x", "--online", "--store", "memory:")


def markdown_is_shown():
    """What acts in every place that Markdown has, with and without styles."""
    for arguments in ((), ("--color", "never"), ("--color", "always"), ("--raw",)):
        shown = at_terminal("-m", "openai/x", "-p", "markdown", *arguments)
        require("\\u001b]52" in shown and "\\u202e" in shown, f"{arguments}: what a model writes in Markdown")
    os.environ["VTE_VERSION"] = "7000"  # opens links
    shown = at_terminal("-m", "openai/x", "-p", "markdown")
    del os.environ["VTE_VERSION"]
    links = re.findall(r"\x1b\]8;id=\d+;([^\x1b]*)\x1b", shown)
    require(links and set(links) == {"https://example.org/good"}, f"only checked addresses are links: {links}")
    require(in_pipe("-m", "openai/x", "-p", "markdown").decode() == MARKDOWN + "\n", "a pipe gets the bytes")


def a_call_is_shown():
    run = Terminal("run", "-m", "openai/x", "--tools", "bash", "call")
    run.expect(b"N no ")
    run.type(b"y\n")
    require(run.exit() == 0, f"a run with a call ends well: {run.seen!r}")
    refuse_hostile(run.seen, "a call")
    chat = Terminal("chat", "-m", "openai/x", "--tools", "ask_human", "human")
    chat.expect(b"> ")
    chat.type(b"ask\n")
    chat.expect(b"answer: ")
    refuse_hostile(chat.seen[chat.seen.find(b"parley: \\u001b"):], "a question")
    chat.type(b"yes\n")
    chat.expect(b"that was it")
    before = chat.at
    chat.type(b"/export openai\n")
    chat.expect(b"that was it")
    refuse_hostile(chat.seen[before:chat.at], "/export")
    chat.expect(b"> ")
    require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")


def a_paste_is_shown():
    chat = Terminal("chat", "-m", "openai/x", "paste")
    chat.expect(b"> ")
    chat.expect_keys()
    before = chat.at
    chat.type(b"\x1b[200~" + "A\u009b6n\x7f\u202e B quote".encode() + b"\x1b[201~")
    chat.expect(b"B quote")
    refuse_hostile(re.sub(rb"^\r", b"", chat.seen[before:chat.at]), "a paste")  # the line is drawn from its beginning
    chat.type(b"\n")
    chat.expect(b" end")
    chat.expect(b"> ")
    require(chat.exit(b"\x04") == 0, "Ctrl-D ends a chat with 0")


def servers_are_shown():
    with open("servers.json", "w", encoding="utf-8") as out:
        json.dump({"mcpServers": {"dies" + HOSTILE: {"command": "sh", "args": ["-c", "cat text >&2; exit 1"]},
                                  "away": {"command": "/none/" + HOSTILE}}}, out)
    with open("parley.toml", "w", encoding="utf-8") as out:
        out.write('[mcp]\nfile = "servers.json"\n')
    os.environ["PARLEY_CONFIG"] = "parley.toml"
    shown = at_terminal("run", "-m", "openai/x", "quote")
    require("MCP server dies\\u001b" in shown, "what is wrong with a server is said")
    del os.environ["PARLEY_CONFIG"]


LINE = HOSTILE.replace("\x0b", "").replace("\x0c", "")
MARKDOWN = "\n\n".join((
    f"# {LINE}", f"**{LINE}** *{LINE}* ~~{LINE}~~ `{LINE}`", f"- {LINE}\n  1. {LINE}", f"> {LINE}",
    f"```{LINE}\n{HOSTILE}\n```", f"    {LINE}", f"| {LINE} | b |\n|---|---|\n| {LINE} | **{LINE}** |",
    f"[{LINE}](https://example.org/good)", f"[a](https://example.org/{LINE})", f"[a](<https://example.org/{LINE}>)",
    "[a](javascript:alert(1)) [b](file:///etc/passwd) [c](https://example.org/&#27;]52;c;x&#7;) <https://x\x1b\\y>",
    f"![{LINE}](https://example.org/good)", "&#27;]0;title&#7; &#x9b;6n &#x202e;", f"<b {LINE}>", "the end"))

SCRIPT = {"turns": [
    {"when": "markdown", "text": MARKDOWN},
    {"when": "quote", "text": HOSTILE},
    {"when": "Say: ok", "text": HOSTILE},
    {"when": "think", "think": HOSTILE, "text": "thought"},
    {"when": "fail", "fault": {"status": 400, "body": {"error": {"message": HOSTILE}}, "times": 9}},
    {"when": "call", "calls": [{"name": "bash", "arguments": {"command": f"printf '%s' '{HOSTILE}'; exit 3 # {HOSTILE}"}},
                               {"name": "tool" + HOSTILE, "arguments": {"x": HOSTILE}}]},
    {"text": "that was it"},
    {"when": "ask", "calls": [{"name": "ask_human", "arguments": {"inquire": HOSTILE}}]},
    {"text": "that was it"},
]}


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"):
            os.environ[name] = folder
        os.environ["TERM"] = "xterm"
        os.environ["LC_ALL"] = "C"  # the signs are ASCII
        with open("script.json", "w", encoding="utf-8") as out:
            json.dump(SCRIPT, out)
        write_conversation()
        server = subprocess.Popen([PARLEY, "rehearse", "--script", "script.json"], stdout=subprocess.PIPE)
        try:
            os.environ["OPENAI_BASE_URL"] = server.stdout.readline().decode().split()[-1]
            os.environ["OPENAI_API_KEY"] = "none"
            for test in (stored_text_is_shown, names_are_shown, documents_are_shown, a_model_is_shown, markdown_is_shown, a_call_is_shown,
                         a_paste_is_shown, servers_are_shown):
                test()
                print(f"hostile_text_test.py: {test.__name__}: as it should be")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
