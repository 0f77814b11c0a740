"""What a person chooses about a proposed compaction is done, and what cannot be is told."""

from __future__ import annotations

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.applying import undo
from desktop_app.core.context.build import Envelope, build, compaction_part
from desktop_app.core.context.compaction import Compactor, Proposal
from desktop_app.core.context.pins import pin_left
from desktop_app.core.context.types import Choices, Limits
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.state import AgentState
from tests.helpers.context_models import Summariser
from tests.helpers.context_sessions import FILLER, check_pairs

LIMITS = Limits(window=16_384, max_output=2048)
ENVELOPE = Envelope(system="You are an agent.")


def session(turns: int = 8, size: int = 30) -> AgentState:
    state = AgentState(session_id="s")
    for n in range(turns):
        said = "Compare the tables." if n == 0 else f"Look at table-{n} now"
        person = Msg.user(said)
        person.id = f"u{n}"
        reply = Msg(name="agent", role="assistant", id=f"a{n}")
        reply.content = [
            TextBlock(id=f"t{n}", text=f"Reading table-{n}."),
            ToolCallBlock(id=f"c{n}", name="Read", input=f'{{"file_path": "d/{n}.csv"}}'),
            ToolResultBlock(id=f"c{n}", name="Read", output=f"rows-{n} {FILLER * size}"),
            TextBlock(id=f"e{n}", text=f"The sum of table-{n} is {n}07."),
        ]
        state.context += [person, reply]
    return state


async def propose(
    state: AgentState, model: Summariser | None = None, **choices: object
) -> Proposal:
    compactor = Compactor(model, Accounting(LIMITS), ENVELOPE)
    proposal = await compactor.propose(state, "manual", choices=Choices(**choices))  # pyright: ignore[reportArgumentType]
    check_pairs(build(ENVELOPE, proposal.new_state).messages)
    back = undo(proposal.record, proposal.new_state)
    assert [m.to_json() for m in back.context] == [m.to_json() for m in state.context]
    return proposal


def text_of(state: AgentState) -> str:
    out: list[str] = []
    for msg in build(ENVELOPE, state).messages:
        out += [msg.text(), *(r.text() for r in msg.tool_results())]
    return "\n".join(out)


async def test_what_the_person_keeps_stays_live_whatever_its_age() -> None:
    plain = await propose(session())
    assert f"rows-1 {FILLER}{FILLER}" not in text_of(plain.new_state)
    kept = await propose(session(), keep=frozenset({"c1", "u2"}))
    live = [m.id for m in kept.new_state.context]
    assert live[:2] == ["a1", "u2"]
    assert f"rows-1 {FILLER * 30}" in text_of(kept.new_state)
    fates = {r.ref: r.fate for r in kept.rows}
    assert (fates["c1"], fates["u2"], fates["u1"]) == ("kept", "kept", "summarised")
    assert kept.record.choices == {"keep": ["c1", "u2"]}


async def test_what_the_person_leaves_out_is_nowhere_in_the_prompt_and_still_offloaded() -> None:
    state = session()
    proposal = await propose(state, drop=frozenset({"u1", "t2", "c7"}))
    text = text_of(proposal.new_state)
    assert "table-1 now" not in text
    assert "table-2 is" in text  # only the step with the call was left out
    assert "d/2.csv" not in text
    assert "rows-7" not in text
    assert "left out of the context by the person" in text
    assert any(m.id == "u1" for m in proposal.offloaded)
    fates = {r.ref: r.fate for r in proposal.rows}
    assert (fates["u1"], fates["c7"]) == ("dropped", "dropped")


async def test_the_request_under_way_cannot_be_left_out_and_that_is_told() -> None:
    proposal = await propose(session(), drop=frozenset({"u7"}))
    assert ("u7", "live") in proposal.rejected
    assert "table-7 now" in text_of(proposal.new_state)


async def test_items_are_edited_and_left_out_and_that_holds_through_later_compactions() -> None:
    state = session()
    state.context[2] = Msg.user("Never touch prices.csv. Look at table-1 now")
    state.context[2].id = "u1"
    first = await propose(state)
    by_text = {i.text: i for i in first.items}
    rule, task = by_text["Never touch prices.csv."], by_text["Compare the tables."]
    fact = by_text["The sum of table-0 is 007."]
    edits = {rule.id: "Never touch prices.csv or costs.csv.", task.id: "Compare them.", "no": "x"}
    second = await propose(state, edits=edits, drop=frozenset({fact.id}))
    assert ("no", "unknown_item") in second.rejected
    text = text_of(second.new_state)
    for words in edits.values():
        assert words in text or words == "x"
    assert fact.text not in text
    told = {i.id: i for i in second.items}
    assert (told[rule.id].origin, told[task.id].origin) == ("human_edit", "human_edit")
    assert (told[fact.id].status, told[fact.id].by) == ("revoked", "person")
    later = second.new_state.model_copy(deep=True)
    later.context += [
        m.model_copy(update={"id": f"x{m.id}"}, deep=True) for m in session().context[2:]
    ]
    third = await propose(later)
    text = text_of(third.new_state)
    assert "Never touch prices.csv or costs.csv." in text
    assert "# Task\nCompare them." in text
    assert fact.text not in text


async def test_the_focus_reaches_the_model_that_writes_the_notes() -> None:
    model = Summariser()
    await propose(session(), model, focus="the prices of table-3")
    assert "the prices of table-3" in model.requests[0].messages[-1].text()
    assert "{" not in model.requests[0].messages[-1].text().split("narrative", 1)[1][60:]


async def test_a_pin_on_what_left_comes_back_at_once_and_leaves_as_simply() -> None:
    state = (await propose(session())).new_state
    text = f"rows-1 {FILLER}"
    pinned = pin_left(state, "c1", True, text=text, who="Read")
    before = build(ENVELOPE, state)
    after = build(ENVELOPE, pinned)
    assert after.messages[: after.stable] == before.messages[: before.stable]  # cache holds
    assert text in after.messages[-1].text()
    assert pin_left(pinned, "c1", False, text="", who="") == pin_left(
        state, "c1", False, text="", who=""
    )
    pinned.context += [
        m.model_copy(update={"id": f"x{m.id}"}, deep=True) for m in session().context[2:]
    ]
    taken = (await propose(pinned)).new_state
    assert f"# Pinned by the person, written by: Read\n{text}" in text_of(taken)
    assert compaction_part(taken)["later"] == []
    taken.context += [
        m.model_copy(update={"id": f"y{m.id}"}, deep=True) for m in session().context[2:]
    ]
    gone = (await propose(pin_left(taken, "c1", False, text="", who=""))).new_state
    assert "# Pinned by" not in text_of(gone)
