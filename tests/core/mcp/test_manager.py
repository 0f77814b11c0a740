"""The servers of one session: scopes, trust, switches, and what is left behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest_asyncio

from desktop_app.core.mcp.manager import McpManager
from desktop_app.core.mcp.scopes import effective
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from desktop_app.core.workspaces.mcp_file import parse_mcp
from desktop_app.core.workspaces.mcp_write import NewServer
from tests.helpers.mcp import QUICK, Bench, children, command, declare, entry, until


class Session:
    """A trusted folder with a manager."""

    def __init__(self, folder: Path, bench: Bench, trusted: bool = True) -> None:
        self.root = folder / ".slipway"
        self.workspace = LocalWorkspace(folder, id="w", trusted=trusted)
        self.manager = McpManager(self.workspace, bench.runner, "agent", "session", QUICK)

    async def up(self) -> McpManager:
        await self.workspace.initialize()
        await self.manager.start()
        await self.manager.settled(20)
        return self.manager

    async def states(self) -> dict[str, str]:
        return {view.name: view.state for view in await self.manager.servers()}


@pytest_asyncio.fixture
async def session(mcp: Bench, tmp_path: Path):
    made = Session(tmp_path, mcp)
    yield made
    await made.manager.close()


async def test_a_session_has_its_servers_and_leaves_no_process(session: Session, mcp: Bench):
    declare(
        session.root,
        entry("one", "raw.py", "plain"),
        entry("two", "raw.py", "bad_items"),
        entry("off", "raw.py", "plain", disabled=True),
        entry("broken", "raw.py", "dies_at_once"),
        {"name": "no config"},
    )
    manager = await session.up()
    await until(lambda: any(c.status.state == "failed" for c in manager._connections.values()))
    assert await session.states() == {
        "one": "ok", "two": "ok", "off": "off", "broken": "failed", "no config": "off",
    }  # fmt: skip
    names = [tool.name for tool in manager.tools()]
    assert names[:2] == ["mcp__one__echo", "mcp__one__die"]
    assert "mcp__two__good" in names
    views = {v.name: v for v in await manager.servers()}
    assert views["no config"].problem is not None
    assert "cannot read the token" in views["broken"].stderr
    assert len(set(children()) - mcp.before) == 2
    await manager.close()
    await until(lambda: not set(children()) - mcp.before)


async def test_nothing_starts_without_trust(mcp: Bench, tmp_path: Path) -> None:
    session = Session(tmp_path, mcp, trusted=False)
    declare(session.root, entry("one", "raw.py", "plain"))
    manager = await session.up()
    assert await session.states() == {"one": "off"}
    assert manager.tools() == ()
    assert set(children()) == mcp.before
    session.workspace.set_trusted(True)
    await manager.reload()
    await until(lambda: manager.tools())
    session.workspace.set_trusted(False)
    await manager.reload()
    assert manager.tools() == ()
    await until(lambda: set(children()) == mcp.before)
    await manager.close()


async def test_switches_are_written_and_take_effect_at_once(session: Session, mcp: Bench) -> None:
    path = declare(session.root, entry("one", "raw.py", "plain", own_key=7))
    manager = await session.up()
    heard: list[int] = []
    manager.listen(lambda: heard.append(manager.version))
    await manager.set_tool_enabled("one", "die", False)
    assert "mcp__one__die" not in [t.name for t in manager.tools()]
    view = (await manager.servers())[0]
    assert [t.enabled for t in view.tools if t.remote.name == "die"] == [False]
    pids = set(children())
    await manager.set_tool_enabled("one", "die", True)
    assert "mcp__one__die" in [t.name for t in manager.tools()]
    assert set(children()) == pids  # the same process all the while
    await manager.set_enabled("one", False)
    assert manager.tools() == ()
    await until(lambda: set(children()) == mcp.before)
    await manager.set_enabled("one", True)
    await until(lambda: manager.tools())
    await manager.add(NewServer("more", command("raw.py", "pages")))
    await until(lambda: len(manager.tools()) > 15)
    await manager.remove("one")
    assert {t.server for t in manager.tools()} == {"more"}
    kept = json.loads(path.read_text())["mcps"][""][""]
    assert [e["name"] for e in kept] == ["more"]
    assert heard == sorted(heard)
    assert heard


async def test_a_file_that_does_not_parse_is_told(session: Session) -> None:
    session.root.mkdir()
    (session.root / ".mcp").write_text("{")
    await session.up()
    view = (await session.manager.servers())[0]
    assert view.problem is not None
    assert view.problem[0] == "mcp.not_json"


async def test_the_same_tool_object_while_nothing_changes(session: Session) -> None:
    declare(session.root, entry("one", "raw.py", "plain"))
    manager = await session.up()
    before = manager.tools()
    await manager.reload()
    assert all(a is b for a, b in zip(before, manager.tools(), strict=True))


async def test_the_narrower_scope_counts() -> None:
    def listed(text: str) -> list[str]:
        file = parse_mcp(text.encode())
        found = effective(file, "a", "s", shared=True)
        return [f"{d.name}@{d.agent_id}/{d.session_id}" for d in found]

    def one(name: str) -> str:
        config = '{"type": "stdio_mcp", "command": "x"}'
        return f'{{"name": "{name}", "is_stateful": true, "mcp_config": {config}}}'

    assert listed(f"[{one('flat')}]") == ["flat@/"]
    both = '{{"version": 2, "mcps": {{"": {{"": [{x}, {y}]}}, "a": {{"": [{x}]{more}}}}}}}'
    x, y = one("x"), one("y")
    assert listed(both.format(x=x, y=y, more="")) == ["x@a/", "y@/"]
    assert listed(both.format(x=x, y=y, more=f', "s": [{y}]')) == ["x@a/", "y@a/s"]
    assert listed(both.format(x=x, y=y, more=', "s": []')) == []
    assert listed(both.format(x=x, y=y, more=f', "t": [{y}]')) == ["x@a/", "y@/"]


async def test_what_is_shown_of_a_server_has_no_secret_in_it(session: Session) -> None:
    """Reported: a list of servers showed ``${VAR}`` filled in, and keys in addresses."""
    key = "sk-" + "a1B2" * 10
    line = ["-y", "mcp-remote", "https://me:word@h.example/mcp?key=1#x", "--key", key, "${HOME}/n"]
    local = entry("local", "raw.py")
    local["mcp_config"] |= {"command": "npx", "args": line, "env": {"TOKEN": "a-token-0123456789"}}
    far = {"name": "far", "is_stateful": True, "disabled": True}
    far["mcp_config"] = {
        "type": "http_mcp",
        "url": "https://me:word@h.example/mcp?key=2",
        "headers": {"Authorization": "Bearer a-token-0123456789"},
    }
    declare(session.root, {**local, "disabled": True}, far)
    views = {v.name: v for v in await (await session.up()).servers()}
    shown = views["local"].where
    assert shown.startswith("npx -y mcp-remote https://h.example/mcp --key ")
    assert shown.endswith("'${HOME}/n'"), "as it is written"
    assert views["far"].where == "https://h.example/mcp"
    for view in views.values():
        for secret in (key, "word", "key=", "a-token"):
            assert secret not in view.where
            assert secret not in repr(view)
