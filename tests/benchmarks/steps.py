"""Steps of the loop, reason and act, with a model in the process, ours and AgentScope's.

Ours is journalled as always, with the real tool in a real folder; the peer is AgentScope's own
agent with its LocalWorkspace's tools, which saves nothing before the end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from desktop_app.core.mcp.runner import Runner
from desktop_app.core.models.base import ModelInfo, ModelRequest
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.journals import Disk
from tests.helpers.mcp import SERVERS, declare, entry
from tests.helpers.sessions import Bench, collect

PEER = os.environ.get("SLIPWAY_PEER_PYTHON", "")
TEXT = "".join(f"line {n} of the page that is read\n" for n in range(20))
WINDOW = 10_000_000  # nothing is compacted: that is another bench
NOTES = "asked"  # what the server was asked, a line each
Marks = list[tuple[float, float]]

PEER_LOOP = """
import asyncio, json, logging, sys, time, types
logging.disable(logging.CRITICAL)
from agentscope.agent import Agent, ReActConfig
from agentscope.mcp import MCPClient, StdioMCPConfig
from agentscope.message import TextBlock, ToolCallBlock, UserMsg
from agentscope.model import ChatModelBase, ChatResponse
from agentscope.tool import Toolkit
from agentscope.workspace import LocalWorkspace

folder, steps, window, server = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
marks = []

class Model(ChatModelBase):
    def __init__(self):
        self.context_size, self.model, self.stream, self.max_retries = window, "fake", False, 0
        self.retry_delay, self.formatter = 0, types.SimpleNamespace(supported_input_media_types=[])
    async def _call_api(self, *args, **kwargs):
        marks.append((time.process_time(), time.perf_counter()))
        n = len(marks)
        if n > steps:
            content = [TextBlock(text="done")]
        else:
            path = json.dumps({"file_path": folder + "/page.txt"})
            content = [ToolCallBlock(id="c%d" % n, name="Read", input=path)]
        return ChatResponse(content=content, is_last=True)

async def main():
    space = LocalWorkspace(workdir=folder)
    await space.initialize()
    mcps = []
    if server:
        config = StdioMCPConfig(command=server[0], args=server[1:])
        mcps.append(MCPClient(name="raw", is_stateful=True, mcp_config=config))
        await mcps[0].connect()
    toolkit = Toolkit(tools=await space.list_tools(), mcps=mcps)
    agent = Agent("a", "Be exact.", Model(), toolkit=toolkit, offloader=space,
                  react_config=ReActConfig(max_iters=steps + 10))
    async for _ in agent.reply_stream(UserMsg("user", "read it again and again")):
        pass
    results = sum(b.type == "tool_result" and b.state == "success"
                  for m in agent.state.context for b in m.content)
    assert results == steps, results
    for client in mcps:
        await client.close()
asyncio.run(main())
print(json.dumps(marks))
"""


def taken(marks: Marks, which: int) -> list[float]:
    """Milliseconds of each step: 0 of processor time of all threads, 1 by the wall."""
    return [(b[which] - a[which]) * 1000 for a, b in pairwise(marks)]


async def ours(
    root: Path, steps: int, disk: Disk | None = None, runner: Runner | None = None
) -> Marks:
    """(processor, wall) seconds at the beginning of each model call. With ``runner`` the folder
    has one MCP server of ten tools, which notes what it is asked in ``NOTES``."""
    folder = root / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "page.txt").write_text(TEXT)
    if runner is not None:
        declare(folder / ".slipway", entry("raw", "raw.py", "ten", str(root / NOTES)))
    marks: Marks = []
    offered = 0

    def play(request: ModelRequest) -> list[Any]:
        nonlocal offered
        if request.purpose != "reply":
            return [Say("A title")]
        offered = sum(t.name.startswith("mcp__") for t in request.tools)
        marks.append((time.process_time(), time.perf_counter()))
        return [Say("done")] if len(marks) > steps else [Call("Read", {"file_path": "page.txt"})]

    info = ModelInfo("scripted", "Scripted", WINDOW, 4_000)
    store = SqliteJournalStore(root / "journals", vfs=disk.name if disk else None)
    bench = Bench(
        folder, ScriptedModel([play], forever=True, info=info), store=store,
        max_iterations=steps + 10, runner=runner,
    )  # fmt: skip
    talk = await bench.open()
    await collect(talk.send("read it again and again"))
    results = [r for m in talk.state.context for r in m.tool_results()]
    assert len(results) == steps
    assert all(r.state == "success" for r in results)
    assert offered == (10 if runner is not None else 0)
    await talk.close()
    await bench.close()
    return marks


def peer(root: Path, steps: int, *, server: bool = False) -> Marks | None:
    """The same of AgentScope; None where it is not installed."""
    if not PEER:
        return None
    folder = root / "folder"
    folder.mkdir()
    (folder / "page.txt").write_text(TEXT)
    command = [sys.executable, str(SERVERS / "raw.py"), "ten", str(root / NOTES)]
    done = subprocess.run(
        [PEER, "-c", PEER_LOOP, str(folder), str(steps), str(WINDOW), *(command if server else [])],
        capture_output=True, check=True, text=True, timeout=300, cwd=folder,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def listings(root: Path) -> int:
    """How often the server was asked what tools it has."""
    return (root / NOTES).read_text().splitlines().count("list")
