"""The judge of sdk_types.sh: bodies made of the types of the providers' own SDKs, read and converted by Parley.

  sdk_types.py PARLEY FOLDER

A body is made from its type alone, in three forms: with what is required, with all members, and with null for every
member that is not required. Every variant of every union stands in at least one body. Bodies are judged as they are:

  1. `convert --from D --to D` gives every byte back.
  2. By way of `parley` it comes back as the same JSON.
  3. `convert --repair` takes it to every other provider. What goes to Converse is checked by AWS's service model.
"""
import base64
import collections
import functools
import inspect
import json
import logging
import pathlib
import subprocess
import sys
import types as python_types
import typing

import anthropic
import botocore.serialize
import botocore.session
import botocore.validate
import httpx
import ollama
import openai.types.chat
import openai.types.chat.completion_create_params
import openai.types.responses
import openai.types.responses.response_create_params
import pydantic
import typing_extensions
from google import genai

DIALECTS = ("openai", "responses", "anthropic", "gemini", "ollama", "converse", "deepseek", "moonshot", "dashscope")
FORMS = ("required", "all", "nulls")
MOST_DEPTH = 7

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
STRINGS = {
    "arguments": '{"a":1}',
    "call_id": "call_1", "tool_call_id": "call_1", "tool_use_id": "call_1", "toolUseId": "call_1",
    "name": "tool_1",
    "data": PNG,
    "file_data": "data:application/pdf;base64,JVBERi0=",
    "url": "https://example.com/a.png", "image_url": "https://example.com/a.png",
    "file_url": "https://example.com/a.pdf", "file_uri": "gs://bucket/a.png", "fileUri": "gs://bucket/a.png",
    "media_type": "image/png", "mime_type": "image/png", "mimeType": "image/png",
    "model": "model-1", "modelId": "model-1",
    "schema": '{"type":"object"}',
}
# Types that have any string for a role.
ROLES = {genai.types.Content: typing.Literal["user", "model"],
         ollama.Message: typing.Literal["user", "assistant", "system", "tool"]}


# ---- Values of a type


class Maker:
    """Makes one value of a type. Unions take the variant that `chosen` has for their name, else the first; all that
    were met are in `met`."""

    def __init__(self, form, chosen):
        self.form = form
        self.chosen = chosen
        self.met = {}

    def variant(self, name, variants):
        self.met[name] = len(variants)
        return variants[min(self.chosen.get(name, 0), len(variants) - 1)]

    def make(self, type_, name="", depth=0):
        origin = typing_extensions.get_origin(type_)
        args = typing_extensions.get_args(type_)
        if isinstance(type_, typing_extensions.TypeAliasType):
            return self.make(type_.__value__, name, depth)
        if origin in (typing.Annotated, typing_extensions.Required, typing_extensions.NotRequired, typing.Final):
            return self.make(args[0], name, depth)
        if origin in (typing.Union, python_types.UnionType):
            variants = [each for each in args if each is not type(None)]
            return self.make(self.variant((name, type_), variants), name, depth)
        if origin in (typing.Literal, typing_extensions.Literal):
            return self.variant((name, type_), args)
        if origin in (list, tuple, set, typing.Iterable) or (origin and issubclass(origin, collections.abc.Iterable)
                                                             and not issubclass(origin, collections.abc.Mapping)):
            return [self.make(args[0], name, depth + 1)] if depth < MOST_DEPTH else []
        if origin and issubclass(origin, collections.abc.Mapping):
            return {"a": self.make(args[1], name, depth + 1)} if depth < MOST_DEPTH else {}
        if inspect.isclass(type_) and typing_extensions.is_typeddict(type_):
            hints = hints_of(type_)
            return self.members({key: (hint, is_required(type_, key, hint)) for key, hint in hints.items()}, depth)
        if type_ is ollama.Image:  # a string on the wire
            return PNG
        if inspect.isclass(type_) and issubclass(type_, pydantic.BaseModel):
            fields = {field.alias or key: (field.annotation, field.is_required() or is_meant(type_, key))
                      for key, field in type_.model_fields.items()}
            if type_ in ROLES:
                fields["role"] = (ROLES[type_], True)
            return self.members(self.one_of(type_, fields), depth)
        return self.plain(type_, name)

    def one_of(self, type_, fields):
        """A part of Gemini's has one of several members."""
        if type_ is not genai.types.Part:
            return fields
        data = [key for key in fields if key in ("text", "inlineData", "fileData", "functionCall", "functionResponse",
                                                 "executableCode", "codeExecutionResult", "toolCall", "toolResponse")]
        kept = self.variant("part", sorted(data, key=lambda key: key != "text"))
        if self.form == "nulls":
            return {key: (hint, key == kept) for key, (hint, _) in fields.items()}
        return {key: (hint, key == kept) for key, (hint, _) in fields.items() if key == kept or key not in data}

    def members(self, fields, depth):
        made = {}
        for key, (hint, is_required) in fields.items():
            if is_required or (self.form == "all" and depth < MOST_DEPTH):
                made[key] = self.make(hint, key, depth + 1)
            elif self.form == "nulls":
                made[key] = None
        return made

    @staticmethod
    def plain(type_, name):
        if type_ is bool:
            return True
        if type_ is int:
            return 1
        if type_ is float:
            return 0.5
        if type_ is str:
            return STRINGS.get(name, "text")
        if inspect.isclass(type_) and issubclass(type_, bytes):
            return PNG
        if inspect.isclass(type_) and issubclass(type_, str):  # an enumeration
            return list(type_)[-1].value
        if getattr(type_, "__name__", "") == "datetime":
            return "2026-01-01T00:00:00Z"
        return {"a": 1}


@functools.cache
def hints_of(type_):
    return typing_extensions.get_type_hints(type_, include_extras=True)


def is_required(type_, key, hint):
    origin = typing_extensions.get_origin(hint)
    if origin in (typing_extensions.Required, typing_extensions.NotRequired):
        return origin is typing_extensions.Required
    return key in type_.__required_keys__


def is_meant(type_, key):
    """No member of Google's types is required, but without these there is nothing to say."""
    return type_.__module__.startswith("google") and key in ("parts", "role", "candidates", "content", "name")


def bodies(make, form):
    """make(maker) for as many makers as it takes that every variant of every union was chosen."""
    done = set()
    waiting = [{}]
    while waiting:
        chosen = waiting.pop()
        maker = Maker(form, chosen)
        yield make(maker)
        for name, count in maker.met.items():
            for index in range(1, count):
                if (name, index) not in done:
                    done.add((name, index))
                    waiting.append({**chosen, name: index})


# ---- The bodies of each SDK


def dumped(type_, form):
    """Answers as the SDK has them, dumped with all their nulls and without."""
    seen = set()
    for made in bodies(lambda maker: maker.make(type_), form):
        for dump in dumps(type_, made):
            if dump not in seen:
                seen.add(dump)
                yield dump


def dumps(type_, made):
    try:
        value = type_.model_validate(made)
    except pydantic.ValidationError:  # what is null must not be so for the type
        yield json.dumps(made)
        return
    for options in ({}, {"exclude_none": True}, {"by_alias": True}):
        yield value.model_dump_json(warnings=False, **options)


def plain(type_, form):
    for value in bodies(lambda maker: maker.make(type_), form):
        yield json.dumps(value)


def hello(dialect):
    text = {"gemini": {"parts": [{"text": "hello"}]}, "converse": {"content": [{"text": "hello"}]}}
    return {"role": "user", **text.get(dialect, {"content": "hello"})}


def echoed(type_, request, form):
    """What the model answered goes back to it as the SDK dumps it."""
    for answer in dumped(type_, form):
        if body := request(json.loads(answer)):
            yield json.dumps(body)


def openai_bodies(form):
    create = openai.types.chat.completion_create_params
    yield from plain(create.CompletionCreateParamsNonStreaming, form)
    yield from dumped(openai.types.chat.ChatCompletion, form)
    yield from echoed(openai.types.chat.ChatCompletion, lambda answer: {
        "model": "m", "messages": [hello("openai"), answer["choices"][0]["message"]]}, form)


def responses_bodies(form):
    create = openai.types.responses.response_create_params
    for body in plain(create.ResponseCreateParamsNonStreaming, form):
        yield json.dumps({**json.loads(body), "input": "hello"})
    for item in plain(openai.types.responses.ResponseInputItemParam, form):
        yield json.dumps({"model": "m", "input": [hello("responses"), json.loads(item)]})
    yield from dumped(openai.types.responses.Response, form)
    yield from echoed(openai.types.responses.Response, lambda answer: {
        "model": "m", "input": [hello("responses"), *answer["output"]], "tools": answer["tools"]}, form)


def anthropic_bodies(form):
    yield from plain(anthropic.types.message_create_params.MessageCreateParamsNonStreaming, form)
    yield from dumped(anthropic.types.Message, form)
    yield from echoed(anthropic.types.Message, lambda answer: {
        "model": "m", "max_tokens": 1,
        "messages": [hello("anthropic"), {"role": "assistant", "content": answer["content"]}]}, form)


def gemini_bodies(form):
    yield from dumped(genai.types.Content, form)
    for body in dumped(genai.types.GenerateContentResponse, form):
        if json.loads(body).get("candidates"):
            yield body
    for tool in dumped(genai.types.Tool, form):
        yield json.dumps({"contents": [hello("gemini")], "tools": [json.loads(tool)]})
        yield json.dumps({"contents": [hello("gemini")], "tools": json.loads(tool)})
    for config in dumped(genai.types.GenerationConfig, form):
        yield json.dumps({"contents": [hello("gemini")], "generationConfig": json.loads(config)})
        yield json.dumps({"contents": [hello("gemini")], "generation_config": json.loads(config)})
    for choice in dumped(genai.types.ToolConfig, form):
        yield json.dumps({"contents": [hello("gemini")], "toolConfig": json.loads(choice)})
    for content in dumped(genai.types.Content, form):
        system = {**json.loads(content), "role": None}
        if system["parts"][0].get("text"):  # there is no other system part
            yield json.dumps({"contents": [hello("gemini")], "systemInstruction": system})
    yield from gemini_sent(form)


def gemini_sent(form):
    """What the client sends for a configuration of its own type."""
    sent = []

    def answer(request):
        sent.append(request.content.decode())
        return httpx.Response(200, json={"candidates": []})
    options = genai.types.HttpOptions(httpx_client=httpx.Client(transport=httpx.MockTransport(answer)))
    client = genai.Client(api_key="none", http_options=options)
    refused = set()
    for config in bodies(lambda maker: maker.make(genai.types.GenerateContentConfig), form):
        config = {key: value for key, value in config.items() if key not in refused and key != "httpOptions"}
        while True:
            try:
                client.models.generate_content(model="m", contents="hello", config=config)
                break
            except (ValueError, TypeError, pydantic.ValidationError) as error:
                # It is not for this API: what the message names goes.
                named = [key for key in config if key in str(error) or snake(key) in str(error)]
                if not named:
                    break
                refused.update(named)
                config = {key: value for key, value in config.items() if key not in named}
    yield from sent


def snake(camel):
    return "".join("_" + c.lower() if c.isupper() else c for c in camel)


def ollama_bodies(form):
    message = next(dumped(ollama.Message, "required"))
    for request in dumped(ollama._types.ChatRequest, form):
        yield json.dumps({**json.loads(request), "messages": [json.loads(message)]})
    for message in dumped(ollama.Message, form):
        yield json.dumps({"model": "m", "messages": [hello("ollama"), json.loads(message)]})
    yield from dumped(ollama.ChatResponse, form)
    yield from echoed(ollama.ChatResponse, lambda answer: {
        "model": "m", "messages": [hello("ollama"), answer["message"]]}, form)


# ---- Botocore has shapes instead of types


class Shapes:
    def __init__(self, maker):
        self.maker = maker

    def make(self, shape, name="", depth=0):
        kind = shape.type_name
        if kind == "structure" and shape.is_document_type:
            return {"a": 1}
        if kind == "structure" and shape.is_tagged_union:
            key = self.maker.variant((name, shape.name), list(shape.members))
            return {key: self.make(shape.members[key], key, depth + 1)}
        if kind == "structure":
            return self.members(shape, depth)
        if kind == "list":
            return [self.make(shape.member, name, depth + 1)] if depth < MOST_DEPTH else []
        if kind == "map":
            return {"a": self.make(shape.value, name, depth + 1)}
        if kind == "string" and shape.enum:
            return self.maker.variant((name, shape.name), shape.enum)
        return {"string": STRINGS.get(name, "text"), "integer": 1, "long": 1, "float": 0.5, "double": 0.5,
                "boolean": True, "blob": base64.b64decode(PNG), "timestamp": 0}[kind]

    def members(self, shape, depth):
        made = {}
        for key, member in shape.members.items():
            if key in shape.required_members or (self.maker.form == "all" and depth < MOST_DEPTH):
                made[key] = self.make(member, key, depth + 1)
            elif self.maker.form == "nulls":
                made[key] = None
        return made


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def converse_bodies(form):
    operation = converse_operation()
    serializer = botocore.serialize.create_serializer("rest-json")
    spelled = lambda value: json.dumps(value, default=lambda each: base64.b64encode(each).decode())
    message = operation.service_model.shape_for("Message")
    for value in bodies(lambda maker: Shapes(maker).make(operation.input_shape), form):
        value["messages"] = value.get("messages") or [hello("converse")]
        if form != "nulls":
            yield serializer.serialize_to_request(without_nulls(value), operation)["body"].decode()
        yield spelled(value)
    for value in bodies(lambda maker: Shapes(maker).make(message), form):
        yield spelled({"messages": [hello("converse"), value]})
    for value in bodies(lambda maker: Shapes(maker).make(operation.output_shape), form):
        yield spelled(value)


def converse_operation():
    return botocore.session.get_session().get_service_model("bedrock-runtime").operation_model("Converse")


def decoded(value, shape):
    """The value with bytes for base64, as the validator wants it."""
    if shape.type_name == "structure" and not shape.is_document_type and isinstance(value, dict):
        return {key: decoded(each, shape.members[key]) if key in shape.members else each for key, each in value.items()}
    if shape.type_name == "list" and isinstance(value, list):
        return [decoded(each, shape.member) for each in value]
    return base64.b64decode(value) if shape.type_name == "blob" and isinstance(value, str) else value


def converse_faults(body, shape):
    """What the service model finds wrong with a request."""
    value = json.loads(body)
    if not isinstance(value, dict) or "messages" not in value:
        return ""
    report = botocore.validate.ParamValidator().validate(decoded({"modelId": "m", **value}, shape), shape)
    return report.generate_report()


BODIES = {"openai": openai_bodies, "responses": responses_bodies, "anthropic": anthropic_bodies,
          "gemini": gemini_bodies, "ollama": ollama_bodies, "converse": converse_bodies}


# ---- The verdict


def converted(parley, source, target, path, *options):
    run = subprocess.run([parley, "convert", "-q", *options, "--from", source, "--to", target, path],
                         capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def same(a, b):
    """As JSON: also the order of members."""
    pairs = lambda text: json.loads(text, object_pairs_hook=lambda members: list(dict(members).items()))
    return pairs(a) == pairs(b)


class Judge:
    def __init__(self, parley, folder):
        self.parley = parley
        self.folder = folder
        self.failed = collections.Counter()
        self.converse = converse_operation().input_shape

    def complain(self, what, body, why):
        self.failed[what] += 1
        if self.failed[what] <= 5:
            print(f"{what}: {why.strip()}\n    {body[:1500]}")

    def each_line(self, source, target, lines, what, *options):
        """Converts all lines at once; a refused one is named and left out, and the others go on."""
        path = self.folder / f"{source}-{target}.jsonl"
        out = []
        rest = list(lines)
        while rest:
            path.write_text("\n".join(rest) + "\n")
            code, text, error = converted(self.parley, source, target, path, *options)
            good = text.split("\n")[:-1]
            out += good
            if code == 0:
                break
            self.complain(what, rest[len(good)], error)
            out.append(None)
            rest = rest[len(good) + 1:]
        return out

    def judge(self, dialect, lines):
        what = f"{dialect} to itself"
        for line, back in zip(lines, self.each_line(dialect, dialect, lines, what)):
            if back is not None and back != line:
                self.complain(what, line, f"other bytes: {back}")
        what = f"{dialect} by way of parley"
        kept = self.each_line(dialect, "parley", lines, what)
        pairs = [(line, there) for line, there in zip(lines, kept) if there is not None]
        back = self.each_line("parley", dialect, [there for _, there in pairs], what)
        for (line, _), again in zip(pairs, back):
            if again is not None and not same(line, again):
                self.complain(what, line, f"another value: {again}")
        for target in DIALECTS:
            if target == dialect:
                continue
            what = f"{dialect} to {target}"
            there = self.each_line(dialect, target, lines, what, "--repair", "--complete-pending")
            for line, body in zip(lines, there) if target == "converse" else ():
                if body is not None and (fault := converse_faults(body, self.converse)):
                    self.complain(what, line, f"{fault}\n    {body[:1500]}")


def main():
    logging.disable()
    parley, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    only = sys.argv[3:] or BODIES
    judge = Judge(parley, folder)
    for dialect in only:
        lines = list(dict.fromkeys(body for form in FORMS for body in BODIES[dialect](form)))
        lines = [json.dumps(json.loads(line), ensure_ascii=False) for line in lines]
        judge.judge(dialect, lines)
        print(f"{dialect}: {len(lines)} bodies")
    for what, count in judge.failed.items():
        print(f"FAILED {what}: {count}")
    return 1 if judge.failed else 0


if __name__ == "__main__":
    sys.exit(main())
