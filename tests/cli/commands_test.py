#!/usr/bin/env python3
"""Each command as a person sees it: commands_test.py PARLEY EXAMPLES

A command is typed at a shell inside of tmux, and what its screen shows is compared. The .case files have the details.
"""
import json
import os
import subprocess
import sys
import tempfile

from screen import PARLEY, at_shell, require, use_own_folders

EXAMPLES = os.path.abspath(sys.argv[2])
SCRIPT = {"turns": [
    {"when": "Invent a dog", "text": "{\"name\": \"Rex\", \"age\": 3}"},
    {"when": "a script", "text": "Here it is:\n```sh\nls | wc -l\n```\nRun it."},
    {"when": "Translate into French", "text": "Bonne nuit"},
    {"when": "a table", "text": "| Day | Height |\n|---|---|\n| Monday | 2 m |\n"},
]}
TEMPLATE = 'prompt = "Translate into $language: $input"\n'


def shows(command, *texts, exit=0, environment=None, rows=30, columns=100):
    """The screen shows each text, and the command ends with this exit code."""
    with at_shell(command, columns, rows, environment) as screen:
        screen.wait_for(lambda: "\nexit " in "\n" + screen.text(), "the command ends")
        shown = "\n" + screen.text()
        require(f"\nexit {exit}\n" in shown, f"{command}: exit {exit}, but:\n{shown.rstrip()}")
        for text in texts:
            require(text in shown, f"{command}: {text!r} in:\n{shown.rstrip()}")
        return shown


def questions(model):
    shows(f"{model} 'hello there'", "\nRehearsal heard: hello there\n")
    shows("chatt", "parley: unknown command 'chatt': did you mean 'chat'?", exit=2)
    shows("-m gtp-4o hello", "gtp-4o", exit=2)
    shows("-m rehearsal --no-log 'not stored'", "Rehearsal heard: not stored")
    shows("sessions search stored", exit=0)


def settings_of_a_question(model):
    shows(f"{model} --schema 'name, age int' 'Invent a dog'", '{"name": "Rex", "age": 3}')
    shows(f"{model} -x 'a script'", "\nls | wc -l\nexit 0")
    shows(f"{model} -O temperature=0 --max-tokens 50 --retries 0 --timeout 30 --window 5000 'a table'", "  Day     Height\n",
          "  Monday  2 m")
    shows(f"{model} --raw 'a table'", "| Monday | 2 m |")
    shows(f"{model} -O temperature=hot 'hello'", "parley: ", "temperature", exit=2)
    shows(f"{model} -t translate -V language=French 'Good night'", "Bonne nuit")
    shows(f"{model} -t translate 'Good night'", "language", exit=2)


def configuration():
    shows("config set model rehearsal", exit=0)
    shows("config get model", "\nrehearsal\nexit 0")
    shows("config list", "model", "rehearsal", "parley.toml:1")
    shows("config path", "parley/parley.toml")
    shows("config set aliases.quick openai/gpt-4o-mini", exit=0)
    shows("models", "MODEL", "WINDOW", "rehearsal", rows=80)
    shows("config unset model", exit=0)
    shows("config get modle", "did you mean 'model'?", exit=2)


def documents():
    recipe = f"{EXAMPLES}/openai_recipe.json"
    shows(f"convert --to anthropic {recipe} | cut -c1-40", '{"model":"gpt-5-mini","system":"You help')
    shows(f"check {recipe}", "detected dialect openai")
    shows("dialects", "openmanus", "agentscope", "anthropic", "gemini", rows=60, columns=160)
    shows(f"tokens {recipe}", exit=0)
    shows(f"media check {EXAMPLES}/first/photo.png", "PNG")
    shows(f"media show {EXAMPLES}/first/photo.png", "[image photo.png ")
    shows("filter nothing", "parley: unknown filter 'nothing'", exit=2)


def sessions():
    for name in ("oslo-water", "bergen-rain"):
        subprocess.run([PARLEY, "chat", "-q", "-m", "rehearsal", name], input=f"about {name}\n", text=True, check=True,
                       capture_output=True)
    shows("sessions", "NAME", "oslo-water", "about bergen-rain", "rehearsal")
    shows("sessions show oslo-water", "user\nabout oslo-water\n", "assistant\nRehearsal heard: about oslo-water\n")
    shows("sessions show oslo-watr", "no session 'oslo-watr'", exit=1)
    shows("sessions title oslo-water 'High water'", exit=0)
    shows("sessions list -n 2", "High water")
    shows("sessions fork oslo-water copy", "copy")
    shows("sessions expire copy 7d", exit=0)
    shows("sessions sweep", "0")
    shows("sessions rm copy", exit=0)
    shows("sessions stats", exit=0)
    shows("sessions verify", exit=0)
    shows("chat -q -m rehearsal bergen-rain </dev/null", exit=0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        use_own_folders(folder)
        os.chdir(folder)
        os.makedirs("parley/templates")
        with open("parley/templates/translate.toml", "w", encoding="utf-8") as out:
            out.write(TEMPLATE)
        with open("script.json", "w", encoding="utf-8") as out:
            json.dump(SCRIPT, out)
        server = subprocess.Popen([PARLEY, "rehearse", "--script", "script.json"], stdout=subprocess.PIPE, text=True)
        try:
            os.environ["OPENAI_BASE_URL"] = server.stdout.readline().split()[-1]
            os.environ["OPENAI_API_KEY"] = "none"
            for test in (questions, settings_of_a_question):
                test("-m rehearsal" if test is questions else "-m openai/x")
                print(f"ok: {test.__name__}")
        finally:
            server.kill()
            server.wait()
        del os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
        for test in (configuration, documents, sessions):
            test()
            print(f"ok: {test.__name__}")


main()
