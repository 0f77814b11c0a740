"""A folder as a workspace: what is written where, who is trusted, what is told when it breaks."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop_app.core.errors import SlipwayError
from desktop_app.core.messages import Base64Source, DataBlock, Msg, TextBlock, ToolResultBlock
from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from tests.helpers.backends import RemoteLikeBackend

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
PNG = b"\x89PNG fake bytes"
B64 = base64.b64encode(PNG).decode()


@pytest.fixture(params=["local", "remote"])
async def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator:
    folder = tmp_path / "项目"
    folder.mkdir()
    backend = None
    if request.param == "remote":
        backend = RemoteLikeBackend(LocalBackend(folder), latency=0.0005, os_name="nt")
    made = LocalWorkspace(folder, id="w1", trusted=True, backend=backend)
    await made.initialize()
    yield made
    await made.close()


def result(text: str, call_id: str = "call_9") -> ToolResultBlock:
    return ToolResultBlock(id=call_id, name="Bash", output=text)


async def code_of(work) -> str:
    with pytest.raises(SlipwayError) as caught:
        await work
    return caught.value.code


def tree(path: Path) -> dict[str, bytes | None]:
    return {
        str(p.relative_to(path)): p.read_bytes() if p.is_file() else None
        for p in sorted(path.rglob("*"))
    }


async def test_nothing_is_made_before_the_first_write(workspace: LocalWorkspace) -> None:
    folder = Path(workspace.info.folder)
    assert workspace.info.state == "ready"
    await workspace.get_instructions()
    await workspace.list_skills()
    await workspace.list_mcps()
    assert await workspace.list_offloads() == []
    assert (await workspace.read_context("s1")).messages == []
    await workspace.purge_session(agent_id="a", session_id="s1")
    await workspace.reset()
    assert list(folder.iterdir()) == []
    await workspace.offload_context("s1", [Msg.user("hi")])
    assert tree(folder).keys() == {
        ".slipway",
        ".slipway/.gitignore",
        ".slipway/sessions",
        ".slipway/sessions/s1",
        ".slipway/sessions/s1/context.jsonl",
    }
    assert (folder / ".slipway/.gitignore").read_text() == "*\n"


async def test_offload_context_appends_and_moves_payloads(workspace: LocalWorkspace) -> None:
    folder = Path(workspace.info.folder)
    image = DataBlock(source=Base64Source(data=B64, media_type="image/png"), name="dot.png")
    nested = ToolResultBlock(id="c1", name="Shot", output=[TextBlock(text="see"), image])
    msg = Msg(name="a", role="assistant", content=[image, nested])
    path = await workspace.offload_context("s1", [Msg.user("one"), msg])
    assert path == ".slipway/sessions/s1/context.jsonl"  # relative, as the agent sees it
    await workspace.offload_context("s1", [Msg.user("two")])
    data = (folder / path).read_bytes()
    assert data.count(b"\n") == 3
    assert data.endswith(b"\n")
    assert B64.encode() not in data
    name = hashlib.sha256(B64.encode()).hexdigest() + ".png"
    assert (folder / ".slipway/data" / name).read_bytes() == PNG
    assert image.source.type == "base64"  # what was handed in is as it was
    read = await workspace.read_context("s1")
    assert [m.text() for m in read.messages] == ["one", "", "two"]
    block = read.messages[1].content[0]
    assert isinstance(block, DataBlock)
    assert await workspace.resolve(block.source.url) == f"{workspace.info.root}/data/{name}"


async def test_wrapped_base64_gets_the_same_name(workspace: LocalWorkspace) -> None:
    plain = DataBlock(source=Base64Source(data=B64, media_type="audio/wav"))
    wrapped = DataBlock(source=Base64Source(data=B64[:8] + "\n" + B64[8:], media_type="audio/wav"))
    one, two = [await workspace.offload_data_block(b) for b in (plain, wrapped)]
    assert one.source == two.source
    assert one.id == plain.id
    assert await workspace.offload_data_block(one) is one
    bad = DataBlock(source=Base64Source(data="%%%", media_type="image/png"))
    assert await code_of(workspace.offload_data_block(bad)) == "data.not_base64"
    await workspace.offload_context("s", [Msg(name="u", role="user", content=[bad])])
    assert (await workspace.read_context("s")).messages[0].content[0] == bad  # kept, not lost


async def test_tool_results_get_their_names(workspace: LocalWorkspace) -> None:
    base = ".slipway/sessions/s1/tool_result-call_9"
    assert await workspace.offload_tool_result("s1", result("whole")) == f"{base}.txt"
    assert await workspace.offload_tool_result("s1", result("whole")) == f"{base}.txt"
    assert await workspace.offload_tool_result("s1", result("other")) == f"{base}(1).txt"
    assert await workspace.offload_tool_result("s1", result("third")) == f"{base}(2).txt"
    folder = Path(workspace.info.folder)
    assert (folder / f"{base}(1).txt").read_text() == "other"


@pytest.mark.parametrize("evil", ["../../../pwn", "call/../x", "..", "", "con", "a\0b", "x" * 400])
async def test_ids_never_lead_out(workspace: LocalWorkspace, evil: str, tmp_path: Path) -> None:
    before = tree(tmp_path).keys()
    await workspace.offload_context(evil, [Msg.user("hi")])
    await workspace.offload_tool_result(evil, result("r", evil))
    new = tree(tmp_path).keys() - before
    inside = f"{Path(workspace.info.root).relative_to(tmp_path)}"
    assert all(name.startswith(inside) for name in new)
    assert [m.text() for m in (await workspace.read_context(evil)).messages] == ["hi"]


@pytest.mark.parametrize("evil", ["..", ".", "", "a/b", "../w", "a\\b", "a\0"])
async def test_purge_refuses_what_is_no_name(workspace: LocalWorkspace, evil: str) -> None:
    await workspace.offload_context("keep", [Msg.user("hi")])
    before = tree(Path(workspace.info.folder))
    assert await code_of(workspace.purge_session(agent_id="a", session_id=evil)) == "id.unsafe"
    assert tree(Path(workspace.info.folder)) == before


async def test_links_planted_inside_lead_nowhere(workspace: LocalWorkspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("precious")
    await workspace.offload_context("s0", [Msg.user("hi")])
    root = Path(workspace.info.root)
    (root / "sessions/s1").symlink_to(outside)
    (root / "sessions/s0/tool_result-x.txt").symlink_to(outside / "file")
    (root / "sessions/s2").mkdir()
    (root / "sessions/s2/context.jsonl").symlink_to(outside / "file")
    (root / "data").symlink_to(outside)
    image = DataBlock(source=Base64Source(data=B64, media_type="image/png"))
    assert await code_of(workspace.offload_context("s1", [Msg.user("x")])) == "path.outside"
    assert await code_of(workspace.offload_context("s2", [Msg.user("x")])) == "path.outside"
    assert await code_of(workspace.offload_data_block(image)) == "path.outside"
    assert await code_of(workspace.read_context("s2")) == "path.outside"
    assert await code_of(workspace.resolve("workspace:///data/file")) == "path.outside"
    moved = await workspace.offload_tool_result("s0", result("r", "x"))
    assert moved.endswith("tool_result-x(1).txt")
    await workspace.purge_session(agent_id="a", session_id="s1")  # removes the link alone
    await workspace.reset()
    assert tree(outside) == {"file": b"precious"}
    assert not (root / "sessions").exists()


async def test_list_and_purge_and_reset(workspace: LocalWorkspace) -> None:
    folder = Path(workspace.info.folder)
    (folder / "mine.txt").write_text("mine")
    await workspace.offload_context("s1", [Msg.user("hi")])
    await workspace.offload_tool_result("s1", result("whole"))
    await workspace.offload_context("s2", [Msg.user("hi")])
    await workspace.offload_data_block(
        DataBlock(source=Base64Source(data=B64, media_type="image/png"))
    )
    listed = await workspace.list_offloads()
    assert sorted((e.session_id, e.kind) for e in listed) == [
        ("", "data"),
        ("s1", "messages"),
        ("s1", "tool_result"),
        ("s2", "messages"),
    ]
    times = [e.modified_us for e in listed]
    assert times == sorted(times, reverse=True)
    assert {e.kind for e in await workspace.list_offloads("s1")} == {"messages", "tool_result"}
    await workspace.purge_session(agent_id="a", session_id="s1")
    assert await workspace.list_offloads("s1") == []
    removals = await workspace.what_reset_removes()
    assert {(r.path, r.files) for r in removals} == {(".slipway/sessions", 1), (".slipway/data", 1)}
    await workspace.reset()
    assert tree(folder).keys() == {"mine.txt", ".slipway", ".slipway/.gitignore"}


async def test_fifty_offloads_at_once_keep_all(workspace: LocalWorkspace) -> None:
    async with asyncio.TaskGroup() as group:
        for n in range(50):
            group.create_task(workspace.offload_context("s1", [Msg.user(str(n))]))
    read = await workspace.read_context("s1")
    assert sorted(int(m.text()) for m in read.messages) == list(range(50))
    assert not read.damaged


async def test_a_folder_that_goes_and_comes_back(workspace: LocalWorkspace, tmp_path: Path) -> None:
    folder = Path(workspace.info.folder)
    await workspace.offload_context("s1", [Msg.user("one")])
    folder.rename(tmp_path / "moved")
    assert await code_of(workspace.offload_context("s1", [Msg.user("two")])) == "workspace.missing"
    assert workspace.info.state == "missing"
    assert not folder.exists()  # not made again behind the person's back
    assert await code_of(workspace.get_instructions()) == "workspace.missing"
    (tmp_path / "moved").rename(folder)
    await workspace.offload_context("s1", [Msg.user("three")])
    assert workspace.info.state == "ready"
    texts = [m.text() for m in (await workspace.read_context("s1")).messages]
    assert texts == ["one", "three"]


async def test_our_root_deleted_alone_is_made_again_whole(workspace: LocalWorkspace) -> None:
    await workspace.offload_context("s1", [Msg.user("one")])
    shutil.rmtree(workspace.info.root)
    await workspace.offload_context("s1", [Msg.user("two")])
    assert (Path(workspace.info.root) / ".gitignore").exists()


async def test_closed_stays_closed_until_opened_again(workspace: LocalWorkspace) -> None:
    await workspace.close()
    assert workspace.info.state == "stopped"
    assert await code_of(workspace.list_offloads()) == "backend.closed"
    assert (await workspace.refresh()).state == "stopped"
    await workspace.initialize()
    assert await workspace.list_offloads() == []
    assert await workspace.open_context("s1") is None
    await workspace.offload_context("s1", [Msg.user("one"), Msg.user("two")])
    file = await workspace.open_context("s1")
    assert file is not None
    (page,) = await file.page(1, 1)
    assert isinstance(page, Msg)
    assert page.text() == "two"


async def test_states_of_a_folder(tmp_path: Path) -> None:
    missing = LocalWorkspace(tmp_path / "none", id="w")
    await missing.initialize()
    assert missing.info.state == "missing"
    (tmp_path / "file").touch()
    plain = LocalWorkspace(tmp_path / "file", id="w")
    await plain.initialize()
    assert (plain.info.state, plain.info.params) == ("missing", {"code": "file.not_dir"})


class Denied(LocalBackend):
    """Root may do anything: what the system would refuse another person is said here."""

    answer = (False, False)

    async def access(self, path: str) -> tuple[bool, bool]:
        return self.answer


async def test_unreadable_and_readonly_are_told(tmp_path: Path) -> None:
    backend = Denied(tmp_path)
    workspace = LocalWorkspace(tmp_path, id="w", backend=backend)
    await workspace.initialize()
    assert workspace.info.state == "unreadable"
    assert await code_of(workspace.list_skills()) == "workspace.unreadable"
    backend.answer = (True, False)
    await workspace.refresh()
    assert workspace.info.state == "readonly"
    assert "read-only" in await workspace.get_instructions()
    assert await code_of(workspace.offload_context("s", [Msg.user("x")])) == "workspace.readonly"
    backend.answer = (True, True)
    await workspace.refresh()
    await workspace.offload_context("s", [Msg.user("x")])
    assert workspace.info.state == "ready"


async def test_unreachable_is_retryable_and_recovers(tmp_path: Path) -> None:
    backend = RemoteLikeBackend(LocalBackend(tmp_path))
    workspace = LocalWorkspace(tmp_path, id="w", backend=backend)
    await workspace.initialize()
    backend.down = True
    with pytest.raises(SlipwayError) as caught:
        await workspace.offload_context("s", [Msg.user("x")])
    assert (caught.value.code, caught.value.retryable) == ("backend.unreachable", True)
    await workspace.refresh()
    assert workspace.info.state == "error"
    backend.down = False
    await workspace.offload_context("s", [Msg.user("x")])
    assert workspace.info.state == "ready"


async def test_instructions_name_no_absolute_path(workspace: LocalWorkspace) -> None:
    folder = Path(workspace.info.folder)
    (folder / "AGENTS.md").write_bytes(b"\xef\xbb\xbf# Rules\r\nBe kind.\r\n")
    text = await workspace.get_instructions()
    assert "# Rules\nBe kind." in text
    assert "working directory is `.`" in text
    assert str(folder) not in text
    assert text == await workspace.get_instructions()
    workspace.set_trusted(False)
    assert "Be kind" not in await workspace.get_instructions()
    workspace.set_trusted(True)
    (folder / "AGENTS.md").write_text("x" * 100_000)
    assert len(await workspace.get_instructions()) < 40_000
    (folder / "AGENTS.md").unlink()
    os.mkfifo(folder / "AGENTS.md")
    assert "instructions file" not in await workspace.get_instructions()
    (folder / "AGENTS.md").unlink()
    (folder / "AGENTS.md").symlink_to("/etc/hostname")
    assert "instructions file" not in await workspace.get_instructions()


async def test_untrusted_lists_what_it_would_run_and_gives_nothing() -> None:
    workspace = LocalWorkspace(SAMPLES / "gen-c-2.0.11", id="w")
    await workspace.initialize()
    assert workspace.info.foreign
    would = await workspace.would_run("agent-42")
    assert {(d.name, d.transport) for d in would.commands} == {
        ("docs", "http"),
        ("demo", "stdio"),
        ("only_default", "sse"),
    }
    assert ("python3", "/srv/agents/src/mcp_demo.py") in [d.command for d in would.commands]
    assert [s.name for s in would.skills] == ["web-search", "数据 分析/报告"]
    assert (await workspace.skills_for_prompt("agent-42")).prompt() == ""
    workspace.set_trusted(True)
    assert "web-search" in (await workspace.skills_for_prompt("agent-42")).prompt()
    await workspace.close()


async def test_tools_come_from_above(tmp_path: Path) -> None:
    tool = object()
    assert await LocalWorkspace(tmp_path, id="w", tools=lambda: [tool]).list_tools() == [tool]
    assert await LocalWorkspace(tmp_path, id="w").list_tools() == []


async def test_generation_a_is_written_as_a(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "gen-a-2.0.4", tmp_path / "w")
    workspace = LocalWorkspace(tmp_path / "w", id="w")
    await workspace.initialize()
    image = DataBlock(source=Base64Source(data=B64, media_type="image/png"))
    assert await workspace.offload_context("s1", [Msg(name="u", role="user", content=[image])])
    line = (tmp_path / "w/sessions/s1/context.jsonl").read_text().splitlines()[-1]
    assert f'"url":"file://{tmp_path}/w/data/' in line
    assert not (tmp_path / "w/.slipway").exists()
    await workspace.refresh()
    assert workspace.info.generation == "A"
    await workspace.close()


@pytest.mark.parametrize("name", [p.name for p in sorted(SAMPLES.glob("gen-*"))])
async def test_browsing_changes_no_byte_and_no_name(name: str, tmp_path: Path) -> None:
    """Invariant 9, first half."""
    folder = tmp_path / name
    shutil.copytree(SAMPLES / name, folder)
    before = tree(folder)
    stamps = {p: p.stat().st_mtime_ns for p in [folder, *folder.rglob("*")]}
    async with LocalWorkspace(folder, id="w", trusted=True) as workspace:
        await workspace.get_instructions()
        for agent in (None, "agent-42", "A", "nobody", "../x"):
            skills = await workspace.skills_for_prompt(agent)
            for skill in skills.usable:
                assert await skills.body(skill.name)
            await workspace.list_mcps(agent_id=agent, session_id="session-abc")
        for entry in await workspace.list_offloads():
            if entry.kind == "messages":
                read = await workspace.read_context(entry.session_id)
                assert read.messages
                for msg in read.messages:
                    for block in msg.content:
                        if isinstance(block, DataBlock):
                            path = await workspace.resolve(block.source.url)
                            assert path is not None
                            data = await workspace.get_backend().read_bytes(path)
                            assert data.startswith(b"\x89PNG")
        await workspace.what_reset_removes()
        await workspace.would_run()
        await workspace.refresh()
    assert tree(folder) == before
    assert {p: p.stat().st_mtime_ns for p in [folder, *folder.rglob("*")]} == stamps


async def test_a_skill_switched_off_leaves_the_prompt_of_that_agent_alone(tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = tmp_path / ".slipway" / "skills" / ".seed" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does {name}.\n---\nx\n")
    async with LocalWorkspace(tmp_path, id="w", trusted=True) as workspace:
        workspace.set_skills_off("a", ["two"])
        assert [s.name for s in (await workspace.skills_for_prompt("a")).usable] == ["one"]
        assert len((await workspace.skills_for_prompt("b")).usable) == 2
        assert len(await workspace.list_skills(agent_id="a")) == 2  # the person sees all
        workspace.set_skills_off("a", [])
        assert len((await workspace.skills_for_prompt("a")).usable) == 2
