"""Parts are read once, when they come; what is put together of them is what building the prompt and
reading the messages afresh would give."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.build import build
from desktop_app.core.context.compaction import Compactor
from desktop_app.core.context.parts import Parts
from desktop_app.core.context.types import Limits
from desktop_app.core.context.weighing import foreseen
from desktop_app.core.errors import ContextError
from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.state import AgentState
from tests.helpers.context_sessions import Player, Script, sessions

from .test_compaction import ENVELOPE, MEDIUM, SMALL


def seen(parts: Parts, state: AgentState) -> list[object]:
    """All that parts tell of a state, their places too."""
    return [
        (n, e.loop, [(a.start, a.end, a.raw, a.open) for a in e.at(n)], e.parts)
        for n, e in enumerate(parts.of(state.context))
    ]


def check(account: Accounting, state: AgentState) -> None:
    fork = account.fork()
    told = fork.breakdown(build(ENVELOPE, state))
    now = foreseen(account.fork(), ENVELOPE, state, account.parts.of(state.context))
    assert (now.total, now.upper) == (told.total, told.upper)
    assert now.parts == told.parts
    assert sorted((i.category, i.label, i.ref) for i in now.items) == sorted(
        (i.category, i.label, i.ref) for i in told.items
    )


@settings(max_examples=40, deadline=None)
@given(sessions(), st.sampled_from([SMALL, MEDIUM]))
def test_parts_foresee_what_the_prompt_costs_and_grow_as_read_afresh(
    script: Script, limits: Limits
) -> None:
    account, player = Accounting(limits), Player(script)
    for number, state in enumerate(player.moments()):
        check(account, state)
        account.parts.advance(state.context)
        assert seen(account.parts, state) == seen(Parts(account.pricer), state)
        if number % 4 == 3:
            try:
                done = asyncio.run(Compactor(None, account, ENVELOPE).propose(state, "manual"))
            except ContextError:
                continue
            player.state = done.new_state
            check(account, player.state)
            told = account.fork().breakdown(build(ENVELOPE, player.state))
            assert (done.after.total, done.after.upper) == (told.total, told.upper)


def test_a_step_of_a_long_reply_reads_what_is_new() -> None:
    reply = Msg(name="a", role="assistant")
    state = AgentState(context=[Msg.user("Do it."), reply])
    account = Accounting(MEDIUM)
    for n in range(50):
        call = ToolCallBlock(id=f"c{n}", name="Read", input='{"file_path": "a.py"}')
        result = ToolResultBlock(id=f"c{n}", name="Read", output=f"line {n}")
        reply.content += [TextBlock(text=f"Step {n} reads port_{n}."), call, result]
        before = account.parts.read
        account.parts.advance(state.context)
        assert account.parts.read - before <= 2 + (n == 0)
    late = Accounting(MEDIUM)  # comes to a long past: that is not read on the way
    late.parts.advance(state.context)
    assert late.parts.read == 1
    # Cut in front, as by a compaction: the steps that stay are known.
    cut = state.model_copy(
        update={"context": [reply.model_copy(update={"content": reply.content[60:]})]}
    )
    before = account.parts.read
    entries = account.parts.of(cut.context, keep=False)
    assert account.parts.read == before
    assert [(p.start, p.end) for p in entries[0].parts] == [(n, n + 3) for n in range(0, 90, 3)]
    assert account.parts.of(state.context)[1].parts[-1].end == 150


def test_a_block_that_was_replaced_is_read_again() -> None:
    reply = Msg(name="a", role="assistant")
    for n in range(3):
        reply.content += [
            ToolCallBlock(id=f"c{n}", name="Read", input="{}"),
            ToolResultBlock(id=f"c{n}", name="Read", output="line " * 50),
        ]
    account = Accounting(MEDIUM)
    [before] = account.parts.of([reply])
    reply.content[3] = ToolResultBlock(id="c1", name="Read", output="cut")
    [after] = account.parts.of([reply])
    assert after.parts[1].raw < before.parts[1].raw
    assert [after.parts[0], after.parts[2]] == [before.parts[0], before.parts[2]]
