"""The judge of responses_types.sh: OpenAI's SDK as a client of `parley serve`, with the offline model.

  responses_client.py ADDRESS

ADDRESS is a file with what `parley serve --json` prints. Every answer is checked by the SDK's models (strict validation).
"""
import json
import sys

import openai
from openai.lib.responses_websocket import ResponsesWebSocketLimits, ResponsesWebSocketSession

with open(sys.argv[1], encoding="utf-8") as file:
    BASE_URL = json.loads(file.readline())["base_url"]
MODEL = "rehearsal"
ADD = {
    "type": "function",
    "name": "add",
    "description": "Adds two numbers",
    "parameters": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
}

client = openai.OpenAI(base_url=BASE_URL, api_key="none", max_retries=0, _strict_response_validation=True)
responses = client.responses


def expect(condition, what):
    if not condition:
        sys.exit(f"responses_client.py: {what}")


def code_of(call):
    """The status and the code of the error that a call raises."""
    try:
        call()
    except openai.APIStatusError as error:
        return error.status_code, error.code
    return None


def whole():
    first = responses.create(model=MODEL, input="My name is Ada.", metadata={"topic": "names"})
    expect(first.output_text == "Rehearsal heard: My name is Ada.", first.output_text)
    expect(first.metadata == {"topic": "names"}, first.metadata)
    second = responses.create(model=MODEL, input="add 2 and 3", tools=[ADD], previous_response_id=first.id)
    call = second.output[-1]
    expect(call.type == "function_call" and call.name == "add", second.output)
    third = responses.create(
        model=MODEL,
        tools=[ADD],
        previous_response_id=second.id,
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "5"}],
    )
    expect("5" in third.output_text, third.output_text)
    expect(responses.retrieve(third.id) == third, "retrieve gives another response")
    items = list(responses.input_items.list(third.id))
    expect([item.type for item in items] == ["function_call_output"], items)
    return first


def streams():
    events = list(responses.create(model=MODEL, input="think about music", stream=True))
    kinds = [event.type for event in events]
    expect(kinds[0] == "response.created" and kinds[-1] == "response.completed", kinds)
    expect("response.reasoning_summary_text.delta" in kinds and "response.output_text.delta" in kinds, kinds)
    expect([event.sequence_number for event in events] == list(range(len(events))), "sequence numbers")
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    expect(text == events[-1].response.output_text, text)
    name = events[0].response.id
    again = list(responses.retrieve(name, stream=True))
    expect(again == events, "a replay gives other events")
    rest = list(responses.retrieve(name, stream=True, starting_after=3))
    expect(rest == events[4:], "starting_after gives other events")
    with responses.stream(model=MODEL, input="add 2 and 3", tools=[ADD]) as stream:
        for _ in stream:
            pass
        expect(stream.get_final_response().output[-1].type == "function_call", "the helper misses the call")


def references():
    first = responses.create(model=MODEL, input="one")
    reference = {"type": "item_reference", "id": first.output[0].id}
    second = responses.create(model=MODEL, input=[{"role": "user", "content": "one"}, reference, reference,
                                                  {"role": "user", "content": "two"}])
    kinds = [item.role for item in responses.input_items.list(second.id, order="asc")]
    expect(kinds == ["user", "assistant", "user"], kinds)


def conversations():
    conversation = client.conversations.create(items=[])
    first = responses.create(model=MODEL, input="hello", conversation=conversation.id)
    expect(first.conversation.id == conversation.id, first.conversation)
    items = list(client.conversations.items.list(conversation.id, order="asc"))
    expect([item.role for item in items] == ["user", "assistant"], items)
    expect(items[1].id == first.output[0].id, items)


def background():
    queued = responses.create(model=MODEL, input="hello", background=True)
    expect(queued.status == "queued", queued.status)
    for _ in range(1000):
        done = responses.retrieve(queued.id)
        if done.status not in ("queued", "in_progress"):
            break
    expect(done.status == "completed" and done.output_text, done)
    expect(responses.cancel(queued.id).status == "completed", "a final status changes")


def others(first):
    count = responses.input_tokens.count(model="gpt-4o", input="hello", previous_response_id=first.id)
    expect(count.input_tokens > 5, count)
    compacted = client.responses.with_raw_response.compact(model=MODEL, input="Remember the word slate.")
    output = json.loads(compacted.text)["output"]
    expect([item["type"] for item in output] == ["message", "compaction"], output)
    later = responses.create(model=MODEL, input=[*output, {"role": "user", "content": "Which word?"}])
    expect(later.status == "completed", later)
    responses.delete(first.id)
    expect(code_of(lambda: responses.retrieve(first.id)) == (404, "response_not_found"), "a deleted response is there")


def errors():
    create = responses.create
    for expected, members in [
        ((404, "model_not_found"), {"model": "none", "input": "x"}),
        ((400, "previous_response_not_found"), {"model": MODEL, "input": "x", "previous_response_id": "resp_none"}),
        ((404, "conversation_not_found"), {"model": MODEL, "input": "x", "conversation": "conv_none"}),
        ((400, "mutually_exclusive_parameters"),
         {"model": MODEL, "input": "x", "conversation": "c", "previous_response_id": "resp_none"}),
        ((400, "invalid_value"), {"model": MODEL, "input": "x", "temperature": 3}),
        ((404, "item_not_found"), {"model": MODEL, "input": [{"type": "item_reference", "id": "msg_x.0"}]}),
    ]:
        got = code_of(lambda given=members: create(**given))
        expect(got == expected, f"{members}: {got}")


def websocket():
    with responses.connect() as connection:
        def ask(**members):
            connection.response.create(model=MODEL, **members)
            events = []
            for event in connection:
                events.append(event)
                if event.type in ("response.completed", "response.failed", "response.incomplete", "error"):
                    return events
            return events

        first = ask(input="one", store=False)[-1].response
        second = ask(input="two", store=False, previous_response_id=first.id)
        expect(second[-1].type == "response.completed", second[-1])
        expect([event.sequence_number for event in second] == list(range(len(second))), "sequence numbers")
        missing = ask(input="x", store=False, previous_response_id="resp_none")[-1]
        expect(missing.type == "error" and missing.error.code == "previous_response_not_found", missing)


def lanes():
    limits = ResponsesWebSocketLimits(max_lanes=4, max_events_per_lane=100, max_events=200, max_bytes_per_lane=1 << 20,
                                      max_bytes=2 << 20, max_response_bytes=None)
    with responses.connect() as connection, ResponsesWebSocketSession(connection, limits=limits) as session:
        lanes = [session.lane("a"), session.lane("b")]
        for lane in lanes:
            lane.send({"type": "response.create", "model": MODEL, "input": "hello", "store": False})
        for lane in lanes:
            expect(lane.get_final_response(timeout=30).status == "completed", "a lane gets no response")
            lane.close()


first_response = whole()
for check in (streams, references, conversations, background, errors, websocket, lanes):
    check()
others(first_response)
print("the SDK is content with every route and the WebSocket")
