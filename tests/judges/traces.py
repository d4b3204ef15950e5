"""A receiver of traces that knows the protocol by its own definitions: traces.py PROGRAM

Starts an HTTP server on the loopback address, runs PROGRAM with its URL, and reads what came with protobuf's JSON
mapping, which refuses unknown members and wrong types. Then it checks what the protocol and the conventions ask for
beyond that, and that it would have noticed mistakes.
"""

import base64
import copy
import http.server
import json
import subprocess
import sys
import threading

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from opentelemetry.semconv import schemas
from opentelemetry.semconv._incubating.attributes import error_attributes, gen_ai_attributes, server_attributes

OWN = "parley."


class Receiver(http.server.BaseHTTPRequestHandler):
    seen = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.seen.append((self.path, self.headers["Content-Type"], body))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def known_names():
    modules = (gen_ai_attributes, error_attributes, server_attributes)
    return {value for module in modules for name, value in vars(module).items() if name.isupper() and isinstance(value, str)}


def spans_of(document):
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def read(document):
    """The message of a document. OTLP has ids in hexadecimal where protobuf's mapping has base64."""
    document = copy.deepcopy(document)
    for span in spans_of(document):
        for name, size in (("traceId", 16), ("spanId", 8), ("parentSpanId", 8)):
            if name not in span:
                continue
            raw = bytes.fromhex(span[name])
            assert len(raw) == size and span[name] == raw.hex() and any(raw), name
            span[name] = base64.b64encode(raw).decode()
    return json_format.ParseDict(document, ExportTraceServiceRequest())


def judge(document):
    (resource,) = read(document).resource_spans
    names = {attribute.key: attribute.value.string_value for attribute in resource.resource.attributes}
    assert names["service.name"] == "parley", names
    (scope,) = resource.scope_spans
    assert scope.schema_url in {schema.value for schema in schemas.Schemas}, scope.schema_url
    known = known_names()
    for span in scope.spans:
        keys = [attribute.key for attribute in span.attributes]
        assert len(keys) == len(set(keys)), keys
        for key in keys:
            assert key in known or key.startswith(OWN), f"{key} is no attribute of the conventions"
        for attribute in span.attributes:
            assert attribute.value.WhichOneof("value"), attribute.key
        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
    return {span.name: span for span in scope.spans}


def value(span, key):
    (found,) = [attribute.value for attribute in span.attributes if attribute.key == key]
    return found


def judge_run(spans, traceparent):
    agent, chat, tool = spans["invoke_agent manus"], spans["chat gpt-4o"], spans["execute_tool weather"]
    _, trace, span, flags = traceparent.split("-")
    assert agent.trace_id.hex() == trace and agent.span_id.hex() == span and flags == "01"
    assert not agent.parent_span_id
    for child in (chat, tool):
        assert child.trace_id == agent.trace_id and child.parent_span_id == agent.span_id
        assert agent.start_time_unix_nano <= child.start_time_unix_nano
        assert child.end_time_unix_nano <= agent.end_time_unix_nano
    assert (agent.kind, chat.kind, tool.kind) == (Span.SPAN_KIND_INTERNAL, Span.SPAN_KIND_CLIENT, Span.SPAN_KIND_INTERNAL)
    assert value(agent, "gen_ai.usage.input_tokens").int_value == 2**63 - 1
    assert value(agent, "gen_ai.request.temperature").double_value == 1.0
    assert value(agent, "gen_ai.request.model").string_value == "\u0001 \u2028 \U0001F600 </script>"
    reasons = value(agent, "gen_ai.response.finish_reasons").array_value.values
    assert [reason.string_value for reason in reasons] == ["stop", "", '\0"\\']
    content = json.loads(value(agent, "gen_ai.input.messages").string_value)
    assert content[0]["parts"][0]["content"] == '\U0001F600 "quoted"\n', content
    said = json.loads(value(chat, "gen_ai.output.messages").string_value)
    assert said[0]["finish_reason"] == "tool_call" and said[0]["parts"][-1]["arguments"] == {"city": "Oslo"}, said
    assert json.loads(value(chat, "gen_ai.tool.definitions").string_value)[0]["name"] == "weather"
    assert tool.status.code == Status.STATUS_CODE_ERROR and tool.status.message == "no window"
    assert chat.status.code == Status.STATUS_CODE_UNSET
    return len(spans)


def spoil(change):
    def spoiled(document):
        document = copy.deepcopy(document)
        change(next(spans_of(document)))
        return document

    return spoiled


# What a judge must not let pass.
MISTAKES = [
    spoil(lambda span: span.update(startTimeUnixNano="soon")),
    spoil(lambda span: span.update(kind="CLIENT")),
    spoil(lambda span: span.update(spanId="00" * 8)),
    spoil(lambda span: span.update(traceId=span["traceId"].upper().replace("0", "A"))),
    spoil(lambda span: span.update(trace_flags=1)),
    spoil(lambda span: span["attributes"].append({"key": "gen_ai.mood", "value": {"stringValue": "x"}})),
    spoil(lambda span: span["attributes"].append({"key": "gen_ai.request.seed", "value": {"intValue": "x"}})),
    spoil(lambda span: span["attributes"].append({"key": "parley.x", "value": {"text": "x"}})),
    spoil(lambda span: span["attributes"].append({"key": "parley.x", "value": {}})),
]


def main(program):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    traceparent = subprocess.run([program, url], check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout.strip()
    server.shutdown()
    ((path, kind, body),) = Receiver.seen
    assert path == "/v1/traces" and kind == "application/json", (path, kind)
    document = json.loads(body)
    count = judge_run(judge(document), traceparent)
    for number, mistake in enumerate(MISTAKES):
        try:
            judge(mistake(document))
        except (AssertionError, json_format.ParseError, ValueError):
            continue
        sys.exit(f"traces: mistake {number} was not found")
    print(f"traces: {count} spans read by OpenTelemetry's definitions, {len(MISTAKES)} planted mistakes found")


main(sys.argv[1])
