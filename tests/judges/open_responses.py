"""The judge of open_responses.sh: the 17 cases of Open Responses, written from its specification.

  open_responses.py ADDRESS MODEL [--may-be-cut] [CASE...]

The named cases are left out: what the model cannot do. With --may-be-cut an answer may be incomplete because it is long: a
small model may talk on.

Nine cases go over HTTP, seven over a WebSocket, one checks the schema itself. Every body and every event must fit the
models of openai-python, strictly, and have every member that the specification requires.
"""
import asyncio
import json
import sys
import urllib.error
import urllib.request

import pydantic
import websockets
from openai.types.responses import CompactedResponse, Response, ResponseStreamEvent

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
MEMBERS = """id object created_at completed_at status incomplete_details model previous_response_id instructions output error
tools tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature reasoning
usage max_output_tokens max_tool_calls store background service_tier metadata safety_identifier prompt_cache_key""".split()
TOOL_MEMBERS = "type name description parameters strict".split()
FINAL = ("response.completed", "response.failed", "response.incomplete")
ADAPTERS = {type_: pydantic.TypeAdapter(type_) for type_ in (Response, CompactedResponse, ResponseStreamEvent)}

address, model = sys.argv[1:3]
MAY_BE_CUT = "--may-be-cut" in sys.argv
LEFT_OUT = sys.argv[3:]


class Wrong(Exception):
    pass


def expect(holds, what):
    if not holds:
        raise Wrong(what)


# ---- Shapes


def fits(type_, body):
    try:
        ADAPTERS[type_].validate_json(json.dumps(body), strict=True)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        raise Wrong(f"{getattr(type_, '__name__', 'event')}: {first['loc']}: {first['msg']}") from None


def check_response(body, status="completed"):
    missing = [member for member in MEMBERS if member not in body]
    expect(not missing, f"the response lacks {missing}")
    for tool in body["tools"]:
        expect(all(member in tool for member in TOOL_MEMBERS), f"the tool lacks a member: {tool}")
    for item in body["output"]:
        expect(item.get("id") and item.get("type"), f"an item lacks its id or its type: {item}")
    fits(Response, body)
    is_cut = MAY_BE_CUT and (body["incomplete_details"] or {}).get("reason") == "max_output_tokens"
    expect(body["status"] == ("incomplete" if is_cut else status), f"the status is {body['status']}")
    expect(status != "completed" or body["output"], "there is no output")
    return body


def check_events(events):
    """Their order and numbers; returns the response of the last one."""
    expect(events, "there are no events")
    for number, event in enumerate(events):
        fits(ResponseStreamEvent, event)
        expect(event["sequence_number"] == number, f"event {number} has the number {event['sequence_number']}")
    types = [event["type"] for event in events]
    expect(types[:2] == ["response.created", "response.in_progress"], f"it begins with {types[:2]}")
    expect(types[-1] in FINAL and not set(types[:-1]) & set(FINAL), f"it ends with {types[-1]}")
    text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    done = "".join(event["text"] for event in events if event["type"] == "response.output_text.done")
    final = check_response(events[-1]["response"])
    said = "".join(part["text"] for item in final["output"] if item["type"] == "message" for part in item["content"])
    expect(text == done == said, f"the deltas say {text!r}, the end {done!r}, the response {said!r}")
    opened = [event["item"]["id"] for event in events if event["type"] == "response.output_item.added"]
    closed = [event["item"]["id"] for event in events if event["type"] == "response.output_item.done"]
    expect(opened == closed == [item["id"] for item in final["output"]], "the items of the events are not those of the response")
    return final


# ---- HTTP


def post(path, body, status=200):
    request = urllib.request.Request(address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            got, text, kind = answer.status, answer.read().decode(), answer.headers["Content-Type"]
    except urllib.error.HTTPError as error:
        got, text, kind = error.code, error.read().decode(), error.headers["Content-Type"]
    expect(got == status, f"HTTP {got}: {text[:200]}")
    return text if kind.startswith("text/event-stream") else json.loads(text)


def said(role, content, **others):
    return {"type": "message", "role": role, "content": content, **others}


def ask(items, **others):
    return check_response(post("/v1/responses", {"model": model, "input": items, **others}))


def basic():
    ask([said("user", "Greet me with three words.")])


def assistant_phase():
    ask([said("assistant", "Let me look it up.", phase="commentary"), said("assistant", "It is seven.", phase="final_answer"),
         said("user", "Say it again.")])


def output_phase_schema():
    body = ask("hello")
    message = body["output"][-1]
    body["output"] = [{**message, "id": f"msg_{phase}", "phase": phase} for phase in ("commentary", "final_answer")]
    check_response(body)
    body["output"][0]["phase"] = "nonsense"
    try:
        fits(Response, body)
    except Wrong:
        return
    raise Wrong("a phase that does not exist fits the schema")


def streaming():
    text = post("/v1/responses", {"model": model, "input": [said("user", "Count to five.")], "stream": True})
    frames = [frame.split("\n") for frame in text.strip().split("\n\n") if not frame.startswith(":")]
    expect(frames.pop() == ["data: [DONE]"], "the stream does not end with [DONE]")
    events = []
    for frame in frames:
        fields = dict(line.split(": ", 1) for line in frame)
        events.append(json.loads(fields["data"]))
        expect(fields["event"] == events[-1]["type"], f"event: {fields['event']} has the type {events[-1]['type']}")
    check_events(events)


def system_prompt():
    ask([said("system", "Talk like a sailor."), said("user", "Hello.")])


def tool_calling():
    tool = {"type": "function", "name": "get_time", "description": "The time of a city",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    body = ask([said("user", "what time is it in Oslo?")], tools=[tool])
    calls = [item for item in body["output"] if item["type"] == "function_call"]
    expect(calls and calls[0]["name"] == "get_time" and calls[0]["call_id"], f"no call of the function: {body['output']}")
    json.loads(calls[0]["arguments"])


def image_input():
    ask([said("user", [{"type": "input_text", "text": "What is this?"},
                       {"type": "input_image", "image_url": "data:image/png;base64," + PNG}])])


def multi_turn():
    ask([said("user", "I am Bo."), said("assistant", "Hello Bo."), said("user", "Who am I?")])


HISTORY = [said("user", "The meeting is on Monday."), said("assistant", "Noted: Monday.")]


def compaction(items=None):
    body = post("/v1/responses/compact", {"model": model, "input": items or HISTORY, "prompt_cache_key": "judge"})
    expect(body["object"] == "response.compaction", f"the object is {body['object']}")
    made = [item for item in body["output"] if item["type"] == "compaction"]
    expect(len(made) == 1 and made[0]["id"] and made[0]["encrypted_content"], f"no compaction: {body['output']}")
    # The SDK's type of the output has no messages of the user, which are kept beside the compaction.
    fits(CompactedResponse, {**body, "output": made})
    return body


def compaction_without_model():
    error = post("/v1/responses/compact", {"input": HISTORY}, 400)["error"]
    expect(error["param"] == "model", f"the error is at {error['param']}")


# ---- WebSocket


async def turn(socket, text, **others):
    """One request: its events, or the error."""
    items = text if isinstance(text, list) else [said("user", text)]
    await socket.send(json.dumps({"type": "response.create", "model": model, "input": items, **others}))
    events = []
    while True:
        event = json.loads(await asyncio.wait_for(socket.recv(), 30))
        if event["type"] == "error":
            expect(isinstance(event["status"], int) and {"code", "message"} <= event["error"].keys(), f"the error is {event}")
            return event["error"]
        events.append(event)
        if event["type"] in FINAL:
            return events


def connect():
    return websockets.connect(address.replace("http", "ws", 1) + "/v1/responses", additional_headers={"Authorization": "Bearer none"})


def expect_missing(answer):
    expect(isinstance(answer, dict) and answer["code"] == "previous_response_not_found", f"not an error of a missing response: {answer}")


async def socket_response():
    async with connect() as socket:
        check_events(await turn(socket, "Count to three."))


async def socket_sequence():
    async with connect() as socket:
        ids = {check_events(await turn(socket, text, store=False))["id"] for text in ("first", "second")}
        expect(len(ids) == 2, "two responses have one id")


async def socket_continuation():
    async with connect() as socket:
        first = check_events(await turn(socket, "The word is cedar.", store=False))
        second = check_events(await turn(socket, "Which word?", store=False, previous_response_id=first["id"]))
        expect(second["previous_response_id"] == first["id"], "the second does not name the first")


async def socket_reconnect():
    async with connect() as socket:
        first = check_events(await turn(socket, "The word is birch.", store=False))
    async with connect() as socket:
        expect_missing(await turn(socket, "Which word?", store=False, previous_response_id=first["id"]))
        check_events(await turn(socket, "Begin again.", store=False))


async def socket_missing_previous():
    async with connect() as socket:
        expect_missing(await turn(socket, "Go on.", store=False, previous_response_id="resp_missing"))


async def socket_eviction():
    async with connect() as socket:
        first = check_events(await turn(socket, "The word is maple.", store=False))
        result = [{"type": "function_call_output", "call_id": "call_missing", "output": "nothing"}]
        failed = await turn(socket, result, store=False, previous_response_id=first["id"])
        expect(isinstance(failed, dict) or failed[-1]["type"] == "response.failed", "a result without its call is taken")
        expect_missing(await turn(socket, "Which word?", store=False, previous_response_id=first["id"]))


async def socket_compaction():
    output = compaction()["output"]
    async with connect() as socket:
        check_events(await turn(socket, [*output, said("user", "Go on from here.")], store=False, tools=[]))


CASES = [basic, assistant_phase, output_phase_schema, streaming, system_prompt, tool_calling, image_input, multi_turn, compaction,
         compaction_without_model, socket_response, socket_sequence, socket_continuation, socket_reconnect, socket_missing_previous,
         socket_eviction, socket_compaction]


def main():
    failed = 0
    cases = [case for case in CASES if case.__name__ not in LEFT_OUT]
    for case in cases:
        try:
            result = case()
            if asyncio.iscoroutine(result):
                asyncio.run(result)
            print("passes", case.__name__)
        except (Wrong, KeyError, OSError, ValueError, asyncio.TimeoutError, websockets.WebSocketException) as error:
            failed += 1
            print("FAILS", case.__name__, f"{type(error).__name__}: {error}")
    print(f"open_responses: {len(cases) - failed} of {len(cases)} cases pass")
    return failed != 0


sys.exit(main())
