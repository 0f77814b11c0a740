"""What is kept of a context while it grows says what reading all of it afresh says: the same
compactions, byte for byte, after undos, pins and other limits too."""

from __future__ import annotations

import asyncio
import json
import random

from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.applying import record_body, undo
from desktop_app.core.context.build import compaction_part
from desktop_app.core.context.compaction import Compactor, Proposal
from desktop_app.core.context.ledger import ledger_from
from desktop_app.core.context.types import Limits, Trigger
from desktop_app.core.errors import ContextError
from desktop_app.core.messages import Msg, ToolResultBlock
from desktop_app.core.state import AgentState
from tests.helpers.context_sessions import AT, Player, Script, Step, Turn

from .test_compaction import ENVELOPE

SAID = (
    "Read the report and tell me what changed. I want port 8443, please. 3 nodes are up.",
    "You must never touch config/prod.toml! Only use stage-db-2.",
    "The rule about config/prod.toml is lifted.",
    "请整理这些文件，不要删除任何原件。",
    "ok",
    "  spaced\ttext \u00e9\U0001f600 [a] ----- and ..... now. 12 are down! ",
)
TOLD = (
    "Decision: queue_a serves the jobs.",
    "queue_a did not hold up, the jobs move to queue_b, instead of queue_a.",
    "The cause of E4711 was pool_size=4.",
    "- [ ] write src/a.py\n- [x] read src/b.py",
    "",
)
TRIGGERS: tuple[Trigger, ...] = ("manual", "danger", "alert", "overflow")


def script(rng: random.Random) -> Script:
    def call() -> tuple[str, str, str, int]:
        name, tool = rng.choice(("c1", "c2", "")), rng.choice(("Read", "Write", "Bash"))
        return name, tool, rng.choice(("notes/a.md", "数据/表.csv")), rng.choice((40, 400, 3000))

    def step() -> Step:
        calls = tuple(call() for _ in range(rng.randrange(4)))
        return Step(rng.choice(TOLD), rng.random() < 0.3, calls, rng.random() < 0.3)

    def turn() -> Turn:
        said = " ".join(rng.choice(SAID) for _ in range(rng.randrange(1, 10)))
        steps = tuple(step() for _ in range(rng.randrange(1, 7)))
        return Turn(said, rng.random() < 0.15, steps, rng.random() < 0.2)

    turns = tuple(turn() for _ in range(rng.randrange(3, 14)))
    return Script(turns, (("write the index", False), ("检查附录", True)))


def told(account: Accounting, state: AgentState, trigger: Trigger) -> tuple[str, Proposal | None]:
    """All that a compaction says, but for when it was."""
    try:
        proposal = asyncio.run(Compactor(None, account, ENVELOPE).propose(state, trigger))
    except ContextError as error:
        return f"{error.code} {error.params}", None
    body = {**record_body(proposal.record), "seconds": 0, "ts_us": 0}
    body["undo"] = {key: proposal.record.undo[key] for key in proposal.record.undo}
    body["offloaded"] = [m.model_dump() for m in proposal.offloaded]
    body["rows"] = [repr(row) for row in proposal.rows]
    return json.dumps(body), proposal


def _pin(rng: random.Random, state: AgentState) -> None:
    """Marks change in place, wherever they are."""
    holders: list[Msg | ToolResultBlock] = list(state.context)
    holders += [r for m in state.context for r in m.tool_results()]
    holder = rng.choice(holders)
    holder.metadata["slipway"] = {"pinned": rng.random() < 0.7}


def test_compactions_are_those_of_an_account_that_reads_all_afresh() -> None:
    made = 0
    for seed in range(24):
        rng = random.Random(seed)
        limits = Limits(window=rng.choice((8000, 16000)), max_output=1000)
        account, player = Accounting(limits), Player(script(rng))
        last: Proposal | None = None
        for state in player.moments():
            what = rng.random()
            if what < 0.5:
                account.advance(state)
            elif what < 0.6:
                _pin(rng, state)
            elif what < 0.65:
                account.limits = Limits(window=rng.choice((8000, 16000, 32000)), max_output=1000)
            elif what < 0.7 and last is not None:
                if compaction_part(state).get("gen") == last.record.gen:
                    player.state = undo(last.record, state)
                last = None
            else:
                trigger = rng.choice(TRIGGERS)
                now, proposal = told(account, state, trigger)
                afresh, _ = told(Accounting(account.limits), state, trigger)
                assert now == afresh
                if proposal is not None and rng.random() < 0.6:
                    player.state, last = proposal.new_state, proposal
                    made += 1
    assert made > 20


def long(turns: int) -> AgentState:
    state = AgentState(session_id="s")
    for n in range(turns):
        person = Msg.user(f"{SAID[n % len(SAID)]} Look at file{n}.txt.")
        reply = Msg(name="a", role="assistant", id=f"a{n}", created_at=AT)
        player = Player(Script((Turn("", False, (Step(TOLD[n % len(TOLD)], False, ()),)),)))
        reply.content = [b for m in list(player.moments())[-1].context[1:] for b in m.content]
        state.context += [person, reply]
    return state


def test_a_compaction_looks_only_at_what_came_since_the_last_look() -> None:
    state, account = long(60), Accounting(Limits(window=8000, max_output=1000))
    whole = list(state.context)
    state.context = whole[:-4]
    account.running.standing(state.context)
    for end in range(len(whole) - 3, len(whole) + 1):
        state.context = whole[:end]
        account.advance(state)
    read = account.parts.read
    body, proposal = told(account, state, "danger")
    assert proposal is not None, body
    assert account.parts.read == read  # nothing was left to be read


def test_a_ledger_is_written_out_as_its_model_is() -> None:
    state = long(60)
    limits = Limits(window=8000, max_output=1000)
    _, proposal = told(Accounting(limits), state, "danger")
    assert proposal is not None
    part = proposal.record.ledger
    ledger = ledger_from(part)
    assert json.dumps(ledger.body()) == json.dumps(ledger.model_dump())
    odd = ledger_from({**part, "said": [{"id": "u", "text": "x", "new": 1}], "newer": [2]})
    assert json.dumps(odd.body()) == json.dumps(odd.model_dump())
    assert odd.body()["said"][0]["new"] == 1
    assert odd.body()["newer"] == [2]


def test_another_account_of_the_same_session_changes_nothing_that_is_kept() -> None:
    """Forks share what was read; a plan on one leaves the sums of the others alone."""
    state, account = long(40), Accounting(Limits(window=8000, max_output=1000))
    first, _ = told(account, state, "danger")
    told(account.fork(), state.model_copy(update={"context": state.context[:31]}), "danger")
    again, _ = told(account, state, "danger")
    assert first == again


def test_other_marks_of_the_same_model_make_nothing_to_be_read_again() -> None:
    state, account = long(60), Accounting(Limits(window=8000, max_output=1000))
    told(account, state, "danger")
    marked = Accounting(Limits(window=8000, max_output=1000, target=0.3))
    marked.share(account)
    read = account.parts.read
    assert told(marked, state, "danger")[0] == told(Accounting(marked.limits), state, "danger")[0]
    assert account.parts.read == read
    other = Accounting(marked.limits, model="openai:gpt-4o")
    other.share(account)
    assert other.parts is not account.parts
