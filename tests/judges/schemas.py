"""The judge of schemas.sh: makes schemas and values, and asks Parley and jsonschema, an independent implementation.

  schemas.py CHECK_SCHEMAS COUNT SEED

Numbers are integers and quarters, which both sides compare exactly. Values are made of the same few words and numbers as
the schemas, so that about as many fit as do not; the numbers of both are printed, and neither may be rare.
"""
import json
import random
import subprocess
import sys

import jsonschema

DRAFTS = {  # whom to ask, and the keywords that a draft does not have or that are not asked for
    "https://json-schema.org/draft/2020-12/schema": (
        jsonschema.Draft202012Validator, {"additionalItems", "items list", "dependencies"}),
    # For unevaluated*, jsonschema reads additionalProperties of this draft as if it were properties.
    "https://json-schema.org/draft/2019-09/schema": (
        jsonschema.Draft201909Validator, {"prefixItems", "dependencies", "unevaluatedProperties", "unevaluatedItems"}),
    "http://json-schema.org/draft-07/schema#": (jsonschema.Draft7Validator, set()),
    "http://json-schema.org/draft-06/schema#": (jsonschema.Draft6Validator, set()),
}

WORDS = ["", "a", "b", "ab", "abc", "a1", "x_1", "\u00e9", "\U0001f600", "a\nb", "A"]
PATTERNS = ["^a", "b$", "^[a-z]+$", "[0-9]", "^x_", "^.{2}$", "a|\u00e9", "^$", "\\d", "^(ab)+c?$", "\\u0061"]
NUMBERS = [-2, -1, 0, 1, 2, 3, 4, 6, 0.25, 1.5, 2.0, -0.5, 10, 100]
KEYS = ["a", "b", "ab", "x_1", "\u00e9"]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]


def value(rng, depth=3):
    kind = rng.randrange(8 if depth > 0 else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind < 3:
        return rng.choice(NUMBERS)
    if kind < 6:
        return rng.choice(WORDS)
    if kind == 6:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(KEYS): value(rng, depth - 1) for _ in range(rng.randrange(4))}


def size(rng):
    return rng.choice([0, 1, 1, 2, 2, 3, 4, 2.0])


def schema(rng, depth, without):
    if depth <= 0 or rng.random() < 0.08:
        return rng.choice([True, True, False, {}, {"type": rng.choice(TYPES)}, {"$ref": "#/$defs/" + rng.choice("pq")}])
    sub = lambda: schema(rng, depth - 1, without)
    several = lambda: [sub() for _ in range(rng.randrange(1, 4))]
    makers = {
        "type": lambda: rng.choice([rng.choice(TYPES), rng.sample(TYPES, rng.randrange(1, 4))]),
        "enum": lambda: [value(rng, 1) for _ in range(rng.randrange(1, 5))],
        "const": lambda: value(rng, 1),
        "properties": lambda: {key: sub() for key in rng.sample(KEYS, rng.randrange(1, 4))},
        "required": lambda: rng.sample(KEYS, rng.randrange(1, 3)),
        "additionalProperties": sub,
        "patternProperties": lambda: {rng.choice(PATTERNS): sub()},
        "propertyNames": sub,
        "minProperties": lambda: size(rng),
        "maxProperties": lambda: size(rng),
        "dependentRequired": lambda: {rng.choice(KEYS): rng.sample(KEYS, 1)},
        "dependentSchemas": lambda: {rng.choice(KEYS): sub()},
        "dependencies": lambda: {rng.choice(KEYS): rng.choice([sub(), rng.sample(KEYS, 1)])},
        "unevaluatedProperties": sub,
        "unevaluatedItems": sub,
        "items": sub,
        "items list": several,
        "additionalItems": sub,
        "prefixItems": several,
        "contains": sub,
        "minContains": lambda: size(rng),
        "maxContains": lambda: size(rng),
        "minItems": lambda: size(rng),
        "maxItems": lambda: size(rng),
        "uniqueItems": lambda: rng.random() < 0.8,
        "minimum": lambda: rng.choice(NUMBERS),
        "maximum": lambda: rng.choice(NUMBERS),
        "exclusiveMinimum": lambda: rng.choice(NUMBERS),
        "exclusiveMaximum": lambda: rng.choice(NUMBERS),
        "multipleOf": lambda: rng.choice([1, 2, 3, 0.25, 0.5, 1.5]),
        "minLength": lambda: size(rng),
        "maxLength": lambda: size(rng),
        "pattern": lambda: rng.choice(PATTERNS),
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": sub,
        "if": sub,
        "then": sub,
        "else": sub,
        "$ref": lambda: "#/$defs/" + rng.choice("pq"),
        "title": lambda: "a title",
        "x-unknown": lambda: {"type": "nothing"},
    }
    names = rng.sample(sorted(set(makers) - without), rng.randrange(1, 5))
    out = {name.removesuffix(" list"): makers[name]() for name in names}
    if isinstance(out.get("items"), bool):
        out.pop("additionalItems", None)  # jsonschema fails with a TypeError
    return out


def made(rng, draft):
    out = schema(rng, 3, DRAFTS[draft][1])
    if not isinstance(out, dict):
        out = {"allOf": [out]}
    # What they refer to refers to nothing, so that every check ends.
    flat = lambda: {"type": rng.sample(TYPES, 3), "minLength": 1, "maximum": 2}
    out["$schema"] = draft
    out["$defs"] = {"p": flat(), "q": {"items": flat(), "not": {"const": value(rng, 1)}}}
    return out


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    pairs = []
    while len(pairs) < count:
        one = made(rng, rng.choice(sorted(DRAFTS)))
        pairs += [(one, value(rng)) for _ in range(5)]
    lines = "".join(json.dumps(s) + "\t" + json.dumps(v) + "\n" for s, v in pairs)
    run = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    answers = run.stdout.split("\n")[:-1]
    assert len(answers) == len(pairs), "one answer a line"
    good, wrong = 0, []
    for (one, what), parley in zip(pairs, answers):
        other = "good" if DRAFTS[one["$schema"]][0](one).is_valid(what) else "bad"
        good += other == "good"
        if parley != other:
            wrong.append((one, what, parley, other))
    print("schemas.py: %d pairs: %d verdicts the same (%d good, %d bad)"
          % (len(pairs), len(pairs) - len(wrong), good, len(pairs) - good))
    for one, what, parley, other in wrong[:20]:
        print("schemas.py: %s with %s: Parley says %s, jsonschema says %s" % (json.dumps(one), json.dumps(what), parley, other))
    if wrong:
        sys.exit("schemas.py: %d verdicts differ" % len(wrong))
    if min(good, len(pairs) - good) * 10 < len(pairs):
        sys.exit("schemas.py: one of the verdicts is too rare to be judged")


main()
