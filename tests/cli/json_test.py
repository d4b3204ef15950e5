#!/usr/bin/env python3
"""Every verb has --json: its output is JSON, one value or one a line.

    json_test.py PARLEY EXAMPLES

The commands come from 'parley --help', and the verbs of a command from its completions: one without a row here fails.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

PARLEY, EXAMPLES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])

# By "COMMAND" or "COMMAND VERB": the arguments, and the exit codes that are expected. They run in this order, in one folder.
ROWS = {
    "chat": (["-m", "rehearsal", "s"], [0]),
    "run": (["-m", "rehearsal", "hello"], [0]),
    "prompt": (["-m", "rehearsal", "hello"], [0]),
    "convert": (["--from", "openai", "--to", "anthropic", "talk.json"], [0]),
    "check": (["talk.json"], [0]),
    "dialects": ([], [0]),
    "media check": (["talk.json"], [1]),
    "media show": ([f"{EXAMPLES}/first/photo.png"], [0]),
    "tokens": (["talk.json"], [0]),
    "filter": (["secrets", "talk.json"], [0]),
    "sessions list": ([], [0]),
    "sessions ids": ([], [0]),
    "sessions show": (["s"], [0]),
    "sessions title": (["s", "A title"], [0]),
    "sessions search": (["hello"], [0]),
    "sessions import": (["--session", "t", "talk.json"], [0]),
    "sessions export": (["s"], [0]),
    "sessions fork": (["s", "u"], [0]),
    "sessions rm": (["u"], [0]),
    "sessions expire": (["t", "1h"], [0]),
    "sessions sweep": ([], [0]),
    "sessions copy": (["s", "sqlite:copy.db"], [0]),
    "sessions stats": ([], [0]),
    "sessions verify": ([], [0]),
    "sessions backup": (["backup.db"], [0]),
    "doctor": ([], [0]),
    "config list": ([], [0]),
    "config set": (["tenant", "default"], [0]),
    "config get": (["tenant"], [0]),
    "config unset": (["tenant"], [0]),
    "config path": ([], [0]),
    "config edit": ([], [0]),
    "config key": (["list"], [0]),
    "models": ([], [0]),
    "rehearse": ([], [130]),
    "serve": (["--listen", "127.0.0.1:0"], [130]),
    "keys create": (["k", "--store", "sqlite:keys.db"], [0]),
    "keys list": (["--store", "sqlite:keys.db"], [0]),
    "keys rotate": (["k", "--store", "sqlite:keys.db"], [0]),
    "keys revoke": (["k", "--store", "sqlite:keys.db"], [0]),
    "completion bash": ([], [0]),
    "completion fish": ([], [0]),
    "completion zsh": ([], [0]),
    "man": ([], [0]),
}
# Forms of a verb beside the one above.
FURTHER = [
    (["config", "key", "set", "openai"], "sk-0123456789abcdef\n", [0]),
    (["config", "key", "rm", "openai"], "", [0]),
    (["filter"], "", [0]),
    (["tokens", "--ids", "talk.json"], "", [0]),
    (["tokens", "--as", "openai", "talk.json"], "", [0]),
    (["sessions", "export", "--jsonl", "s"], "", [0]),
]

failures = []


def complain(what):
    failures.append(what)
    print(what)


def verbs():
    """Every command, with each of its verbs."""
    helped = subprocess.run([PARLEY, "--help"], capture_output=True, text=True).stdout
    words = dict(re.findall(r"^    (\S+)\) options='[^']*' verbs='([^']*)'", subprocess.run(
        [PARLEY, "completion", "bash"], capture_output=True, text=True).stdout, re.M))
    for command in words:
        if command not in helped:
            complain(f"'parley --help' does not list {command}")
        for verb in words[command].split() or [None]:
            yield f"{command} {verb}" if verb else command


def run(arguments, given, codes):
    """Runs a command with --json; rehearse and serve run until they are interrupted."""
    shown = "parley " + " ".join(arguments)
    with subprocess.Popen([PARLEY, *arguments, "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        first = ""
        if arguments[0] in ("rehearse", "serve"):
            first = process.stdout.readline()
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(given, timeout=120)
    out = first + out
    if process.returncode not in codes:
        return complain(f"{shown}: exit {process.returncode}, expected {codes}: {err}")
    if not out:
        return complain(f"{shown}: no output with --json")
    try:
        values = [json.loads(out)]
    except json.JSONDecodeError:
        try:
            values = [json.loads(line) for line in out.splitlines()]
        except json.JSONDecodeError as error:
            return complain(f"{shown}: not JSON: {error}: {out[:300]!r}")
    for value in values:
        if not isinstance(value, (dict, list)):
            complain(f"{shown}: {value!r} is neither an object nor a list")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in list(os.environ):
            if name.startswith(("PARLEY_", "XDG_", "OTEL_")) or name.endswith(("_API_KEY", "_AUTH_TOKEN", "_BASE_URL")):
                os.environ.pop(name)
        os.environ.update(HOME=folder, EDITOR="true", VISUAL="true")
        with open("talk.json", "w") as file:
            file.write('{"model":"x","messages":[{"role":"user","content":"hello"}]}')
        known = list(verbs())
        for name in known:
            if name not in ROWS:
                complain(f"no row of this test runs 'parley {name}' with --json")
        for name, (arguments, codes) in ROWS.items():
            if name not in known:
                complain(f"there is no command 'parley {name}'")
            run([*name.split(), *arguments], "hello\n" if name == "chat" else "", codes)
        for arguments, given, codes in FURTHER:
            run(arguments, given, codes)
    print(f"{len(ROWS) + len(FURTHER)} command lines ran, {len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
