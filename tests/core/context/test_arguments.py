"""Long arguments of old calls give way before anything is summarised, and come back whole."""

from __future__ import annotations

import json

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.applying import apply, undo
from desktop_app.core.context.build import Envelope
from desktop_app.core.context.compaction import Compactor, Proposal
from desktop_app.core.context.intake import absorb
from desktop_app.core.context.ledger import Ledger
from desktop_app.core.context.types import Limits
from desktop_app.core.messages import AnyBlock, Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.state import AgentState

BODY = "".join(f"def part_{n}():\n    return {n}\n" for n in range(160))
PATCH = "*** Begin Patch\n" + "".join(
    f"*** Update File: src/p{n}.py\n" + "-old line of it\n+new line of it\n" * 30 for n in range(3)
)


def _state() -> AgentState:
    state = AgentState(session_id="s", context=[Msg.user("Write the parts.")])
    for n in range(12):
        if n == 3:
            arguments, tool = {"patch": PATCH}, "apply_patch"
        elif n == 4:
            todos = [{"content": f"{BODY[:700]} {n}", "status": "pending"}] * 3
            arguments, tool = {"todos": todos}, "todo_write"
        else:
            arguments, tool = {"file_path": f"src/part{n}.py", "content": BODY}, "Write"
        reply = Msg(name="agent", role="assistant")
        call: list[AnyBlock] = [
            ToolCallBlock(id=f"c{n}", name=tool, input=json.dumps(arguments), state="finished"),
            ToolResultBlock(id=f"c{n}", name=tool, output="done"),
        ]
        reply.content = [*call, TextBlock(text=f"Part {n} stands.")]
        state.context += [reply, Msg.user(f"Now part {n + 1}.")]
    return state


async def _masked(state: AgentState) -> Proposal:
    account = Accounting(Limits(window=32_000, max_output=2_000, target=0.75))
    return await Compactor(None, account, Envelope(system="x")).propose(state, "danger")


def _calls(state: AgentState) -> dict[str, ToolCallBlock]:
    return {b.id: b for m in state.context for b in m.content if isinstance(b, ToolCallBlock)}


async def test_old_long_arguments_leave_the_prompt_and_an_undo_brings_them_back() -> None:
    state = _state()
    proposal = await _masked(state)
    record = proposal.record
    assert record.tier == 1
    assert record.masks
    assert not record.covered_ids
    calls = _calls(proposal.new_state)
    first = json.loads(calls["c0"].input)
    assert first["file_path"] == "src/part0.py"
    assert first["content"].startswith("def part_0()")
    assert "cut from the context" in first["content"]
    assert len(first["content"]) < 400
    assert calls["c4"].input == _calls(state)["c4"].input, "a list of things to do stays whole"
    assert calls["c11"].input == _calls(state)["c11"].input, "the newest ones stay whole"
    assert apply(record, state).to_json() == proposal.new_state.to_json()
    assert _calls(undo(record, proposal.new_state)) == _calls(state)
    offloaded = {b.id for m in proposal.offloaded for b in m.content}
    assert {m["message"] for m in record.masks} <= {m.id for m in proposal.offloaded}
    assert "c0" in offloaded
    row = next(r for r in proposal.rows if r.ref == "c0" and r.category == "assistant")
    assert row.fate == "masked"
    assert row.after < row.before


async def test_the_ledger_still_knows_the_files_of_calls_whose_arguments_were_cut() -> None:
    state = _state()
    proposal = await _masked(state)
    whole, cut = Ledger(), Ledger()
    absorb(whole, state.context, len)
    absorb(cut, proposal.new_state.context, len)
    assert cut.files == whole.files
    assert {"src/p0.py", "src/p1.py", "src/p2.py"} <= {f.path for f in cut.files}


def _one_large_step(**call: object) -> AgentState:
    """A session whose newest step alone is over the target, by the file that it wrote."""
    state = _state()
    state.context = state.context[:4]
    arguments = json.dumps({"file_path": "src/whole.py", "content": BODY * 7})
    reply = Msg(name="agent", role="assistant")
    reply.content = [
        TextBlock(text="All of it in one file."),
        ToolCallBlock.model_validate(
            {"id": "big", "name": "Write", "input": arguments, "state": "finished", **call}
        ),
        ToolResultBlock(id="big", name="Write", output="written"),
    ]
    state.context += [Msg.user("Write all of it at once."), reply]
    return state


async def test_arguments_of_the_newest_step_give_way_rather_than_the_step() -> None:
    state = _one_large_step()
    account = Accounting(Limits(window=32_000, max_output=2_000, target=0.3))
    proposal = await Compactor(None, account, Envelope(system="x")).propose(state, "danger")
    newest = proposal.new_state.context[-1]
    assert [b.type for b in newest.content] == ["text", "tool_call", "tool_result"]
    short = json.loads(_calls(proposal.new_state)["big"].input)
    assert short["file_path"] == "src/whole.py"
    assert "cut from the context" in short["content"]
    assert proposal.after.upper <= proposal.after.limits.mark(0.3)
    assert _calls(undo(proposal.record, proposal.new_state))["big"] == _calls(state)["big"]
    assert apply(proposal.record, state).to_json() == proposal.new_state.to_json()


async def test_both_give_way_where_neither_is_enough() -> None:
    state = _one_large_step()
    result = state.context[-1].content[2]
    large = result.model_copy(update={"output": "line of output 12\n" * 4000})
    state.context[-1].content[2] = large
    account = Accounting(Limits(window=64_000, max_output=2_000, target=0.2))
    proposal = await Compactor(None, account, Envelope(system="x")).propose(state, "danger")
    newest = proposal.new_state.context[-1]
    assert [b.type for b in newest.content] == ["text", "tool_call", "tool_result"]
    masked = {b["block"] for b in proposal.record.masks if b["message"] == newest.id}
    assert masked == {1, 2}
    assert undo(proposal.record, proposal.new_state).context[-1] == state.context[-1]


async def test_arguments_of_a_call_that_waits_stay() -> None:
    state = _one_large_step(state="asking")
    del state.context[-1].content[2]
    account = Accounting(Limits(window=32_000, max_output=2_000, target=0.3))
    proposal = await Compactor(None, account, Envelope(system="x")).propose(state, "danger")
    assert proposal.record.covered_ids
    assert _calls(proposal.new_state)["big"] == _calls(state)["big"]
