#!/usr/bin/env python3
"""Makes a log as llm 0.36 does: make_llm_log.py FILE [empty]

The tables and columns are those that 0.36 creates for its message store, and the rows are of the forms it writes: a text in
its column, a text with fragments, attachments by id, a call and its result, reasoning. Hashes are short here; nothing
reads more out of them than their equality.
"""
import sqlite3
import sys

SCHEMA = """
CREATE TABLE conversations(id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE responses(id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, response TEXT, conversation_id TEXT,
                       datetime_utc TEXT);
CREATE TABLE tool_calls(id INTEGER PRIMARY KEY, response_id TEXT);
CREATE TABLE attachments(id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
CREATE TABLE fragments(id INTEGER PRIMARY KEY, hash TEXT, content TEXT, datetime_utc TEXT, source TEXT);
CREATE TABLE messages(hash TEXT PRIMARY KEY, parent_hash TEXT REFERENCES messages(hash), role TEXT,
                      provider_metadata TEXT);
CREATE TABLE parts(id INTEGER PRIMARY KEY, message_hash TEXT REFERENCES messages(hash), position INTEGER, type TEXT,
                   tool_name TEXT, text TEXT, payload TEXT);
CREATE TABLE threads(id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT);
CREATE TABLE turns(id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT,
                   resolved_model TEXT, options_json TEXT, schema_id TEXT, input_tokens INTEGER, output_tokens INTEGER,
                   token_details TEXT, duration_ms INTEGER, datetime_utc TEXT, response_json TEXT);
"""

# thread: (hash, parent, role, parts); a part: (type, text, payload)
MESSAGES = [
    ("s", None, "system", [("text", "be brief", None)]),
    ("u1", "s", "user", [("text", "a name for a pelican", None)]),
    ("a1", "u1", "assistant", [("text", "Percy", None)]),
    ("a1b", "u1", "assistant", [("text", "Pip", None)]),
    ("u2", "a1", "user", [("text", "another", None)]),
    ("a2", "u2", "assistant", [("reasoning", "birds", '{"provider_metadata": {"x": {"signature": "abc"}}}'),
                               ("text", "Pippa", None)]),
    ("v1", None, "user", [("text", None, '{"text_ref": [{"fragment": 1}, {"literal": "\\nwhat is it?"}]}'),
                          ("attachment", None, '{"attachment": {"id": "p"}}'),
                          ("attachment", None, '{"attachment": {"id": "w"}}'),
                          ("attachment", None, '{"attachment": {"id": "f"}}')]),
    ("b1", "v1", "assistant", [("tool_call", None, '{"name": "look", "arguments": {"q": "ducks"}, "tool_call_id": "c1"}'),
                               ("tool_call", None, '{"name": "look", "arguments": {"q": "geese"}}')]),
    ("r1", "b1", "tool", [("tool_result", None, '{"name": "look", "output": "quack", "tool_call_id": "c1"}'),
                          ("tool_result", None, '{"name": "look", "output": "", "exception": "Gone: no geese"}')]),
    ("b2", "r1", "assistant", [("text", "a duck", None)]),
]


def main():
    db = sqlite3.connect(sys.argv[1])
    db.executescript(SCHEMA)
    if sys.argv[2:] != ["empty"]:
        for hash_, parent, role, parts in MESSAGES:
            db.execute("INSERT INTO messages VALUES (?, ?, ?, NULL)", (hash_, parent, role))
            for position, (kind, text, payload) in enumerate(parts):
                db.execute("INSERT INTO parts(message_hash, position, type, text, payload) VALUES (?, ?, ?, ?, ?)",
                           (hash_, position, kind, text, payload))
        for thread, tip in (("t1", "a2"), ("t2", "b2"), ("t3", None)):
            db.execute("INSERT INTO threads VALUES (?, ?, ?, NULL, '2026-01-01')", (thread, thread, tip))
        for turn, thread, tip in (("x1", "t1", "a1"), ("x2", "t1", "a1b"), ("x3", "t1", "a2"), ("x4", "t2", "b2")):
            db.execute("INSERT INTO turns(id, thread_id, tip_message_hash) VALUES (?, ?, ?)", (turn, thread, tip))
        db.execute("INSERT INTO fragments VALUES (1, 'h', 'a fragment', '2026-01-01', NULL)")
        db.execute("INSERT INTO attachments VALUES ('p', 'image/png', NULL, NULL, ?)", (b"\x89PNG",))
        db.execute("INSERT INTO attachments VALUES ('w', 'image/png', NULL, 'https://example.com/a.png', NULL)")
        db.execute("INSERT INTO attachments VALUES ('f', 'application/pdf', '/gone/a.pdf', NULL, NULL)")
        # From before 0.36: one conversation that a thread continues, and one that is only in the older tables.
        db.execute("INSERT INTO responses VALUES ('x1', 'm', 'a name for a pelican', 'be brief', 'Percy', 't1', '2025')")
        db.execute("INSERT INTO responses VALUES ('r9', 'm', 'hi', NULL, 'hello', 'old', '2024')")
        db.execute("INSERT INTO tool_calls VALUES (1, 'r9')")
    db.commit()


main()
