"""Invariant 9: what we write the real agentscope 2.0.11 reads, and we what it wrote."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from desktop_app.core.messages import (
    Base64Source,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from desktop_app.core.workspaces.layout import Generation
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from desktop_app.core.workspaces.mcp_write import NewServer
from desktop_app.core.workspaces.migrate import migrate, plan

pytestmark = pytest.mark.interop
SAMPLES = Path(__file__).parents[1] / "data" / "samples"
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def image() -> DataBlock:
    return DataBlock(source=Base64Source(data=PNG, media_type="image/png"), name="dot.png")


def ours() -> list[Msg]:
    thinking = ThinkingBlock.model_validate({"thinking": "hm", "signature": "sig=="})
    call = ToolCallBlock(id="c1", name="Bash", input='{"command": "ls', state="finished")
    result = ToolResultBlock(id="c1", name="Bash", output=[TextBlock(text="a"), image()])
    hint = HintBlock(hint="note", source="slipway")
    reply = Msg(name="a", role="assistant", content=[thinking, call, result, hint])
    old = Msg.user("no time was written")
    old.created_at = old.content[0].created_at = None
    return [Msg.user("看 this 👩‍👩‍👧", blocks=[image()]), reply, old]


async def test_they_read_what_we_wrote(tmp_path: Path, peer) -> None:
    async with LocalWorkspace(tmp_path, id="w", trusted=True) as workspace:
        await workspace.offload_context("s1", ours())
        await workspace.offload_tool_result("s1", ours()[1].tool_results()[0])
    seen = peer("read", tmp_path / ".slipway", "s1")["messages"]
    assert [m["content"][0]["type"] for m in seen] == ["text", "thinking", "text"]
    assert seen[0]["content"][0]["text"] == "看 this 👩‍👩‍👧"
    assert seen[1]["content"][0]["signature"] == "sig=="
    assert seen[1]["content"][1]["input"] == '{"command": "ls'
    url = seen[0]["content"][1]["source"]["url"]
    assert seen[1]["content"][2]["output"][1]["source"]["url"] == url
    assert (tmp_path / ".slipway" / url.removeprefix("workspace:///")).is_file()


async def test_we_read_what_they_wrote(tmp_path: Path, peer) -> None:
    names = peer("write", tmp_path)
    assert names == ["context.jsonl", "tool_result-call_9(1).txt", "tool_result-call_9.txt"]
    async with LocalWorkspace(tmp_path, id="w") as workspace:
        assert (workspace.info.generation, workspace.info.foreign) == ("C", True)
        read = await workspace.read_context("s1")
        assert not read.damaged
        assert [m.text() for m in read.messages] == ["看 this", "完成 👩‍👩‍👧", "more"]
        assert read.messages[1].content[0].model_dump()["signature"] == "sig=="
        assert {(e.kind, e.session_id) for e in await workspace.list_offloads()} == {
            ("messages", "s1"),
            ("tool_result", "s1"),
            ("data", ""),
        }
        block = read.messages[0].content[1]
        assert isinstance(block, DataBlock)
        path = await workspace.resolve(block.source.url)
        assert path is not None
        assert Path(path).read_bytes().startswith(b"\x89PNG")


async def test_one_session_written_by_both_in_turns(tmp_path: Path, peer) -> None:
    peer("write", tmp_path)
    async with LocalWorkspace(tmp_path, id="w") as workspace:
        await workspace.offload_context("s1", ours()[:1])
        moved = await workspace.offload_tool_result(
            "s1", ToolResultBlock(id="call_9", name="x", output="another")
        )
        assert moved == "sessions/s1/tool_result-call_9(2).txt"
        peer("append", tmp_path, "s1")
        await workspace.offload_context("s1", ours()[2:])
        read = await workspace.read_context("s1")
        texts = [m.text() for m in read.messages]
        assert texts[-3:] == ["看 this 👩‍👩‍👧", "theirs", "no time was written"]
        assert not read.damaged
    assert len(peer("read", tmp_path, "s1")["messages"]) == len(texts)
    # One image, however often and by whom: the same name.
    assert len(list((tmp_path / "data").iterdir())) == 1


async def test_they_purge_what_we_wrote_and_we_what_they_did(tmp_path: Path, peer) -> None:
    peer("write", tmp_path)
    async with LocalWorkspace(tmp_path, id="w") as workspace:
        await workspace.offload_context("ours", ours())
        await workspace.purge_session(agent_id="a", session_id="s1")
    assert peer("purge", tmp_path, "a", "ours") == []


@pytest.mark.parametrize("agent", ["agent-42", "default"])
async def test_skills_are_listed_the_same(tmp_path: Path, peer, agent: str) -> None:
    shutil.copytree(SAMPLES / "gen-c-2.0.11", tmp_path / "w")
    async with LocalWorkspace(tmp_path / "w", id="w") as workspace:
        ours = [s.name for s in await workspace.list_skills(agent_id=agent)]
    theirs = peer("read", tmp_path / "w", "session-abc", agent)["skills"]
    assert sorted(ours) == sorted(theirs)


@pytest.mark.parametrize("name", ["gen-a-2.0.4", "gen-b-2.0.6"])
async def test_older_sessions_with_ours_appended_are_read_by_the_new_one(
    tmp_path: Path, peer, name: str
) -> None:
    shutil.copytree(SAMPLES / name, tmp_path / "w")
    async with LocalWorkspace(tmp_path / "w", id="w") as workspace:
        read = await workspace.read_context("s1")
        await workspace.offload_context("s2", read.messages)  # times stay missing where they were
    assert len(peer("read", tmp_path / "w", "s2")["messages"]) == 2


async def test_servers_that_we_declare_are_theirs_too(tmp_path: Path, peer) -> None:
    peer("write", tmp_path)
    async with LocalWorkspace(tmp_path, id="w") as workspace:
        writer = workspace.mcp_writer()
        await writer.add(("a", "s1"), NewServer("local", ("python3", "-V"), env={"K": "v"}))
        await writer.add(("a", "s1"), NewServer("web", url="http://127.0.0.1:9/mcp"))
        await writer.add(("", ""), NewServer("everywhere", ("python3",)))
        await writer.enable(("a", "s1"), "local", False)
        await writer.enable_tool(("a", "s1"), "web", "rm", False)
    before = (tmp_path / ".mcp").read_bytes()
    assert peer("declared", tmp_path) == {"a s1": ["local", "web"], " ": ["everywhere"]}
    assert (tmp_path / ".mcp").read_bytes() == before


HOSTILE = ("../../x", "call/../x", "a:b c", "CON", "x" * 300, "..", "")


async def test_names_that_lead_out_stay_inside_and_theirs_are_listed(tmp_path: Path, peer) -> None:
    root = tmp_path / "deep" / "w"
    root.mkdir(parents=True)
    assert len(peer("results", root, "a b:1", "call_1", "a:b c", "CON")) == 3
    before = {p for p in tmp_path.rglob("*") if not p.is_relative_to(root)}
    async with LocalWorkspace(root, id="w") as workspace:
        for call in HOSTILE:
            block = ToolResultBlock(id=call, name="x", output=f"ours {call}")
            path = await workspace.offload_tool_result("../../elsewhere", block)
            assert (root / path).resolve().is_relative_to(root / "sessions")
            await workspace.offload_tool_result("a b:1", block)
        entries = [e for e in await workspace.list_offloads() if e.kind == "tool_result"]
    assert {p for p in tmp_path.rglob("*") if not p.is_relative_to(root)} == before
    assert {"sessions/a b:1/tool_result-CON.txt", "sessions/a b:1/tool_result-a:b c.txt"} <= {
        e.path for e in entries
    }
    # Each of their names and each of ours: nothing was written over.
    assert len(entries) == 3 + 2 * len(HOSTILE)
    texts = [(root / e.path).read_text(encoding="utf-8") for e in entries]
    assert sum(t.startswith("their ") for t in texts) == 3


async def test_a_torn_line_does_not_swallow_what_comes_after(tmp_path: Path, peer) -> None:
    peer("write", tmp_path)
    file = tmp_path / "sessions/s1/context.jsonl"
    file.write_bytes(file.read_bytes() + b'{"role": "user", "cont')
    torn = file.read_bytes()
    async with LocalWorkspace(tmp_path, id="w") as workspace:
        await workspace.offload_context("s1", ours()[:1])
        read = await workspace.read_context("s1")
    assert [m.text() for m in read.messages][-1] == "看 this 👩‍👩‍👧"
    assert len(read.damaged) == 1
    assert file.read_bytes().startswith(torn)  # never rewritten


async def test_every_field_of_a_message_is_kept(tmp_path: Path, peer) -> None:
    """Theirs, read by us and written into another session, is theirs again, field for field."""
    peer("write", tmp_path)
    async with LocalWorkspace(tmp_path, id="w") as workspace:
        read = await workspace.read_context("s1")
        await workspace.offload_context("copy", read.messages)
    first = peer("read", tmp_path, "s1")["messages"]
    assert peer("read", tmp_path, "copy")["messages"] == first


async def test_their_upgrade_of_an_older_folder_is_followed(tmp_path: Path, peer) -> None:
    """A process of theirs opens a folder of generation B while we have it open: it becomes C."""
    shutil.copytree(SAMPLES / "gen-b-2.0.6", tmp_path / "w")
    async with LocalWorkspace(tmp_path / "w", id="w") as workspace:
        assert workspace.info.generation == "B"
        before = [s.name for s in await workspace.list_skills(agent_id="A")]
        theirs = peer("skills", tmp_path / "w", "A")
        assert (await workspace.refresh()).generation == "C"
        assert [s.name for s in await workspace.list_skills(agent_id="A")] == before == theirs["A"]


async def test_an_agent_that_is_new_to_them_gets_the_template(tmp_path: Path, peer) -> None:
    """A skill of the template is listed by us before their partition is made, and after."""
    shutil.copytree(SAMPLES / "gen-c-2.0.11", tmp_path / "w")
    async with LocalWorkspace(tmp_path / "w", id="w") as workspace:
        before = sorted(s.name for s in await workspace.list_skills(agent_id="new"))
        theirs = peer("skills", tmp_path / "w", "new", "agent-42")
        assert sorted(theirs["new"]) == before
        for agent, names in theirs.items():
            assert sorted(s.name for s in await workspace.list_skills(agent_id=agent)) == sorted(
                names
            )


@pytest.mark.parametrize(("name", "generation"), [("gen-a-2.0.4", "A"), ("gen-b-2.0.6", "B")])
async def test_a_folder_that_we_moved_is_theirs_with_servers_and_skills(
    tmp_path: Path, peer, name: str, generation: Generation
) -> None:
    """Their own upgrade loses the servers of every session; ours gives them to those chosen."""
    shutil.copytree(SAMPLES / name, tmp_path / "w")
    migrate(plan(str(tmp_path / "w"), generation), [("a", "s1"), ("", "")])
    assert peer("declared", tmp_path / "w") == {"a s1": ["docs"], " ": ["docs"]}
    assert peer("skills", tmp_path / "w", "a") == {"a": ["web-search"]}
    assert len(peer("read", tmp_path / "w", "s1", "a")["messages"]) == 2
