"""What people of other clients reported of running servers, with real servers here; each test says
what they saw."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent.base import Decision
from desktop_app.core.mcp.connection import Status
from desktop_app.core.mcp.manager import McpManager
from desktop_app.core.mcp.names import short_name
from desktop_app.core.mcp.spec import ServerSpec
from desktop_app.core.mcp.tools import McpTool
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.tools.base import ToolOutcome
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from desktop_app.core.workspaces.mcp_file import parse_mcp
from desktop_app.core.workspaces.mcp_write import split_line
from tests.helpers.mcp import QUICK, SERVERS, call, command, declare, entry, until
from tests.helpers.mcp import Bench as McpBench
from tests.helpers.sessions import Bench, collect, of
from tests.helpers.tools import make_context


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


async def test_a_whole_line_in_place_of_the_program_is_split_when_the_person_says_so(
    mcp: McpBench, tmp_path: Path
) -> None:
    """``"command": "npx -y mcp-remote https://x/?k=1"``: a program of that name was looked for."""
    rest = str(tmp_path / "notes?k=1&b=c d")
    line = shlex.join([*command("raw.py", "plain"), rest])
    declared = {"name": "line", "is_stateful": True, "keep": "me"}
    declared["mcp_config"] = {"type": "stdio_mcp", "command": line, "env": {"K": "v"}}
    path = declare(tmp_path / ".slipway", declared)
    workspace = LocalWorkspace(tmp_path, id="w", trusted=True)
    await workspace.initialize()
    manager = McpManager(workspace, mcp.runner, "a", "s", QUICK)
    await manager.start()

    async def status() -> Status:
        return (await manager.servers())[0].status

    async with asyncio.timeout(30):
        while (now := await status()).state not in ("failed", "ok"):
            await asyncio.sleep(0.05)
    assert (now.state, now.code, now.params) == (
        "failed",
        "mcp.whole_line",
        {"program": command("raw.py")[0]},
    )
    await manager.split_command("line")
    async with asyncio.timeout(30):
        while (await status()).state != "ok":
            await asyncio.sleep(0.05)
    written = json.loads(path.read_text())["mcps"][""][""][0]
    assert written["keep"] == "me"
    assert written["mcp_config"] == {
        "type": "stdio_mcp",
        "command": command("raw.py")[0],
        "env": {"K": "v"},
        "args": [*command("raw.py", "plain")[1:], rest],
    }
    await manager.close()
    await workspace.close()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("my server", ("my", "server")),
        ('say "hello there"', ("say", "hello there")),
        ('an "open quote', ('an "open quote',)),
        ("npx", ("npx",)),
        (" ", (" ",)),
    ],
)
def test_how_a_line_is_split(command: str, words: tuple[str, ...]) -> None:
    assert split_line((command,)) == words
    assert split_line((command, "x")) == (command, "x")


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        ([3000, "a"], ("3000", "a")),
        ("-y foo 'b c'", ("-y", "foo", "b c")),
        (None, ()),
        ("", ()),
        ([True], None),
        ({"a": 1}, None),
        ("'open", None),
    ],
)
def test_arguments_are_taken_as_they_are_meant(args: Any, meant: tuple[str, ...] | None) -> None:
    """``args: [3000]`` and ``args: "-y foo"``: the whole file was refused."""
    given = entry("x", "plain.py")
    given["mcp_config"] |= {"command": "p", "args": args}
    other = entry("y", "plain.py")
    one, two = parse_mcp(json.dumps([given, other]).encode()).all()
    assert two.error is None
    assert (one.error, one.command) == (
        (None, ("p", *meant)) if meant is not None else ("mcp.bad_args", ())
    )


@pytest.mark.parametrize("name", ["brave search", "文件系统", "github.com/x", "a.b", 3000])
async def test_a_server_is_called_as_its_person_likes(
    mcp: McpBench, tmp_path: Path, name: str | int
) -> None:
    """Names with a blank, Chinese, a dot or a slash: the whole file was refused. Here the server
    runs under its own name, its tools under names that providers take, and it can be switched."""
    folder = tmp_path / "folder"
    folder.mkdir()
    path = declare(folder / ".slipway", entry(name, "plain.py"), entry("other", "plain.py"))  # type: ignore[arg-type]
    workspace = LocalWorkspace(folder, id="w", trusted=True)
    await workspace.initialize()
    manager = McpManager(workspace, mcp.runner, "a", "s", QUICK)
    await manager.start()
    async with asyncio.timeout(30):
        while any(v.status.state != "ok" for v in await manager.servers()):
            await asyncio.sleep(0.02)
    first, other = await manager.servers()
    assert (first.name, first.problem, other.problem) == (str(name), None, None)
    names = [tool.name for tool in first.tools]
    assert names
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", n) for n in names)
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", short_name(str(name))), "its group's, too"
    await manager.set_enabled(str(name), False)
    assert json.loads(path.read_text())["mcps"][""][""][0]["disabled"] is True
    await manager.close()
    await workspace.close()


async def test_what_the_model_cannot_take_is_kept_for_the_person(
    mcp: McpBench, tmp_path: Path
) -> None:
    """A picture in SVG, one of no bytes or of another kind than it was called broke the
    conversation; and one for a model without eyes was gone."""
    c = await mcp.ok("raw.py", "bytes")
    (remote,) = c.status.tools

    async def call_it(name: str, args: Any, images: bool, progress: Any, op_id: str) -> ToolOutcome:
        return await c.call(name, args, images=images, progress=progress)

    ctx = make_context(tmp_path, images=True)
    outcome = await McpTool("raw", remote, call_it).run({}, ctx)
    data = tmp_path / ".slipway" / "data"
    saved = sorted((f.suffix, f.read_bytes()) for f in data.iterdir())
    assert saved == [
        (".bin", b"%PDF"),
        (".png", b"no picture"),
        (".svg", b"<svg/>"),
    ]
    assert [block.source.media_type for block in outcome.data] == ["image/png"], (
        "a real one is seen"
    )
    for file in data.iterdir():
        assert f"saved as .slipway/data/{file.name}]" in outcome.text
    assert "[a picture that cannot be shown: image/png, 0 bytes]" in outcome.text

    blind = await McpTool("raw", remote, call_it).run({}, make_context(tmp_path))
    assert blind.data == []
    assert b"\x89PNG" in {f.read_bytes()[:4] for f in data.iterdir()}

    root = tmp_path / "taken"
    root.write_text("a file where the folder should be")
    lost = await McpTool("raw", remote, call_it).run({}, make_context(tmp_path, root=str(root)))
    assert "could not be saved" in lost.text
    await ctx.backend.close()


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
