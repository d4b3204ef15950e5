#!/usr/bin/env python3
"""An MCP server for tests, over stdio or HTTP, right or wrong as its options and the names of its tools say.

    server.py [--http] [--version V] [--page N] [--starts FILE] [--log FILE] [--fault F]

--page N        N tools a page
--starts FILE   one more line in FILE at each start
--log FILE      one more line for each HTTP request: its method, and its status
--fault F       banner: prints lines that are no messages first     mute: answers nothing
                exit: ends at once, with words and status 3         refuse: refuses to begin
                endless: pages without an end                       bare: has no tools
                nameless: lists a tool without a name               schemaless: lists a tool with an invalid schema
                look_ahead: lists a tool with a pattern that looks ahead
                twice: lists its tools twice

With --http it prints its port. The path says how it answers: /mcp with events, /json with JSON, /deaf with events but
without a stream for GET, /old the same with 400 to sessions it does not know; /html, /401, /500 wrongly.
"""
import argparse
import base64
import http.server
import json
import os
import queue
import sys
import threading

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n rest of an image").decode()
WAV = base64.b64encode(b"RIFF\x00\x00\x00\x00WAVE").decode()


def text(value):
    return {"content": [{"type": "text", "text": value}]}


class Gone(Exception):
    """The tool cuts its connection."""


class Later(Exception):
    """The stream ends before the answer, which comes after so many further ends."""


class Server:
    """What one session knows."""

    def __init__(self, options):
        self.options = options
        self.more_tools = []
        self.cancelled = []
        self.replies = queue.Queue()  # of the client, to what tools asked it
        self.events = queue.Queue()  # for a GET
        self.released = threading.Event()
        self.is_deaf = False  # over stdio: reads no further line

    # ---- Tools: each takes its arguments and a function that sends to the client, and gives a result.

    def tool_echo(self, arguments, send):
        return text(arguments["text"])

    def tool_media(self, arguments, send):
        return {
            "content": [
                {"type": "text", "text": "all kinds"},
                {"type": "image", "data": PNG, "mimeType": "image/png"},
                {"type": "audio", "data": WAV, "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": "demo://text", "mimeType": "text/plain", "text": "inside"}},
                {"type": "resource", "resource": {"uri": "demo://png", "mimeType": "image/png", "blob": PNG}},
                {"type": "resource", "resource": {"uri": "demo://pdf", "mimeType": "application/pdf", "blob": PNG}},
                {"type": "resource_link", "uri": "demo://link", "name": "link", "mimeType": "text/plain"},
                {"type": "image", "data": "not base64!", "mimeType": "image/png"},
                {"type": "hologram", "depth": 3},
            ]
        }

    def tool_structured(self, arguments, send):
        return {"content": [], "structuredContent": {"degrees": 12}}

    def tool_fails(self, arguments, send):
        return {**text("no such city"), "isError": True}

    def tool_contentless(self, arguments, send):
        return {"content": "a text"}

    def tool_refuses(self, arguments, send):
        raise ValueError("wrong params")

    def tool_note(self, arguments, send):
        with open(arguments["file"], "a") as file:
            file.write("noted\n")
        return text("noted")

    def tool_note_and_die(self, arguments, send):
        self.tool_note(arguments, send)
        sys.stderr.write("out of cheese\nthe key is " + os.environ.get("SECRET_KEY", "") + "\n")
        sys.stderr.flush()
        os._exit(3)

    def tool_note_and_cut(self, arguments, send):
        self.tool_note(arguments, send)
        raise Gone()

    def tool_note_and_go_on_later(self, arguments, send):
        self.tool_note(arguments, send)
        raise Later(arguments["pieces"])

    def tool_garbage(self, arguments, send):
        for line in ["Loading model...", "{", '{"jsonrpc":"2.0"}', "[]", '"a string"', "\xff\xfe", '{"id":1}']:
            send(line)
        return text("after garbage")

    def tool_stranger(self, arguments, send):
        send({"jsonrpc": "2.0", "id": 424242, "result": text("not for you")})
        send({"jsonrpc": "2.0", "id": "1", "result": text("not for you")})
        return text("for you")

    def tool_progress(self, arguments, send):
        for i in range(100):
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": i}})
        return text("done")

    def tool_large(self, arguments, send):
        return text("x" * arguments["bytes"])

    def tool_hang(self, arguments, send):
        threading.Event().wait()

    def tool_cancelled(self, arguments, send):
        return text(json.dumps(self.cancelled))

    def tool_wait(self, arguments, send):
        self.released.wait()
        return text("released")

    def tool_release(self, arguments, send):
        self.released.set()
        return text("go")

    def tool_change(self, arguments, send):
        self.more_tools.append(arguments["name"])
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return text("changed")

    def tool_change_aside(self, arguments, send):
        self.more_tools.append(arguments["name"])
        self.events.put({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return text("changed")

    def tool_ask_back(self, arguments, send):
        replies = []
        for i, method in enumerate(["ping", "roots/list", "sampling/createMessage", "elicitation/create"]):
            send({"jsonrpc": "2.0", "id": f"ask-{i}", "method": method, "params": {}})
            replies.append(self.replies.get())
        return text(json.dumps(replies))

    def tool_stop_reading(self, arguments, send):
        self.is_deaf = True
        return text("what?")

    def tool_environment(self, arguments, send):
        return text(json.dumps({"env": dict(os.environ), "cwd": os.getcwd()}))

    def tool_forget(self, arguments, send):
        SESSIONS.clear()
        return text("who are you?")

    # ---- Methods

    def tools(self):
        names = [name[len("tool_"):] for name in dir(self) if name.startswith("tool_")] + self.more_tools
        tools = [{"name": name, "description": "Does " + name, "inputSchema": {"type": "object"}} for name in names]
        for tool in tools:
            tool["annotations"] = {"readOnlyHint": tool["name"] == "echo"}
        if self.options.fault == "nameless":
            tools.append({"description": "nobody"})
        if self.options.fault == "schemaless":
            tools.append({"name": "odd", "inputSchema": "none"})
        if self.options.fault == "twice":
            tools += tools
        if self.options.fault == "look_ahead":
            tools.append({"name": "ahead", "inputSchema": {"type": "object", "properties": {"n": {"pattern": "(?=a)"}}}})
        return tools

    def list(self, params):
        tools, size = self.tools(), self.options.page
        start = int(params.get("cursor", 0))
        if self.options.fault == "endless":
            return {"tools": [], "nextCursor": str(start + 1)}
        if not size:
            return {"tools": tools}
        page = {"tools": tools[start:start + size]}
        if start + size < len(tools):
            page["nextCursor"] = str(start + size)
        return page

    def answer(self, method, params, send):
        if method == "initialize":
            if self.options.fault == "refuse":
                raise ValueError("not today")
            return {
                "protocolVersion": self.options.version or params["protocolVersion"],
                "capabilities": {} if self.options.fault == "bare" else {"tools": {"listChanged": True}},
                "serverInfo": {"name": "test", "version": "1"},
            }
        if method == "tools/list":
            return self.list(params)
        if method == "tools/call":
            name = params["name"]
            if name in self.more_tools:
                return text("I am " + name)
            return getattr(self, "tool_" + name)(params["arguments"], send)
        raise ValueError("no method " + method)

    def take(self, message, send):
        """Takes a message of the client; send() gets the replies."""
        if "method" not in message:
            self.replies.put(message)
        elif "id" not in message:
            if message["method"] == "notifications/cancelled":
                self.cancelled.append(message["params"]["requestId"])
        elif self.options.fault == "mute":
            threading.Event().wait()
        else:
            answer = {"jsonrpc": "2.0", "id": message["id"]}
            try:
                answer["result"] = self.answer(message["method"], message.get("params", {}), send)
            except ValueError as error:
                answer["error"] = {"code": -32602, "message": str(error)}
            send(answer)


def serve_stdio(options):
    server, lock = Server(options), threading.Lock()

    def send(message):
        line = message if isinstance(message, str) else json.dumps(message)
        with lock:
            sys.stdout.buffer.write(line.encode("latin-1") + b"\n")
            sys.stdout.buffer.flush()

    def pass_events():
        while True:
            send(server.events.get())

    def take(message):
        try:
            server.take(message, send)
        except Gone:
            os._exit(0)

    if options.fault == "banner":
        send("Welcome!")
        send("")
    threading.Thread(target=pass_events, daemon=True).start()
    for line in sys.stdin:
        if server.is_deaf:
            threading.Event().wait()
        threading.Thread(target=take, args=(json.loads(line),), daemon=True).start()


SESSIONS = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *unused):
        pass

    def finish_with(self, status, body=b"", kind="application/json", headers=()):
        self.note(status)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def note(self, status):
        if self.server.options.log:
            with open(self.server.options.log, "a") as file:
                file.write(f"{self.command} {status}\n")

    def start_stream(self, headers=()):
        self.note(200)
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def send_event(self, message, number=None):
        line = message if isinstance(message, str) else json.dumps(message)
        if number is not None:
            self.wfile.write(b"id: later-%d\r\nretry: 1\r\n" % number)
        self.wfile.write(b"event: message\r\ndata: " + line.encode("latin-1") + b"\r\n\r\n")
        self.wfile.flush()

    def session(self):
        """The session of a request; answers itself, and returns None, if it is unknown."""
        name = self.headers.get("Mcp-Session-Id")
        if name is None or self.headers.get("MCP-Protocol-Version") is None:
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "which session?"}}
            return self.finish_with(400, json.dumps(error).encode())
        if name not in SESSIONS:
            return self.finish_with(400 if self.path == "/old" else 404)
        return SESSIONS[name]

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/html":
            return self.finish_with(200, b"<html>Welcome to nginx!</html>", "text/html")
        if self.path in ("/401", "/500"):
            return self.finish_with(int(self.path[1:]), b"no")
        accept = self.headers.get("Accept", "")
        if "application/json" not in accept or "text/event-stream" not in accept:
            return self.finish_with(406)
        headers = []
        if message.get("method") == "initialize":
            session = Server(self.server.options)
            name = f"session-{len(SESSIONS) + 1}-{os.urandom(4).hex()}"
            SESSIONS[name] = session
            headers.append(("Mcp-Session-Id", name))
        else:
            session = self.session()
            if session is None:
                return None
        if "id" not in message or "method" not in message:
            session.take(message, None)
            return self.finish_with(202)
        try:
            if self.path == "/json":
                answers = []
                session.take(message, answers.append)
                return self.finish_with(200, json.dumps(answers[-1], indent=1).encode(), headers=headers)
            self.start_stream(headers)
            session.take(message, self.send_event)
        except Later as later:
            session.later = {"jsonrpc": "2.0", "id": message["id"], "result": text("at last")}
            self.send_event("", later.args[0])
        except (Gone, BrokenPipeError):
            self.close_connection = True
            self.connection.close()
        return None

    def do_GET(self):
        if self.path in ("/deaf", "/old"):
            return self.finish_with(405)
        session = self.session()
        if session is None:
            return None
        last = self.headers.get("Last-Event-ID", "")
        self.start_stream()
        if last.startswith("later-"):
            left = int(last[len("later-"):]) - 1
            return self.send_event("" if left > 0 else session.later, left)
        self.send_event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "hello"}})
        try:
            while True:
                self.send_event(session.events.get())
        except OSError:
            return None

    def do_DELETE(self):
        if self.session() is not None:
            del SESSIONS[self.headers["Mcp-Session-Id"]]
            self.finish_with(200)


def serve_http(options):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.options = options
    print(server.server_address[1], flush=True)
    server.serve_forever()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--version")
    parser.add_argument("--page", type=int, default=0)
    parser.add_argument("--starts")
    parser.add_argument("--log")
    parser.add_argument("--fault")
    options = parser.parse_args()
    if options.starts:
        with open(options.starts, "a") as file:
            file.write("start\n")
    if options.fault == "exit":
        sys.stderr.write("no configuration\n")
        sys.exit(3)
    (serve_http if options.http else serve_stdio)(options)


main()
