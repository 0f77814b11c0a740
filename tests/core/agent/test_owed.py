"""Notes that a failing model owes come with a later compaction; what stands is not touched."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.agent.fold import Folder
from desktop_app.core.agent.policy import Policy
from desktop_app.core.context.ledger import Ledger
from desktop_app.core.context.owed import TRIES, lacks_notes, name_of, still_owed
from desktop_app.core.context.types import CompactionRecord
from desktop_app.core.errors import ModelError
from desktop_app.core.models.base import ModelRequest, Price
from desktop_app.core.models.scripted import SCRIPTED, Fail, Say, ScriptedModel
from tests.helpers.sessions import Bench, collect, of


class Notes:
    """A model whose turns state one fact each, and whose notes repeat what it is shown of them."""

    def __init__(self) -> None:
        self.works = False
        self.turn = 0
        self.shown: list[str] = []

    def __call__(self, request: ModelRequest) -> list[Any]:
        if request.purpose == "title":
            return [Say("Facts")]
        if request.purpose == "summary":
            if not self.works:
                return [Fail(ModelError("model.refused"))]
            text = "\n".join(m.text() for m in request.messages[:-1])
            self.shown.append(text)
            facts = sorted(set(re.findall(r"the gauge of hall \d+ stood at \d+", text)))
            items = [{"kind": "fact", "text": f"{f}.", "quote": f} for f in facts]
            return [Say(json.dumps({"items": items, "narrative": ""}))]
        self.turn += 1
        fact = f"I looked, and the gauge of hall {self.turn} stood at {self.turn * 7919}"
        return [Say(f"{fact}. {'Nothing else of note was seen there. ' * 60}")]


def world(tmp_path: Path, notes: Notes) -> Bench:
    info = replace(SCRIPTED, window=32_768)
    bench = Bench(tmp_path, ScriptedModel([notes] * 400, info=info))
    bench.policy = Policy("remind", at_danger=True)
    return bench


async def until_compacted(c: SessionConversation) -> CompactionRecord:
    for _ in range(60):
        events = await collect(c.send("Look at the next hall."))
        if found := of(events, ev.CompactionFinished):
            return found[-1].record
    raise AssertionError("no compaction in 60 turns")


def ledger(c: SessionConversation) -> Ledger:
    return Ledger.model_validate(c.state.middle_context["slipway"]["compaction"])


def noted(c: SessionConversation, gen: int) -> list[str]:
    """What a model noted with compaction ``gen``."""
    return [i.text for i in ledger(c).items if re.fullmatch(rf"fact-g{gen}-\d+", i.id)]


async def test_the_next_compaction_fills_in_and_leaves_what_stands(tmp_path: Path) -> None:
    notes = Notes()
    bench = world(tmp_path, notes)
    c = await bench.open()
    first = await until_compacted(c)
    assert lacks_notes(first)
    assert first.summariser is None
    assert still_owed(await c.compactions()) == [first.gen]
    frozen = {i.id: i.body() for i in ledger(c).items}
    notes.works = True
    second = await until_compacted(c)
    assert second.filled == [first.gen]
    assert len(notes.shown) == 2, "one request for its own range, one for what was owed"
    assert "the gauge of hall 1 stood at 7919" in notes.shown[1]
    assert still_owed(await c.compactions()) == []
    kept = {i.id: i.body() for i in ledger(c).items}
    assert all(kept[name] == item for name, item in frozen.items() if name in kept)
    stands = (await c.compactions())[0]
    assert (stands.summary, stands.rejected) == (first.summary, first.rejected)
    again = Folder(c.state.session_id)
    for record in await c.log.journal.read():
        again.apply(record)
    assert again.now.state == c.state, "a replay gives the same"
    await c.close()
    await bench.close()


async def test_an_undo_owes_them_again_and_compact_again_asks_anew(tmp_path: Path) -> None:
    notes = Notes()
    bench = world(tmp_path, notes)
    c = await bench.open()
    first = await until_compacted(c)
    notes.works = True
    second = await until_compacted(c)
    assert second.filled == [first.gen]
    notes.shown.clear()
    await collect(c.compact_again("the gauges"))
    newest = (await c.compactions())[-1]
    assert newest.gen != second.gen
    assert newest.filled == [first.gen]
    assert len(notes.shown) == 2
    await c.undo_compaction()
    assert still_owed(await c.compactions()) == [first.gen]
    await c.close()
    await bench.close()


async def test_compact_again_writes_the_notes_that_the_newest_lacks(tmp_path: Path) -> None:
    notes = Notes()
    bench = world(tmp_path, notes)
    c = await bench.open()
    first = await until_compacted(c)
    assert lacks_notes(first)
    notes.works = True
    await collect(c.compact_again(""))
    newest = (await c.compactions())[-1]
    assert newest.summariser is not None
    assert not lacks_notes(newest)
    assert still_owed(await c.compactions()) == []
    assert noted(c, newest.gen) or "the gauge of hall 1 stood at 7919" in c.state.summary
    await c.close()
    await bench.close()


async def test_another_model_writes_the_notes_and_its_price_counts(tmp_path: Path) -> None:
    """A smaller model may write them; one that is gone leaves them to the session's own."""
    notes, own = Notes(), Notes()
    notes.works = own.works = True
    bench = world(tmp_path, own)
    info = replace(SCRIPTED, id="small", name="Small", window=16_384, price=Price(1.0, 2.0))
    bench.others["small"] = ScriptedModel([notes] * 20, info=info)
    bench.policy = Policy("remind", at_danger=True, notes="small")
    c = await bench.open()
    record = await until_compacted(c)
    assert record.summariser == "small"
    assert notes.shown
    assert own.shown == []
    assert len(bench.others["small"].requests) == len(notes.shown), "nothing else is asked of it"  # type: ignore[attr-defined]
    bench.policy = Policy("remind", at_danger=True, notes="gone")
    again = await until_compacted(c)
    assert again.summariser == bench.model.info.id
    assert own.shown
    await c.close()
    await bench.close()


def record(gen: int, *rejected: tuple[str, str], **more: Any) -> CompactionRecord:
    return CompactionRecord(
        gen, "danger", "", ["m"], {}, [], 2, 1, {}, None, 0.0, rejected=list(rejected), **more
    )


def test_which_are_owed() -> None:
    failed = ("summary", "compaction.failed")
    assert still_owed([]) == []
    assert still_owed([record(1, failed), record(2)]) == [1]
    assert still_owed([record(1, ("part 2 of 3", "compaction.cut"))]) == [1], "a part is missing"
    assert still_owed([record(1, ("4 messages", "no_room"))]) == [], "it was too long, not failed"
    assert still_owed([record(1, ("a claim", "no_evidence"))]) == []
    assert still_owed([record(1, failed), record(2, failed)]) == [2, 1], "newest first"
    assert still_owed([record(1, failed), record(2, filled=[1])]) == []
    tried = [record(n + 2, (name_of(1), "compaction.failed")) for n in range(TRIES)]
    assert still_owed([record(1, failed), *tried[:-1]]) == [1]
    assert still_owed([record(1, failed), *tried]) == [], "not for ever"
