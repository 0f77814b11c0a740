"""What people of other clients reported of running servers, with real servers here; each test says
what they saw."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from desktop_app.core import events as ev
from desktop_app.core.agent.base import Decision
from desktop_app.core.mcp.spec import ServerSpec
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.workspaces.mcp_file import parse_mcp
from tests.helpers.mcp import SERVERS, call, command, declare, entry, until
from tests.helpers.mcp import Bench as McpBench
from tests.helpers.sessions import Bench, collect, of


async def test_a_home_folder_with_blanks_and_chinese_characters(
    mcp: McpBench, tmp_path: Path
) -> None:
    """``C:\\Users\\数码猫\\…``: the connection closed at once."""
    home = tmp_path / "数码猫 and co"
    home.mkdir()
    script = home / "服务 器.py"
    shutil.copy(SERVERS / "plain.py", script)
    spec = ServerSpec(
        "cat", "stdio", (command("plain.py")[0], str(script)), cwd=str(home), env={"GIVEN": "钥匙"}
    )
    c = mcp.start(spec)
    await until(lambda: c.status.state in ("ok", "failed"))
    assert c.status.state == "ok", c.status
    where = (await call(c, "where")).text
    assert str(home) in where
    assert "钥匙" in where
    assert (await call(c, "write_note", text="带空格 的内容")).text == "kept: 带空格 的内容"


def test_a_time_limit_is_in_seconds_as_its_field_says() -> None:
    """A limit of 30, meant in seconds, was taken for milliseconds and ended every call."""
    (declared,) = parse_mcp(
        json.dumps([entry("x", "plain.py", execution_timeout=30)]).encode()
    ).all()
    assert ServerSpec.of(declared).call_seconds == 30.0


async def test_a_giant_result_neither_fills_the_window_nor_is_lost(
    mcp: McpBench, tmp_path: Path
) -> None:
    """A result of 5 MB wedged the session: each next request was too long, compaction too."""
    folder = tmp_path / "folder"
    folder.mkdir()
    turns = [[Call("mcp__plain__large", {"characters": 5_000_000})], [Say("Long.")], [Say("t")]]
    b = Bench(folder, ScriptedModel(turns), runner=mcp.runner)  # type: ignore[arg-type]
    declare(folder / ".slipway", entry("plain", "plain.py"))
    c = await b.open()
    await collect(c.send("how long is it?"))
    assert c.pending is not None
    decision = Decision(c.pending.approvals[0].op_id, True)
    events = await collect(c.decide(c.pending.reply_id, [decision]))
    assert of(events, ev.RunFinished)[0].reason == "completed"
    asked = b.model.requests[1]  # type: ignore[attr-defined]
    said = sum(len(m.to_json()) for m in asked.messages)
    assert 0 < said < 200_000
    results = folder / ".slipway" / "sessions"

    def whole() -> bool:
        return any(f.stat().st_size >= 5_000_000 for f in results.glob("*/tool_result-*.txt"))

    await until(whole)
    await c.close()
    await b.close()
