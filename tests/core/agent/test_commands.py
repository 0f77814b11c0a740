"""Commands in the background: started, read, told of, stopped, ended with their session."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent import commands as module
from desktop_app.core.agent import snapshot
from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.agent.spool import Spool
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.tools.background import Wanted
from desktop_app.core.workspaces.local import LocalBackend
from tests.helpers.backends import RemoteLikeBackend
from tests.helpers.sessions import KEY, Bench, collect, of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    return path


def back(command: str, **more: Any) -> list[Any]:
    return [Call("Bash", {"command": command, "run_in_background": True, **more})]


async def opened(folder: Path, *turns: list[Any]) -> tuple[Bench, SessionConversation]:
    b = Bench(folder, ScriptedModel([*turns, [Say("t")]]))
    return b, await b.open(mode="bypass")


def says(n: int) -> list[list[Any]]:
    return [[Say(f"answer {i}")] for i in range(n)]


async def until(true: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came true"
        await asyncio.sleep(0.01)


def results(c: SessionConversation) -> list[str]:
    return [r.text() for m in c.state.context for r in m.tool_results()]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]


async def test_the_agent_goes_on_at_once_and_reads_later_what_was_printed(folder: Path) -> None:
    b, c = await opened(
        folder,
        back("read x < one; echo ready; read x < two; echo over; exit 3"),
        [Say("Started.")],
        [Say("A title")],
        [Call("BashOutput", {"id": "bg1", "wait": 20_000, "until": "ready"})],
        [Say("It is ready.")],
        [Call("BashOutput", {"id": "bg1", "wait": 20_000})],
        [Say("It failed.")],
    )
    os.mkfifo(folder / "one")
    os.mkfifo(folder / "two")
    await collect(c.send("start it"))
    assert "bg1: It runs in the background.\n(no new output)" in results(c)[0]
    (folder / "one").write_text("go\n")
    await collect(c.send("is it ready?"))
    assert "still running" in results(c)[1]
    assert "ready" in results(c)[1]
    command = c.commands.get("bg1")
    assert command is not None
    assert command.ended is None
    (folder / "two").write_text("go\n")
    await collect(c.send("and now?"))
    third = results(c)[2]
    assert "over" in third
    assert "ready" not in third, "what was read is not given twice"
    assert "exit code 3" in third
    # All of it is where the agent was told that it is.
    assert (folder / command.path).read_text() == "ready\nover\n"
    kinds = [r.kind for r in await c.log.journal.read()]
    assert kinds.count("command.started") == kinds.count("command.ended") == 1
    await c.close()
    await b.close()


async def test_what_ends_while_the_agent_looks_elsewhere_is_told_once(folder: Path) -> None:
    b, c = await opened(folder, back("read x < gate; echo done"), *says(4))
    os.mkfifo(folder / "gate")
    heard: list[ev.Event] = []
    c.listen(heard.append)
    await collect(c.send("start it"))
    (folder / "gate").write_text("go\n")
    await until(lambda: c.commands.running() == 0)
    assert [e.command.ended is None for e in of(heard, ev.CommandChanged)] == [True, False]
    assert "done" in "".join(e.text for e in of(heard, ev.CommandOutput))
    await collect(c.send("anything new?"))
    await collect(c.send("and now?"))
    model = b.model
    assert isinstance(model, ScriptedModel)
    asked = [
        "\n".join(m.text() for m in r.messages) for r in model.requests if r.purpose != "title"
    ]
    told = [text.count("Background command bg1") for text in asked]
    assert told[-2:] == [1, 1], "in the prompt once, and it stays there"
    assert "exit code 0" in asked[-1]
    await c.close()
    await b.close()


async def test_stopping_ends_the_whole_tree(folder: Path) -> None:
    line = "sleep 500 & echo $! > one; (setsid sleep 500 & echo $! > two); echo up; wait"
    b, c = await opened(
        folder,
        back(line),
        [Call("BashOutput", {"id": "bg1", "wait": 400, "until": "up"})],
        [Call("BashStop", {"id": "bg1"})],
        [Say("stopped")],
    )
    await collect(c.send("start it and stop it"))
    pids = [int((folder / name).read_text()) for name in ("one", "two")]
    await until(lambda: not any(alive(pid) for pid in pids))
    assert "It was stopped" in results(c)[-1]
    assert c.commands.running() == 0
    await c.close()
    await b.close()


async def test_the_person_stops_one_and_the_model_hears_of_it(folder: Path) -> None:
    b, c = await opened(folder, back("echo $$ > pid; sleep 500"), *says(4))
    await collect(c.send("start it"))
    await until(lambda: (folder / "pid").exists())
    await c.commands.stop("bg1", "person")
    assert not alive(int((folder / "pid").read_text()))
    await collect(c.send("what happened?"))
    model = b.model
    assert isinstance(model, ScriptedModel)
    assert any("The person stopped it" in m.text() for r in model.requests for m in r.messages)
    await c.close()
    await b.close()


async def test_a_stopped_turn_leaves_it_running_and_the_session_ends_it(folder: Path) -> None:
    b, c = await opened(
        folder, back("echo $$ > pid; sleep 500"), [Call("Bash", {"command": "sleep 500"})]
    )
    run = asyncio.ensure_future(collect(c.send("start it")))
    await until(lambda: any("500" in p.input for p in c.log.now.calls()) and len(results(c)) == 1)
    await c.stop()
    await run
    pid = int((folder / "pid").read_text())
    assert alive(pid)
    await c.close()
    assert not alive(pid)
    c = await b.open()
    command = c.commands.get("bg1")
    assert command is not None
    assert command.ended is not None
    assert command.ended.why == "closed"
    assert c.log.now.commands == snapshot.load(snapshot.dump(c.log.now), c.log.now.head).commands
    await c.close()
    await b.close()


async def test_what_fails_at_once_is_told_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUICK_SECONDS", 20.0)  # a busy machine starts bash slowly
    b, c = await opened(folder, back("no-such-program-here"), [Say("oh")])
    await collect(c.send("start it"))
    assert "exit code 127" in results(c)[0]
    assert "not found" in results(c)[0]
    result = c.state.context[-1].tool_results()[0]
    assert result.state == "error"
    await c.close()
    await b.close()


async def test_its_own_limit_of_time(folder: Path) -> None:
    b, c = await opened(
        folder,
        back("echo a; sleep 500", timeout=600),
        [Call("BashOutput", {"id": "bg1", "wait": 10_000})],
        [Say("oh")],
    )
    await collect(c.send("start it"))
    assert "time limit" in results(c)[1]
    await c.close()
    await b.close()


async def test_an_id_that_is_none_names_those_that_are(folder: Path) -> None:
    b, c = await opened(
        folder, back("true"), [Call("BashOutput", {"id": "bg7"})], [Call("BashStop", {"id": "bg1"})]
    )
    await collect(c.send("go"))
    assert "no background command 'bg7'" in results(c)[1]
    assert "bg1" in results(c)[1]
    assert "exit code 0" in results(c)[2], "what has ended is left as it ended"
    await c.close()
    await b.close()


async def test_too_many_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 1)
    b, c = await opened(folder, back("sleep 500"), back("sleep 501"), [Say("x")])
    await collect(c.send("go"))
    assert "stop one with BashStop" in results(c)[1]
    assert len(c.commands.all()) == 1
    await c.close()
    await b.close()


async def test_who_floods_is_ended_and_memory_stays_bounded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_PRINTED", 3 << 20)
    b, c = await opened(
        folder, back("yes"), [Call("BashOutput", {"id": "bg1", "wait": 20_000})], [Say("x")]
    )
    await collect(c.send("go"))
    command = c.commands.get("bg1")
    assert command is not None
    assert command.ended is not None
    assert command.ended.why == "flood"
    assert (folder / command.path).stat().st_size == command.ended.bytes > 3 << 20
    assert "printed more than a command may" in results(c)[1]
    await c.close()
    await b.close()


async def test_without_the_person_nothing_unlisted_starts(folder: Path) -> None:
    b, c = await opened(folder, back("touch here"))
    await c.set_mode("default")
    events = await collect(c.send("go"))
    asked = of(events, ev.ApprovalRequested)
    assert asked[0].approval.preview["background"] is True
    assert not (folder / "here").exists()
    assert c.commands.all() == ()
    await c.close()
    await b.close()


async def test_output_of_an_unreachable_workspace_waits_and_is_whole(folder: Path) -> None:
    backend = RemoteLikeBackend(LocalBackend(folder))
    spool = Spool(backend, str(folder / "out.txt"))
    writer = asyncio.ensure_future(spool.write())
    backend.down = True
    await spool.add(b"one\r\n\xff")
    await until(lambda: "append" in backend.calls)
    await spool.add(b"two")
    backend.down = False
    spool.finish()
    await asyncio.wait_for(writer, 10)
    assert (folder / "out.txt").read_bytes() == b"one\r\n\xfftwo"
    assert spool.error == ""


async def test_a_file_that_cannot_be_written_is_said_and_costs_no_output(folder: Path) -> None:
    (folder / "out.txt").mkdir()
    spool = Spool(LocalBackend(folder), str(folder / "out.txt"))
    writer = asyncio.ensure_future(spool.write())
    await spool.add(b"one")
    spool.finish()
    await writer
    assert spool.error == "file.is_dir"
    assert spool.read(1, 100).data == b"ne"


async def test_recovery_ends_what_carries_the_mark(folder: Path) -> None:
    """As after a kill: a process with the mark lives, the journal knows of no end."""
    b, c = await opened(folder)
    wanted = Wanted("o1", "sleep 500", (["/bin/sleep", "500"],), {})
    command = await c.commands.start(wanted)
    stray = await asyncio.create_subprocess_exec(
        "/bin/sleep", "500", env={**os.environ, "SLIPWAY_RUN": command.mark}
    )
    await c.commands.stop("bg1", "agent")
    await asyncio.wait_for(stray.wait(), 10)
    assert stray.returncode != 0
    await c.close()
    await b.close()


async def test_the_journal_says_what_the_live_state_says(folder: Path) -> None:
    b, c = await opened(folder, back("echo a"), [Say("x")])
    await collect(c.send("go"))
    live = json.dumps(repr(c.log.now.commands))
    await c.close()
    c = await b.open(KEY)
    assert json.dumps(repr(c.log.now.commands)) == live
    assert await c.commands.text("bg1") == "a\n"
    await c.close()
    await b.close()


async def test_after_a_compaction_the_agent_still_knows_what_runs(folder: Path) -> None:
    """Its start has left the context: without a word of it a second one would be started."""
    long = "A long answer about the harbour and its boats. " * 120
    model = ScriptedModel(
        [back("sleep 600"), [Say("It runs.")], *([[Say(long)]] * 6), [Say("Yes.")], [Say("Yes.")]],
        summaries=[[Say("# Done\ntalked")]],
        titles=[[Say("t")]],
    )
    b = Bench(folder, model)
    c = await b.open(mode="bypass")
    await collect(c.send("start it"))
    for n in range(6):
        await collect(c.send(f"Tell me more ({n})."))
    assert of(await collect(c.compact()), ev.CompactionFinished)
    assert not any("sleep 600" in r.to_json() for m in c.state.context for r in m.tool_calls())
    for told in (1, 1):  # once, and it stays where it was said
        await collect(c.send("Is it up?"))
        hints = [
            m.text() for m in model.requests[-1].messages if "Background command bg1" in m.text()
        ]
        assert len(hints) == told
        assert "(sleep 600): It is still running." in hints[0]
        assert "BashOutput" in hints[0]
    assert c.commands.running() == 1
    await c.close()
    await b.close()
