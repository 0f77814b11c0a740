"""An hour's work in miniature: the real window and a local OpenAI-compatible server, three MCP
servers that others wrote, two skills, over forty turns, approvals, a command in the background,
trouble at the provider, a server that dies, compactions, and two kills of the program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.providers import (
    Answer,
    Asked,
    Server,
    chat,
    chat_chunk,
    openai_error,
    sse,
)

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]
CHILD = Path(__file__).with_name("hour_child.py")
ROOT = Path(__file__).parents[2]
Usage = tuple[int, int, int]
Step = Callable[[int, Usage], Answer]  # by how often it was asked for, and what it took
Call = tuple[str, dict[str, Any]]


def say(text: str, *calls: Call) -> Step:
    made = [(f"c{n}-{name}", name, json.dumps(args)) for n, (name, args) in enumerate(calls)]
    return lambda _n, usage: chat(text, calls=made, usage=usage)


def first(trouble: Answer, then: str) -> Step:
    return lambda n, usage: trouble if n == 1 else chat(then, usage=usage)


def silent_after(text: str) -> Answer:
    return sse(chat_chunk({"role": "assistant", "content": text}), threading.Event())


def clock(zone: str) -> Call:
    args = {"source_timezone": "UTC", "time": "12:00", "target_timezone": zone}
    return "mcp__time__convert_time", args


def files(tool: str, **args: Any) -> Call:
    return f"mcp__files__{tool}", args


def everything(tool: str, **args: Any) -> Call:
    return f"mcp__everything__{tool}", args


GROUPS = ("reset_tools", {"time": True, "files": True, "everything": True})
WATCH = "for i in 1 2 3; do echo tick $i; done; sleep 300"
SCRIPT: dict[str, list[Step]] = {
    "What is noon UTC in Shanghai?": [
        say("I need the servers.", GROUPS),
        say("I ask the clock.", clock("Asia/Shanghai")),
        say("It is 20:00 in Shanghai."),
    ],
    "And in Tokyo?": [say("", clock("Asia/Tokyo")), say("It is 21:00 in Tokyo.")],
    "Read the first report": [
        say(
            "",
            ("Read", {"file_path": "report-01.md"}),
            ("Grep", {"pattern": "tide", "path": "report-02.md"}),
            ("Glob", {"pattern": "*.txt"}),
        ),
        say("It is about tide, wind, crew and cargo."),
    ],
    "List the folder with the file server": [
        say("", files("list_directory", path=".")),
        say("Thirty reports."),
    ],
    "Write a summary": [
        say(
            "", ("Write", {"file_path": "summary.md", "content": "# Summary\n\nThirty reports.\n"})
        ),
        say("Written."),
    ],
    "Change the summary": [
        say("", ("Read", {"file_path": "summary.md"})),
        say(
            "",
            (
                "Edit",
                {"file_path": "summary.md", "old_string": "Thirty", "new_string": "Thirty good"},
            ),
        ),
        say("Changed."),
    ],
    "Clean up the folder": [
        say("", ("Bash", {"command": "rm -rf report-*.md"})),
        say("I leave it."),
    ],
    "Start the watcher": [
        say("", ("Bash", {"command": WATCH, "run_in_background": True})),
        say("It runs."),
    ],
    "What does the watcher say?": [say("", ("BashOutput", {"id": "bg1"})), say("It ticks.")],
    "Stop the watcher": [say("", ("BashStop", {"id": "bg1"})), say("Stopped.")],
    "Use the report style": [say("", ("Skill", {"skill": "report-style"})), say("So be it.")],
    "检查一下数据": [say("", ("Skill", {"skill": "数据检查"})), say("好的。")],
    "Show me a picture": [say("", everything("get-tiny-image")), say("There.")],
    "Ask too fast": [
        first(
            openai_error(429, "Slow down", "rate_limit_exceeded", retry_after="1"), "Not so fast."
        )
    ],
    "Ask a tired server": [first(openai_error(529, "overloaded", "overloaded"), "Awake.")],
    "Ask with a wrong key": [
        first(openai_error(401, "Incorrect API key provided", "invalid_api_key"), "Right key.")
    ],
    "Half an answer": [
        first(
            sse(chat_chunk({"role": "assistant", "content": "The first half "}), cut=True),
            "and the second half.",
        )
    ],
    "Half a call": [
        lambda _n, usage: chat(
            calls=[("h1", "Write", '{"file_path": "half.txt", "conte')],
            finish="length",
            usage=usage,
        ),
        say("I will not."),
    ],
    "Tell me a long story": [lambda _n, _usage: silent_after("Once upon a time, ")],
    "And then?": [say("They sailed home.")],
    "Echo in death": [
        say("", everything("trigger-long-running-operation", duration=60, steps=120)),
        say("It died."),
    ],
    "Echo after death": [say("", everything("echo", message="again")), say("Back.")],
    "Sleep long": [
        say("", ("Bash", {"command": "echo begun >> begun.txt; sleep 20"})),
        say("I slept."),
    ],
    "Story before the crash": [first(silent_after("The storm came and "), "passed.")],
    **{
        f"Look at report {n}": [
            say("", ("Read", {"file_path": f"report-{n:02}.md"})),
            say("", ("Grep", {"pattern": "crew", "path": f"report-{n:02}.md"})),
            say(f"Report {n} is in order."),
        ]
        for n in range(3, 31)
    },
}


class Brain(Server):
    """Answers by what the person said last and how many steps were made since."""

    def __init__(self) -> None:
        super().__init__()
        self.times: Counter[tuple[str, int]] = Counter()

    def _next(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        messages = asked.body["messages"]
        if not asked.body.get("tools"):  # a title, or notes for a compaction
            return chat("Reports of the harbour")
        said = [(i, _text(m)) for i, m in enumerate(messages) if m["role"] == "user"]
        at, text = next((i, t) for i, t in reversed(said) if t in SCRIPT)
        step = sum(m["role"] == "assistant" for m in messages[at + 1 :])
        step = min(step, len(SCRIPT[text]) - 1)
        self.times[text, step] += 1
        taken = len(json.dumps(asked.body)) // 4
        return SCRIPT[text][step](self.times[text, step], (taken, 20, 0))


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])


def furnish(folder: Path, npm: Callable[[str], tuple[str, str]]) -> None:
    """A folder with thirty reports, three servers and two skills."""
    folder.mkdir()
    words = ("tide", "wind", "crew", "cargo")
    for n in range(1, 31):
        lines = (f"Line {i} of report {n}: the {words[i % 4]} was {i * n % 97}." for i in range(60))
        (folder / f"report-{n:02}.md").write_text(f"# Report {n}\n\n" + "\n".join(lines) + "\n")
    (folder / "todo.txt").write_text("paint the hull\n")
    for name, text in (("report-style", "Use three sentences."), ("数据检查", "先看表头。")):
        place = folder / ".slipway" / "skills" / ".seed" / name
        place.mkdir(parents=True)
        front = f"---\nname: {name}\ndescription: For {name}.\n---\n"
        (place / "SKILL.md").write_text(f"{front}{text}\n")

    def declared(name: str, program: str, *args: str) -> dict[str, Any]:
        config = {"type": "stdio_mcp", "command": program, "args": args}
        return {"name": name, "is_stateful": True, "mcp_config": config}

    script = "@modelcontextprotocol/server-{}/dist/index.js"
    servers = [
        declared("time", sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"),
        declared("files", *npm(script.format("filesystem")), str(folder)),
        declared("everything", *npm(script.format("everything"))),
    ]
    mcp = {"version": 2, "mcps": {"": {"": servers}}}
    (folder / ".slipway" / ".mcp").write_text(json.dumps(mcp))


def test_an_hour_without_a_surprise(npm: Callable[[str], tuple[str, str]], tmp_path: Path) -> None:
    folder = tmp_path / "Harbour office"
    furnish(folder, npm)
    env = {
        **os.environ,
        "SLIPWAY_HOME": str(tmp_path / "home"),
        "SLIPWAY_KEYRING": "none",
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONPATH": str(ROOT),
    }
    brain = Brain()
    with brain:
        for part, ends in (("work", -signal.SIGKILL), ("story", -signal.SIGKILL), ("after", 0)):
            done = subprocess.run(
                [sys.executable, str(CHILD), part, f"{brain.url}/v1", str(folder)],
                env=env,
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=400,
                check=False,
            )
            assert done.returncode == ends, done.stderr[-4000:]
    assert brain.times["Sleep long", 0] == 1, "a call of unknown outcome was asked for again"
    assert (folder / "begun.txt").read_text() == "begun\n"
    assert len(brain.asked) > 120
