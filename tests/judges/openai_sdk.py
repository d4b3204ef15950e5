"""The judge of openai_sdk.sh: a pytest plugin beside the resource tests of openai-python.

The tests name objects that a fresh server does not have (`resp_677efb5139a88190b512bc3fef8e535d`, `conv_123`,
`completion_id`). Ids of Parley say where the object is stored, so a client cannot choose them: the plugin makes each
object when a test first names it, over HTTP, and puts its id where the test has the name. Every test gets new objects.
Items keep the ids that clients give them; `msg_abc` and `after` are created as such. Nothing else of a request changes.

$PARLEY is the address of the server. Fails unless exactly the tests of REFUSED fail.
"""
import collections
import json
import os
import urllib.request

import openai._base_client
import pytest

LEAST_PASSED = 480

# Tests that must fail, by the names of their functions, with the reason.
BOTH = "sends conversation and previous_response_id: 400, as OpenAI's server does"
USERS = "the SDK's type for a compacted history has no messages of the user, which OpenAI's answer keeps as well"
REFUSED = {
    "test_responses.py::test_method_create_with_all_params_overload_1": BOTH,
    "test_responses.py::test_method_create_with_all_params_overload_2": BOTH,
    "test_responses.py::test_method_compact_with_all_params": USERS,
}

# ---- Objects


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["PARLEY"] + path, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def message(item_id):
    return {"type": "message", "role": "user", "content": "hello", "id": item_id}


def conversation():
    return call("POST", "/v1/conversations", {"items": [message("msg_abc"), message("after")]})["id"]


def response():
    """One of the background, which is the kind that can be cancelled."""
    body = {"model": "rehearsal", "input": [message("after"), message("msg_abc")], "background": True}
    made = call("POST", "/v1/responses", body)["id"]
    with urllib.request.urlopen(f"{os.environ['PARLEY']}/v1/responses/{made}?stream=true", timeout=30) as events:
        events.read()  # to its end
    return made


def completion():
    """With messages of the assistant only: the SDK's type for stored messages has no other role."""
    messages = [{"role": "assistant", "content": "hello"}, {"role": "assistant", "content": "there"}]
    return call("POST", "/v1/chat/completions", {"model": "rehearsal", "messages": messages, "store": True})["id"]


MAKERS = {
    "conv_123": conversation, "string": conversation,
    "resp_677efb5139a88190b512bc3fef8e535d": response, "resp_123": response, "response_id": response,
    "previous_response_id": response,
    "completion_id": completion,
}
made = {}  # of the running test, by the name it uses


def id_of(name):
    if name in MAKERS and name not in made:
        made[name] = MAKERS[name]()
    return made.get(name, name)


def cursor_of(url):
    """`after` is an item of conversations and responses; completions and their messages have ids of their own."""
    if url.endswith("/messages"):
        return call("GET", "/v1" + url)["data"][0]["id"]
    return id_of("completion_id") if url == "/chat/completions" else "after"


build_request = openai._base_client.BaseClient._build_request


def build(self, options, **others):
    url = "/".join(id_of(part) for part in options.url.split("/"))
    changed = {"url": url}
    if isinstance(options.params, dict) and options.params.get("after") == "after":
        changed["params"] = {**options.params, "after": cursor_of(url)}
    if isinstance(options.json_data, dict):
        ids = {key: id_of(options.json_data[key]) for key in ("conversation", "previous_response_id") if key in options.json_data}
        changed["json_data"] = {**options.json_data, **ids}
    return build_request(self, options.model_copy(update=changed), **others)


openai._base_client.BaseClient._build_request = build

# ---- Outcomes

failed = {}
passed = []


def short_name(nodeid):
    path, _, function = nodeid.removeprefix("tests/api_resources/").split("::")
    return path + "::" + function.partition("[")[0]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    made.clear()


def pytest_runtest_logreport(report):
    if report.failed:
        reason = getattr(getattr(report.longrepr, "reprcrash", None), "message", str(report.longrepr))
        failed[report.nodeid] = " ".join(reason.split())[:300]
    elif report.when == "call" and report.passed:
        passed.append(report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    wrong = [f"FAILED {test}: {why}" for test, why in failed.items() if short_name(test) not in REFUSED]
    wrong += [f"PASSED, but is listed as refused: {test}" for test in passed if short_name(test) in REFUSED]
    print("\n")
    print("\n".join(wrong))
    for reason, count in collections.Counter(REFUSED[short_name(test)] for test in failed if short_name(test) in REFUSED).items():
        print(f"openai_sdk: {count} refused: {reason}")
    print(f"openai_sdk: {len(passed)} of {len(passed) + len(failed)} pass")
    session.exitstatus = 1 if wrong or len(passed) < LEAST_PASSED else 0
