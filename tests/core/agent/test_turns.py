"""Turns through the real journal, tools and folder, with a scripted model."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent.base import Decision
from desktop_app.core.agent.fold import Folder
from desktop_app.core.errors import ModelError, SessionError, WorkspaceError
from desktop_app.core.models.scripted import (
    Call,
    Ends,
    Fail,
    Reached,
    Say,
    ScriptedModel,
    Think,
    Wait,
)
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from desktop_app.core.workspaces.backend import ProcessExit
from desktop_app.core.workspaces.local import LocalBackend
from tests.helpers.sessions import KEY, Bench, collect, kinds, of


def bench(tmp_path: Path, *turns: object, **more: object) -> Bench:
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "notes.md").write_text("# Notes\nalpha\nbeta\n")
    return Bench(folder, ScriptedModel(list(turns)), **more)  # type: ignore[arg-type]


async def replayed(conversation) -> None:
    """Replaying the journal gives the live state, field for field (invariant 7)."""
    folder = Folder(KEY.session_id)
    folder.replay(await conversation.log.journal.read())
    assert folder.now.state.model_dump() == conversation.state.model_dump()
    assert folder.now.waiting == conversation.log.now.waiting
    assert folder.now.open_reply == conversation.log.now.open_reply


async def test_a_plain_answer_streams_and_is_kept(tmp_path: Path) -> None:
    b = bench(tmp_path, [Think("hm", extra={"signature": "s"}), Say("Hel", "lo")], [Say("Title")])
    c = await b.open()
    events = await collect(c.send("hi"))
    assert "".join(e.text for e in of(events, ev.TextDelta)) == "Hello"
    assert of(events, ev.RunFinished)[0].reason == "completed"
    assert c.activity == "idle"
    assert [m.role for m in c.state.context] == ["user", "assistant"]
    assert c.state.context[1].content[0].model_extra == {"signature": "s"}
    assert c.title == "Title"
    await replayed(c)
    await b.close()


async def test_read_only_tools_run_without_asking_and_feed_the_next_call(tmp_path: Path) -> None:
    b = bench(
        tmp_path,
        [
            Say("Looking."),
            Call("Read", {"file_path": "notes.md"}),
            Call("Glob", {"pattern": "*.md"}),
        ],
        [Say("Two lines.")],
        [Say("t")],
    )
    c = await b.open()
    events = await collect(c.send("what is in the notes?"))
    finished = of(events, ev.ToolFinished)
    assert [f.state for f in finished] == ["success", "success"]
    assert any("alpha" in f.result.text() for f in finished)
    assert not of(events, ev.ApprovalRequested)
    request = b.model.requests[1]
    assert any("alpha" in m.to_json() for m in request.messages)
    await replayed(c)
    await b.close()


async def test_a_tool_that_a_person_switched_off_is_not_offered(tmp_path: Path) -> None:
    b = bench(
        tmp_path,
        [Call("Glob", {"pattern": "*.md"})],
        [Say("I cannot look.")],
        [Say("t")],
        [Call("Glob", {"pattern": "*.md"})],
        [Say("There it is.")],
        store=SqliteJournalStore(tmp_path / "journals"),
    )
    c = await b.open()
    before = (await c.breakdown()).parts["tools"]
    await c.set_tool("Glob", False)
    assert (await c.breakdown()).parts["tools"] < before
    events = await collect(c.send("which notes are there?"))
    assert "Glob" not in [t.name for t in b.model.requests[0].tools]
    assert "switched Glob off" in of(events, ev.ToolFinished)[0].result.text()
    await replayed(c)
    await c.close()

    c = await b.open()
    assert "Glob" not in c.toolbox.tools
    await c.set_tool("Glob", True)
    events = await collect(c.send("and now?"))
    assert "notes.md" in of(events, ev.ToolFinished)[0].result.text()
    await b.close()


async def test_an_approval_pauses_survives_reopening_and_goes_on(tmp_path: Path) -> None:
    b = bench(
        tmp_path,
        [Call("Write", {"file_path": "out.txt", "content": "done\n"})],
        [Say("Written.")],
        [Say("t")],
        store=SqliteJournalStore(tmp_path / "journals"),
    )
    c = await b.open()
    events = await collect(c.send("write it"))
    asked = of(events, ev.ApprovalRequested)
    assert len(asked) == 1
    assert "done" in asked[0].approval.preview["diff"]
    assert "RunParked" in kinds(events)
    assert c.title == "write it"
    assert not (b.folder / "out.txt").exists()
    await c.close()

    c = await b.open()
    assert c.activity == "parked"
    pending = c.pending
    assert pending is not None
    assert pending.approvals[0] == asked[0].approval
    with pytest.raises(SessionError, match=r"run\.wrong_reply"):
        c.decide("other", [Decision(asked[0].approval.op_id, True)])
    with pytest.raises(SessionError, match=r"run\.parked"):
        c.send("something else")
    events = await collect(c.decide(pending.reply_id, [Decision(asked[0].approval.op_id, True)]))
    assert of(events, ev.RunFinished)[0].reason == "completed"
    assert (b.folder / "out.txt").read_text() == "done\n"
    await replayed(c)
    await c.close()
    await b.close()


async def test_a_declined_call_is_told_to_the_model_and_the_turn_goes_on(tmp_path: Path) -> None:
    b = bench(
        tmp_path,
        [Call("Bash", {"command": "touch x; rm -rf y"}), Call("Read", {"file_path": "notes.md"})],
        [Say("As you wish.")],
        [Say("t")],
    )
    c = await b.open()
    await collect(c.send("do"))
    pending = c.pending
    assert pending
    events = await collect(
        c.decide(pending.reply_id, [Decision(pending.approvals[0].op_id, False)])
    )
    assert [f.state for f in of(events, ev.ToolFinished)] == ["denied", "success"]
    assert not (b.folder / "x").exists()
    assert of(events, ev.RunFinished)[0].reason == "completed"
    await replayed(c)
    await b.close()


async def test_edited_arguments_are_what_runs_and_what_the_model_sees(tmp_path: Path) -> None:
    b = bench(
        tmp_path,
        [Call("Write", {"file_path": "a.txt", "content": "old"})],
        [Say("ok")],
        [Say("t")],
    )
    c = await b.open()
    await collect(c.send("write"))
    pending = c.pending
    assert pending
    changed = {"file_path": "b.txt", "content": "new"}
    await collect(c.decide(pending.reply_id, [Decision(pending.approvals[0].op_id, True, changed)]))
    assert (b.folder / "b.txt").read_text() == "new"
    assert not (b.folder / "a.txt").exists()
    assert any("b.txt" in m.to_json() for m in b.model.requests[1].messages)
    await replayed(c)
    await b.close()


async def test_a_link_that_leads_elsewhere_since_the_question_is_asked_about_anew(
    tmp_path: Path,
) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    outside.mkdir()
    (folder / "d").mkdir(parents=True)
    write = {"file_path": "d/a.txt", "content": "mine"}
    b = Bench(folder, ScriptedModel([[Call("Write", write)], [Say("done")]], titles=[[Say("T")]]))
    c = await b.open()
    first = of(await collect(c.send("write it")), ev.ApprovalRequested)[0].approval
    assert [code for code, _ in first.reasons] == ["file.write"]
    (folder / "d").rmdir()
    (folder / "d").symlink_to(outside)  # while the person looks at the question
    await c.close()
    c = await b.open()  # which may be after a restart
    assert c.pending is not None
    events = await collect(c.decide(c.pending.reply_id, [Decision(first.op_id, True)]))
    second = of(events, ev.ApprovalRequested)[0].approval
    assert [code for code, _ in second.reasons] == ["path.outside"]
    assert not list(outside.iterdir()), "what was allowed was another file"
    assert c.pending is not None
    await collect(c.decide(c.pending.reply_id, [Decision(second.op_id, True)]))
    assert (outside / "a.txt").read_text() == "mine", "that one was allowed too"
    assert c.activity == "idle"
    await c.close()
    await b.close()


async def test_always_covers_the_other_calls_that_wait(tmp_path: Path) -> None:
    b = bench(
        tmp_path,
        [
            Call("Bash", {"command": "python3 -c 'print(1)'"}),
            Call("Bash", {"command": "python3 -c 'print(1)'"}),
        ],
        [Say("ok")],
        [Say("t")],
    )
    c = await b.open()
    await collect(c.send("go"))
    pending = c.pending
    assert pending
    assert len(pending.approvals) == 2
    if pending.approvals[0].rule is None:
        pytest.fail("a plain command has a rule that would allow it")
    events = await collect(
        c.decide(pending.reply_id, [Decision(pending.approvals[0].op_id, True, always=True)])
    )
    assert [f.state for f in of(events, ev.ToolFinished)] == ["success", "success"]
    assert c.permissions.allow_rules
    await replayed(c)
    await b.close()


async def test_stop_while_streaming_keeps_the_text_and_is_durable(tmp_path: Path) -> None:
    reached, gate = asyncio.Event(), asyncio.Event()
    b = bench(tmp_path, [Say("Half of it"), Reached(reached), Wait(gate), Say("never")])
    c = await b.open()
    run = asyncio.ensure_future(collect(c.send("go")))
    await reached.wait()
    await c.stop()
    events = await run
    assert of(events, ev.RunFinished)[0].reason == "interrupted"
    assert c.state.context[-1].text() == "Half of it"
    assert c.activity == "idle"
    await replayed(c)
    await b.close()


async def test_stop_kills_a_running_tool_and_answers_the_call(tmp_path: Path) -> None:
    b = bench(tmp_path, [Call("Bash", {"command": "echo started; sleep 60"})])
    c = await b.open()
    await collect(c.send("sleep"))
    pending = c.pending
    assert pending
    started = asyncio.Event()
    unlisten = c.listen(lambda e: started.set() if isinstance(e, ev.ToolOutput) else None)
    run = asyncio.ensure_future(
        collect(c.decide(pending.reply_id, [Decision(pending.approvals[0].op_id, True)]))
    )
    await asyncio.wait_for(started.wait(), 20)
    await asyncio.wait_for(c.stop(), 20)
    events = await run
    unlisten()
    assert of(events, ev.ToolFinished)[0].state == "interrupted"
    assert not c.log.now.calls()
    await replayed(c)
    await b.close()


async def test_closing_the_iterator_stops_the_run(tmp_path: Path) -> None:
    gate = asyncio.Event()
    b = bench(tmp_path, [Say("a"), Wait(gate)])
    c = await b.open()
    async with aclosing(c.send("go")) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event, ev.TextDelta):
                break
    assert c.activity == "idle"
    assert c.state.context[-1].finished_reason == "interrupted"
    await b.close()


@pytest.mark.parametrize(
    ("turns", "code"),
    [
        ([[Fail(ModelError("model.unreachable", retryable=True))]] * 5, "model.unreachable"),
        ([[]] * 5, "model.empty"),
        ([[Say("x"), Ends(reason="filter")]], "model.refused"),
    ],
)
async def test_a_failing_model_ends_the_turn_and_retry_goes_on(
    tmp_path: Path, turns: list, code: str
) -> None:
    b = bench(tmp_path, *turns, [Say("Now it works.")], [Say("t")])
    c = await b.open()
    events = await collect(c.send("go"))
    end = of(events, ev.RunFinished)[0]
    assert (end.reason, end.code) == ("error", code)
    reply = c.resumable
    events = await collect(c.go_on())
    assert of(events, ev.RunFinished)[0].reason == "completed"
    assert c.state.context[-1].id == reply
    assert "Now it works." in c.state.context[-1].text()
    await replayed(c)
    await b.close()


async def test_cut_json_and_unknown_tools_are_answered_to_the_model(tmp_path: Path) -> None:
    b = bench(
        tmp_path,
        [Call("Read", '{"file_path": "no'), Call("Fly", {}), Call("Read", {"file": 3})],
        [Say("sorry")],
        [Say("t")],
    )
    c = await b.open()
    events = await collect(c.send("go"))
    finished = of(events, ev.ToolFinished)
    assert [f.state for f in finished] == ["error"] * 3
    assert "JSON" in finished[0].result.text()
    assert "no tool named 'Fly'" in finished[1].result.text()
    assert of(events, ev.RunFinished)[0].reason == "completed"
    await replayed(c)
    await b.close()


async def test_the_iteration_limit_ends_the_turn(tmp_path: Path) -> None:
    turns = [[Call("Glob", {"pattern": "*.md"})] for _ in range(3)]
    b = bench(tmp_path, *turns, [Say("t")], max_iterations=3)
    c = await b.open()
    events = await collect(c.send("go"))
    assert of(events, ev.RunFinished)[0].reason == "exceed_max_iters"
    assert len(b.model.requests) in (3, 4)
    await b.close()


async def test_who_goes_on_after_the_iteration_limit_gets_as_many_again(tmp_path: Path) -> None:
    turns = [[Call("Glob", {"pattern": "*.md"})] for _ in range(4)]
    b = bench(tmp_path, *turns, [Say("found")], [Say("t")], max_iterations=2)
    c = await b.open()
    ends = [of(await collect(c.send("go")), ev.RunFinished)[0].reason]
    while c.resumable is not None and len(ends) < 5:
        events = await collect(c.go_on())
        assert of(events, ev.ModelCallStarted), "going on calls the model"
        ends.append(of(events, ev.RunFinished)[0].reason)
    assert ends == ["exceed_max_iters", "exceed_max_iters", "completed"]
    assert "found" in c.state.context[-1].text()
    await replayed(c)
    await b.close()


async def test_a_long_result_is_bounded_and_whole_in_the_workspace(tmp_path: Path) -> None:
    b = bench(
        tmp_path,
        [Call("Grep", {"pattern": "line", "output_mode": "content", "head_limit": 0})],
        [Say("many")],
        [Say("t")],
    )
    (b.folder / "big.txt").write_text("".join(f"line {i} of the big file\n" for i in range(20000)))
    c = await b.open()
    events = await collect(c.send("go"))
    done = of(events, ev.ToolFinished)[0]
    assert done.offloaded
    assert done.whole_bytes > 100_000
    assert len(done.result.text()) < 60_000
    await c.outbox.deliver()
    whole = b.folder / done.offloaded
    assert whole.stat().st_size == done.whole_bytes
    assert done.offloaded in done.result.text()
    await replayed(c)
    await b.close()


async def test_ask_user_waits_and_its_answer_reaches_the_model(tmp_path: Path) -> None:
    questions = [
        {
            "question": "Which one?",
            "header": "Pick",
            "options": [
                {"label": "A", "description": "first"},
                {"label": "B", "description": "second"},
            ],
            "multi_select": False,
        }
    ]
    b = bench(tmp_path, [Call("AskUser", {"questions": questions})], [Say("B it is")], [Say("t")])
    c = await b.open()
    events = await collect(c.send("go"))
    assert of(events, ev.QuestionAsked)[0].questions == questions
    pending = c.pending
    assert pending
    answer = {"answers": [{"question": "Which one?", "selected": ["B"]}]}
    events = await collect(c.answer(pending.reply_id, pending.questions[0].op_id, answer))
    assert of(events, ev.RunFinished)[0].reason == "completed"
    results = [r for m in b.model.requests[1].messages for r in m.tool_results()]
    assert [r.name for r in results] == ["AskUser"]
    assert "B" in results[0].text()
    await replayed(c)
    await b.close()


async def test_a_parked_run_can_be_given_up(tmp_path: Path) -> None:
    b = bench(tmp_path, [Call("Bash", {"command": "make all"})], [Say("fine")], [Say("t")])
    c = await b.open()
    await collect(c.send("go"))
    pending = c.pending
    assert pending
    events = await collect(c.interrupt(pending.reply_id))
    assert of(events, ev.RunFinished)[0].reason == "interrupted"
    assert c.activity == "idle"
    events = await collect(c.send("another thing"))
    assert of(events, ev.RunFinished)[0].reason == "completed"
    await replayed(c)
    await b.close()


async def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    reached, gate = asyncio.Event(), asyncio.Event()
    b = bench(tmp_path, [Reached(reached), Wait(gate), Say("x")], [Say("t")])
    c = await b.open()
    run = asyncio.ensure_future(collect(c.send("one")))
    await reached.wait()
    with pytest.raises(SessionError, match=r"run\.busy"):
        c.send("two")
    gate.set()
    await run
    await b.close()


class Cut(LocalBackend):
    """A workspace whose connection breaks once a command ran."""

    def run(self, argv: list[str], **options: Any) -> Any:
        async def broken() -> Any:
            async with aclosing(super(Cut, self).run(argv, **options)) as events:
                async for event in events:
                    if isinstance(event, ProcessExit):
                        raise WorkspaceError("backend.unreachable", retryable=True, path="")
                    yield event

        return broken()


async def test_a_call_whose_connection_broke_is_told_and_kept_as_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = bench(
        tmp_path,
        [Call("Bash", {"command": "echo x > effect.txt"}, call_id="c1")],
        [Say("I look.")],
        [Say("Title")],
    )
    c = await b.open()
    cut = Cut(b.folder)
    monkeypatch.setattr(c._setting.workspace, "get_backend", lambda: cut)
    await c.set_mode("bypass")
    events = await collect(c.send("go"))
    assert (b.folder / "effect.txt").exists()
    first = of(events, ev.ToolFinished)[0]
    assert first.state == "error"
    assert "outcome is unknown" in str(first.result.output)
    states = {op.call_id: op.state for op in await c.log.journal.operations()}
    assert states["c1"] == "unknown"
    await replayed(c)
    await b.close()
