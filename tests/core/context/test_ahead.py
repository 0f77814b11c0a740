"""A session that is opened again from its snapshot proposes what it would have proposed as it went
on, and what one of which nothing is known proposes: byte for byte, and without reading what leaves.
"""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop_app.core.agent import snapshot
from desktop_app.core.agent.folded import Folded
from desktop_app.core.asleep import asleep
from desktop_app.core.context import ahead
from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.applying import record_body, undo
from desktop_app.core.context.build import compaction_part
from desktop_app.core.context.columns import Columns, pack
from desktop_app.core.context.compaction import Compactor, Proposal
from desktop_app.core.context.kept import adopt, dump
from desktop_app.core.context.types import Choices, Limits, Trigger
from desktop_app.core.errors import ContextError
from desktop_app.core.messages import Msg
from desktop_app.core.state import AgentState
from tests.helpers.context_sessions import AT, Player

from .test_compaction import ENVELOPE
from .test_running import TRIGGERS, script

FOREIGN = (
    {"name": "x", "role": "user", "content": "Never touch db_7, please.", "newer": {"a": [1]}},
    {"name": "s", "role": "system", "content": [{"type": "text", "text": "A note."}]},
    {
        "name": "a",
        "role": "assistant",
        "content": [
            {"type": "video", "seconds": 3},
            {"type": "text", "text": "Decision: use onyx-3.", "mood": "calm"},
            {
                "type": "tool_call",
                "id": "t1",
                "name": "TodoWrite",
                "input": '{"todos":[{"content":"check b.csv","status":"pending"}]}',
            },
            {"type": "tool_result", "id": "t1", "name": "TodoWrite", "output": "noted"},
        ],
    },
    {"name": "a", "role": "assistant", "content": []},
)


def told(
    account: Accounting, state: AgentState, how: tuple[Trigger, bool, Choices]
) -> tuple[str, Proposal | None]:
    """All that a compaction says, but for when it was."""
    trigger, mask, choices = how
    compactor = Compactor(None, account, ENVELOPE, mask_first=mask)
    try:
        proposal = asyncio.run(compactor.propose(state, trigger, choices=choices))
    except ContextError as error:
        return f"{error.code} {error.params}", None
    body: dict[str, Any] = {**record_body(proposal.record), "seconds": 0, "ts_us": 0}
    body["offloaded"] = [m.to_json() for m in proposal.offloaded]
    body["uppers"] = proposal.uppers
    body["before"], body["after"] = repr(proposal.before), repr(proposal.after)
    body["rows"] = [repr(row) for row in proposal.rows]
    body["new"] = proposal.new_state.to_json()
    return json.dumps(body), proposal


def stored(state: AgentState, account: Accounting, kept: Any = None) -> bytes:
    return snapshot.dump(Folded(state), dump(state, account, kept))


def reopened(data: bytes, limits: Limits) -> tuple[Folded, Accounting]:
    now, account = snapshot.load(data, 0), Accounting(limits)
    assert now is not None
    if now.kept is not None:
        adopt(now.kept, account)
    return now, account


def odd(rng: random.Random, number: int) -> Msg:
    msg = Msg.model_validate({**rng.choice(FOREIGN), "id": f"f{number}", "created_at": AT})
    for n, block in enumerate(msg.content):
        block.id = block.id if block.type.startswith("tool") else f"f{number}-{n}"
        block.created_at = AT
    return msg


def pin(rng: random.Random, state: AgentState) -> None:
    holders = [*state.context, *(r for m in state.context for r in m.tool_results())]
    rng.choice(holders).metadata["slipway"] = {"pinned": rng.random() < 0.7}


def choices(rng: random.Random, state: AgentState) -> Choices:
    if rng.random() < 0.7:
        return Choices()
    names = [m.id for m in state.context] + [b.id for m in state.context for b in m.content]
    some = frozenset(rng.sample(names, min(2, len(names))))
    return Choices(keep=some) if rng.random() < 0.5 else Choices(drop=some)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_what_is_proposed_from_a_snapshot_is_what_any_other_way_proposes(seed: int) -> None:
    """Over whole sessions: the program is closed and opened again at any moment, things are pinned,
    compacted, undone, and go on."""
    rng = random.Random(seed)
    limits = Limits(window=rng.choice((8000, 16000, 40_000)), max_output=1000)
    player, account, kept = Player(script(rng)), Accounting(limits), None
    last: Proposal | None = None
    for number, state in enumerate(player.moments()):
        state = player.state
        what = rng.random()
        if what < 0.1 and state.context[-1].role == "user":
            state.context.insert(len(state.context) - 1, odd(rng, number))
        if what < 0.15:
            pin(rng, state)
        if what < 0.8:
            account.advance(state)
        if what > 0.6:  # closed and opened again, perhaps with something still to come
            now, account = reopened(stored(state, account, kept), limits)
            player.state, kept = now.state, now.kept
        if rng.random() < 0.3:
            state = player.state
            how = (rng.choice(TRIGGERS), rng.random() < 0.5, choices(rng, state))
            plain = AgentState.model_validate_json(state.to_json())
            again, opened = reopened(stored(state, account, kept), limits)
            here, proposal = told(account, state, how)
            assert told(opened, again.state, how)[0] == here
            assert told(Accounting(limits), plain, how)[0] == here
            if proposal is not None and rng.random() < 0.5:
                player.state, last = proposal.new_state, proposal
            elif last is not None and rng.random() < 0.3:
                if compaction_part(state).get("gen") == last.record.gen:
                    player.state = undo(last.record, state)
                last = None


WORDS = "the service restarted after a deployment and one worker picked up jobs that were queued"


def prose(rng: random.Random, sentences: int) -> str:
    words = WORDS.split()
    told = (" ".join(rng.choices(words, k=rng.randrange(6, 14))) for _ in range(sentences))
    return " ".join(f"{t.capitalize()} on node-{rng.randrange(9999)}." for t in told)


def ready(turns: int = 200) -> tuple[AgentState, Accounting, bytes]:
    """A long session that was looked at as it grew."""
    rng, limits = random.Random(1), Limits(window=60_000, max_output=1000)
    state = AgentState(session_id="s")
    for n in range(turns):
        call = {"type": "tool_call", "id": f"c{n}", "name": "Read"}
        call["input"] = json.dumps({"file_path": f"src/part{n % 50}.py"})
        blocks = [{"type": "text", "text": prose(rng, 3)}, call]
        blocks.append({**call, "type": "tool_result", "output": prose(rng, 8)})
        reply = {"name": "a", "role": "assistant", "content": blocks}
        state.context += [Msg.user(prose(rng, 10)), Msg.model_validate(reply)]
    account, grows = Accounting(limits), AgentState(session_id="s")
    for msg in state.context:
        grows.context.append(msg)
        account.advance(grows)
    return state, account, stored(state, account)


HOW: tuple[Trigger, bool, Choices] = ("danger", False, Choices())


def test_a_proposal_from_a_snapshot_reads_next_to_nothing_of_what_leaves() -> None:
    state, account, data = ready()
    now, fresh = reopened(data, account.limits)
    compactor = Compactor(None, fresh, ENVELOPE, mask_first=False)
    proposal = asyncio.run(compactor.propose(now.state, "danger"))
    left = [now.state.context[p] for p in proposal.record.places]
    assert len(left) > 200
    assert sum(not asleep(m) for m in left) < len(left) / 10
    assert fresh.parts.read == 0
    assert proposal.record.undo["messages"] == [m.model_dump() for m in left]
    assert told(account, state, HOW)[0] == told(fresh, now.state, HOW)[0]


def test_what_nobody_looked_at_is_written_again_as_it_was() -> None:
    _, account, data = ready()
    now, fresh = reopened(data, account.limits)
    assert stored(now.state, fresh, now.kept) == data
    assert all(asleep(m) for m in now.state.context[:-2])


def test_the_bytes_are_let_go_once_every_message_was_looked_at() -> None:
    _, account, data = ready()
    now, fresh = reopened(data, account.limits)
    assert now.kept is not None
    stored(now.state, fresh, now.kept)
    assert now.kept.fits(fresh.pricer), "something is still asleep"
    fresh.parts.of(now.state.context)
    again = stored(now.state, fresh, now.kept)
    assert not now.kept.fits(fresh.pricer)
    assert stored(now.state, fresh, now.kept) == again
    other, opened = reopened(again, account.limits)
    assert told(opened, other.state, HOW)[0] == told(fresh, now.state, HOW)[0]


def test_a_pin_set_after_opening_counts_as_one_set_before() -> None:
    state, account, data = ready()
    now, fresh = reopened(data, account.limits)
    for one in (state, now.state):
        one.context[4].metadata["slipway"] = {"pinned": True}
    first = told(fresh, now.state, HOW)
    assert (
        first[0] == told(account, state, HOW)[0] == told(Accounting(account.limits), state, HOW)[0]
    )
    assert first[1] is not None
    assert state.context[4].text() in first[1].record.summary


@pytest.mark.parametrize("damage", ["order", "cut", "name", "rows"])
def test_columns_that_are_not_sound_cost_a_reading(
    damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ahead.dump

    def broken(*what: Any) -> bytes:
        data = whole(*what)
        if damage == "order":
            return data.replace(b'"little"', b'"middle"', 1).replace(b'"big"', b'"middle"', 1)
        if damage == "name":
            return data.replace(b'"item_text"', b'"item_test"', 1)
        return data[:-3] if damage == "cut" else data.replace(b'["skills"', b'["skilts"', 1)

    state, account, _ = ready()
    monkeypatch.setattr(ahead, "dump", broken)
    now, fresh = reopened(stored(state, account), account.limits)
    assert told(fresh, now.state, HOW)[0] == told(account, state, HOW)[0]


def test_columns_give_back_what_they_were_made_of() -> None:
    columns: dict[str, list[Any]] = {
        "floats": [0.1, -2.5, 1e300],
        "ints": [1, -(1 << 62), 0],
        "large": [1 << 80],
        "mixed": [1, 2.5, None],
        "texts": ["a", "\ud800é\n", ""],
        "alike": ["user"] * 9,
        "truths": [True, False],
        "none": [],
        "rows": [[1, "a"], [2, "b"]],
    }
    found = Columns(pack(columns))
    for name, values in columns.items():
        assert found[name] == values
        assert list(map(type, found[name])) == list(map(type, values))
