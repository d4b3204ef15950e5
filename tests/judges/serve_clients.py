"""The judge of serve_clients.sh: what the store has of the four programs of docs/serve.md.

  serve_clients.py PARLEY STORE
"""
import collections
import json
import subprocess
import sys

EXPECTED = [
    # OpenAI's SDK for Python, by the previous response.
    ["user: My name is Ada.", "assistant: Rehearsal heard: My name is Ada.",
     "user: What is my name?", "assistant: Rehearsal heard: What is my name?"],
    # OpenAI's SDK for JavaScript, in a conversation.
    ["user: Hello.", "assistant: Rehearsal heard: Hello."],
    # The Agents SDK, which posts its items to a conversation, and asks for responses outside of it: these are stored as well
    # (docs/limits.md).
    ["user: Hello.", "assistant: Rehearsal heard: Hello."],
    ["user: Hello.", "assistant: Rehearsal heard: Hello.", "user: And again.", "assistant: Rehearsal heard: And again."],
    ["user: Hello.", "assistant: Rehearsal heard: Hello.", "user: And again.", "assistant: Rehearsal heard: And again."],
    # LangChain, by the previous response.
    ["user: Hello.", "assistant: Rehearsal heard: Hello.", "user: And again.", "assistant: Rehearsal heard: And again."],
]


def parley(*args):
    run = subprocess.run([sys.argv[1], "sessions", *args, "--store", sys.argv[2]], capture_output=True, text=True, check=True)
    return run.stdout


def text_of(content):
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def conversation(session):
    exported = json.loads(parley("export", session, "--to", "openai"))
    messages = exported["messages"] if isinstance(exported, dict) else exported
    return [f"{message['role']}: {text_of(message['content'])}" for message in messages]


sessions = [json.loads(line)["session"] for line in parley("list", "--json").splitlines()]
found = {session: conversation(session) for session in sessions}
counts = collections.Counter(tuple(each) for each in found.values())
wanted = collections.Counter(tuple(each) for each in EXPECTED)
for session, messages in found.items():
    print(session, json.dumps(messages))
for messages in (wanted - counts):
    print("missing:", json.dumps(messages))
for messages in (counts - wanted):
    print("not expected, or stored twice:", json.dumps(messages))
if counts != wanted:
    sys.exit(1)
print(f"serve_clients: {len(found)} conversations of four clients, nothing missing and nothing more")
