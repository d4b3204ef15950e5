#!/usr/bin/env python3
"""kill_test.py PARLEY: whoever has seen the end of an answer finds it in the session, also if the command is
killed at that moment. The command is stopped from outside (SIGKILL) as soon as its last byte was read."""
import json
import os
import signal
import subprocess
import sys
import tempfile

parley = sys.argv[1]
ANSWER = "The tide comes in at six, and goes out at noon; caf\u00e9."
ROUNDS = 12


def environment(home):
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ}
    return kept | {"HOME": home, "OPENAI_API_KEY": "k", "LC_ALL": "C.UTF-8"}


def serve(folder, text):
    script = os.path.join(folder, "script.json")
    with open(script, "w", encoding="utf-8") as file:
        json.dump({"turns": [{"text": text}]}, file)
    server = subprocess.Popen([parley, "rehearse", "--script", script], stdout=subprocess.PIPE, text=True,
                              env=environment(folder))
    return server, server.stdout.readline().split()[-1]


def kill_after(command, env, end, given):
    """Runs the command until its standard output holds `end`, and kills it."""
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             env=env)
    if given:  # the pipe stays open, so that the chat continues
        child.stdin.write(given)
        child.stdin.flush()
    else:
        child.stdin.close()
    seen = b""
    while end not in seen:
        piece = os.read(child.stdout.fileno(), 65536)
        assert piece, f"{command} ended without an answer: {seen!r}"
        seen += piece
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    if given:
        child.stdin.close()




def check(name, arguments, end, given=b"", text=ANSWER):
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            server, base = serve(folder, text)
            try:
                env = environment(folder) | {"OPENAI_BASE_URL": base}
                store = ["--store", f"sqlite:{folder}/s.db", "-m", "openai/x"]
                kill_after([parley, *arguments, *store], env, end, given)
                listed = subprocess.run([parley, "sessions", "--store", f"sqlite:{folder}/s.db", "list"],
                                        capture_output=True, text=True, env=env, check=True)
                session = listed.stdout.split()[0]
                shown = subprocess.run([parley, "sessions", "--store", f"sqlite:{folder}/s.db", "show", session],
                                       capture_output=True, text=True, env=env, check=True)
                assert text.strip() in shown.stdout, f"{name}: the answer was shown and is not stored: {shown.stdout!r}"
            finally:
                server.terminate()
                server.wait()
                server.stdout.close()
    print(f"{name}: ok")


whole = ANSWER.encode()
check("-p", ["-q", "-p", "when?"], whole)
check("-p, a text that ends its line", ["-q", "-p", "when?"], whole + b"\n", text=ANSWER + "\n")
check("run", ["run", "-q", "--tools", "none", "when?"], whole)
check("chat", ["chat", "-q", "--tools", "none"], whole, given=b"when?\n")
check("--json", ["run", "--json", "--tools", "none", "when?"], b"}\n")
