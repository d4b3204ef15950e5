"""The judge of rivals.sh: the same tasks with Parley, llm and openai-agents.

  rivals.py PARLEY ROOT    in a folder to write to
  rivals.py agent TASK URL ...    one task of openai-agents, which is a library: this is the program around it

A task gives one cell for each tool; a cell with † is from the tool's documentation, and not run. The page has the same cells, or this fails; start-up times are printed and not compared.
Nothing waits for a time: a server holds its answer until it is told to go on.
"""
import asyncio
import functools
import http.server
import json
import os
import pathlib
import pty
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import threading
import time

PATIENCE = 120  # seconds, a bound on a hang
BIN = pathlib.Path(sys.executable).parent


# ---- openai-agents, in a process of its own


def agent(task, url, *more):
    import agents
    from openai import AsyncOpenAI

    agents.set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=url, api_key="k", max_retries=0)
    model = agents.OpenAIChatCompletionsModel(model="rehearsal", openai_client=client)

    async def ask(prompt, session=None, **settings):
        made = agents.Agent(name="a", model=model, **settings)
        return await agents.Runner.run(made, prompt, session=session)

    async def stream(prompt, session):
        result = agents.Runner.run_streamed(agents.Agent(name="a", model=model), prompt, session=session)
        async for event in result.stream_events():
            delta = getattr(getattr(event, "data", None), "delta", None)
            if isinstance(delta, str):
                print(delta, end="", flush=True)
        print()

    def talk(name):
        return agents.SQLiteSession(name, "agents.db")

    if task == "ask":
        print(asyncio.run(ask(more[0], talk("talk") if len(more) > 1 else None)).final_output)
    elif task == "stream":
        asyncio.run(stream(more[0], talk("talk")))
    elif task == "schema":
        import pydantic
        dog = pydantic.create_model("Dog", name=(str, ...), age=(int, ...))
        print(asyncio.run(ask("Invent a dog", output_type=dog)).final_output)
    elif task == "approve":
        def add(a: int, b: int) -> int:
            """Adds two numbers."""
            pathlib.Path("agents.ran").touch()
            return a + b
        result = asyncio.run(ask("add 2 and 3", tools=[agents.function_tool(add, needs_approval=True)]))
        print(len(result.interruptions))
    elif task == "items":
        settings = agents.SessionSettings(limit=int(more[0]))
        session = agents.SQLiteSession("tools", "agents.db", session_settings=settings)
        async def fill():
            await session.add_items([
                {"role": "user", "content": "add 2 and 3"},
                {"type": "function_call", "call_id": "call_1", "name": "add", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "call_1", "output": "5"},
                {"role": "assistant", "content": "5"}])
            return await session.get_items()
        print(json.dumps(asyncio.run(fill())))
    elif task == "mcp":
        from agents.mcp import MCPServerStdio
        async def tools():
            async with MCPServerStdio(params={"command": sys.executable, "args": [more[0]]}) as server:
                return [tool.name for tool in await server.list_tools()]
        print(asyncio.run(tools()))


# ---- Servers


class Rehearsal:
    """`parley rehearse`, with a script or without."""

    def __init__(self, script=None):
        arguments = [PARLEY, "rehearse"]
        if script is not None:
            pathlib.Path("script.json").write_text(json.dumps(script))
            arguments += ["--script", "script.json"]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


class Gate:
    """Answers in Chat Completions, each answer only after open()."""

    def __init__(self):
        self.arrived, self.opened = [], threading.Event()
        gate = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                gate.arrived.append(body)
                gate.opened.wait(PATIENCE)
                said = "heard " + str(body["messages"][-1]["content"])
                base = {"id": "1", "created": 0, "model": "m"}
                if body.get("stream"):
                    delta = {"role": "assistant", "content": said}
                    chunks = [{**base, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": d, "finish_reason": f}]}
                              for d, f in ((delta, None), ({}, "stop"))]
                    answer, kind = "".join("data: %s\n\n" % json.dumps(c) for c in chunks) + "data: [DONE]\n\n", "text/event-stream"
                else:
                    message = {"role": "assistant", "content": said}
                    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
                    answer, kind = json.dumps({**base, "object": "chat.completion", "choices": choices}), "application/json"
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d/v1" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


# ---- The three tools


def environment(url):
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": os.getcwd(), "LC_ALL": "C.UTF-8", "TERM": "dumb", "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": url,
            "LLM_USER_PATH": os.getcwd() + "/llm", "OPENAI_AGENTS_DISABLE_TRACING": "1"}


def commands(tool, url, *arguments):
    """The command line of a tool, and llm's file that says where the model is."""
    if tool == "parley":
        return [PARLEY, *arguments]
    if tool == "agents":
        return [sys.executable, __file__, "agent", arguments[0], url, *arguments[1:]]
    model = {"model_id": "judged", "model_name": "rehearsal", "api_base": url, "supports_tools": True, "supports_schema": True}
    pathlib.Path("llm").mkdir(exist_ok=True)
    pathlib.Path("llm/extra-openai-models.yaml").write_text(json.dumps([model]))  # JSON is YAML
    return [str(BIN / "llm"), *arguments]


def run(tool, url, *arguments, given=""):
    return subprocess.run(commands(tool, url, *arguments), input=given, capture_output=True, text=True, timeout=PATIENCE,
                          env=environment(url))


def start(tool, url, *arguments):
    return subprocess.Popen(commands(tool, url, *arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, env=environment(url))


STORE = ("--store", "sqlite:parley.db")
MODEL = ("-m", "openai/rehearsal")


def stored(tool):
    """The texts of the conversation that was asked last, as the tool keeps them."""
    if tool == "parley":
        listed = run("parley", "", "sessions", "list", *STORE).stdout.split()
        return run("parley", "", "sessions", "show", listed[0], *STORE).stdout if listed else ""
    if tool == "agents":
        if not pathlib.Path("agents.db").exists():
            return ""
        return " ".join(row[0] for row in sqlite3.connect("agents.db").execute("select message_data from agent_messages"))
    return run("llm", "", "logs", "-n", "9").stdout


def forget():
    for path in (*pathlib.Path(".").glob("parley.db*"), *pathlib.Path(".").glob("agents.db*"), *pathlib.Path("llm").glob("logs.db*")):
        path.unlink()


def yes(holds):
    return "yes" if holds else "no"


# ---- The tasks: each gives the cells of Parley, llm and openai-agents


def asks_by_a_pipe():
    with Rehearsal() as url:
        heard = "Rehearsal heard: a question"
        return [yes(heard in run("parley", url, "-q", *MODEL, *STORE, given="a question").stdout),
                yes(heard in run("llm", url, "-m", "judged", given="a question").stdout), "in code"]


def continues():
    with Rehearsal({"turns": [{"text": "one"}, {"text": "two"}]}) as url:
        run("parley", url, "-q", *MODEL, *STORE, "first")
        run("llm", url, "-m", "judged", "first")
        run("agents", url, "ask", "first", "talk")
        return [yes("two" in run("parley", url, "-q", *MODEL, *STORE, "-c", "second").stdout),
                yes("two" in run("llm", url, "-m", "judged", "-c", "second").stdout),
                yes("two" in run("agents", url, "ask", "second", "talk").stdout)]


def uses_a_template():
    with Rehearsal() as url:
        pathlib.Path(".config/parley/templates").mkdir(parents=True, exist_ok=True)
        pathlib.Path(".config/parley/templates/polite.toml").write_text('prompt = "Please $what"\n')
        pathlib.Path("llm/templates").mkdir(parents=True, exist_ok=True)
        pathlib.Path("llm/templates/polite.yaml").write_text("prompt: 'Please $what'\n")
        heard = "heard: Please sing"
        return [yes(heard in run("parley", url, "-q", *MODEL, *STORE, "-t", "polite", "-V", "what=sing").stdout),
                yes(heard in run("llm", url, "-m", "judged", "-t", "polite", "-p", "what", "sing").stdout), "in code"]


def repeats_a_reply_that_breaks_its_schema():
    def cell(ran, wrong):
        if '"name"' in ran.stdout or "name='Rex'" in ran.stdout:
            return "asks again"
        return "prints it" if wrong in ran.stdout and ran.returncode == 0 else "an error"
    wrong, right = '{"name": 7}', '{"name": "Rex", "age": 3}'
    with Rehearsal({"turns": [{"text": wrong}, {"text": right}]}) as url:
        schema = "name, age int"
        ran = [run("parley", url, "-q", *MODEL, *STORE, "--schema", schema, "Invent a dog"),
               run("llm", url, "-m", "judged", "--schema", schema, "Invent a dog"), run("agents", url, "schema")]
        return [cell(ran[0], wrong), "prints it" if wrong in ran[1].stdout else cell(ran[1], wrong), cell(ran[2], wrong)]


def asks_before_a_tool_runs():
    with Rehearsal() as url:
        # Nobody can be asked here: a tool with side effects must not run.
        run("parley", url, "run", "-q", *MODEL, *STORE, "run: touch parley.ran")
        function = "def add(a: int, b: int) -> int:\n    open('llm.ran', 'w')\n    return a + b\n"
        run("llm", url, "-m", "judged", "--functions", function, "add 2 and 3")
        by_default = pathlib.Path("llm.ran").exists()
        pathlib.Path("llm.ran").unlink(missing_ok=True)
        run("llm", url, "-m", "judged", "--ta", "--functions", function, "add 2 and 3", given="n\n")
        on_demand = not pathlib.Path("llm.ran").exists()
        waits = run("agents", url, "approve").stdout.strip() == "1" and not pathlib.Path("agents.ran").exists()
        return ["by default" if not pathlib.Path("parley.ran").exists() else "no",
                ("with `--ta`" if on_demand else "no") if by_default else "by default", "by a setting" if waits else "no"]


@functools.cache
def killed():
    """For each tool: whether a piece of the answer was printed before the server sent all, and what is stored of a request that
    is killed then."""
    seen = []
    text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    for tool, arguments in (("parley", ("-q", *MODEL, *STORE, "my question")), ("llm", ("-m", "judged", "my question")),
                            ("agents", ("stream", "my question"))):
        with Rehearsal({"turns": [{"text": text, "fault": {"stall_after": 900, "times": 9}}]}) as url:
            process = start(tool, url, *arguments)
            streamed = process.stdout.read(1) != b""
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
        seen.append((streamed, "my question" in stored(tool)))
    return seen


def streams():
    return [yes(streamed) for streamed, _ in killed()]


def keeps_a_request_that_is_killed():
    return ["the question is kept" if kept else "nothing is kept" for _, kept in killed()]


def has_two_terminals_on_one_session():
    cells = []
    for tool, arguments in (("parley", ("-q", *MODEL, *STORE, "-c")), ("llm", ("-m", "judged", "-c")), ("agents", ("ask",))):
        forget()
        more = ("talk",) if tool == "agents" else ()
        first = arguments[:-1] if "-c" in arguments else arguments
        with Rehearsal() as url:
            run(tool, url, *first, "the start", *more)
        gate = Gate()
        one = start(tool, gate.url, *arguments, "red", *more)
        while len(gate.arrived) < 1 and one.poll() is None:
            time.sleep(0.01)
        two = start(tool, gate.url, *arguments, "blue", *more)
        while len(gate.arrived) < 2 and two.poll() is None:
            time.sleep(0.01)
        gate.opened.set()
        ends = [process.wait(PATIENCE) for process in (one, two)]
        for process in one, two:
            process.stdout.close()
        gate.close()
        if ends[0] == 0 and ends[1] != 0 and len(gate.arrived) == 1:
            cells.append("the second is refused")
        else:
            saw = any("heard " in json.dumps(body) for body in gate.arrived)
            cells.append("in turn" if saw else "both run, neither sees the other's answer")
    return cells


def trims_without_breaking_a_tool_call():
    history = []
    for i in range(60):
        call = {"id": "call_%d" % i, "type": "function", "function": {"name": "add", "arguments": "{}"}}
        history += [{"role": "user", "content": "add %d" % i}, {"role": "assistant", "content": None, "tool_calls": [call]},
                    {"role": "tool", "tool_call_id": call["id"], "content": "the sum " * 9}, {"role": "assistant", "content": "done"}]
    pathlib.Path("history.json").write_text(json.dumps(history))
    run("parley", "", "sessions", "import", "history.json", "--from", "openai", "--session", "tools", *STORE)
    whole = True
    for window in range(2000, 2200, 40):
        gate = Gate()
        gate.opened.set()
        run("parley", gate.url, "chat", "-q", *MODEL, *STORE, "--tools", "none", "--max-tokens", "100", "--window", str(window),
            "tools", given="and now\n")
        gate.close()
        sent = gate.arrived[-1]["messages"] if gate.arrived else []
        called = [call["id"] for message in sent for call in message.get("tool_calls") or []]
        whole = whole and 2 < len(sent) < len(history) and called == [m["tool_call_id"] for m in sent if m["role"] == "tool"]
    # llm: a prompt of 300,000 characters is sent again with the next one.
    gate = Gate()
    gate.opened.set()
    run("llm", gate.url, "-m", "judged", given="word " * 60000)
    run("llm", gate.url, "-m", "judged", "-c", "and now")
    gate.close()
    sends_all = len(gate.arrived) == 2 and len(json.dumps(gate.arrived[1])) > 300000
    items = json.loads(run("agents", "http://127.0.0.1:1", "items", "2").stdout)
    calls = {item["call_id"] for item in items if item.get("type") == "function_call"}
    split = any(item["call_id"] not in calls for item in items if item.get("type") == "function_call_output")
    return [yes(whole), "never trims" if sends_all else "trims", "splits it" if split else "yes"]


def shows_escape_sequences():
    """Whether a model's text can act on the terminal."""
    def printed(tool, url, *arguments):
        terminal, inside = pty.openpty()
        process = subprocess.Popen(commands(tool, url, *arguments), stdin=inside, stdout=inside, stderr=inside, env=environment(url))
        os.close(inside)
        seen = b""
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # it is gone
                break
            seen += piece
        process.wait()
        os.close(terminal)
        return seen
    with Rehearsal({"turns": [{"text": "a \x1b]0;title\x07 b"}]}) as url:
        seen = [printed("parley", url, "-q", *MODEL, *STORE, "hi"), printed("llm", url, "-m", "judged", "hi")]
    cells = ["passes them on" if b"\x1b]0;title" in text else "makes them visible" for text in seen]
    return cells + ["in code"]


def uses_mcp_servers():
    server = ROOT + "/tests/mcp/server.py"
    pathlib.Path("mcp.json").write_text(json.dumps({"mcpServers": {"test": {"command": sys.executable, "args": [server]}}}))
    pathlib.Path(".config/parley").mkdir(parents=True, exist_ok=True)
    settings = pathlib.Path(".config/parley/parley.toml")
    settings.write_text('[mcp]\nfile = "%s/mcp.json"\n[tools.policy]\nmcp_test_echo = "allow"\n' % os.getcwd())
    with Rehearsal() as url:
        ran = run("parley", url, "run", "-q", *MODEL, *STORE, 'call mcp_test_echo {"text":"hello"}')
    settings.unlink()
    listed = "echo" in run("agents", "http://127.0.0.1:1", "mcp", server).stdout
    return [yes("gave back: hello" in ran.stdout), "by plugins †", yes(listed)]


def has_command(name):
    """Whether llm lists such a command."""
    return "yes" if re.search(r"^  %s\b" % name, run("llm", "", "--help").stdout, re.M) else "no command"


def counts_tokens_offline():
    counted = run("parley", "", "tokens", "-", given="How are you?").stdout
    return [yes(re.search(r"\b4\b", counted)), has_command("tokens"), "not run"]


def converts_between_providers():
    ran = run("parley", "", "convert", "-q", "--to", "anthropic", ROOT + "/examples/openai_recipe.json")
    formats = len(run("parley", "", "dialects").stdout.splitlines())
    return ["15 formats" if ran.returncode == 0 and formats >= 15 else "no", has_command("convert"), "not run"]


TASKS = {
    "asks by a pipe": asks_by_a_pipe,
    "prints an answer as it arrives": streams,
    "continues the last conversation": continues,
    "has templates with variables": uses_a_template,
    "a reply that breaks its schema": repeats_a_reply_that_breaks_its_schema,
    "asks before a tool with side effects runs": asks_before_a_tool_runs,
    "uses MCP servers": uses_mcp_servers,
    "`kill -9` in mid-answer": keeps_a_request_that_is_killed,
    "two terminals on one session": has_two_terminals_on_one_session,
    "trims a history without splitting a tool call": trims_without_breaking_a_tool_call,
    "converts a conversation for another provider": converts_between_providers,
    "counts tokens offline": counts_tokens_offline,
    "escape sequences in an answer": shows_escape_sequences,
}


def start_up():
    """Milliseconds of a process that prints the version, or imports the library: the median of three."""
    def median(command):
        times = []
        for _ in range(3):
            before = time.monotonic()
            subprocess.run(command, capture_output=True, env=environment(""))
            times.append(1000 * (time.monotonic() - before))
        return statistics.median(times)
    return [median(c) for c in ([PARLEY, "--version"], [str(BIN / "llm"), "--version"], [sys.executable, "-c", "import agents"])]


def page_cells():
    """The first four cells of each row of the page's table, by the first."""
    found = {}
    for line in (pathlib.Path(ROOT) / "docs/features.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) >= 4:
            found[cells[0]] = cells[1:4]
    return found


def main():
    wrong = 0
    page = page_cells()
    for name, task in TASKS.items():
        forget()
        cells = task()
        print("| %s | %s |" % (name, " | ".join(cells)))
        if page.get(name) != cells:
            print("rivals.py: docs/features.md has %s" % (page.get(name),))
            wrong += 1
    print("| start-up, ms | %s |" % " | ".join("%.1f" % each for each in start_up()))
    if wrong:
        sys.exit("rivals.py: %d rows differ" % wrong)
    print("rivals.py: %d rows, as docs/features.md has them" % len(TASKS))


if sys.argv[1] == "agent":
    agent(*sys.argv[2:])
else:
    PARLEY, ROOT = sys.argv[1:]
    main()
