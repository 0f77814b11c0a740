"""The way back: what was shortened or left is found and read again by the agent."""

from __future__ import annotations

from pathlib import Path

from desktop_app.core import events as ev
from desktop_app.core.agent.policy import Policy
from desktop_app.core.messages import ToolResultBlock
from desktop_app.core.models.base import ModelRequest
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from tests.helpers.sessions import Bench, collect, of


def bench(tmp_path: Path, *turns: list[object]) -> Bench:
    (tmp_path / "log.txt").write_text(
        "".join(f"line {n} all is well here\n" for n in range(1500)) + "needle-77 in the stack\n"
    )
    model = ScriptedModel(turns, titles=[[Say("Talk")]] * 9, summaries=[[Say("# Done\nread")]] * 9)
    return Bench(tmp_path, model, policy=Policy("remind"))


def results(events: list[ev.Event]) -> list[ToolResultBlock]:
    return [e.result for e in of(events, ev.ToolFinished)]


async def test_a_shortened_result_is_searched_and_read_whole(tmp_path: Path) -> None:
    refs: list[str] = []

    def read_again(request: ModelRequest) -> list[object]:
        [result] = request.messages[-1].tool_results()
        refs.append(result.text().split(" ")[0])
        return [Call("context_read", {"ref": refs[0], "line": 700, "lines": 2})]

    b = bench(
        tmp_path,
        [Call("Read", {"file_path": "log.txt"})],
        [Say("Read.")],
        [Call("context_search", {"pattern": "line 70[01] all", "who": "tool"})],
        read_again,
        [Say("Found.")],
    )
    c = await b.open()
    [shown] = results(await collect(c.send("Read the log.")))
    assert "line 700 all" not in shown.text()
    assert "context_read with ref" in shown.text()
    found, again = results(await collect(c.send("What does line 700 say?")))
    assert "line 700 all is well here" in found.text()
    assert again.text().splitlines()[0].startswith(refs[0])
    assert "\tline 699 all is well here" in again.text()
    assert "\tline 700 all is well here" in again.text()
    assert again.text().count("\n") == 2
    op_id = shown.model_extra["op_id"]  # type: ignore[index]
    assert "line 1499" in await c.whole_result(op_id)
    await c.close()
    await b.close()


async def test_what_left_is_found_in_its_words(tmp_path: Path) -> None:
    b = bench(
        tmp_path,
        *[[Say("Noted, the colour is teal.")]] * 4,
        [Call("context_search", {"pattern": "the colour (", "limit": 1})],
        [Call("context_search", {"pattern": "violet"})],
        [Call("context_read", {"ref": "#99999"})],
        [Say("So.")],
    )
    c = await b.open()
    for n in range(3):
        await collect(c.send(f"{n}: the colour (is teal). " + "filler of the window " * 400))
    await c.accept_compaction(await c.propose_compaction())
    await collect(c.send("go"))
    one, none, unknown = results(await collect(c.send("Which colour?")))
    assert "the person, line 1: 2: the colour (is teal)." in one.text()
    assert one.text().count("\n") == 0
    assert none.text() == "Nothing in this conversation matches 'violet'."
    assert unknown.state == "error"
    await c.close()
    await b.close()


async def test_results_of_one_step_share_their_room(tmp_path: Path) -> None:
    b = bench(
        tmp_path,
        [Call("Read", {"file_path": "log.txt"}) for _ in range(8)],
        [Say("Read.")],
    )
    c = await b.open()
    shown = results(await collect(c.send("Read it eight times.")))
    account = c.engine.account()
    total = sum(account.upper(account.pricer.texts.count(r.text())) for r in shown)
    assert total <= 0.25 * account.limits.usable
    assert all("needle-77" in r.text() for r in shown), "the end of each is there"
    await c.outbox.deliver()
    files = sorted((tmp_path / ".slipway/sessions/s1").glob("tool_result-*.txt"))
    assert len(files) == 8
    assert all("line 700" in f.read_text() for f in files)
    await c.close()
    await b.close()
