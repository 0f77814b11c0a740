"""Compaction: what matters stays, what fails changes nothing, and it can be undone exactly."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.applying import apply, record_body, record_from, undo
from desktop_app.core.context.build import (
    Envelope,
    PromptBuilder,
    build,
    kind_of,
    slipway,
)
from desktop_app.core.context.compaction import Compactor, Proposal, check_fits, decide
from desktop_app.core.context.rules import rules_in
from desktop_app.core.context.types import CATEGORIES, Breakdown, Category, Limits
from desktop_app.core.errors import ContextError
from desktop_app.core.messages import (
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
)
from desktop_app.core.models.base import ToolSchema
from desktop_app.core.state import AgentState, Task, TasksContext
from tests.helpers.context_models import BAD, BEHAVIOURS, NOTED, Summariser
from tests.helpers.context_sessions import FILLER, Player, Script, check_pairs, sessions

ENVELOPE = Envelope(
    system="You are an agent.",
    tools=(ToolSchema("Read", "Read a file.", {"type": "object", "properties": {}}),),
)
SMALL = Limits(window=8192, max_output=1024)
MEDIUM = Limits(window=16_384, max_output=2048)


def shown(messages: list[Msg]) -> list[str]:
    return [json.dumps([m.role, kind_of(m), [b.model_dump() for b in m.content]]) for m in messages]


def words(state: AgentState) -> str:
    """Everything that the model reads, as one text."""
    out: list[str] = []
    for msg in build(ENVELOPE, state).messages:
        out.append(msg.text())
        out.extend(r.text() for r in msg.tool_results())
    return "\n".join(out)


def blocks(messages: list[Msg]) -> list[str]:
    return [f"{m.id} {b.to_json()}" for m in messages for b in m.content]


class Run:
    """A session that compacts whenever it must, checked at every moment."""

    def __init__(self, script: Script, limits: Limits, behaviour: str) -> None:
        self.player = Player(script)
        self.account = Accounting(limits)
        self.builder = PromptBuilder()
        self.model = Summariser(behaviour)
        self.offloaded: list[Msg] = []
        self.done = 0
        self.refused: set[str] = set()

    async def propose(self, state: AgentState) -> Proposal | None:
        before = state.to_json()
        try:
            proposal = await Compactor(self.model, self.account, ENVELOPE).propose(state, "danger")
        except ContextError as error:
            proposal = None
            self.refused.add(error.code)
        assert state.to_json() == before
        return proposal

    async def all(self, *, undo_every: int = 0) -> None:
        for state in self.player.moments():
            told = self.account.breakdown(self.builder.build(ENVELOPE, state))
            if decide(told) in ("do", "offer") and (proposal := await self.propose(state)):
                self.done += 1
                self.player.state = proposal.new_state
                self.offloaded += proposal.offloaded
                self.check(proposal, state)
                if undo_every and self.done % undo_every == 0:
                    self.player.state = undo(proposal.record, proposal.new_state)
            self.check_offload()
        assert self.refused <= {"compaction.not_smaller", "compaction.cannot_fit"}

    def check(self, proposal: Proposal, former: AgentState) -> None:
        state = proposal.new_state
        check_pairs(build(ENVELOPE, state).messages)
        text = words(state)
        first = self.player.said[0]
        assert first.text().strip() in text
        assert self.player.said[-1].text() in text
        for msg in self.player.said:
            assert all(rule in text for rule in rules_in(msg.text()))
            if slipway(msg.metadata).get("pinned"):
                assert msg.text() in text
        for task in state.tasks_context.tasks:
            assert task.state == "completed" or task.subject in text
        record = proposal.record
        assert record.after < record.before
        assert proposal.after.upper <= proposal.after.limits.usable
        check_fits(proposal.after)
        again = record_from(json.loads(json.dumps(record_body(record))))
        assert apply(again, former).to_json() == state.to_json()
        back = undo(again, state)
        assert shown(build(ENVELOPE, back).messages) == shown(build(ENVELOPE, former).messages)
        assert [m.to_json() for m in back.context] == [m.to_json() for m in former.context]

    def check_offload(self) -> None:
        """Invariant 5: what left is offloaded once and in order; what is not offloaded is live."""
        everything = blocks(self.player.everything)
        left = blocks(self.offloaded)
        assert left == everything[: len(left)]
        live = blocks(self.player.state.context)
        rest = everything[len(left) :]
        assert not rest or live[-len(rest) :] == rest


@settings(max_examples=60, deadline=None)
@given(sessions(), st.sampled_from([SMALL, MEDIUM]), st.sampled_from(BEHAVIOURS))
def test_what_matters_survives_any_session_and_any_summariser(
    script: Script, limits: Limits, behaviour: str
) -> None:
    asyncio.run(Run(script, limits, behaviour).all())


@settings(max_examples=40, deadline=None)
@given(sessions(), st.integers(1, 3))
def test_undone_compactions_leave_the_offload_in_order(script: Script, every: int) -> None:
    asyncio.run(Run(script, SMALL, "good").all(undo_every=every))


@settings(max_examples=40, deadline=None)
@given(sessions(max_turns=4))
def test_after_an_undo_the_former_prompt_is_followed_by_what_came_since(script: Script) -> None:
    async def run() -> None:
        player, account = Player(script), Accounting(SMALL)
        proposal: Proposal | None = None
        former: list[str] = []
        for state in player.moments():
            if proposal is None and len(state.context) >= 2:
                prompt = build(ENVELOPE, state)
                former = shown(prompt.messages[: prompt.stable])
                try:
                    proposal = await Compactor(Summariser(), account, ENVELOPE).propose(
                        state, "danger"
                    )
                except ContextError:
                    continue
                player.state = proposal.new_state
        if proposal is not None:
            back = undo(proposal.record, player.state)
            assert blocks(back.context) == blocks(player.everything)
            now = shown(build(ENVELOPE, back).messages)
            assert now[: len(former)] == former

    asyncio.run(run())


def long_session(turns: int = 6, steps: int = 4, size: int = 12) -> AgentState:
    state = AgentState(
        session_id="s",
        tasks_context=TasksContext(tasks=[Task(id="1", subject="写 index.md")]),
    )
    said = ["Compare the tables. Never change prices.csv.", "现在总结一下，只能用中文。", "Go on"]
    for turn in range(turns):
        state.context.append(Msg.user(said[min(turn, 2)] + f" ({turn})"))
        reply = Msg(name="agent", role="assistant", id=f"a{turn}")
        for step in range(steps):
            name = f"c{turn}.{step}"
            reply.content += [
                TextBlock(text=f"I look at file {name}."),
                ToolCallBlock(id=name, name="Read", input=f'{{"file_path": "data/{name}.csv"}}'),
                ToolResultBlock(id=name, name="Read", output=f"{name} {FILLER * size}"),
            ]
        reply.content.append(TextBlock(text=f"Turn {turn} is done."))
        state.context.append(reply)
    return state


async def test_the_summary_stands_at_its_place_and_down_to_the_target() -> None:
    state, model = long_session(), Summariser()
    account = Accounting(MEDIUM, model="deepseek")
    told = account.breakdown(build(ENVELOPE, state))
    assert decide(told) == "do"
    assert decide(replace(told, parts={})) == "do", "of parts that are not known nothing is asked"
    compactor = Compactor(model, account, ENVELOPE, where="sessions/s/context.jsonl")
    proposal = await compactor.propose(state, "danger", before=told)
    record = proposal.record
    assert record.before == told.total
    assert proposal.after.upper <= MEDIUM.mark(0.45)
    assert (record.gen, record.tier, record.summariser) == (1, 2, "notes")
    prompt = build(ENVELOPE, proposal.new_state)
    assert [kind_of(m) for m in prompt.messages[:2]] == ["pinned", "summary"]
    pinned, history = (m.text() for m in prompt.messages[:2])
    assert "Never change prices.csv." in pinned
    assert "只能用中文。" in pinned
    assert "# Found\n- Turn 0 is done." in history
    assert f"- {NOTED}" in history
    assert "The tables were read one after another." in history
    assert "- [pending] 1: 写 index.md" in history
    assert "- data/c0.0.csv: read" in history
    assert "sessions/s/context.jsonl" in history
    assert proposal.new_state.summary == f"{pinned}\n\n{history}"
    # The request stays a live message, the newest steps stay as they were.
    assert prompt.messages[-1].text() == "Turn 5 is done."
    live = [m for m in prompt.messages if m.role == "user" and kind_of(m) is None]
    assert live[-1].text() == "Go on (5)"
    asked = model.requests[0]
    assert asked.tools == ENVELOPE.tools
    before = shown(build(ENVELOPE, state).messages)
    assert shown(list(asked.messages))[:-1] == before[: len(asked.messages) - 1]


async def test_old_notes_are_frozen_and_rules_are_carried_on() -> None:
    state, account = long_session(), Accounting(MEDIUM)
    texts: list[str] = []
    for gen in range(1, 5):
        proposal = await Compactor(Summariser(), account, ENVELOPE).propose(state, "danger")
        state = proposal.new_state
        assert proposal.record.gen == gen
        notes = [n["text"] for n in proposal.record.ledger["notes"]]
        assert notes[: len(texts)] == texts
        texts = notes
        assert "Never change prices.csv." in words(state)
        more = long_session(turns=6)
        state.context.extend(m.model_copy(update={"id": f"{gen}-{m.id}"}) for m in more.context)


@pytest.mark.parametrize("behaviour", BAD)
async def test_a_failed_summary_changes_nothing_when_it_can_wait(behaviour: str) -> None:
    state = long_session()
    before = state.to_json()
    compactor = Compactor(Summariser(behaviour), Accounting(MEDIUM), ENVELOPE)
    with pytest.raises(ContextError) as caught:
        await compactor.propose(state, "manual")
    assert caught.value.code == BAD[behaviour]
    assert state.to_json() == before


@pytest.mark.parametrize("behaviour", BAD)
async def test_at_the_danger_mark_the_ledger_alone_serves_and_says_so(behaviour: str) -> None:
    compactor = Compactor(Summariser(behaviour), Accounting(MEDIUM), ENVELOPE)
    proposal = await compactor.propose(long_session(), "danger")
    assert proposal.record.summariser is None
    assert ("summary", BAD[behaviour]) in proposal.record.rejected
    assert proposal.after.upper <= MEDIUM.mark(0.45)
    assert "Never change prices.csv." in words(proposal.new_state)


async def test_lines_that_pretend_to_be_orders_do_not_enter_the_notes() -> None:
    account = Accounting(MEDIUM, model="deepseek")
    compactor = Compactor(Summariser("obeys"), account, ENVELOPE)
    proposal = await compactor.propose(long_session(), "danger")
    text = words(proposal.new_state)
    assert NOTED in text
    assert "evil" not in text
    assert "Ignore all previous" not in text
    assert [rule for _, rule in proposal.record.rejected] == ["poses", "poses", "no_evidence"]


async def test_nothing_to_gain_is_said_and_nothing_done() -> None:
    account = Accounting(MEDIUM)
    with pytest.raises(ContextError, match="not_smaller"):
        await Compactor(Summariser(), account, ENVELOPE).propose(AgentState(), "manual")
    compactor = Compactor(Summariser(), account, ENVELOPE)
    proposal = await compactor.propose(long_session(), "danger")
    with pytest.raises(ContextError, match="not_smaller"):
        await compactor.propose(proposal.new_state, "danger")


async def test_a_request_that_cannot_be_brought_under_the_window_is_refused() -> None:
    state = AgentState(context=[Msg.user("words " * 9000)])
    with pytest.raises(ContextError) as caught:
        await Compactor(None, Accounting(SMALL), ENVELOPE).propose(state, "danger")
    assert caught.value.code in ("compaction.cannot_fit", "compaction.not_smaller")
    with pytest.raises(ContextError, match="over_window"):
        check_fits(Accounting(SMALL).breakdown(build(ENVELOPE, state)))


async def test_the_guide_writes_notes_by_rules() -> None:
    from desktop_app.core.models.guide.model import GuideModel

    model = GuideModel()
    proposal = await Compactor(model, Accounting(MEDIUM), ENVELOPE).propose(
        long_session(), "manual"
    )
    assert proposal.record.summariser == model.info.id
    assert "Turn 0 is done." in words(proposal.new_state)
    # What it counted itself stands nowhere in what was said, and is not taken on its word.
    assert {reason for _, reason in proposal.record.rejected} <= {"mismatch", "no_evidence"}


async def test_a_small_model_may_write_the_notes_of_a_large_context() -> None:
    state, model = long_session(turns=8), Summariser(window=4096)
    proposal = await Compactor(model, Accounting(MEDIUM), ENVELOPE).propose(state, "danger")
    assert proposal.record.summariser == "notes"
    asked = model.requests[0]
    request = replace(build(ENVELOPE, AgentState()), messages=list(asked.messages))
    assert Accounting(MEDIUM).breakdown(request).upper <= 4096
    check_pairs(list(asked.messages))


async def test_old_results_are_masked_first_when_that_is_enough() -> None:
    state, model = long_session(), Summariser()
    account = Accounting(replace(MEDIUM, target=0.65), model="deepseek")
    compactor = Compactor(model, account, ENVELOPE, mask_first=True)
    proposal = await compactor.propose(state, "danger")
    record = proposal.record
    assert record.tier == 1
    assert model.requests == []
    assert record.covered_ids == []
    assert record.masks
    masked = [r for m in proposal.new_state.context for r in m.tool_results()]
    assert "cut from the context" in masked[0].text()
    assert masked[0].text().startswith("c0.0")
    assert "cut from the context" not in masked[-1].text()
    assert blocks(proposal.offloaded) == blocks(state.context)[: len(blocks(proposal.offloaded))]
    # What was masked is offloaded whole, once; a later compaction does not write the mask.
    state = proposal.new_state
    state.context.extend(
        m.model_copy(update={"id": f"x{m.id}"}) for m in long_session(turns=5).context
    )
    later = await Compactor(model, account, ENVELOPE).propose(state, "danger")
    assert not any("cut from the context" in b for b in blocks(later.offloaded))


async def test_the_newest_result_is_shortened_rather_than_lost() -> None:
    state = AgentState(context=[Msg.user("Read it")])
    state.context.append(
        Msg(
            name="agent",
            role="assistant",
            id="a",
            content=[
                ToolCallBlock(id="c", name="Read", input='{"file_path": "big.log"}'),
                ToolResultBlock(id="c", name="Read", output="first\n" + FILLER * 900 + "last"),
            ],
        )
    )
    proposal = await Compactor(Summariser(), Accounting(MEDIUM), ENVELOPE).propose(
        state, "oversize"
    )
    result = build(ENVELOPE, proposal.new_state).messages[-1].tool_results()[0].text()
    assert result.startswith("first")
    assert "\nlast\n" in result or FILLER + "last" in result
    assert "whole result is in" in result
    assert undo(proposal.record, proposal.new_state).context[1].to_json() == (
        state.context[1].to_json()
    )


async def test_a_pasted_request_that_cannot_stay_is_kept_by_its_ends_and_named() -> None:
    state = AgentState(context=[Msg.user("Hello, only use English.")])
    paste = "Compare this: must keep ids.\n" + FILLER * 300 + "\nNow count the rows."
    state.context.append(Msg.user(paste))
    reply = Msg(name="agent", role="assistant", id="a")
    for step in range(12):
        reply.content += [
            ToolCallBlock(id=f"c{step}", name="Read", input="{}"),
            ToolResultBlock(id=f"c{step}", name="Read", output=f"{step} {FILLER * 8}"),
        ]
    state.context.append(reply)
    proposal = await Compactor(Summariser(), Accounting(MEDIUM), ENVELOPE).propose(state, "danger")
    text = words(proposal.new_state)
    assert "# Latest request, not yet done\nCompare this: must keep ids." in text
    assert "Now count the rows." in text
    assert "Hello, only use English." in text
    assert blocks(proposal.offloaded)[1] == blocks(state.context)[1]
    again = proposal.new_state.model_copy(deep=True)
    again.context[-1].content += [
        b for n in range(9) for b in (reply.content[2 * n], reply.content[2 * n + 1])
    ]
    later = await Compactor(None, Accounting(MEDIUM), ENVELOPE).propose(again, "manual")
    assert "# Latest request, not yet done\nCompare this" in words(later.new_state)
    assert undo(proposal.record, proposal.new_state).context[1].text() == paste


async def test_many_files_are_counted_by_folder_on_a_small_window() -> None:
    state = AgentState(context=[Msg.user("Read all")])
    reply = Msg(name="agent", role="assistant", id="a")
    for step in range(300):
        call = f'{{"file_path": "docs/{step % 7}/file{step}.md"}}'
        reply.content += [
            ToolCallBlock(id="c", name="Read", input=call),
            ToolResultBlock(id="c", name="Read", output=f"{step}: fine"),
        ]
    state.context.append(reply)
    proposal = await Compactor(None, Accounting(SMALL), ENVELOPE).propose(state, "danger")
    text = words(proposal.new_state)
    assert "- docs/3/: " in text
    assert "more files" in text
    assert proposal.after.upper <= SMALL.mark(0.45)
    assert Accounting(SMALL).pricer.texts.count(proposal.record.summary) < 0.2 * SMALL.usable


async def test_calls_that_wait_for_an_answer_never_leave() -> None:
    state = long_session()
    state.context[-1].content += [
        ToolCallBlock(id="w1", name="Bash", input='{"command": "rm x"}', state="asking"),
        ToolCallBlock(id="w2", name="Bash", input='{"command": "ls"}', state="asking"),
        ToolResultBlock(id="w2", name="Bash", output="x"),
    ]
    proposal = await Compactor(Summariser(), Accounting(MEDIUM), ENVELOPE).propose(state, "danger")
    calls = [c.id for m in proposal.new_state.context for c in m.tool_calls()]
    assert calls[-2:] == ["w1", "w2"]


async def test_a_signed_loop_is_cut_where_its_thinking_stays_whole() -> None:
    state = long_session(turns=1, steps=0)
    reply = state.context[-1]
    reply.content = []
    for step in range(30):
        if step % 3 == 0:
            reply.content.append(
                ThinkingBlock.model_validate(
                    {"type": "thinking", "thinking": f"t{step} " * 20, "signature": f"s{step}"}
                )
            )
        reply.content += [
            ToolCallBlock(id=f"c{step}", name="Read", input="{}"),
            ToolResultBlock(id=f"c{step}", name="Read", output=FILLER * 16),
        ]
    proposal = await Compactor(None, Accounting(MEDIUM), ENVELOPE).propose(state, "danger")
    left = proposal.new_state.context[-1].content
    assert isinstance(left[0], ThinkingBlock)
    built = build(ENVELOPE, proposal.new_state).messages
    thinking = [b.to_json() for m in built for b in m.content if isinstance(b, ThinkingBlock)]
    assert thinking == [b.to_json() for b in left if isinstance(b, ThinkingBlock)]
    assert thinking


async def test_a_foreign_summary_is_kept_as_it_was() -> None:
    state = long_session()
    state.summary = "AgentScope wrote this: 42 files."
    proposal = await Compactor(None, Accounting(MEDIUM), ENVELOPE).propose(state, "danger")
    assert "AgentScope wrote this: 42 files." in words(proposal.new_state)
    assert undo(proposal.record, proposal.new_state).summary == state.summary


async def test_only_the_newest_compaction_can_be_undone_and_the_next_mark_is_waited_for() -> None:
    account = Accounting(MEDIUM)
    compactor = Compactor(Summariser(), account, ENVELOPE)
    first = await compactor.propose(long_session(), "danger")
    state = first.new_state
    state.context.extend(
        m.model_copy(update={"id": f"x{m.id}"}) for m in long_session(turns=5).context
    )
    second = await compactor.propose(state, "danger")
    with pytest.raises(ContextError, match="not_newest"):
        undo(first.record, second.new_state)
    back = undo(second.record, second.new_state)
    assert undo(first.record, back).context[0].text() == long_session().context[0].text()
    third = await compactor.propose(back, "manual")
    assert third.record.gen == 3
    told = account.breakdown(build(ENVELOPE, back))
    at_danger = replace(told, upper=told.limits.mark(0.9))
    assert decide(at_danger) == "do"
    assert decide(at_danger, back) == "offer"
    assert decide(replace(told, upper=told.limits.usable + 1), back) == "do"


async def test_a_record_does_not_fit_another_state() -> None:
    state = long_session()
    proposal = await Compactor(None, Accounting(MEDIUM), ENVELOPE).propose(state, "danger")
    other = state.model_copy(update={"context": state.context[1:]})
    with pytest.raises(ContextError, match="mismatch"):
        apply(proposal.record, other)


def told(upper: int, fixed: int = 0) -> Breakdown:
    parts: dict[Category, int] = dict.fromkeys(CATEGORIES, 0)
    parts["system"], parts["user"] = fixed, max(0, upper - fixed)
    return Breakdown(sum(parts.values()), upper, 0, MEDIUM, parts, ())


def test_decisions_follow_the_marks_on_the_upper_estimate() -> None:
    w = MEDIUM.usable
    assert decide(told(int(0.64 * w))) == "none"
    assert decide(told(int(0.66 * w))) == "offer"
    assert decide(told(int(0.86 * w))) == "do"
    assert decide(told(2 * w)) == "do"
    assert decide(told(2 * w, fixed=w + 1)) == "refuse"


async def test_the_measured_ratio_is_used_and_the_session_account_is_left_alone() -> None:
    state, account, builder = long_session(), Accounting(MEDIUM), PromptBuilder()
    prompt = builder.build(ENVELOPE, state)
    account.observe(Usage(input_tokens=12_000), prompt)
    before = account.breakdown(prompt)
    proposal = await Compactor(Summariser(), account, ENVELOPE).propose(
        state, "danger", before=before
    )
    assert account.breakdown(prompt) == before
    assert proposal.record.before == 12_000
    assert proposal.record.after < 0.5 * 12_000


async def test_three_hundred_turns_still_know_their_task_rules_and_what_is_pending() -> None:
    account, builder = Accounting(MEDIUM), PromptBuilder()
    state = AgentState(
        session_id="s", tasks_context=TasksContext(tasks=[Task(id="7", subject="核对附录 B")])
    )
    rules = ["Never touch prices.csv.", "所有金额必须保留两位小数。"]
    done, sizes = 0, list[int]()
    for turn in range(300):
        said = f"Task: compare table {turn}. {rules[0]}" if turn == 0 else f"Look at file {turn}"
        state.context.append(Msg.user(f"好的。{rules[1]}" if turn == 5 else said))
        reply = Msg(name="agent", role="assistant", id=f"a{turn}")
        reply.content = [
            ToolCallBlock(id="c", name="Read", input=f'{{"file_path": "d{turn % 90}/{turn}.csv"}}'),
            ToolResultBlock(id="c", name="Read", output=f"{turn} {FILLER * 10}"),
            TextBlock(text=f"Table {turn} has {turn * 3} rows."),
        ]
        state.context.append(reply)
        before = account.breakdown(builder.build(ENVELOPE, state))
        if decide(before, state) == "do":
            compactor = Compactor(Summariser(), account, ENVELOPE, mask_first=turn % 2 == 0)
            proposal = await compactor.propose(state, "danger", before=before)
            state, done = proposal.new_state, done + 1
            sizes.append(proposal.after.upper)
        check_fits(account.breakdown(builder.build(ENVELOPE, state)))
    text = words(state)
    assert done >= 5
    assert "Task: compare table 0." in text
    assert all(rule in text for rule in rules)
    assert "核对附录 B" in text
    assert max(sizes) <= MEDIUM.mark(0.45)
