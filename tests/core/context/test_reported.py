"""Faults that users of other programs reported, with the smallest input (reference, section 5)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.build import Envelope, build, kind_of
from desktop_app.core.context.compaction import Compactor, Proposal, decide
from desktop_app.core.context.guards import THRASH, Guards
from desktop_app.core.context.types import Limits, Trigger
from desktop_app.core.errors import ContextError, ModelError
from desktop_app.core.messages import (
    BLOCKS,
    AnyBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from desktop_app.core.models.base import Finish, ModelEvent, ModelRequest, TextPart
from desktop_app.core.state import AgentState, PermissionContext
from tests.helpers.context_models import Summariser
from tests.helpers.context_sessions import FILLER, check_pairs

LIMITS = Limits(window=16_384, max_output=2048)
ENVELOPE = Envelope(system="You are an agent.")


async def propose(
    state: AgentState,
    trigger: Trigger = "danger",
    *,
    model: Any = None,
    limits: Limits = LIMITS,
    envelope: Envelope = ENVELOPE,
) -> Proposal:
    return await Compactor(model, Accounting(limits), envelope).propose(state, trigger)


def step(n: int, size: int, text: str = "") -> list[AnyBlock]:
    said: list[AnyBlock] = [TextBlock(text=text)] if text else []
    return [
        *said,
        ToolCallBlock(id=f"c{n}", name="Read", input=f'{{"file_path": "d/{n}.csv"}}'),
        ToolResultBlock(id=f"c{n}", name="Read", output=f"{n} {FILLER * size}"),
    ]


def reply(*blocks: AnyBlock, name: str = "a") -> Msg:
    return Msg(name="agent", role="assistant", id=name, content=list(blocks))


def words(state: AgentState) -> str:
    out: list[str] = []
    for msg in build(ENVELOPE, state).messages:
        out += [msg.text(), *(r.text() for r in msg.tool_results())]
    return "\n".join(out)


def long_loop(steps: int = 24, size: int = 14) -> AgentState:
    blocks = [b for n in range(steps) for b in step(n, size, f"Looking at part {n}.")]
    return AgentState(
        context=[Msg.user("Do X, then Y, then Z. Never push to main."), reply(*blocks)]
    )


async def test_1_a_fixed_part_that_fills_the_window_is_refused_before_any_call() -> None:
    model = Summariser()
    envelope = Envelope(system=FILLER * 480)
    state = AgentState(context=[Msg.user("hi"), reply(TextBlock(text="hello")), Msg.user("go")])
    told = Accounting(LIMITS).breakdown(build(envelope, state))
    assert decide(told) == "refuse"
    with pytest.raises(ContextError) as caught:
        await propose(state, model=model, envelope=envelope)
    assert caught.value.code == "compaction.cannot_fit"
    assert caught.value.params["parts"]["system"] > 0.9 * told.total
    assert caught.value.params["items"][0][:2] == ("system", "system")
    assert model.requests == []


async def test_2_what_is_read_in_again_counts_and_thrash_is_stopped() -> None:
    """Instructions of a third of the window stand in front of every prompt: they are inside the
    target, and a window that is refilled at once is told, not compacted for ever."""
    heavy = Envelope(system="You are an agent.", instructions=FILLER * 60)
    fixed = Accounting(LIMITS).breakdown(build(heavy, AgentState())).total
    assert fixed > 0.1 * LIMITS.usable
    proposal = await propose(long_loop(), envelope=heavy)
    assert proposal.after.total > fixed
    assert proposal.after.upper <= LIMITS.usable
    guards = Guards()
    for _ in range(THRASH):
        guards = guards.compacted("danger", 9000, 4000, 10_000).called()
    assert guards.paused == "thrash"
    assert guards.share < 1, "results get less room"


async def test_3_a_compaction_that_would_be_larger_changes_nothing() -> None:
    state = AgentState(context=[Msg.user("ten small words")] * 1)
    state.context += [reply(TextBlock(text="fine"), name=f"a{n}") for n in range(20)]
    model = Summariser()
    before = state.to_json()
    with pytest.raises(ContextError, match="not_smaller"):
        await propose(state, model=model)
    assert state.to_json() == before
    assert model.requests == []


async def test_4_one_message_of_nearly_the_whole_window_is_kept_by_its_ends() -> None:
    state = AgentState(context=[Msg.user("Start. " + FILLER * 330 + " Count the rows.")])
    state.context.append(reply(*step(1, 2)))
    proposal = await propose(state)
    text = words(proposal.new_state)
    assert "Start. " in text
    assert "Count the rows." in text
    assert proposal.after.upper <= LIMITS.mark(0.45)


async def test_5_a_switch_to_a_smaller_window_makes_room_or_refuses() -> None:
    small = Limits(window=8192, max_output=1024)
    proposal = await propose(long_loop(), "model_switch", limits=small)
    assert proposal.after.upper <= small.usable
    assert proposal.record.after < 0.9 * proposal.record.before


async def test_6_after_a_compaction_a_greeting_does_not_start_another() -> None:
    account = Accounting(LIMITS)
    compactor = Compactor(None, account, ENVELOPE)
    state = (await compactor.propose(long_loop(), "danger")).new_state
    state.context.append(Msg.user("hi"))
    told = account.breakdown(build(ENVELOPE, state))
    assert decide(told, state) == "none"
    with pytest.raises(ContextError, match="not_smaller"):
        await compactor.propose(state, "danger")


async def test_7_in_a_tool_loop_it_goes_on_and_nobody_is_asked_anything() -> None:
    proposal = await propose(long_loop())
    messages = build(ENVELOPE, proposal.new_state).messages
    assert messages[-1].tool_results()
    people = [m for m in messages if m.role == "user" and kind_of(m) is None]
    assert [m.text() for m in people] == ["Do X, then Y, then Z. Never push to main."]


async def test_8_the_call_for_notes_fits_the_window_itself() -> None:
    model = Summariser(window=8192)
    state = long_loop(steps=30)
    proposal = await propose(state, model=model)
    assert proposal.record.summariser == "notes"
    assert len(model.requests) > 1  # in parts
    for request in model.requests:
        prompt = replace(build(ENVELOPE, AgentState()), messages=list(request.messages))
        upper = Accounting(LIMITS).breakdown(prompt).upper
        assert upper + (request.max_output or 0) <= 8192
        check_pairs(list(request.messages))


@pytest.mark.parametrize("behaviour", ["cut", "silent", "empty", "fails", "verbose", "tool_call"])
async def test_9_notes_that_fail_lose_nothing(behaviour: str) -> None:
    without = await propose(long_loop())
    proposal = await propose(long_loop(), model=Summariser(behaviour))
    assert words(proposal.new_state).replace("gen", "") == words(without.new_state)
    assert proposal.rejected[0][0] in ("summary", "part 1 of 1")


@pytest.mark.parametrize("behaviour", ["good", "fails"])
async def test_17_pairs_stay_pairs_wherever_the_cut_falls(behaviour: str) -> None:
    for size in range(4, 40, 3):
        blocks: list[AnyBlock] = []
        for n in range(14):
            blocks += [
                ToolCallBlock(id="same", name="Read", input="{}"),
                ToolCallBlock(id="same", name="Grep", input="{}"),
                ToolResultBlock(id="same", name="Read", output=f"{n} {FILLER * size}"),
                ToolResultBlock(id="same", name="Grep", output=f"g{n} {FILLER * (40 - size)}"),
            ]
        state = AgentState(context=[Msg.user("go"), reply(*blocks)])
        proposal = await propose(state, "overflow", model=Summariser(behaviour))
        check_pairs(build(ENVELOPE, proposal.new_state).messages)


@pytest.mark.parametrize("behaviour", ["good", "fails"])
async def test_c22_what_a_provider_ran_itself_leaves_with_its_result_or_stays_with_it(
    behaviour: str,
) -> None:
    """Blocks of tools that the provider runs, as another program kept them: never half a pair in
    the prompt, wherever the cut falls, and what left is whole where it went."""
    for size in range(4, 40, 3):
        blocks: list[AnyBlock] = []
        for n in range(14):
            name = f"srvtoolu_{n}"
            blocks += BLOCKS.validate_python(
                [
                    {"type": "server_tool_use", "id": name, "name": "web_search", "input": {}},
                    {"type": "web_search_tool_result", "tool_use_id": name, "content": [{"n": n}]},
                ]
            )
            blocks += step(n, size, f"Found part {n}.")
        state = AgentState(context=[Msg.user("go"), reply(*blocks)])
        proposal = await propose(state, "overflow", model=Summariser(behaviour))
        prompt = build(ENVELOPE, proposal.new_state).messages
        check_pairs(prompt)
        sent = [_server_side(b) for m in prompt for b in m.content]
        assert not any(sent), "a provider would refuse one without the other"
        stayed = [
            x for m in proposal.new_state.context for b in m.content if (x := _server_side(b))
        ]
        left = [x for m in proposal.offloaded for b in m.content if (x := _server_side(b))]
        assert sorted(stayed + left) == sorted(2 * [f"srvtoolu_{n}" for n in range(14)])
        assert not set(stayed) & set(left), "call and result are on one side of the cut"
        assert left


def _server_side(block: AnyBlock) -> str:
    """The id of a call that a provider ran, of its own block and of its result's."""
    fields = block.model_dump()
    if "tool_use_id" in fields:
        return str(fields["tool_use_id"])
    return str(fields["id"]) if block.type == "server_tool_use" else ""


async def test_18_a_result_behind_a_note_is_found_and_not_made_twice() -> None:
    state = long_loop()
    state.context[-1].content += [
        ToolCallBlock(id="late", name="Bash", input="{}"),
        TextBlock(text=""),
        ToolResultBlock(id="late", name="Bash", output="the real result"),
    ]
    messages = build(ENVELOPE, (await propose(state)).new_state).messages
    results = [r.text() for m in messages for r in m.tool_results() if r.id == "late"]
    assert results == ["the real result"]


@pytest.mark.parametrize("size", [6, 10, 14, 22])
async def test_19_20_signed_thinking_is_whole_or_absent(size: int) -> None:
    blocks: list[AnyBlock] = []
    for n in range(20):
        fields = {"type": "thinking", "thinking": f"t{n}", "signature": f"s{n}"}
        if n % 4 == 0:
            blocks.append(ThinkingBlock.model_validate(fields))
        blocks += step(n, size)
    state = AgentState(context=[Msg.user("go"), reply(*blocks)])
    before = [b.to_json() for b in blocks if isinstance(b, ThinkingBlock)]
    messages = build(ENVELOPE, (await propose(state, "overflow")).new_state).messages
    left = [b for m in messages for b in m.content if isinstance(b, ThinkingBlock)]
    assert [b.to_json() for b in left] == before[len(before) - len(left) :]


async def test_21_a_rule_of_the_first_turn_outlives_any_number_of_compactions() -> None:
    state = long_loop()
    for gen in range(4):
        state = (await propose(state, model=Summariser("fails"))).new_state
        assert "Never push to main." in words(state)
        assert "Do X, then Y, then Z." in words(state)
        more = [b for n in range(24) for b in step(100 * gen + n, 14)]
        state.context.append(reply(*more, name=f"more{gen}"))


class Inventor(Summariser):
    """Writes rules that nobody set and facts that nobody found."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        claims = [
            {"kind": "constraint", "text": "Do not delete the script", "quote": "Never push"},
            {"kind": "fact", "text": "The budget is 40000 EUR", "quote": "ERROR at line 7"},
        ]
        yield TextPart(0, json.dumps({"items": claims, "narrative": "deploy-77 went live."}))
        yield Finish("stop", None)


async def test_22_what_a_summary_invents_is_rejected_and_told() -> None:
    proposal = await propose(long_loop(), model=Inventor())
    text = words(proposal.new_state)
    assert "delete the script" not in text
    assert "40000" not in text
    assert "deploy-77" not in text
    rejected = dict(proposal.rejected)
    assert rejected["The budget is 40000 EUR"] == "mismatch"
    assert rejected["deploy-77 went live."] == "mismatch"
    assert "Never push to main." in proposal.draft.ledger.rules  # the person's sentence, not its


async def test_23_what_an_agent_may_do_is_not_text_and_is_not_touched() -> None:
    state = long_loop()
    state.permission_context = PermissionContext(mode="explore")
    after = (await propose(state)).new_state
    assert after.permission_context == state.permission_context
    assert after.tasks_context == state.tasks_context


async def test_24_loaded_skills_and_calls_under_way_are_not_forgotten() -> None:
    state = long_loop(steps=2)
    state.context[-1].content += [
        ToolCallBlock(id="k", name="Skill", input='{"skill": "pdf-forms"}'),
        ToolResultBlock(id="k", name="Skill", output="# How to\n" + FILLER * 5),
        *(b for n in range(30, 54) for b in step(n, 14)),
        ToolCallBlock(id="child", name="SubAgent", input='{"task": "t"}', state="submitted"),
    ]
    after = (await propose(state)).new_state
    assert "- pdf-forms" in words(after)
    assert any(c.id == "child" for m in after.context for c in m.tool_calls())


async def test_c7_one_result_larger_than_the_window_is_shortened_before_anything_else() -> None:
    small = Limits(window=8192, max_output=1024)
    state = AgentState(context=[Msg.user("Read big.log"), reply(*step(1, 260))])
    told = Accounting(small).breakdown(build(ENVELOPE, state))
    assert told.upper > small.usable
    proposal = await propose(state, "oversize", limits=small)
    assert proposal.after.upper <= small.usable
    assert proposal.record.tier == 1


async def test_c10_a_model_that_refuses_the_form_costs_nothing_but_its_notes() -> None:
    class Refuses(Summariser):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            if request.purpose == "summary":
                raise ModelError("model.bad_request", detail="response_format unavailable")
            yield Finish("stop", None)

    proposal = await propose(long_loop(), model=Refuses())
    assert proposal.record.summariser is None
    assert ("summary", "compaction.failed") in proposal.rejected
    with pytest.raises(ContextError) as caught:
        await propose(long_loop(), "manual", model=Refuses())
    assert caught.value.code == "compaction.failed"


async def test_c14_the_last_request_stays_word_for_word() -> None:
    state = long_loop()
    state.context.append(Msg.user("Now do A; then B, then C — in this order!"))
    proposal = await propose(state, model=Summariser("obeys"))
    assert "Now do A; then B, then C — in this order!" in words(proposal.new_state)


def test_16_every_message_counts_and_the_reserve_is_no_room() -> None:
    one, ten = (
        Accounting(LIMITS).breakdown(build(ENVELOPE, AgentState(context=[Msg.user(FILLER)] * n)))
        for n in (1, 10)
    )
    assert ten.parts["user"] >= 9 * one.parts["user"]
    assert ten.parts["user"] + ten.parts["system"] == ten.total
    assert LIMITS.usable <= LIMITS.window - LIMITS.reserve
    assert decide(replace(ten, upper=LIMITS.usable + 1)) == "do", "not only beyond the window"
