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
