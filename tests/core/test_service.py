"""The facade without a window: what lists show, what opening reports, what changes are told."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.catalog import WorkspacesChanged
from desktop_app.core.errors import WorkspaceError
from desktop_app.core.messages import Msg
from desktop_app.core.models.scripted import SCRIPTED, Call, Say, ScriptedModel
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.sessions.base import SessionKey
from tests.helpers.sessions import collect

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"
failures: list[str] = []


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Slipway]:
    failures.clear()
    made = await Slipway.open(
        paths(tmp_path / "home"), on_error=lambda name, error: failures.append(f"{name}: {error}")
    )
    model = ScriptedModel([[Say("Yes.")]], titles=[[Say("Talk")]], forever=True)
    made.models.add(model.info, lambda: model)
    made.default_model = model.info.id
    yield made
    assert await made.close() == []
    assert failures == []


async def test_our_own_sessions_never_show_as_another_programs(
    service: Slipway, tmp_path: Path
) -> None:
    folder = tmp_path / "ws"
    shutil.copytree(SAMPLES / "gen-c-2.0.11", folder)
    info = await service.add_folder(str(folder), trusted=True)
    await service.open_anyway(info.id)  # a fresh copy may be another program's doing
    key = await service.new_session(info.id)
    workspace = await service.workspace(info.id)
    await workspace.offload_context(key.session_id, [Msg.user("left the context")])
    await service.trash_session(key)
    (listed,) = await service.list_workspaces()
    assert [s.key.session_id for s in listed.sessions if s.foreign] == ["session-abc"]
    assert [s for s in listed.sessions if not s.foreign] == []


async def test_two_workspaces_may_have_foreign_sessions_of_one_name(
    service: Slipway, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        shutil.copytree(SAMPLES / "gen-c-2.0.11", tmp_path / name)
        await service.add_folder(str(tmp_path / name), trusted=False)
    (tmp_path / "two" / "sessions" / "session-abc" / "context.jsonl").write_text(
        '{"name":"user","role":"user","id":"m","content":[{"type":"text","text":"only here"}]}\n'
    )
    found = {}
    for ws in await service.list_workspaces():
        talk = await service.conversation(ws.sessions[0].key)
        found[ws.info.name] = b"".join(e.raw for e in (await talk.history()).entries)
    assert b"only here" in found["two"]
    assert b"only here" not in found["one"]


async def test_what_cannot_be_opened_is_told_to_who_asked_alone(service: Slipway) -> None:
    with pytest.raises(KeyError):
        await service.conversation(SessionKey("local", "default", "../../x"))
    with pytest.raises(KeyError):
        await service.conversation(SessionKey("local", "foreign:nowhere", "x"))
    assert failures == []


async def test_a_folder_that_goes_and_comes_is_told_once_each(
    service: Slipway, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    info = await service.add_folder(str(folder), trusted=True)
    await service.list_workspaces()
    told: list[object] = []
    service.listen(told.append)
    await service.look_again([info.id, "nobody"])
    assert told == []
    folder.rename(tmp_path / "away")
    for _ in range(3):
        await service.look_again([info.id])
    assert told == [WorkspacesChanged(info.id)]
    (tmp_path / "away").rename(folder)
    await service.look_again([info.id])
    assert told == [WorkspacesChanged(info.id)] * 2
    assert (await service.workspace(info.id)).info.state == "ready"


async def test_take_over_fences_the_other(service: Slipway, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    info = await service.add_folder(str(folder), trusted=True)
    key = await service.new_session(info.id)
    held = await service.store.open(key)
    assert held.info.writable
    read = await service.conversation(key)
    assert read.why_readonly is not None
    assert read.why_readonly[0] == "journal.in_use"
    taken = await service.take_over(key)
    assert isinstance(taken, SessionConversation)
    await collect(taken.send("mine now"))
    assert taken.state.context[-1].text() == "Yes."
    await held.close()


async def test_a_branch_from_before_a_compaction_is_the_former_conversation(
    service: Slipway, tmp_path: Path
) -> None:
    info = await service.add_folder(str(tmp_path), trusted=True)
    talk = await service.conversation(await service.new_session(info.id))
    assert isinstance(talk, SessionConversation)
    for n in range(6):
        await collect(talk.send(f"{n} " + "words that fill the window " * 150))
    first = await talk.accept_compaction(await talk.propose_compaction())
    for n in range(6):
        await collect(talk.send(f"later {n} " + "words that fill the window " * 150))
    before = [[b.text for b in m.content] for m in talk.engine.prompt().messages]
    second = await talk.accept_compaction(await talk.propose_compaction())
    branch = await service.conversation(await talk.fork_before_compaction(second.id))
    assert isinstance(branch, SessionConversation)
    assert [[b.text for b in m.content] for m in branch.engine.prompt().messages] == before
    assert [c.id for c in await talk.compactions()] == [first.id, second.id], "left as it is"
    [carried] = await branch.compactions()
    assert [m.id for m in (await branch.compaction_detail(carried.id)).left] == [
        *first.covered_ids,
        *first.covered_blocks,
    ]
    await branch.undo_compaction()
    await collect(branch.send("On."))


async def test_a_workspace_goes_on_where_its_folder_was_moved_to(
    service: Slipway, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    info = await service.add_folder(str(tmp_path / "one"), trusted=True)
    two = await service.add_folder(str(tmp_path / "two"), trusted=True)
    key = await service.new_session(info.id)
    workspace = await service.workspace(info.id)
    await workspace.offload_context(key.session_id, [Msg.user("left the context")])
    with pytest.raises(WorkspaceError) as refused:
        await service.new_place(info.id, str(tmp_path / "two"))
    assert refused.value.code == "workspace.there", "the folder is where it was"
    talk = await service.conversation(key)
    (tmp_path / "one").rename(tmp_path / "moved")
    with pytest.raises(WorkspaceError) as refused:
        await service.new_place(info.id, str(tmp_path / "two"))
    assert (refused.value.code, refused.value.params["name"]) == ("workspace.taken", two.name)
    with pytest.raises(WorkspaceError) as refused:
        await service.new_place(info.id, str(tmp_path / "nowhere"))
    assert refused.value.code == "workspace.missing"
    assert (await service.workspace(info.id)).info.folder == str(tmp_path / "one")

    place = await service.new_place(info.id, str(tmp_path / "moved"))
    assert place.own
    moved = await service.move_workspace(place)
    assert (moved.id, moved.state, moved.trusted) == (info.id, "ready", True)
    again = await service.conversation(key)
    assert again is not talk, "what held the old folder was closed"
    (listed,) = [w for w in await service.list_workspaces() if w.info.id == info.id]
    assert [s.key for s in listed.sessions] == [key]
    assert listed.info.folder == str(tmp_path / "moved")
    (kept,) = await (await service.workspace(info.id)).list_offloads()
    assert kept.session_id == key.session_id


async def test_trust_does_not_move_to_a_folder_that_brings_programs_of_its_own(
    service: Slipway, tmp_path: Path
) -> None:
    (tmp_path / "one").mkdir()
    info = await service.add_folder(str(tmp_path / "one"), trusted=True)
    (tmp_path / "one").rmdir()
    for name, trusted in (("plain", True), ("bringing", False)):
        folder = tmp_path / name
        folder.mkdir()
        if not trusted:
            (folder / ".slipway").mkdir()
            one = {"name": "s", "mcp_config": {"type": "stdio_mcp", "command": "tool"}}
            declared = {"version": 2, "mcps": {"": {"": [one]}}}
            (folder / ".slipway" / ".mcp").write_text(json.dumps(declared))
        place = await service.new_place(info.id, str(folder))
        assert (place.own, place.brings) == (False, not trusted)
        assert (await service.move_workspace(place)).trusted is trusted
        shutil.rmtree(folder)


HOLDS = """
import sys
from pathlib import Path
from desktop_app.core.sessions import lease
held = lease.take(Path(sys.argv[1]))
print("held" if held else "refused", flush=True)
sys.stdin.read()
"""


async def test_a_session_that_another_process_is_at_work_in_says_so(
    service: Slipway, tmp_path: Path
) -> None:
    (tmp_path / "ws").mkdir()
    info = await service.add_folder(str(tmp_path / "ws"), trusted=True)
    call = Call("Write", {"file_path": "a", "content": "b"})
    writes = ScriptedModel([[call]], info=replace(SCRIPTED, id="writes"))
    service.models.add(writes.info, lambda: writes)
    service.default_model = "writes"
    key = await service.new_session(info.id)
    conversation = await service.conversation(key)
    assert isinstance(conversation, SessionConversation)
    await collect(conversation.send("Write it"))
    while (await service.index.rows(info.id))[0].state != "parked":
        await asyncio.sleep(0.01)
    await service.close_conversation(key)

    async def state() -> str:
        (listed,) = await service.list_workspaces()
        return listed.sessions[0].state

    assert await state() == "parked"
    lock = service.store.folder(key) / "journal.lock"
    command = [sys.executable, "-c", HOLDS, str(lock)]
    other = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert other.stdout is not None
    assert other.stdin is not None
    assert await other.stdout.readline() == b"held\n"
    assert await state() == "elsewhere"
    other.stdin.close()
    await other.wait()
    assert await state() == "parked", "its name is in the file still, its lock is not"
