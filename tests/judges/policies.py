"""The judge of policies.sh: what the formatters of PyPI's agentscope make of random conversations.

  policies.py compare PROGRAM COUNT SEED   Parley's PROGRAM (tests/policy/format_policy.cc) on the same ones
  policies.py golden                       the lines of tests/corpus/policies/agentscope.jsonl

The originals run as they are, with three exceptions: the package's __init__, which imports everything, is passed over;
tracing and token counting, which have no part in this, are stubs; and a fetch raises an exception.
"""
import asyncio
import base64
import importlib.util
import json
import logging
import os
import random
import subprocess
import sys
import types


class Fetched(BaseException):
    """The formatter would have gone to the network. Not an Exception, so that it is not tried again."""


def fetch(*_, **__):
    raise Fetched


def load():
    """agentscope.formatter without agentscope/__init__.py."""
    place = os.path.dirname(importlib.util.find_spec("agentscope").origin)
    for name, members in {
        "agentscope": {"__path__": [place]},
        "agentscope.tracing": {"trace_format": lambda function: function},
        "agentscope.token": {"TokenCounterBase": object},
    }.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)
    import agentscope.formatter
    import agentscope.message
    import requests
    from agentscope.formatter import _formatter_base, _gemini_formatter, _ollama_formatter

    requests.get = _gemini_formatter._get_bytes_from_web_url = _ollama_formatter._get_bytes_from_web_url = fetch
    save = _formatter_base._save_base64_data

    def saved(media_type, data):
        path = save(media_type, data)
        SAVED[path] = f"({media_type}, not saved)"
        return path

    _formatter_base._save_base64_data = saved
    logging.getLogger("as").setLevel(logging.ERROR)  # what is skipped is expected
    return agentscope.formatter, agentscope.message.Msg


SAVED = {}  # the files that were saved, and what Parley writes for their names
formatter, Msg = load()

TARGETS = {
    "openai": "OpenAI", "responses": "OpenAIResponse", "anthropic": "Anthropic", "gemini": "Gemini",
    "ollama": "Ollama", "deepseek": "DeepSeek", "dashscope": "DashScope",
}
POLICIES = {"agentscope-chat": "Chat", "agentscope-multiagent": "MultiAgent"}
PROMOTIONS = {
    "openai": ["images"], "responses": ["images"], "gemini": ["images"], "ollama": ["images"],
    "dashscope": ["images", "audios", "videos"],
}


# ---- Conversations

TEXTS = ["", "hi", "two\nlines", 'a "quote" and a \\', "na\u00efve \u5317\u4eac \U0001f642", "\x01\x1f\x7f\u2028",
         "</history>", " ", "- list"]
NAMES = ["ann", "bob", "friday", "Zo\u00eb", 'n"q', "", "system"]
TOOLS = ["weather", "get_time", "\u641c\u7d22"]
KINDS = {"image": ["image/png", "image/jpeg"], "audio": ["audio/wav", "audio/mp3"], "video": ["video/mp4"]}
ODD_KINDS = {"image": ["image/svg+xml", "image/jpg"], "audio": ["audio/mpeg", "audio/flac"], "video": ["video/mov"]}
URLS = {
    "image": ["https://example.org/a.png", "HTTPS://example.org/b.JPEG?x=1&y=2", "s3://bucket/c.webp", "c:\\pic.png"],
    "audio": ["https://example.org/a.wav", "http://example.org/b.MP3", "ftp://example.org/c.ogg"],
    "video": ["https://example.org/a.mp4", "https://example.org/b"],
}


class Maker:
    """Random messages. What makes most originals raise is rare, so that most conversations come to their end."""

    def __init__(self, seed, promotes):
        self.random = random.Random(seed)
        self.promotes = promotes
        self.has_urls = self.chance(0.4)
        self.has_typeless = not self.has_urls and self.chance(0.05)
        self.is_odd = self.chance(0.15)
        self.calls = 0

    def chance(self, p):
        return self.random.random() < p

    def odd(self):
        return self.is_odd and self.chance(0.2)

    def text(self):
        return " ".join(self.random.choices(TEXTS, k=self.random.choice([1, 1, 1, 2, 3])))

    def value(self, depth=0):
        r = self.random
        kind = r.randrange(9 if depth < 3 else 7)
        if kind == 7:
            return [self.value(depth + 1) for _ in range(r.randrange(4))]
        if kind == 8:
            return {self.text() + str(i): self.value(depth + 1) for i in range(r.randrange(4))}
        return [None, True, False, r.randrange(-9, 10 ** r.randrange(1, 25)), self.text(),
                r.uniform(-1, 1) * 10.0 ** r.randrange(-320, 308), float(r.randrange(100))][kind]

    def data(self):
        if self.odd():
            return self.random.choice(["%%%", "QQ", "Q", "QQ==QQ==", "Q Q = ="])
        return base64.b64encode(self.random.randbytes(self.random.randrange(12))).decode()

    def media(self, inside=False):
        kind = self.random.choice(list(KINDS))
        # A promoted file is labelled by its name: what that makes of audio is Python's own business.
        by_url = self.has_urls and self.chance(0.5) or self.promotes and inside and kind == "audio"
        if by_url:
            source = {"type": "url", "url": self.random.choice(URLS[kind])}
        else:
            kinds = ODD_KINDS if self.odd() and not (self.promotes and inside) else KINDS
            source = {"type": "base64", "media_type": self.random.choice(kinds[kind]), "data": self.data()}
        if self.odd():
            source.pop(self.random.choice(list(source)))
        block = {"type": kind, "source": source}
        if self.chance(0.1):
            block["extra"] = self.value()
        if self.odd():
            block.pop("source")
        return block

    def text_block(self):
        block = {"type": "text", "text": self.text()}
        if self.chance(0.1):
            block["cache_control"] = {"type": "ephemeral"}
        if self.chance(0.1):
            block["thought_signature"] = self.data()
        if self.odd():
            block.pop("text")
        return block

    def call(self):
        self.calls += 1
        block = {"type": "tool_use", "id": f"call_{self.calls}", "name": self.random.choice(TOOLS),
                 "input": {self.text() + str(i): self.value() for i in range(self.random.randrange(4))}}
        if self.chance(0.2):
            block["raw_input"] = json.dumps(block["input"])
        if self.chance(0.1):
            block["thought_signature"] = self.data()
        if self.chance(0.05):
            block["id"] = self.random.choice([None, ""])
        if self.odd():
            block.pop(self.random.choice(["id", "name", "input"]))
        return block

    def result(self):
        output = [self.text_block() if self.chance(0.6) else self.media(True) for _ in range(self.random.randrange(4))]
        if self.odd():
            output.append(self.random.choice([{"type": "thinking", "thinking": "x"}, {"type": "custom"}, {"x": 1}]))
        if self.chance(0.4):
            output = self.random.choice([self.text(), None])
        block = {"type": "tool_result", "id": f"call_{self.calls}", "name": self.random.choice(TOOLS), "output": output}
        if self.chance(0.05):
            block["name"] = None
        if self.odd():
            block.pop(self.random.choice(["id", "name", "output"]))
        return block

    def block(self):
        kind = self.random.choices(["text", "thinking", "media", "call", "result", "raw"], [8, 2, 4, 2, 3, 0.5])[0]
        if kind == "thinking":
            block = {"type": "thinking", "thinking": self.text()}
            if self.chance(0.5):
                block["signature"] = "c2ln"
            return block
        if kind == "raw":
            return {"x": 1} if self.has_typeless else {"type": "custom", "x": self.value()}
        return {"text": self.text_block, "media": self.media, "call": self.call, "result": self.result}[kind]()

    def message(self, index):
        role = self.random.choice(["user", "assistant", "system"] if index else ["system", "user"])
        content = self.text()
        if self.chance(0.75):
            content = [self.block() for _ in range(self.random.choice([0, 1, 1, 2, 3, 5]))]
        return {"id": str(index), "name": self.random.choice(NAMES), "role": role, "content": content, "metadata": {},
                "timestamp": "2025-06-01 09:30:00.125"}

    def conversation(self):
        return [self.message(i) for i in range(self.random.choice([0, 1, 2, 3, 5, 8]))]


def conversations(count, seed, promotes):
    return [Maker(f"{seed}/{i}/{promotes}", promotes).conversation() for i in range(count)]


# ---- The originals

def original(policy, target, options, document):
    """The list as JSON, or the error that Parley has to give."""
    words = {}
    for option in options:
        name, _, value = option.partition("=")
        if name == "history_prompt":
            words["conversation_history_prompt"] = value
        else:
            words["promote_tool_result_" + name.removeprefix("promote_")] = True
    make = getattr(formatter, f"{TARGETS[target]}{POLICIES[policy]}Formatter")
    try:
        made = asyncio.run(make(**words).format([Msg.from_dict(message) for message in document]))
    except Fetched:
        return "error unsupported"
    except Exception:
        return "error invalid"
    text = json.dumps(made, ensure_ascii=False, separators=(",", ":"),
                      default=lambda raw: base64.b64encode(raw).decode())
    for path, placeholder in SAVED.items():
        text = text.replace(path, placeholder)
        os.remove(path)
    SAVED.clear()
    return text


def tasks():
    """Policy, target, options, and whether it promotes: every formatter, and again with all it can be told."""
    for policy in POLICIES:
        for target in TARGETS:
            yield policy, target, [], False
            told = ["promote_" + kind for kind in PROMOTIONS.get(target, [])]
            if POLICIES[policy] == "MultiAgent":
                told.append("history_prompt=Before:\n")
            if told:
                yield policy, target, told, True


def compare(program, count, seed):
    failed = total = raised = 0
    for policy, target, options, promotes in tasks():
        documents = conversations(int(count), seed, promotes)
        lines = "".join(json.dumps(each, ensure_ascii=each and each[0]["name"] == "ann") + "\n" for each in documents)
        command = [program, policy, target, *options]
        made = subprocess.run(command, input=lines.encode(), capture_output=True, check=True)
        for document, got in zip(documents, made.stdout.decode().split("\n")[:-1], strict=True):
            want = original(policy, target, options, document)
            total += 1
            raised += want.startswith("error")
            if (got.split(":")[0] if want.startswith("error") else got) != want:
                failed += 1
                if failed <= 5:
                    print(policy, target, options)
                    print(f"  {json.dumps(document, ensure_ascii=False)}\n  want {want}\n  got  {got}")
    print(f"agentscope 1.0.21, seed {seed}: {total} lists compared, {raised} of them errors, {failed} differences")
    return 1 if failed or raised > total // 2 else 0


def golden():
    print("# Made by tests/judges/policies.sh --golden with agentscope 1.0.21.")
    for policy, target, options, promotes in tasks():
        for document in conversations(12, "golden", promotes):
            line = {"policy": policy, "target": target, "options": options, "document": document}
            want = original(policy, target, options, document)
            start = json.dumps(line, ensure_ascii=False)[:-1]
            print(start + (f', "error": "{want.split()[1]}"}}' if want.startswith("error") else f', "want": {want}}}'))
    return 0


sys.exit({"compare": compare, "golden": golden}[sys.argv[1]](*sys.argv[2:]))
