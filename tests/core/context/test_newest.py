"""A newest step that is small stays in sight, whatever else takes the window."""

from __future__ import annotations

import json

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.applying import apply, undo
from desktop_app.core.context.build import Envelope
from desktop_app.core.context.compaction import Compactor, Proposal
from desktop_app.core.context.types import Limits
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.state import AgentState

UNKNOWN = "The program ended while this call ran, so its outcome is unknown."
LIMITS = Limits(window=24_000, max_output=4_000, target=0.45)


def _reply(n: int, command: str, output: str, *more: TextBlock) -> Msg:
    call = ToolCallBlock(
        id=f"c{n}", name="Bash", input=json.dumps({"command": command}), state="finished"
    )
    result = ToolResultBlock(id=f"c{n}", name="Bash", output=output)
    return Msg(name="agent", role="assistant", content=[call, result, *more])


def _state() -> AgentState:
    """Forty reports were read; then a command whose outcome nobody knows."""
    context: list[Msg] = []
    for n in range(40):
        context.append(Msg.user(f"Look at report {n}."))
        lines = f"Line of report {n}: the tide was {n * 7 % 13}.\n" * 8
        context.append(_reply(n, f"cat {n}.md", lines, TextBlock(text=f"Report {n} is in order.")))
    context += [Msg.user("Send the letter."), _reply(99, "send letter.txt", UNKNOWN)]
    return AgentState(session_id="s", context=context)


async def _proposed(state: AgentState, envelope: int) -> Proposal:
    system = "A rule of the house, a long one. " * envelope
    return await Compactor(None, Accounting(LIMITS), Envelope(system=system)).propose(
        state, "danger"
    )


async def test_a_call_of_unknown_outcome_stays_though_the_tools_alone_are_over_the_target() -> None:
    state = _state()
    proposal = await _proposed(state, 1200)
    assert proposal.after.upper > proposal.after.limits.mark(0.45), "nothing reaches the target"
    asked, newest = proposal.new_state.context[-2:]
    assert asked.text() == "Send the letter."
    assert [b.type for b in newest.content] == ["tool_call", "tool_result"]
    assert newest.tool_results()[0].text() == UNKNOWN
    assert proposal.after.upper <= proposal.after.limits.usable
    assert apply(proposal.record, state).to_json() == proposal.new_state.to_json()
    assert undo(proposal.record, proposal.new_state).context == state.context


async def test_it_costs_no_more_than_it_has() -> None:
    """Beside a target that can be reached, the same as ever: what stays is within it."""
    proposal = await _proposed(_state(), 20)
    assert proposal.after.upper <= proposal.after.limits.mark(0.45)
    assert proposal.new_state.context[-1].tool_results()[0].text() == UNKNOWN


async def test_a_ledger_says_of_a_call_cut_by_a_kill_that_nobody_knows_what_it_did() -> None:
    state = _state()
    (result,) = state.context[-1].tool_results()
    result.state = "error"
    result.output = f"<system-reminder>{UNKNOWN}</system-reminder>"
    result.metadata["slipway"] = {"code": "tool.outcome_unknown"}
    later = "The street was closed in the north of the town. " * 200
    state.context[-1].content.append(TextBlock(text=later))
    state.context += [Msg.user("And now?"), Msg.user(later)]
    proposal = await _proposed(state, 1200)
    assert not any(m.tool_results() for m in proposal.new_state.context)
    assert "Bash send letter.txt: its outcome is unknown" in proposal.record.summary
