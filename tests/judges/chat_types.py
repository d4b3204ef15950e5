"""The judge of chat_types.sh: OpenAI's SDK as a client of `parley serve`, with the offline model.

  chat_types.py ADDRESS

ADDRESS is a file with what `parley serve --json` prints. Every body and every chunk must be valid for the SDK's model in
pydantic's strict mode, and have no member that the model does not know, but for those of EXTRA.
"""
import collections
import json
import sys

import openai
import pydantic
from openai.types import Model, chat, conversations
from openai.types.chat.chat_completion_store_message import ChatCompletionStoreMessage

from sdk_members import unknown_members

with open(sys.argv[1], encoding="utf-8") as file:
    BASE_URL = json.loads(file.readline())["base_url"]
MODEL = "rehearsal"
ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds two numbers",
        "parameters": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
    },
}
USER = [{"role": "user", "content": "hello"}]
# Thinking, as other servers have it; a list in the extension says when a conversation changed.
EXTRA = {
    "ChatCompletionMessage": {"reasoning_content"},
    "ChoiceDelta": {"reasoning_content"},
    "Conversation": {"updated_at", "title", "model", "turns"},
    "ResponseCustomToolCall": {"status"},
}
counts = collections.Counter()
client = openai.OpenAI(base_url=BASE_URL, api_key="none", max_retries=0, _strict_response_validation=True)
completions = client.chat.completions


def expect(condition, what):
    if not condition:
        sys.exit(f"chat_types.py: {what}")


def checked(kind, value):
    """The value as a model of this kind, if it is a strict one without unknown members."""
    try:
        model = pydantic.TypeAdapter(kind).validate_json(json.dumps(value), strict=True)
    except pydantic.ValidationError as error:
        sys.exit(f"chat_types.py: {json.dumps(value)}: {error}")
    unknown = list(unknown_members(model, EXTRA))
    expect(not unknown, f"{json.dumps(value)}: unknown members {unknown}")
    counts[getattr(kind, "__name__", str(kind))] += 1
    return model


def raw(method, path, kind, body=None, each=False):
    """A body as it is on the wire; `each`: the elements of a list are of this kind."""
    response = client._client.request(method, BASE_URL + path, json=body)
    expect(response.status_code == 200, f"{method} {path}: {response.status_code} {response.text}")
    value = response.json()
    if not each:
        return checked(kind, value)
    expect(value["object"] == "list", value)
    return [checked(kind, element) for element in value["data"]]


def code_of(call):
    """The status and the code of the error that a call raises."""
    try:
        call()
    except openai.APIStatusError as error:
        return error.status_code, error.code
    return None


def chunks_of(**members):
    with client._client.stream("POST", BASE_URL + "/chat/completions",
                               json={"model": MODEL, "stream": True, **members}) as response:
        lines = [line[6:] for line in response.iter_lines() if line.startswith("data: ")]
    expect(lines[-1] == "[DONE]", lines[-1])
    return [checked(chat.ChatCompletionChunk, json.loads(line)) for line in lines[:-1]]


def whole():
    for messages, more in [(USER, {}),
                           ([{"role": "user", "content": "think about rain"}], {}),
                           ([{"role": "user", "content": "add 2 and 3"}], {"tools": [ADD]})]:
        body = {"model": MODEL, "messages": messages, **more}
        completion = raw("POST", "/chat/completions", chat.ChatCompletion, body)
        again = completions.create(**body)
        expect(again.choices[0].message == completion.choices[0].message, "two answers differ")
        streamed = chunks_of(messages=messages, **more)
        text = "".join(chunk.choices[0].delta.content or "" for chunk in streamed)
        expect(text == (completion.choices[0].message.content or ""), text)
        expect(streamed[-1].choices[0].finish_reason == completion.choices[0].finish_reason, streamed[-1])


def streams():
    chunks = chunks_of(messages=USER, stream_options={"include_usage": True})
    expect(chunks[0].choices[0].delta.role == "assistant", chunks[0])
    expect(chunks[-1].choices == [] and chunks[-1].usage.total_tokens > 0, chunks[-1])
    expect(all("usage" in chunk.model_fields_set and chunk.usage is None for chunk in chunks[:-1]), "usage of chunks")
    with completions.stream(model=MODEL, messages=[{"role": "user", "content": "add 2 and 3"}], tools=[ADD]) as stream:
        for _ in stream:
            pass
        call = stream.get_final_completion().choices[0].message.tool_calls[0]
    expect(call.function.name == "add" and json.loads(call.function.arguments) == {"a": 2, "b": 3}, call)
    answer = completions.create(model=MODEL, tools=[ADD], messages=[
        {"role": "user", "content": "add 2 and 3"},
        {"role": "assistant", "content": None, "tool_calls": [call.model_dump(exclude={"parsed_arguments"})]},
        {"role": "tool", "tool_call_id": call.id, "content": "5"}])
    expect("5" in answer.choices[0].message.content, answer)


def stored():
    first = completions.create(model=MODEL, messages=USER, store=True, metadata={"topic": "x"})
    second = completions.create(model=MODEL, store=True, messages=[
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]}])
    expect(completions.retrieve(first.id) == first, "retrieve gives another completion")
    raw("GET", f"/chat/completions/{first.id}", chat.ChatCompletion)
    raw("GET", "/chat/completions", chat.ChatCompletion, each=True)
    expect([each.id for each in completions.list(metadata={"topic": "x"})] == [first.id], "the filter")
    ids = {each.id for each in completions.list(limit=1)}
    expect(ids == {first.id, second.id}, ids)
    # The SDK's type has the role "assistant" only.
    messages = client._client.get(f"{BASE_URL}/chat/completions/{second.id}/messages").json()["data"]
    expect([message["role"] for message in messages] == ["system", "user"], messages)
    for message in messages:
        checked(ChatCompletionStoreMessage, {**message, "role": "assistant"})
    expect(completions.update(first.id, metadata={"topic": "y"}).metadata == {"topic": "y"}, "update")
    raw("DELETE", f"/chat/completions/{first.id}", chat.ChatCompletionDeleted)
    expect(code_of(lambda: completions.retrieve(first.id)) == (404, "chat_completion_not_found"), "it is still there")


ITEMS = [
    {"type": "message", "role": "user", "content": "one"},
    {"role": "developer", "content": [{"type": "input_text", "text": "two"}]},
    {"role": "user", "content": [{"type": "input_image", "image_url": "https://example.com/a.png"},
                                 {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,QQ=="}]},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
    {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "x"},
    {"type": "custom_tool_call", "call_id": "c2", "name": "g", "input": "y"},
    {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "z"}]},
    {"type": "message", "role": "assistant", "content": "done", "phase": "final_answer"},
]


def conversation():
    made = raw("POST", "/conversations", conversations.Conversation, {"metadata": {"a": "b"}, "items": ITEMS[:3]})
    page = client._client.post(f"{BASE_URL}/conversations/{made.id}/items", json={"items": ITEMS[3:]}).json()
    checked(conversations.ConversationItemList, page)
    page = client._client.get(f"{BASE_URL}/conversations/{made.id}/items", params={"order": "asc"}).json()
    items = checked(conversations.ConversationItemList, page).data
    expect([item.type for item in items][3:7] == ["reasoning", "function_call", "function_call_output", "custom_tool_call"], items)
    listed = [item.id for item in client.conversations.items.list(made.id, limit=2)]
    expect(listed == [item.id for item in reversed(items)], listed)
    for item in items:
        raw("GET", f"/conversations/{made.id}/items/{item.id}", conversations.ConversationItem)
    raw("GET", f"/conversations/{made.id}", conversations.Conversation)
    raw("POST", f"/conversations/{made.id}", conversations.Conversation, {"metadata": {}})
    raw("GET", "/conversations", conversations.Conversation, each=True)
    raw("DELETE", f"/conversations/{made.id}/items/{items[0].id}", conversations.Conversation)
    raw("DELETE", f"/conversations/{made.id}", conversations.ConversationDeletedResource)
    empty = client.conversations.create(items=[])
    expect(list(client.conversations.items.list(empty.id, order="asc")) == [], "an empty conversation has items")
    expect(code_of(lambda: client.conversations.retrieve(made.id)) == (404, "conversation_not_found"), "it is still there")


def models():
    raw("GET", "/models", Model, each=True)
    expect(MODEL in [model.id for model in client.models.list()], "the model is not listed")
    raw("GET", f"/models/{MODEL}", Model)
    expect(code_of(lambda: client.models.retrieve("a/b")) == (404, "model_not_found"), "a model that does not exist")


def errors():
    for expected, members in [
        ((404, "model_not_found"), {"model": "none", "messages": USER}),
        ((400, "missing_required_parameter"), {"model": MODEL, "messages": None}),
        ((400, "empty_array"), {"model": MODEL, "messages": []}),
        ((400, "unsupported_value"), {"model": MODEL, "messages": USER, "n": 2}),
        ((400, "unknown_role"), {"model": MODEL, "messages": [{"role": "robot", "content": "x"}]}),
    ]:
        got = code_of(lambda given=members: completions.create(**given))
        expect(got == expected, f"{members}: {got}")
    expect(code_of(lambda: client.files.list()) == (404, "unknown_path"), "files")


for check in (whole, streams, stored, conversation, models, errors):
    check()
print("valid:", ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
