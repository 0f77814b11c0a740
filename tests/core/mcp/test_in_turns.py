"""A conversation whose model calls tools of MCP servers, through the real journal and folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.core import events as ev
from desktop_app.core.agent import servers
from desktop_app.core.agent.base import Decision
from desktop_app.core.agent.fold import Folder
from desktop_app.core.mcp.connection import Limits
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from tests.helpers.mcp import Bench as McpBench
from tests.helpers.mcp import children, declare, entry, until
from tests.helpers.sessions import KEY, Bench, collect, of


def bench(tmp_path: Path, mcp: McpBench, *turns: object) -> Bench:
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    return Bench(folder, ScriptedModel(list(turns)), runner=mcp.runner)  # type: ignore[arg-type]


async def test_a_call_after_approval_and_a_rule_for_the_rest(mcp: McpBench, tmp_path: Path) -> None:
    b = bench(
        tmp_path,
        mcp,
        [Call("mcp__plain__write_note", {"text": "buy milk"})],
        [Call("mcp__plain__write_note", {"text": "again"}), Call("mcp__plain__slow", {"steps": 2})],
        [Say("Kept.")],
        [Say("title")],
    )
    declare(b.folder / ".slipway", entry("plain", "plain.py"))
    c = await b.open()
    assert not set(children()) - mcp.before  # nothing starts by opening a session
    events = await collect(c.send("remember the milk"))
    asked = of(events, ev.ApprovalRequested)[0].approval
    assert asked.preview == {"server": "plain", "tool": "write_note"}
    assert asked.reasons[0] == ("mcp.call", {"server": "plain", "tool": "write_note"})
    offered = {t.name for t in b.model.requests[0].tools}  # type: ignore[attr-defined]
    assert {"Bash", "mcp__plain__write_note", "mcp__plain__add"} <= offered
    pending = c.pending
    assert pending is not None
    events = await collect(c.decide(pending.reply_id, [Decision(asked.op_id, True, always=True)]))
    assert [f.result.text() for f in of(events, ev.ToolFinished)] == [
        "kept: buy milk",
        "kept: again",
    ]
    pending = c.pending  # the other tool of the server is asked for
    assert pending is not None
    assert pending.approvals[0].name == "mcp__plain__slow"
    op = pending.approvals[0].op_id
    events = await collect(c.decide(pending.reply_id, [Decision(op, True)]))
    assert [o.text for o in of(events, ev.ToolOutput)] == ["1/2 step 1\n", "2/2 step 2\n"]
    assert of(events, ev.RunFinished)[0].reason == "completed"
    breakdown = await c.breakdown()
    assert breakdown.parts["mcp"] > 0
    await c.close()
    assert not set(children()) - mcp.before
    await b.close()


async def test_a_parked_call_runs_after_a_restart(mcp: McpBench, tmp_path: Path) -> None:
    b = bench(
        tmp_path, mcp, [Call("mcp__plain__write_note", {"text": "x"})], [Say("ok")], [Say("t")]
    )
    declare(b.folder / ".slipway", entry("plain", "plain.py"))
    c = await b.open()
    await collect(c.send("go"))
    await c.close()
    c = await b.open()
    pending = c.pending
    assert pending is not None
    op = pending.approvals[0].op_id
    events = await collect(c.decide(pending.reply_id, [Decision(op, True)]))
    assert of(events, ev.ToolFinished)[0].result.text() == "kept: x"
    await c.close()
    await b.close()


async def test_many_tools_come_in_groups_that_the_model_switches(
    mcp: McpBench, tmp_path: Path
) -> None:
    b = bench(
        tmp_path,
        mcp,
        [Call("mcp__pages__t0_0", {})],
        [Call("reset_tools", {"pages": True})],
        [Call("reset_tools", {"nobody": True})],
        [Say("I have them.")],
        [Say("title")],
    )
    declare(
        b.folder / ".slipway",
        entry("pages", "raw.py", "pages"),
        entry("plain", "plain.py"),
    )
    c = await b.open()
    events = await collect(c.send("go"))
    requests = b.model.requests  # type: ignore[attr-defined]
    names = [{t.name for t in r.tools} for r in requests]
    assert "reset_tools" in names[0]
    assert not any(n.startswith("mcp__") for n in names[0])
    results = [f.result.text() for f in of(events, ev.ToolFinished)]
    assert "reset_tools switches it on" in results[0]
    assert "15 tools" in results[1]
    assert "true or false" in results[2]
    assert "mcp__pages__t4_2" in names[2]
    assert not any(n.startswith("mcp__plain__") for n in names[2])
    assert c.state.tool_context.activated_groups == ["pages"]
    folder = Folder(KEY.session_id)
    folder.replay(await c.log.journal.read())
    assert folder.now.state.model_dump() == c.state.model_dump()
    groups = {g.name: (g.active, len(g.tools)) for g in c.toolbox.groups.groups()}
    assert groups["pages"] == (True, 15)
    assert groups["plain"] == (False, 9)
    await c.close()
    c = await b.open()  # and it is remembered
    assert c.state.tool_context.activated_groups == ["pages"]
    await c.close()
    await b.close()


async def test_a_tool_whose_server_is_gone_is_told_so(mcp: McpBench, tmp_path: Path) -> None:
    b = bench(tmp_path, mcp, [Call("mcp__raw__echo", {})], [Say("It is gone.")], [Say("t")])
    declare(b.folder / ".slipway", entry("raw", "raw.py", "plain"))
    c = await b.open()
    await collect(c.send("go"))
    assert c.mcp is not None
    pending = c.pending
    assert pending is not None
    await c.mcp.set_enabled("raw", False)
    op = pending.approvals[0].op_id
    events = await collect(c.decide(pending.reply_id, [Decision(op, True)]))
    finished = of(events, ev.ToolFinished)[0]
    assert finished.state == "error"
    await until(lambda: not set(children()) - mcp.before)
    await c.close()
    await b.close()


async def test_a_call_of_a_server_that_is_still_starting_waits_for_it(
    mcp: McpBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "NEW_SECONDS", 0.0)  # the turn begins before it is up
    calls = [Call("mcp__raw__echo", {}), Call("mcp__raw__gone", {})]
    b = bench(tmp_path, mcp, calls, [Say("Done.")], [Say("t")])
    gate = tmp_path / "gate"
    declare(b.folder / ".slipway", entry("raw", "raw.py", "gate", str(gate)))
    c = await b.open()
    c.listen(lambda event: gate.touch() if isinstance(event, ev.ToolOutput) else None)
    events = await collect(c.send("go"))
    assert not any(t.name.startswith("mcp__") for t in b.model.requests[0].tools)  # type: ignore[attr-defined]
    waited = {o.text for o in of(events, ev.ToolOutput)}
    assert waited == {"Waiting for the MCP server 'raw'…\n"}
    pending = c.pending
    assert pending is not None
    assert [a.name for a in pending.approvals] == ["mcp__raw__echo"]
    op = pending.approvals[0].op_id
    events = await collect(c.decide(pending.reply_id, [Decision(op, True)]))
    first, second = of(events, ev.ToolFinished)
    assert first.result.text().startswith("echo ")
    assert second.result.text() == "The MCP server 'raw' has no tool named 'mcp__raw__gone'."
    await c.close()
    await b.close()


async def test_a_call_of_a_server_that_cannot_come_is_told_why(
    mcp: McpBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "NEW_SECONDS", 0.0)
    calls = [Call(f"mcp__{name}__echo", {}) for name in ("absent", "off", "nobody")]
    b = bench(tmp_path, mcp, calls, [Say("I see.")], [Say("t")])
    absent = {"type": "stdio_mcp", "command": "no-such-program-here", "args": []}
    declare(
        b.folder / ".slipway",
        {"name": "absent", "is_stateful": True, "mcp_config": absent},
        entry("off", "raw.py", "plain", disabled=True),
    )
    c = await b.open()
    assert c.mcp is not None
    c.mcp.limits = Limits(wait=60.0)
    events = await collect(c.send("go"))
    missing, off, nobody = [f.result.text() for f in of(events, ev.ToolFinished)]
    assert "its program 'no-such-program-here' is not installed" in missing
    assert "to try to start it again" in missing
    assert off == "The MCP server 'off' is switched off."
    assert "There is no tool named" in nobody
    assert of(events, ev.RunFinished)[0].reason == "completed"
    await c.close()
    await b.close()


async def test_a_call_waits_no_longer_than_it_may(
    mcp: McpBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "NEW_SECONDS", 0.0)
    b = bench(tmp_path, mcp, [Call("mcp__late__echo", {})], [Say("Later.")], [Say("t")])
    declare(b.folder / ".slipway", entry("late", "raw.py", "gate", str(tmp_path / "never")))
    c = await b.open()
    assert c.mcp is not None
    c.mcp.limits = Limits(wait=0.2)
    events = await collect(c.send("go"))
    assert [f.result.text() for f in of(events, ev.ToolFinished)] == [
        "The MCP server 'late' is still starting. Try again in a moment, or go on without it."
    ]
    await c.close()
    await b.close()
