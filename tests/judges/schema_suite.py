"""The judge of schema_suite.sh: asks Parley the tests of JSON-Schema-Test-Suite, the required ones and the optional ones
that are not about a format.

  schema_suite.py CHECK_SCHEMAS SUITE

SUITE is the folder of the suite, with its tests/ and remotes/. The metaschemas are those of jsonschema_specifications.
Nothing is fetched: the suite's remote documents and the metaschemas are given to Parley.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from jsonschema_specifications import REGISTRY

DRAFTS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft4": "http://json-schema.org/draft-04/schema#",
}
REMOTE_BASE = "http://localhost:1234/"  # where the suite expects remotes/

# What Parley refuses or answers otherwise: how the names of the tests begin, and the reason. All of it is optional.
EXCEPTIONS = {
    "draft2020-12/optional/format-assertion.json": "format describes and checks nothing; a metaschema that requires more is refused",
    "draft7/optional/content.json": "contentMediaType and contentEncoding describe and check nothing, as in the later drafts",
    "draft4/optional/zeroTerminatedFloats.json": "1.0 is an integer, as in the later drafts",
}


def documents(suite):
    out = {uri: REGISTRY.contents(uri) for uri in REGISTRY}
    remotes = suite / "remotes"
    for path in sorted(remotes.rglob("*.json")):
        out[REMOTE_BASE + path.relative_to(remotes).as_posix()] = json.loads(path.read_text())
    return out


def tests(suite, draft, pattern):
    for path in sorted((suite / "tests" / draft).glob(pattern)):
        for group in json.loads(path.read_text()):
            schema = group["schema"]
            # The older drafts' tests do not name their draft.
            if isinstance(schema, dict) and path.name != "no-schema.json":
                schema = {"$schema": DRAFTS[draft], **schema}
            for test in group["tests"]:
                name = "%s: %s: %s" % (path.relative_to(suite / "tests"), group["description"], test["description"])
                yield name, schema, test["data"], "good" if test["valid"] else "bad"


def answers(program, given, cases):
    lines = "".join("%s\t%s\n" % (json.dumps(schema), json.dumps(data)) for _, schema, data, _ in cases)
    run = subprocess.run([program, given], input=lines, capture_output=True, text=True, check=True)
    out = run.stdout.split("\n")[:-1]
    assert len(out) == len(cases), "one answer a line"
    return out


def main():
    program, suite = sys.argv[1], pathlib.Path(sys.argv[2])
    wrong, met, counts = [], set(), []
    with tempfile.NamedTemporaryFile("w", suffix=".json") as given:
        json.dump(documents(suite), given)
        given.flush()
        for draft in DRAFTS:
            for kind, pattern in ("required", "*.json"), ("optional", "optional/*.json"):
                cases = list(tests(suite, draft, pattern))
                same = 0
                for (name, _, _, expected), said in zip(cases, answers(program, given.name, cases)):
                    exception = next((e for e in EXCEPTIONS if name.startswith(e)), None)
                    if said == expected:
                        same += 1
                    elif exception:
                        met.add(exception)
                    else:
                        wrong.append("%s: expected %s, Parley says %s" % (name, expected, said))
                counts.append((kind, len(cases)))
                print("schema_suite.py: %s: %d of %d %s tests as expected" % (draft, same, len(cases), kind))
    wrong += ["%s: no test of it differs: it is no exception" % name for name in EXCEPTIONS if name not in met]
    for line in wrong[:40]:
        print("schema_suite.py: " + line)
    if wrong:
        sys.exit("schema_suite.py: %d differences" % len(wrong))
    if sum(count for kind, count in counts if kind == "required") < 4800:
        sys.exit("schema_suite.py: too few tests were found")


main()
