"""Reading another program's sessions, and carrying them into one of ours."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from desktop_app.core.agent.carry import carry
from desktop_app.core.agent.fold import Folder
from desktop_app.core.agent.foreign import ForeignConversation, foreign_key, open_source
from desktop_app.core.context.build import Envelope, build
from desktop_app.core.errors import SessionError
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.sessions.memory import MemoryJournalStore
from desktop_app.core.workspaces.local_workspace import LocalWorkspace
from tests.helpers.context_sessions import check_pairs
from tests.helpers.sessions import KEY

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"


async def opened(folder: Path, session_id: str) -> ForeignConversation:
    workspace = LocalWorkspace(folder, id="w", trusted=False)
    await workspace.initialize()
    source = await open_source(workspace, session_id)
    return ForeignConversation(foreign_key("local", "w", session_id), source)


def long_session(folder: Path, turns: int, junk: bytes = b"") -> str:
    place = folder / "sessions" / "long"
    place.mkdir(parents=True)
    lines: list[bytes] = []
    for n in range(turns):
        text = {"type": "text", "text": f"question {n}", "id": f"b{n}"}
        lines.append(
            json.dumps({"name": "user", "role": "user", "id": f"u{n}", "content": [text]}).encode()
        )
        call = {"type": "tool_call", "id": "call", "name": "Read", "input": "{}"}
        result = {"type": "tool_result", "id": "call", "name": "Read", "output": f"result {n}"}
        answer = {"type": "text", "text": f"answer {n}", "id": f"a{n}"}
        content = [{**call, "created_at": f"c{n}"}, {**result, "created_at": f"r{n}"}, answer]
        lines.append(
            json.dumps(
                {"name": "bot", "role": "assistant", "id": f"m{n}", "content": content}
            ).encode()
        )
    if junk:
        lines.insert(turns, junk)
    (place / "context.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return "long"


async def test_pages_join_without_gap_or_repeat(tmp_path: Path) -> None:
    c = await opened(tmp_path, long_session(tmp_path, 400))
    whole = (await c.history()).entries
    assert [e.kind for e in whole[:4]] == [
        "user.message",
        "assistant.message",
        "tool.result",
        "assistant.message",
    ]
    assert len(whole) == 1600
    pages: list = []
    before = None
    while True:
        page = await c.history(before=before, limit=37)
        pages[:0] = page.entries
        if page.at_start:
            break
        before = page.entries[0].seq
    assert pages == whole
    assert [e.seq for e in whole] == sorted({e.seq for e in whole})


async def test_damage_is_told_and_the_rest_is_there(tmp_path: Path) -> None:
    c = await opened(tmp_path, long_session(tmp_path, 5, b"\0" * 500))
    entries = (await c.history()).entries
    (damage,) = [json.loads(e.raw) for e in entries if e.kind == "history.damaged"]
    assert damage == {"line": 6, "bytes": 500}
    assert sum(e.kind == "user.message" for e in entries) == 5


async def test_nothing_can_be_changed(tmp_path: Path) -> None:
    c = await opened(tmp_path, long_session(tmp_path, 1))
    assert not c.writable
    with pytest.raises(SessionError, match=r"session\.readonly"):
        c.send("hello")
    with pytest.raises(SessionError, match=r"session\.readonly"):
        await c.set_title("x")
    with pytest.raises(KeyError):
        await opened(tmp_path, "nobody")


async def test_carried_into_a_journal_it_folds_to_the_same_messages(tmp_path: Path) -> None:
    folder = tmp_path / "ws"
    shutil.copytree(SAMPLES / "gen-c-2.0.11", folder)
    c = await opened(folder, "session-abc")
    journal = await MemoryJournalStore().create(KEY, {})
    assert await carry(c, journal) > 0
    now = Folder(KEY.session_id).replay(await journal.read())
    assert now.open_reply is None
    assert now.calls() == []
    workspace = LocalWorkspace(folder, id="w", trusted=False)
    await workspace.initialize()
    before = (await workspace.read_context("session-abc")).messages
    assert [m.id for m in now.state.context] == [m.id for m in before]
    assert [m.text() for m in now.state.context] == [m.text() for m in before]
    ours = [r.text() for m in now.state.context for r in m.tool_results()]
    assert ours == [r.text() for m in before for r in m.tool_results()]


async def test_a_result_behind_a_message_of_the_person_goes_to_its_call(tmp_path: Path) -> None:
    """Call, the person's words, result: as other programs have kept it. The real result is the one
    and only, and not beside one that says the call was interrupted."""
    folder = tmp_path / "ws"
    shutil.copytree(SAMPLES / "gen-c-2.0.11", folder)
    (place,) = folder.rglob("session-abc/context.jsonl")
    call = ToolCallBlock(id="late", name="Bash", input="{}", state="finished")
    result = ToolResultBlock(id="late", name="Bash", output="the real result")
    lines = [
        Msg.user("Go."),
        Msg(name="a", role="assistant", id="r1", content=[TextBlock(text="I run it."), call]),
        Msg.user("And?"),
        Msg(name="a", role="assistant", id="r2", content=[result, TextBlock(text="It ran.")]),
    ]
    place.write_text("".join(m.to_json() + "\n" for m in lines))
    c = await opened(folder, "session-abc")
    journal = await MemoryJournalStore().create(KEY, {})
    await carry(c, journal)
    now = Folder(KEY.session_id).replay(await journal.read())
    messages = build(Envelope(system="Be exact."), now.state).messages
    check_pairs(messages)
    assert [r.text() for m in messages for r in m.tool_results()] == ["the real result"]
    assert [m.text() for m in now.state.context] == ["Go.", "I run it.", "And?", "It ran."]
    assert now.calls() == []
