"""What stays of decisions and facts when a model adds to them, and when its calls fail."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from desktop_app.core.context import summary
from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.build import Envelope
from desktop_app.core.context.compaction import Compactor, Proposal
from desktop_app.core.context.giving import newest_that_fit, said_already
from desktop_app.core.context.types import LedgerItem, Limits
from desktop_app.core.errors import ModelError
from desktop_app.core.messages import Msg, TextBlock
from desktop_app.core.models.base import ModelEvent, ModelRequest
from desktop_app.core.state import AgentState
from tests.helpers.context_models import Summariser

LIMITS = Limits(window=16_384, max_output=2048)


def item(n: int, kind: str = "fact", origin: str = "assistant", **more: object) -> LedgerItem:
    values = {"id": f"{kind}-{n}", "kind": kind, "text": f"{kind} {n:03d}", "origin": origin}
    return LedgerItem.of({**values, **more})


def count(text: str) -> float:
    return float(len(text.split()))


def test_the_newest_stay_own_before_a_models_and_decisions_before_facts() -> None:
    items = [
        *(item(n, "decision") for n in range(3)),
        *(item(n) for n in range(10)),
        *(item(n, "fact", "summariser") for n in range(10, 20)),
    ]
    kept, gone = newest_that_fit(items, 4 * 8, count)  # eight items: two words and a line each
    assert [i.id for i in kept] == [
        *("decision-0", "decision-1", "decision-2"),
        *("fact-5", "fact-6", "fact-7", "fact-8", "fact-9"),
    ]
    assert len(gone) == 15
    everything, none = newest_that_fit(items, 4 * 23, count)
    assert (everything, none) == (items, [])


def test_what_the_person_wrote_or_pinned_never_gives_way_and_closed_items_cost_nothing() -> None:
    items = [
        item(0, "constraint", "user"),
        item(1, pinned=True),
        item(2, origin="human_edit"),
        item(3, status="superseded"),
        item(4),
    ]
    kept, gone = newest_that_fit(items, 0, count)
    assert [i.id for i in kept] == ["constraint-0", "fact-1", "fact-2"]
    assert [i.id for i in gone] == ["fact-4"]


def test_a_model_that_says_what_the_agent_said_adds_nothing() -> None:
    own = item(1, text="So the port of api_v2 is 8443, which explains the alarm.")
    assert said_already("the port of api_v2 is 8443", [own])
    assert not said_already("the port of api_v2 is 8444", [own])
    assert not said_already("api_v2 is slow", [own])  # one exact word says little
    noted = own._replace(origin="summariser")
    assert not said_already("the port of api_v2 is 8443", [noted])


def session(turns: int = 12) -> AgentState:
    """The agent tells something exact at the end of each turn, after pages of talk."""
    state = AgentState(session_id="s")
    for turn in range(turns):
        state.context.append(Msg.user(f"Look at table {turn}."))
        reply = Msg(name="agent", role="assistant")
        talk = "All went well and nothing of note was seen on the way. " * 60
        reply.content = [TextBlock(text=f"{talk}\nTable t_{turn} has {turn * 37 + 1000} rows.")]
        state.context.append(reply)
    return state


async def compacted(model: Summariser | None) -> Proposal:
    return await Compactor(model, Accounting(LIMITS), Envelope(system="Be exact.")).propose(
        session(), "danger"
    )


@pytest.mark.parametrize("behaviour", ["good", "obeys", "fails", "verbose", "cut"])
async def test_a_model_pushes_nothing_out_that_is_there_without_it(behaviour: str) -> None:
    alone = {i.text for i in (await compacted(None)).items}
    beside = {i.text for i in (await compacted(Summariser(behaviour))).items}
    assert "Table t_0 has 1000 rows." in alone
    assert alone <= beside


class Failing(Summariser):
    """Fails ``times``, then answers."""

    def __init__(self, times: int, *, retryable: bool) -> None:
        super().__init__()
        self._left, self._retryable = times, retryable

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if self._left:
            self._left -= 1
            self.requests.append(request)
            raise ModelError("model.unreachable", retryable=self._retryable, host="example")
        async for part in super().stream(request):
            yield part


async def test_a_call_that_may_work_later_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "WAITS", (0.0, 0.0))
    model = Failing(2, retryable=True)
    assert (await compacted(model)).record.summariser == "notes"
    assert len(model.requests) == 3
    model = Failing(3, retryable=True)
    record = (await compacted(model)).record
    assert record.summariser is None
    assert ("summary", "compaction.failed") in record.rejected
    model = Failing(1, retryable=False)
    assert (await compacted(model)).record.summariser is None
    assert len(model.requests) == 1
