"""The invariants C1 to C12 of a compaction (reference, 2.14) over generated sessions and models.

C1, C2, C4, C5, C7 and C8 are checked at every compaction by ``Run`` in ``test_compaction``; here
are those that need more than that, each over whole sessions.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.build import PromptBuilder, build, kind_of
from desktop_app.core.context.compaction import Compactor, Proposal, decide
from desktop_app.core.context.entities import entities, holds, plain
from desktop_app.core.context.types import CATEGORIES, Limits
from desktop_app.core.errors import ContextError
from desktop_app.core.messages import (
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from desktop_app.core.models.base import Finish, ModelInfo, ModelRequest, TextPart
from desktop_app.core.state import AgentState
from tests.helpers.context_models import BEHAVIOURS, Summariser
from tests.helpers.context_sessions import Player, Script, check_pairs, sessions

from .test_compaction import ENVELOPE, MEDIUM, SMALL, shown

Check = Callable[[AgentState, AgentState | None, Proposal | None], None]


def play(
    script: Script, limits: Limits, model: Summariser | None
) -> Iterator[tuple[Player, AgentState, Proposal | None]]:
    """The moments of a session that compacts itself; the proposal is there where one was made."""
    player, account, builder = Player(script), Accounting(limits), PromptBuilder()
    for state in player.moments():
        proposal = None
        if decide(account.breakdown(builder.build(ENVELOPE, state))) in ("do", "offer"):
            try:
                compactor = Compactor(model, account, ENVELOPE)
                proposal = asyncio.run(compactor.propose(state, "danger"))
            except ContextError:
                proposal = None
        if proposal is not None:
            player.state = proposal.new_state
        yield player, player.state, proposal


@settings(max_examples=30, deadline=None)
@given(sessions(), st.sampled_from(BEHAVIOURS), st.sampled_from([SMALL, MEDIUM]))
def test_c6_no_text_of_the_ledger_says_what_was_not_said(
    script: Script, behaviour: str, limits: Limits
) -> None:
    for player, _, proposal in play(script, limits, Summariser(behaviour)):
        if proposal is None:
            continue
        said = plain("\n".join(b.to_json() for m in player.everything for b in m.content))
        texts = "\n".join(
            [m.text() for m in player.everything]
            + [r.text() for m in player.everything for r in m.tool_results()]
        )
        for item in proposal.items:
            if item.kind in ("decision", "fact", "constraint"):
                source = plain(texts)
                assert all(holds(source, w) or w in said for w in entities(item.text)), item
                assert item.evidence


@settings(max_examples=30, deadline=None)
@given(sessions(), st.booleans())
def test_c9_between_compactions_the_prompt_only_grows_at_its_end(
    script: Script, with_model: bool
) -> None:
    model = Summariser() if with_model else None
    before: list[str] = []
    for _, state, proposal in play(script, SMALL, model):
        prompt = build(ENVELOPE, state)
        now = shown(prompt.messages)
        if proposal is None:
            assert now[: len(before)] == before
        before = now[: prompt.stable]


@settings(max_examples=30, deadline=None)
@given(sessions(), st.sampled_from(["good", "fails"]))
def test_c10_signed_thinking_is_as_it_came_and_its_loop_whole(
    script: Script, behaviour: str
) -> None:
    for player, state, proposal in play(script, SMALL, Summariser(behaviour)):
        if proposal is None:
            continue
        origin = {
            m.id: [b for b in m.content if isinstance(b, ThinkingBlock)]
            for m in (player.everything)
        }
        for msg in state.context:
            live = [b for b in msg.content if isinstance(b, ThinkingBlock)]
            whole = origin[msg.id]
            assert [b.to_json() for b in live] == [
                b.to_json() for b in whole[len(whole) - len(live) :]
            ]
        sent = [b for m in build(ENVELOPE, state).messages for b in m.content]
        for block in sent:
            if isinstance(block, ThinkingBlock):
                assert block.to_json() in {b.to_json() for loop in origin.values() for b in loop}


@settings(max_examples=20, deadline=None)
@given(sessions(), st.sampled_from([SMALL, MEDIUM]))
def test_c11_the_parts_add_up_before_and_after(script: Script, limits: Limits) -> None:
    for _, _, proposal in play(script, limits, None):
        for told in (proposal.before, proposal.after) if proposal else ():
            assert set(told.parts) == set(CATEGORIES)
            assert all(v >= 0 for v in told.parts.values())
            assert sum(told.parts.values()) == told.total
            assert told.total <= told.upper


ENTRIES = st.lists(
    st.tuples(st.sampled_from([f"handle part-{n}" for n in range(9)]), st.booleans()),
    min_size=1,
    max_size=6,
    unique_by=lambda e: e[0],
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(ENTRIES, st.integers(0, 9_000)), min_size=2, max_size=10))
def test_c3_what_is_open_by_any_list_is_shown_until_it_is_closed(
    updates: list[tuple[list[tuple[str, bool]], int]],
) -> None:
    state = AgentState(context=[Msg.user("Do all parts.")])
    reply = Msg(name="agent", role="assistant", id="a")
    state.context.append(reply)
    for n, (entries, size) in enumerate(updates):
        todos = [{"content": t, "status": "done" if d else "open"} for t, d in entries]
        reply = state.context[-1]
        reply.content += [
            ToolCallBlock(id=f"t{n}", name="set_todos", input=json.dumps({"todos": todos})),
            ToolResultBlock(id=f"t{n}", name="set_todos", output="ok"),
            TextBlock(text=f"Step {n}."),
            ToolCallBlock(id=f"r{n}", name="Read", input="{}"),
            ToolResultBlock(id=f"r{n}", name="Read", output=f"{n} " + "row 12 " * (size // 7)),
        ]
        made = True
        try:
            compactor = Compactor(Summariser("obeys"), Accounting(SMALL), ENVELOPE)
            state = asyncio.run(compactor.propose(state, "overflow")).new_state
        except ContextError:
            made = False
        text = "\n".join(
            m.text() + "".join(c.input for c in m.tool_calls())
            for m in build(ENVELOPE, state).messages
        )
        for words, done in entries:
            if not done:
                assert words in text
        history = "".join(
            m.text() for m in build(ENVELOPE, state).messages if kind_of(m) == "summary"
        )
        for words, done in entries:
            if done and made:
                assert f"- {words}\n" not in history


class Babbler:
    """Answers with anything at all."""

    def __init__(self, answers: list[str]) -> None:
        self.answers = answers
        self.info = ModelInfo("any", "Any", window=100_000, max_output=4096)

    async def stream(self, request: ModelRequest):
        assert request.purpose == "summary"
        for answer in self.answers:
            yield TextPart(0, answer)
        yield Finish("stop", None)


@settings(max_examples=30, deadline=None)
@given(sessions(max_turns=4), st.lists(st.text(max_size=200), max_size=4))
def test_c7_whatever_a_model_answers_nothing_is_lost(script: Script, answers: list[str]) -> None:
    model: Summariser = Babbler(answers)  # pyright: ignore[reportAssignmentType]
    for player, state, proposal in play(script, SMALL, model):
        if proposal is None:
            continue
        messages = build(ENVELOPE, state).messages
        check_pairs(messages)
        text = "\n".join(m.text() for m in messages)
        assert player.said[0].text().strip() in text
        assert player.said[-1].text() in text
        assert proposal.after.upper <= proposal.after.limits.usable


def test_c12_a_step_costs_what_is_new_and_not_what_was() -> None:
    account, builder = Accounting(Limits(window=2_000_000, max_output=8192)), PromptBuilder()
    state = AgentState(context=[Msg.user("go")])
    for n in range(400):
        state.context.append(Msg.user(f"message {n} of many"))
    account.breakdown(builder.build(ENVELOPE, state))
    before = account.pricer.texts.counted
    for n in range(50):
        state.context.append(Msg.user(f"one more, {n}"))
        account.breakdown(builder.build(ENVELOPE, state))
    assert account.pricer.texts.counted - before <= 50
