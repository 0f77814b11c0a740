"""The account of the window: adds up, agrees with the provider, bounds the truth, costs little."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop_app.core.context.accounting import Accounting, measured_input
from desktop_app.core.context.build import Envelope, PromptBuilder, build
from desktop_app.core.context.ratios import Ratios
from desktop_app.core.context.tokens import load_counter
from desktop_app.core.context.types import Limits
from desktop_app.core.messages import (
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
)
from desktop_app.core.models.base import ModelInfo, ToolSchema
from desktop_app.core.state import AgentState
from tests.helpers.context_sessions import FILLER, Player, Script, sessions

TOOLS = (
    ToolSchema("Read", "Read a file.", {"type": "object", "properties": {}}),
    ToolSchema("mcp__mail__send", "Send.", {"type": "object", "properties": {}}),
)
ENVELOPE = Envelope(
    system="You are an agent.",
    skills="- pdf: reads PDF files",
    tools=TOOLS,
    mcp={"mcp__mail__send": "mail"},
)
LIMITS = Limits(window=32_768, max_output=4096)


@settings(max_examples=40, deadline=None)
@given(sessions(), st.lists(st.integers(1, 200_000), min_size=1, max_size=8))
def test_parts_always_add_up_and_a_fresh_measurement_is_the_total(
    script: Script, readings: list[int]
) -> None:
    account, builder = Accounting(LIMITS), PromptBuilder()
    for number, state in enumerate(Player(script).moments()):
        prompt = builder.build(ENVELOPE, state)
        told = account.breakdown(prompt)
        assert sum(told.parts.values()) == told.total
        assert min(told.parts.values()) >= 0
        assert told.total <= told.upper
        assert 0 <= told.measured <= told.total
        assert [i.tokens for i in told.items] == sorted(i.tokens for i in told.items)[::-1]
        reading = readings[number % len(readings)]
        account.observe(Usage(input_tokens=reading), prompt)
        told = account.breakdown(prompt)
        assert told.total == told.measured == told.upper == reading
        assert sum(told.parts.values()) == reading


@settings(max_examples=40, deadline=None)
@given(sessions())
def test_what_is_added_never_lowers_the_total_and_removing_it_brings_it_back(
    script: Script,
) -> None:
    account, builder = Accounting(LIMITS), PromptBuilder()
    previous = 0
    for state in Player(script).moments():
        prompt = builder.build(ENVELOPE, state)
        if not previous:
            account.observe(Usage(input_tokens=900), prompt)
        now = account.breakdown(prompt).total
        more = replace(prompt, messages=[*prompt.messages, Msg.user("more words " * 9)])
        assert account.breakdown(more).total >= now >= previous
        assert account.breakdown(prompt).total == now
        previous = now


@settings(max_examples=25, deadline=None)
@given(sessions())
def test_incremental_and_fresh_accounts_agree(script: Script) -> None:
    account, builder = Accounting(LIMITS), PromptBuilder()
    for state in Player(script).moments():
        told = account.breakdown(builder.build(ENVELOPE, state))
        fresh = Accounting(LIMITS).breakdown(build(ENVELOPE, state))
        assert (told.total, told.upper, told.parts) == (fresh.total, fresh.upper, fresh.parts)
        assert sorted(map(str, told.items)) == sorted(map(str, fresh.items))


def agent_log(rounds: int) -> AgentState:
    """A long reply of steps with logs, JSON and prose."""
    content: list[object] = []
    for n in range(rounds):
        content += [
            TextBlock(text=f"Step {n}: I look at the next file and compare its rows."),
            ToolCallBlock(id=f"c{n}", name="Read", input=f'{{"file_path": "data/{n}.csv"}}'),
            ToolResultBlock(id=f"c{n}", name="Read", output=f"{n} {FILLER * (n % 9 + 1)}"),
        ]
    reply = Msg(name="agent", role="assistant", id="a", content=content)  # type: ignore[arg-type]
    return AgentState(context=[Msg.user("Compare them"), reply])


@pytest.mark.parametrize("drift", [0.6, 1.0, 1.5])
async def test_the_upper_bound_is_never_under_a_real_tokenizer(drift: float) -> None:
    """Truth: exact tokens times a drift, as another provider's tokenizer would count."""
    exact = await load_counter(ModelInfo("x", "x", 1, 1, tokenizer="o200k_base"))

    def truth(messages: list[Msg]) -> int:
        texts = [ENVELOPE.text(), *(t.description for t in TOOLS)]
        for msg in messages:
            for block in msg.content:
                texts.append(
                    block.text()
                    if isinstance(block, ToolResultBlock)
                    else block.input
                    if isinstance(block, ToolCallBlock)
                    else getattr(block, "text", "")
                )
        return int(drift * (sum(map(exact.count, texts)) + 4 * len(messages)))

    account, builder = Accounting(LIMITS), PromptBuilder()
    whole = agent_log(60)
    state = AgentState(context=[whole.context[0], Msg(name="agent", role="assistant", id="a")])
    for step in range(0, 180, 3):
        prompt = builder.build(ENVELOPE, state)
        told, real = account.breakdown(prompt), truth(prompt.messages)
        if step or drift <= 1.0:  # before the first measurement nothing is known of a drift
            assert told.upper >= real
            assert step == 0 or told.total >= 0.88 * real
        account.observe(Usage(input_tokens=real), prompt)
        state.context[-1].content.extend(whole.context[-1].content[step : step + 3])


def test_categories_are_where_a_person_would_look_for_them() -> None:
    thinking = ThinkingBlock.model_validate(
        {"type": "thinking", "thinking": "hm " * 40, "signature": "s" * 200}
    )
    reply = Msg(
        name="agent",
        role="assistant",
        id="a",
        content=[
            thinking,
            TextBlock(text="I look."),
            ToolCallBlock.model_validate(
                {
                    "type": "tool_call",
                    "id": "c",
                    "name": "Read",
                    "input": '{"file_path": "notes/a.md"}',
                    "op_id": "s:1:0",
                }
            ),
            ToolResultBlock(id="c", name="Read", output="line\n" * 400),
        ],
    )
    state = AgentState(summary="before", context=[Msg.user("hello there"), reply])
    told = Accounting(LIMITS).breakdown(build(ENVELOPE, state))
    assert {c for c, n in told.parts.items() if n} == {
        "system",
        "skills",
        "tools",
        "mcp",
        "ledger",
        "user",
        "assistant",
        "thinking",
        "result",
    }
    biggest = told.items[0]
    assert (biggest.category, biggest.label) == ("result", "Read notes/a.md")
    assert any(i.ref == "s:1:0" for i in told.items)
    assert any(i.category == "mcp" and i.label == "mail: mcp__mail__send" for i in told.items)


def test_a_change_of_tools_lets_go_of_the_measurement_but_not_of_the_ratio() -> None:
    account, builder = Accounting(LIMITS), PromptBuilder()
    state = AgentState(context=[Msg.user("words " * 500)])
    prompt = builder.build(ENVELOPE, state)
    account.observe(Usage(input_tokens=2 * account.breakdown(prompt).total), prompt)
    doubled = account.breakdown(prompt).total
    other = builder.build(replace(ENVELOPE, tools=TOOLS[:1]), state)
    told = account.breakdown(other)
    assert told.measured == 0
    assert 0.9 * doubled < told.total < doubled < told.upper


def test_ratios_outlive_a_session_and_odd_entries_are_left_out() -> None:
    ratios = Ratios()
    account = Accounting(LIMITS, model="m", ratios=ratios)
    prompt = build(ENVELOPE, AgentState(context=[Msg.user("words " * 500)]))
    account.observe(Usage(input_tokens=2 * account.breakdown(prompt).total), prompt)
    kept = Ratios.from_json({**ratios.to_json(), "bad": "x", "worse": [1, 99, 0]})
    taught = Accounting(LIMITS, model="m", ratios=kept).breakdown(prompt)
    fresh = Accounting(LIMITS, model="m").breakdown(prompt)
    assert taught.total == pytest.approx(2 * fresh.total, rel=0.01)
    assert set(kept.to_json()) == set(ratios.to_json())


def test_what_was_learned_is_there_at_the_next_start_and_a_broken_file_is_no_harm(
    tmp_path: Path,
) -> None:
    file = tmp_path / "data" / "token-ratios.json"
    ratios = Ratios(file)
    ratios.save()
    assert not file.exists()  # nothing learned, nothing written
    account = Accounting(LIMITS, model="m", ratios=ratios)
    prompt = build(ENVELOPE, AgentState(context=[Msg.user("words " * 500)]))
    account.observe(Usage(input_tokens=2 * account.breakdown(prompt).total), prompt)
    ratios.save()
    taught = Accounting(LIMITS, model="m", ratios=Ratios(file)).breakdown(prompt)
    # Case 12: the gauge after a restart is what it was before, within 2 %.
    assert taught.total == pytest.approx(account.breakdown(prompt).total, rel=0.02)
    assert list(file.parent.iterdir()) == [file]  # written whole, nothing left beside it
    for broken in ("{", "[]", '{"m|class-2": [1, NaN, 0], "x": [0, 0, 0], "y": [9e999, 0, 0]}'):
        file.write_text(broken)
        fresh = Ratios(file)
        assert fresh.to_json() == {}
        fresh.of("m", "c").learn(200, 100)
        fresh.save()
        assert set(Ratios(file).to_json()) == {"m|c"}


@pytest.mark.parametrize("tokens", [-5, 0, 10**12])
def test_a_count_that_cannot_be_is_passed_over(tokens: int) -> None:
    account = Accounting(LIMITS)
    prompt = build(ENVELOPE, AgentState(context=[Msg.user("words " * 500)]))
    before = account.breakdown(prompt)
    account.observe(Usage(input_tokens=tokens), prompt)
    assert account.breakdown(prompt) == before


def test_arguments_thinking_and_tools_are_counted() -> None:
    """Case C2 (lobehub 14813): 100 kB of arguments and the definitions of tools left out."""
    said = "find the late fee " * 6000
    reply = Msg(name="agent", role="assistant", id="a")
    reply.content = [ToolCallBlock(id="c", name="Write", input=json.dumps({"content": said}))]
    state = AgentState(context=[Msg.user("write it"), reply])
    told = Accounting(LIMITS).breakdown(build(ENVELOPE, state))
    assert told.parts["assistant"] > 20_000
    assert told.parts["tools"] > 0


def test_a_refused_prompt_teaches_that_the_estimate_was_too_low() -> None:
    account = Accounting(Limits(window=1500, max_output=100))
    prompt = build(ENVELOPE, AgentState(context=[Msg.user("words " * 900)]))
    assert account.breakdown(prompt).upper < account.limits.window
    account.overflowed(prompt)
    assert account.breakdown(prompt).total >= account.limits.window
    account.overflowed(prompt, tokens=2200)
    assert account.breakdown(prompt).total > 1700


def test_nothing_is_learned_from_no_usage() -> None:
    account = Accounting(LIMITS)
    prompt = build(ENVELOPE, AgentState(context=[Msg.user("words")]))
    before = account.breakdown(prompt)
    account.observe(None, prompt)
    account.observe(Usage(), prompt)
    assert account.breakdown(prompt) == before


def test_cached_tokens_that_a_provider_counts_apart_are_added() -> None:
    assert measured_input(Usage(input_tokens=100, cache_input_tokens=90)) == 100
    assert measured_input(Usage(input_tokens=10, cache_input_tokens=90)) == 100


def test_the_forecast_counts_finished_turns_until_the_alert_mark_and_tells_its_basis() -> None:
    state = AgentState()
    account, builder = Accounting(LIMITS), PromptBuilder()
    seen: list[float] = []
    for turn in range(9):
        told = account.breakdown(builder.build(ENVELOPE, state))
        if turn < 4:  # the turn that goes on is no sample
            assert told.forecast is None
        else:
            assert told.forecast is not None
            assert told.forecast.samples == min(6, turn - 1)
            assert 330 <= told.forecast.per_turn <= 430
            room = LIMITS.mark(LIMITS.alert) - told.upper
            assert told.turns_left == pytest.approx(room / told.forecast.per_turn, rel=0.01)
            seen.append(told.forecast.turns)
        state.context.append(Msg.user(f"turn {turn} " + "words " * 400))
    assert seen == sorted(seen)[::-1]


def test_the_forecast_survives_a_compaction_but_not_a_silence() -> None:
    account, builder = Accounting(LIMITS), PromptBuilder()
    state = AgentState(context=[Msg.user(f"turn {n} " + "words " * 400) for n in range(6)])
    before = account.breakdown(builder.build(ENVELOPE, state)).forecast
    state.summary, state.context = "what was said", state.context[4:]
    after = account.breakdown(builder.build(ENVELOPE, state)).forecast
    assert before is not None
    assert after is not None
    assert (after.samples, after.per_turn) == (before.samples, before.per_turn)
    assert Accounting(LIMITS).breakdown(build(ENVELOPE, state)).forecast is None


def test_every_call_leaves_its_count_beside_what_was_estimated() -> None:
    account, builder = Accounting(LIMITS, model="m"), PromptBuilder()
    state = AgentState(context=[Msg.user("words " * 500)])
    prompt = builder.build(ENVELOPE, state)
    first = account.breakdown(prompt)
    assert (first.history, first.drift) == ((), None)
    account.observe(Usage(input_tokens=4 * first.total), prompt)  # goose 4986: 55k shown, 215k true
    told = account.breakdown(prompt)
    (call,) = told.history
    assert (call.measured, call.estimated, call.upper) == (told.total, first.total, first.upper)
    assert (call.model, call.window) == ("m", LIMITS.window)
    assert told.drift is not None
    assert told.drift.mean == pytest.approx(-0.75, abs=0.01)
    assert (told.drift.calls, told.drift.under, told.drift.notable) == (1, 1, True)
    for _ in range(8):  # the gauge follows the provider, and the badge goes away
        state.context.append(Msg.user("words " * 100))
        prompt = builder.build(ENVELOPE, state)
        account.observe(Usage(input_tokens=4 * round(account.weigh(prompt))), prompt)
    told = account.breakdown(prompt)
    assert told.total == told.history[-1].measured
    assert told.drift is not None
    assert not told.drift.notable
    assert told.drift.under == 0


@settings(max_examples=40, deadline=None)
@given(sessions(), st.integers(1, 90_000), st.integers(0, 12))
def test_items_and_rests_add_up_to_the_parts_and_all_tiles_to_the_window(
    script: Script, reading: int, when: int
) -> None:
    account, builder = Accounting(LIMITS), PromptBuilder()
    for number, state in enumerate(Player(script).moments()):
        prompt = builder.build(ENVELOPE, state)
        if number == when:
            account.observe(Usage(input_tokens=reading), prompt)
        told = account.breakdown(prompt)
        entries = (*told.items, *told.rest)
        assert sum(i.tokens for i in entries) == told.total
        for category, tokens in told.parts.items():
            assert sum(i.tokens for i in entries if i.category == category) == tokens
        assert min(i.tokens for i in entries) >= 0
        assert sum(i.tokens for i in entries if i.measured) == told.measured
        if told.free:
            assert sum(i.tokens for i in told.tiles()) == LIMITS.window


def test_what_does_not_fit_the_list_of_items_is_told_by_group() -> None:
    state = agent_log(300)
    account, builder = Accounting(LIMITS), PromptBuilder()
    told = account.breakdown(builder.build(ENVELOPE, state))
    assert len(told.items) == 200
    counts = {(i.category, i.group): i.count for i in told.rest}
    assert counts["user", "user"] == counts["mcp", "mcp:mail"] == 1
    assert counts["assistant", "assistant"] > counts["result", "result"]  # results are bigger
    assert sum(counts.values()) + 200 == 3 * 300 + 1 + 2 + 1 + 1  # steps, question, tools, texts
    assert max(i.tokens / i.count for i in told.rest) <= told.items[-1].tokens + 1


def test_a_measured_item_keeps_its_figure_while_the_prompt_grows() -> None:
    account, builder = Accounting(LIMITS), PromptBuilder()
    state = AgentState(context=[Msg.user("first " * 300)])
    prompt = builder.build(ENVELOPE, state)
    account.observe(Usage(input_tokens=1000), prompt)
    before = {i.ref: i for i in account.breakdown(prompt).items}
    assert all(i.measured for i in before.values())
    state.context.append(Msg.user("次の " * 3000))
    told = account.breakdown(builder.build(ENVELOPE, state))
    for item in told.items:
        if item.ref in before:
            assert item == before[item.ref]
        else:
            assert not item.measured


def test_who_is_behind_an_item_is_its_group() -> None:
    envelope = replace(ENVELOPE, skills="Skills you may open:\n- pdf: reads PDF files\n- xlsx")
    read = ToolResultBlock(id="c", name="Skill", output="how to " * 90)
    read.metadata = {"slipway": {"skill": "pdf"}}
    reply = Msg(name="agent", role="assistant", id="a")
    reply.content = [ToolCallBlock(id="c", name="Skill", input='{"skill": "pdf"}'), read]
    state = AgentState(context=[Msg.user("read it"), reply])
    told = Accounting(LIMITS).breakdown(build(envelope, state))
    groups = {(i.category, i.group) for i in told.items}
    assert {
        ("system", "system"),
        ("tools", "tools"),
        ("mcp", "mcp:mail"),
        ("skills", "skill:pdf"),
        ("skills", "skill:xlsx"),
        ("skills", "skill:"),
        ("result", "skill:pdf"),
        ("user", "user"),
        ("assistant", "assistant"),
    } == groups


def test_each_text_is_counted_once_in_a_long_session_and_a_step_costs_little() -> None:
    state = AgentState()
    account, builder = Accounting(LIMITS), PromptBuilder()
    for n in range(5000):
        state.context.append(Msg.user(f"question {n} " + "words " * 20))
        reply = Msg(name="agent", role="assistant", id=f"a{n}")
        reply.content = [TextBlock(text=f"answer {n} " + "text " * 20)]
        state.context.append(reply)
    account.breakdown(builder.build(ENVELOPE, state))
    counted = account.pricer.texts.counted
    state.context.append(Msg.user("one more question, of more than sixty-four characters in all"))
    told = account.breakdown(builder.build(ENVELOPE, state))
    assert account.pricer.texts.counted - counted == 1
    assert told.total > 100_000
    # Nothing new: the goal is 0.1 ms (bench_counter measures it); here, with room for a slow run.
    assert _best(lambda: account.breakdown(builder.build(ENVELOPE, state))) < 0.001
    assert account.breakdown(builder.build(ENVELOPE, state)) is told


def test_a_thousand_items_cost_a_step_little_and_a_fresh_start_not_much_more() -> None:
    state = agent_log(340)
    account, builder = Accounting(LIMITS), PromptBuilder()
    account.breakdown(builder.build(ENVELOPE, state))
    counted = account.pricer.texts.counted
    assert _best(lambda: account.breakdown(builder.build(ENVELOPE, state))) < 0.004
    assert _best(lambda: account.breakdown(build(ENVELOPE, state))) < 0.016 * 3
    assert account.pricer.texts.counted == counted


def _best(work: Callable[[], object]) -> float:
    """The least CPU time of this thread for it, in seconds."""
    spent: list[float] = []
    for _ in range(7):
        started = time.thread_time()
        work()
        spent.append(time.thread_time() - started)
    return min(spent)
