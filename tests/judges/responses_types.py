"""The judge of responses_types.sh: bodies and events of Parley's Responses API, checked by the SDK's models.

  responses_types.py SAMPLES

A line of SAMPLES is {"is": "response" | "event" | "items", "json"}. Each JSON must be valid for the model, in pydantic's strict
mode, and have no member that the model does not know, but for those that other clients ask for (EXTRA).
"""
import collections
import json
import sys

import pydantic
from openai.types import responses

from sdk_members import unknown_members

MODELS = {
    "response": pydantic.TypeAdapter(responses.Response),
    "event": pydantic.TypeAdapter(responses.ResponseStreamEvent),
    "items": pydantic.TypeAdapter(responses.response_item_list.ResponseItemList),
}
# Open Responses wants the first three in every response; OpenAI sends the status of custom calls.
EXTRA = {
    "Response": {"presence_penalty", "frequency_penalty", "store"},
    "ResponseCustomToolCall": {"status"},
}
# Why an answer is incomplete, beside OpenAI's reasons.
OWN_REASONS = ("client_disconnected", "interrupted")


def with_known_reason(value):
    """The same with a reason that the SDK's type lists, where it is one of ours."""
    response = value.get("response", value)
    details = response.get("incomplete_details") if isinstance(response, dict) else None
    if details and details["reason"] in OWN_REASONS:
        details["reason"] = "max_output_tokens"
    return value


def check_sequence(numbers, event):
    """sequence_number counts from 0 without a gap."""
    number = event["sequence_number"]
    if event["type"] == "response.created":
        numbers.clear()
    numbers.append(number)
    if numbers != list(range(len(numbers))):
        raise ValueError(f"sequence_number {number} follows {numbers[:-1]}")


def main():
    counts = collections.Counter()
    statuses = collections.Counter()
    numbers = []
    failures = 0
    with open(sys.argv[1], encoding="utf-8") as lines:
        for place, line in enumerate(lines, 1):
            sample = json.loads(line)
            kind, value = sample["is"], sample["json"]
            try:
                if kind == "event":
                    check_sequence(numbers, value)
                    counts[value["type"]] += 1
                if kind == "response":
                    statuses[value["status"]] += 1
                    missing = set(responses.Response.model_fields) & REQUIRED - set(value)
                    if missing:
                        raise ValueError(f"missing: {missing}")
                model = MODELS[kind].validate_json(json.dumps(with_known_reason(value)), strict=True)
                unknown = list(unknown_members(model, EXTRA))
                if unknown:
                    raise ValueError(f"unknown members: {unknown}")
            except (ValueError, pydantic.ValidationError) as error:
                failures += 1
                if failures <= 5:
                    print(f"line {place}: {error}\n  {json.dumps(value)[:2000]}", file=sys.stderr)
    if set(statuses) != {"completed", "failed", "in_progress", "cancelled", "queued", "incomplete"}:
        print(f"not every status was met: {dict(statuses)}", file=sys.stderr)
        failures += 1
    if failures:
        sys.exit(f"responses_types.py: {failures} samples are not what the SDK's types say")
    print(f"{sum(statuses.values())} responses {dict(statuses)}, {sum(counts.values())} events of {len(counts)} types: valid")


# Present in every response, null or not.
REQUIRED = {
    "id", "object", "created_at", "completed_at", "status", "incomplete_details", "model", "previous_response_id",
    "instructions", "output", "error", "tools", "tool_choice", "truncation", "parallel_tool_calls", "text", "top_p",
    "top_logprobs", "temperature", "reasoning", "usage", "max_output_tokens", "max_tool_calls", "background", "service_tier",
    "metadata", "safety_identifier", "prompt_cache_key",
}

if __name__ == "__main__":
    main()
