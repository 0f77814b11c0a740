"""Changing ``.mcp``: nothing else in it moves, and what cannot be read is never written over."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from desktop_app.core.errors import SettingsError
from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.core.workspaces.mcp_file import parse_mcp
from desktop_app.core.workspaces.mcp_write import McpWriter, NewServer

FOREIGN = {
    "version": 2,
    "future": {"kept": [1, 2]},
    "mcps": {
        "agent": {
            "session": [
                "not an object",
                {"name": "bad name!", "mcp_config": 3},
                {
                    "zeta": 1,
                    "name": "demo",
                    "is_stateful": True,
                    "mcp_config": {"type": "stdio_mcp", "command": "x", "new_key": "说明"},
                    "enable_tools": None,
                    "alpha": 2,
                },
            ],
            "other": [],
        },
        "odd": 5,
    },
}
PAIR = ("agent", "session")
NEW = NewServer("docs", url="https://example.org/mcp", headers={"Authorization": "Bearer t"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".mcp"


def writer(path: Path, *, flat: bool = False) -> McpWriter:
    return McpWriter(LocalBackend(path.parent), str(path), flat=flat)


async def test_only_the_one_entry_changes(path: Path) -> None:
    path.write_text("\ufeff" + json.dumps(FOREIGN, ensure_ascii=False), "utf-8")
    w = writer(path)
    await w.add(PAIR, NEW)
    await w.enable(PAIR, "demo", False)
    await w.enable_tool(PAIR, "demo", "rm", False)
    after = json.loads(path.read_text("utf-8"))
    listed = after["mcps"]["agent"]["session"]
    assert listed[:2] == FOREIGN["mcps"]["agent"]["session"][:2]  # type: ignore[index]
    assert list(listed[2]) == [*FOREIGN["mcps"]["agent"]["session"][2], "disabled", "disable_tools"]  # type: ignore[index]
    assert listed[2]["disabled"] is True
    assert listed[2]["disable_tools"] == ["rm"]
    assert listed[3]["name"] == "docs"
    await w.remove(PAIR, "docs")
    await w.enable(PAIR, "demo", True)
    await w.enable_tool(PAIR, "demo", "rm", True)
    after = json.loads(path.read_text("utf-8"))
    assert after["mcps"]["agent"]["session"][2].pop("disable_tools") is None
    assert after == FOREIGN
    assert "说明" in path.read_text("utf-8")


async def test_what_is_written_is_read_again(path: Path) -> None:
    w = writer(path)
    await w.add(("", ""), NewServer("local", ("npx", "-y", "server"), env={"TOKEN": "t"}))
    await w.add(("", ""), NEW)
    found = parse_mcp(path.read_bytes())
    assert [d.error for d in found.all()] == [None, None]
    assert found.pairs["", ""][0].command == ("npx", "-y", "server")
    assert not path.read_bytes().endswith(b"\n")


async def test_a_flat_file_stays_flat(path: Path) -> None:
    path.write_text('[{"name": "old", "is_stateful": true, "mcp_config": {"type": "x"}}]')
    await writer(path, flat=True).add(("", ""), NEW)
    value = json.loads(path.read_text())
    assert [e["name"] for e in value] == ["old", "docs"]
    fresh = path.with_name("fresh")
    await writer(fresh, flat=True).add(("", ""), NEW)
    assert isinstance(json.loads(fresh.read_text()), list)


@pytest.mark.parametrize("text", ["{", "3", '{"mcps": 3}', '{"mcps": {"": {"": 3}}}', ""])
async def test_a_file_that_is_not_understood_is_left_alone(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(SettingsError) as failure:
        await writer(path).add(("", ""), NEW)
    assert failure.value.code == "mcp.not_written"
    assert path.read_text() == text


@pytest.mark.parametrize(
    "server",
    [
        NewServer("bad name", ("x",)),
        NewServer("x"),
        NewServer("x", url="ftp://host/"),
        NewServer("", ("x",)),
    ],
)
async def test_a_server_that_could_not_be_used_is_not_added(path: Path, server: NewServer) -> None:
    with pytest.raises(SettingsError) as failure:
        await writer(path).add(("", ""), server)
    assert failure.value.code == "mcp.not_added"
    assert not path.exists()


async def test_two_writers_lose_nothing(path: Path) -> None:
    a, b = writer(path), writer(path)
    names = [f"s{n}" for n in range(8)]
    done = await asyncio.gather(
        *(w.add(("", ""), NewServer(n, ("x",))) for n, w in zip(names, [a, b] * 4, strict=True)),
        return_exceptions=True,
    )
    written = {d.name for d in parse_mcp(path.read_bytes()).all()}
    told = {n for n, outcome in zip(names, done, strict=True) if outcome is None}
    assert written == told  # whoever was told that it is written is in the file
    assert all(o is None or getattr(o, "code", "") == "mcp.busy" for o in done)


async def test_a_second_of_one_name_and_an_unknown_one(path: Path) -> None:
    w = writer(path)
    await w.add(PAIR, NEW)
    for attempt in (w.add(PAIR, NEW), w.remove(PAIR, "nobody"), w.enable(("", ""), "docs", True)):
        before = path.read_bytes()
        with pytest.raises(SettingsError):
            await attempt
        assert path.read_bytes() == before
