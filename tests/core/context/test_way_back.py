"""What an undo puts back is what was there when the compaction was proposed."""

from __future__ import annotations

import asyncio
import json

from desktop_app.core.context.fitting import still_fits
from desktop_app.core.context.way_back import WayBack
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from tests.helpers.proposals import Choices, Proposal, long_state, proposer


def test_marks_are_those_of_the_time_it_was_made() -> None:
    person, reply = Msg.user("Do it."), Msg(name="a", role="assistant")
    result = ToolResultBlock(id="c", name="Read", metadata={"slipway": {"op_id": "o"}})
    reply.content = [ToolCallBlock(id="c", name="Read"), result]
    was = [m.model_dump() for m in (person, reply)]
    back = WayBack([person, reply], [], {}, None)
    person.metadata["slipway"] = {"pinned": True}
    result.metadata["slipway"] = {"op_id": "o", "pinned": True}
    assert not back.still(0, person, whole=True)
    assert not back.still(1, reply, whole=True)
    assert back["messages"] == was
    assert json.loads(back.to_json({"detail": 1})) == {**back, "detail": 1}
    assert dict(back).keys() == {"messages", "outputs", "former", "written"}


def test_what_is_kept_is_the_same_however_it_is_written() -> None:
    odd = Msg.user("half a pair: \ud83d, 中文, \u2028, \x00")
    reply = Msg(name="a", role="assistant")
    reply.content = [
        ToolCallBlock(id="c", name="Read", input='{"file_path": "a"}'),
        ToolResultBlock(id="c", name="Read", output=[TextBlock(text="x")]),
    ]
    back = WayBack([odd, reply], [{"message": "m"}], {"summary": "", "part": {}}, ["m", 1])
    again = WayBack.of(json.loads(back.to_json({})))
    assert dict(again) == dict(back)
    assert all(again.still(n, m, whole=True) for n, m in enumerate((odd, reply)))
    grown = reply.model_copy(update={"content": [*reply.content, TextBlock(text="more")]})
    assert again.still(1, grown, whole=False)
    assert not again.still(1, grown, whole=True)


def test_a_pin_on_what_would_leave_makes_a_proposal_stale() -> None:
    state = long_state()

    async def propose() -> Proposal:
        return await proposer(state)(Choices())

    proposal = asyncio.run(propose())
    assert still_fits(proposal.record, state)
    left = state.context[proposal.record.places[0]]
    left.metadata["slipway"] = {"pinned": True}
    assert not still_fits(proposal.record, state)
