"""The judge of memory.sh: random operations on AgentScope's InMemoryMemory and on Parley's AgentScopeMemory.

  memory.py PROGRAM COUNT SEED   PROGRAM is tests/memory/drive_memory.cc

The original runs as it is, without the __init__ of its packages, which imports everything. What it makes up (ids and
times) is compared by its form. A failed load leaves the original half loaded; it is put back, because Parley's memory
stays as it was.
"""
import asyncio
import copy
import importlib
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import types


def load():
    """InMemoryMemory and Msg without agentscope/__init__.py and agentscope/memory/__init__.py."""
    place = os.path.dirname(importlib.util.find_spec("agentscope").origin)
    for name in ("agentscope", "agentscope.memory", "agentscope.memory._working_memory"):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [os.path.join(place, *name.split(".")[1:])]
    memory = importlib.import_module("agentscope.memory._working_memory._in_memory_memory")
    return memory.InMemoryMemory, importlib.import_module("agentscope.message").Msg


InMemoryMemory, Msg = load()

TEXTS = ["", "hi", "two\nlines", 'a "quote" and a \\', "na\u00efve \u5317\u4eac \U0001f642", "\x01\x7f\u2028"]
MARKS = ["x", "y", "hint", "compressed", "", "\u5317"]
ID = re.compile(r"[2-9A-HJ-NP-Za-km-z]{22}")
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}")


class Maker:
    """Random operations. Few ids and marks, so that they meet again."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, p):
        return self.random.random() < p

    def some(self, values, most=3):
        return [self.random.choice(values) for _ in range(self.random.randrange(most + 1))]

    def maybe(self, values):
        return self.random.choice(values) if self.chance(0.6) else None

    def block(self):
        return self.random.choice([
            {"type": "text", "text": self.random.choice(TEXTS)},
            {"text": "members in another order", "type": "text", "mood": [1.5, None, {"k": 10**20}]},
            {"type": "thinking", "thinking": "so", "signature": "c2ln"},
            {"type": "tool_use", "id": "call_1", "name": "f", "input": {"q": 1}},
            {"type": "tool_result", "id": "call_1", "name": "f", "output": self.random.choice(["ok", [
                {"type": "text", "text": "ok"}]])},
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            {"type": "custom", "x": None},
        ])

    def message(self):
        content = self.random.choice(TEXTS) if self.chance(0.5) else [self.block() for _ in range(self.random.randrange(4))]
        out = {"id": f"m{self.random.randrange(12)}", "name": self.random.choice(["ann", "", 'n"q']),
               "role": self.random.choice(["user", "assistant", "system"]), "content": content,
               "metadata": self.random.choice([{}, None, {"k": [1, "\u00e9"]}]),
               "timestamp": self.random.choice(["2025-06-01 09:30:00.125", "yesterday"])}
        for key in ("metadata", "timestamp", "id"):
            if self.chance(0.05):
                del out[key]
        if self.chance(0.05):
            out[self.random.choice(["timestamp", "invocation_id"])] = self.random.choice(["", None])
        if self.chance(0.05):
            out["type"] = "Msg"
        members = list(out.items())
        if self.chance(0.2):
            self.random.shuffle(members)
        return dict(members)

    def bad(self, message):
        """What both refuse."""
        kind = self.random.randrange(4)
        if kind == 0:
            message.pop(self.random.choice(["name", "role", "content"]))
        elif kind == 1:
            message["role"] = self.random.choice(["tool", "User", "", None])
        elif kind == 2:
            message["content"] = self.random.choice([None, 1, {"type": "text", "text": "x"}, True])
        else:
            return self.random.choice([None, 1, "x", [], [message], [message, [], []]])
        return message

    def state(self):
        content = []
        for _ in range(self.random.randrange(5)):
            message = self.message()
            if self.chance(0.08):
                message = self.bad(message)
            content.append(message if self.chance(0.2) else [message, self.some(MARKS)])
        out = {"_compressed_summary": self.random.choice(TEXTS), "content": content, "other": 1}
        for key in list(out):
            if self.chance(0.1):
                del out[key]
        return out

    def operation(self):
        op = self.random.choices(
            ["add", "delete", "delete_by_mark", "update", "get", "size", "summary", "clear", "load", "new"],
            [30, 3, 2, 25, 25, 5, 5, 1, 3, 1])[0]
        ids = [f"m{i}" for i in range(12)]
        out = {"op": op}
        if op == "add":
            out |= {"messages": [self.message() for _ in range(self.random.randrange(4))], "marks": self.some(MARKS),
                    "allow_duplicates": self.chance(0.3)}
        elif op == "delete":
            out["ids"] = self.some(ids)
        elif op == "delete_by_mark":
            out["marks"] = self.some(MARKS, 2)
        elif op == "update":
            out |= {"new_mark": self.maybe(MARKS), "old_mark": self.maybe(MARKS),
                    "ids": self.some(ids, 6) if self.chance(0.5) else None}
        elif op == "get":
            out |= {"mark": self.maybe(MARKS), "exclude_mark": self.maybe(MARKS), "prepend_summary": self.chance(0.7)}
        elif op == "summary":
            out["text"] = self.random.choice(TEXTS)
        elif op == "load":
            out |= {"state": self.state(), "strict": self.chance(0.7)}
        return out


class Original:
    def __init__(self):
        self.memory = InMemoryMemory()

    def apply(self, operation):
        """The result as Parley's program has to print it, or "error"."""
        before = copy.deepcopy(self.memory.content), self.memory._compressed_summary
        try:
            return asyncio.run(self.run(operation))
        except Exception:
            self.memory.content, self.memory._compressed_summary = before
            return "error"

    async def run(self, o):
        memory = self.memory
        match o["op"]:
            case "add":
                messages = [Msg.from_dict(message) for message in o["messages"]]
                return await memory.add(messages, o["marks"], allow_duplicates=o["allow_duplicates"])
            case "delete":
                return await memory.delete(o["ids"])
            case "delete_by_mark":
                return await memory.delete_by_mark(o["marks"])
            case "update":
                return await memory.update_messages_mark(o["new_mark"], o["old_mark"], o["ids"])
            case "get":
                return [message.to_dict() for message in await memory.get_memory(
                    o["mark"], o["exclude_mark"], o["prepend_summary"])]
            case "size":
                return await memory.size()
            case "summary":
                return await memory.update_compressed_summary(o["text"])
            case "clear":
                return await memory.clear()
            case "load":
                return memory.load_state_dict(copy.deepcopy(o["state"]), o["strict"])
            case "new":
                self.memory = InMemoryMemory()
            case "state":
                return memory.state_dict()
        return None


def plain_message(message):
    """The members that the original keeps, in its order, with made-up values replaced by what they are."""
    out = {key: message.get(key) for key in ("id", "name", "role", "content", "metadata", "timestamp")}
    out["metadata"] = out["metadata"] or {}
    out["id"] = "(made)" if ID.fullmatch(out["id"]) else out["id"]
    if out["timestamp"] != "2025-06-01 09:30:00.125" and TIME.fullmatch(out["timestamp"]):
        out["timestamp"] = "(made)"
    return out


def plain(operation, value):
    if operation["op"] == "get" and value != "error":
        value = [plain_message(message) for message in value]
    if operation["op"] == "state":
        assert all(list(message) == ["id", "name", "role", "content", "metadata", "timestamp"]
                   for message, _ in value["content"]), value
        value = value | {"content": [[plain_message(message), marks] for message, marks in value["content"]]}
    return json.dumps(value)  # with the order of members


class Driver:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def apply(self, operation):
        self.process.stdin.write(json.dumps(operation, ensure_ascii=len(json.dumps(operation)) % 2 == 0) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return "error" if line.startswith("error ") else json.loads(line)


def main(program, count, seed):
    maker, original, ours = Maker(seed), Original(), Driver(program)
    failed = errors = states = 0
    for number in range(int(count)):
        operation = maker.operation()
        steps = [operation]
        if number % 5 == 0:
            steps.append({"op": "state"})
        for step in steps:
            want, got = original.apply(step), ours.apply(step)
            errors += want == "error"
            if plain(step, want) != plain(step, got):
                failed += 1
                if failed <= 5:
                    print(f"operation {number}: {json.dumps(step)}\n  want {want}\n  got  {got}")
        if number % 50 == 0:
            # Both ways: each loads what the other wrote. From then on made-up ids are the same on both sides.
            states += 1
            original.apply({"op": "load", "state": ours.apply({"op": "state"}), "strict": True})
            ours.apply({"op": "load", "state": original.apply({"op": "state"}), "strict": True})
            written = [side.apply({"op": "state"}) for side in (original, ours)]
            failed += json.dumps(written[0]) != json.dumps(written[1])
    print(f"agentscope 1.0.21, seed {seed}: {count} operations, {errors} of them errors, {states} states exchanged, "
          f"{failed} differences")
    return 1 if failed or errors == 0 else 0


sys.exit(main(*sys.argv[1:]))
