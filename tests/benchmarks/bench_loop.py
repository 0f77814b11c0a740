"""One step of the loop, reason and act with Read: processor and wall time, beside the peer.

A model in the process asks for the same Read in every step. Ours is journalled as always (each step
is three synced transactions), with the real tool in a real folder; the baseline is AgentScope's own
agent with its LocalWorkspace's tools, which saves nothing before the end. Processor time is that of
all threads.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from desktop_app.core.models.base import ModelInfo, ModelRequest
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.benchmarks.figures import against, limit
from tests.helpers.journals import Disk
from tests.helpers.sessions import Bench, collect

PEER = os.environ.get("SLIPWAY_PEER_PYTHON", "")
STEPS = 100  # beside the peer
LONG = 1_000
TEXT = "".join(f"line {n} of the page that is read\n" for n in range(20))
WINDOW = 10_000_000  # nothing is compacted: that is another bench
SYNCS = 200  # of the disk alone

PEER_LOOP = """
import asyncio, json, logging, sys, time, types
logging.disable(logging.CRITICAL)
from agentscope.agent import Agent, ContextConfig, ReActConfig
from agentscope.message import TextBlock, ToolCallBlock, UserMsg
from agentscope.model import ChatModelBase, ChatResponse
from agentscope.tool import Toolkit
from agentscope.workspace import LocalWorkspace

folder, steps, window = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
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
    toolkit = Toolkit(tools=await space.list_tools())
    agent = Agent("a", "Be exact.", Model(), toolkit=toolkit, offloader=space,
                  react_config=ReActConfig(max_iters=steps + 10))
    async for _ in agent.reply_stream(UserMsg("user", "read it again and again")):
        pass
    results = sum(b.type == "tool_result" and b.state == "success"
                  for m in agent.state.context for b in m.content)
    assert results == steps, results
asyncio.run(main())
print(json.dumps(marks))
"""


async def _ours(root: Path, steps: int, disk: Disk | None = None) -> list[tuple[float, float]]:
    """(processor, wall) seconds at the beginning of each model call."""
    folder = root / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "page.txt").write_text(TEXT)
    marks: list[tuple[float, float]] = []

    def play(request: ModelRequest) -> list[Any]:
        if request.purpose != "reply":
            return [Say("A title")]
        marks.append((time.process_time(), time.perf_counter()))
        return [Say("done")] if len(marks) > steps else [Call("Read", {"file_path": "page.txt"})]

    info = ModelInfo("scripted", "Scripted", WINDOW, 4_000)
    store = SqliteJournalStore(root / "journals", vfs=disk.name if disk else None)
    bench = Bench(
        folder, ScriptedModel([play], forever=True, info=info), store=store,
        max_iterations=steps + 10,
    )  # fmt: skip
    talk = await bench.open()
    await collect(talk.send("read it again and again"))
    results = [r for m in talk.state.context for r in m.tool_results()]
    assert len(results) == steps
    assert all(r.state == "success" for r in results)
    await talk.close()
    await bench.close()
    return marks


def _steps(marks: list[tuple[float, float]], which: int) -> list[float]:
    """Milliseconds of each step."""
    return [(b[which] - a[which]) * 1000 for a, b in pairwise(marks)]


def _peer(folder: Path, steps: int) -> list[float] | None:
    if not PEER:
        return None
    (folder / "page.txt").write_text(TEXT)
    import json

    done = subprocess.run(
        [PEER, "-c", PEER_LOOP, str(folder), str(steps), str(WINDOW)],
        capture_output=True, check=True, text=True, timeout=300, cwd=folder,
    )  # fmt: skip
    return _steps(json.loads(done.stdout.splitlines()[-1]), 0)


def _sync_ms(folder: Path) -> float:
    """One appended page and its fdatasync on this disk."""
    fd = os.open(folder / "sync", os.O_WRONLY | os.O_CREAT)
    taken: list[float] = []
    for n in range(SYNCS):
        os.pwrite(fd, b"x" * 4096, n * 4096)
        began = time.perf_counter()
        os.fdatasync(fd)
        taken.append((time.perf_counter() - began) * 1000)
    os.close(fd)
    return statistics.median(taken)


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as temp:
        for name in ("ours", "counted", "peer"):
            (Path(temp) / name).mkdir()
        marks = asyncio.run(_ours(Path(temp) / "ours", LONG))
        cpu, wall = _steps(marks, 0), _steps(marks, 1)
        disk = Disk()
        asyncio.run(_ours(Path(temp) / "counted", 20, disk))
        syncs = sum(1 for op, name, *_ in disk.log if op == "sync") / 20
        sync = _sync_ms(Path(temp))
        peer = _peer(Path(temp) / "peer", STEPS)
    ours = statistics.median(cpu[10:STEPS])
    theirs = statistics.median(peer[10:]) if peer is not None else None
    rows = [
        against("CPU of a step with Read, journalled", ours, theirs, 1 / 3, "ms", "≤ 1/3"),
    ]
    if theirs is not None:
        most = (theirs / 3 + syncs * sync) * 1.2
        rows.append(
            limit(
                f"wall of it ({syncs:.1f} syncs of {sync:.2f} ms)",
                statistics.median(wall[10:STEPS]), most, "ms",
                f"≤ (1/3 + syncs) x 1.2 = {most:.1f} ms",
            )
        )  # fmt: skip
    first, last = statistics.median(cpu[10:110]), statistics.median(cpu[-100:])
    rows.append(against(f"step {LONG}, beside step 10", last, first, 1.2, "ms", "≤ 1.2 x"))
    return rows
