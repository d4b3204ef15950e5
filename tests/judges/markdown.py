#!/usr/bin/env python3
"""Compares the words that Parley shows of Markdown with those of the HTML that CommonMark's specification expects.

    markdown.py PARLEY SPEC.TXT

All examples are answers in one session, which 'parley sessions show' shows at a terminal. An example counts as equal if
its words, without the marks and in their order, are those of the text of the HTML.
"""
import collections
import html.parser
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import urllib.parse

# What Parley does otherwise, and in which texts. Any other example must be equal.
REASONS = (
    ("a link by reference is shown as it is written: its address may come at the end of an answer", r"(?m)^[ >-]*\[(?:[^\]\\]|\\.)+\]:"),
    ("a tag of HTML is shown as text", r"<[A-Za-z/!?]"),
    ("only common names of entities are known", r"&[A-Za-z]"),
    ("a control character is shown as an escape", r"&#10;"),
    ("a link or an image inside of an image shows its address", r"!\[.*\[.*\]\(.*\]\("),
)


class Words(html.parser.HTMLParser):
    """The text of HTML, with the numbers of lists, and with the addresses that a terminal does not open."""

    def __init__(self, text):
        super().__init__()
        self.text = ""
        self.lists = []
        self.address = ""
        self.feed(text)

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attrs):
        own = {name: value or "" for name, value in attrs}
        if tag in ("ol", "ul"):
            self.lists.append(int(own.get("start", 1)) if tag == "ol" else None)
        if tag in ("br", "p", "li"):
            self.text += " "
        if tag == "li" and self.lists and self.lists[-1] is not None:
            self.text += f"{self.lists[-1]} "
            self.lists[-1] += 1
        if tag == "a":
            self.address = own.get("href", "")
        if tag == "img":
            self.text += f"image {own.get('alt', '')} {unopened(own.get('src', ''))}"

    def handle_endtag(self, tag):
        if tag in ("ol", "ul"):
            self.lists.pop()
        if tag == "a":
            self.text += " " + unopened(self.address)


def unopened(address):
    return "" if re.match(r"(?i)https?://.|mailto:.", address) else urllib.parse.unquote(address)


def examples(spec):
    section = ""
    for part in re.finditer(r"^#+ ([^\n]*)$|^`{32} example\n(.*?)^\.\n(.*?)^`{32}$", spec.replace("\r\n", "\n"), re.M | re.S):
        if part[1] is not None:
            section = part[1]
        else:
            yield section, part[2].replace("→", "\t"), part[3].replace("→", "\t")


def words(text):
    return [each.lstrip("0") or "0" for each in re.findall(r"\w+", text)]


def shown(parley, texts):
    """What a terminal shows of each text."""
    with tempfile.TemporaryDirectory() as folder:
        own = {**os.environ, "HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_STATE_HOME": folder,
               "TERM": "xterm-kitty", "LC_ALL": "C.UTF-8"}
        own.pop("NO_COLOR", None)
        messages = []
        for i, text in enumerate(texts):
            messages += [{"role": "user", "content": f"example{i}"}, {"role": "assistant", "content": text}]
        file = os.path.join(folder, "talk.json")
        with open(file, "w", encoding="utf-8") as out:
            json.dump(messages, out)
        subprocess.run([parley, "sessions", "import", "-q", "--from", "openai", "--session", "s", file], check=True, env=own)
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(parley, [parley, "sessions", "show", "s"], own)
        out = b""
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            out += piece
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
            sys.exit(f"markdown.py: sessions show failed: {out[:1000]!r}")
    text = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", out.decode()).replace("\r\n", "\n")
    parts = re.split(r"(?m)^user\nexample(\d+)\n\nassistant\n", text)
    return {int(parts[i]): parts[i + 1] for i in range(1, len(parts), 2)}


def main():
    parley, spec = sys.argv[1:]
    with open(spec, encoding="utf-8") as file:
        found = list(examples(file.read()))
    seen = shown(parley, [text for _, text, _ in found])
    equal, differ, wrong = 0, collections.Counter(), []
    for i, (section, text, expected) in enumerate(found):
        if words(seen[i].rstrip()) == words(Words(expected).text):
            equal += 1
        elif why := next((why for why, pattern in REASONS if re.search(pattern, text)), None):
            differ[why] += 1
        else:
            wrong.append(f"example {i + 1} ({section}): {text!r}\n  expected {words(Words(expected).text)}\n  shown    {words(seen[i])}")
    print(f"{equal} of {len(found)} examples have the same words")
    for why, count in differ.most_common():
        print(f"{count:4} differ: {why}")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
