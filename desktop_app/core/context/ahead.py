"""What is ready for a compaction, as columns beside a snapshot: the sums of a context and the
ledger of what is likely to leave. A session that is opened again proposes from them, and reads no
message but those that its plan takes apart.

Derived data: whatever does not fit is read anew.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any, cast

from desktop_app.core.asleep import stored_json
from desktop_app.core.messages import Msg

from .columns import Columns, pack
from .cuts import FLAT, Cuts
from .glimpses import Answer
from .intake import Intake
from .ledger import Failed, Ledger, Pin
from .parts import Atom, Entry
from .pieces import Said
from .reading import read_words
from .standing import Read, Standing
from .todos import TodoList
from .tokens import CountCache
from .types import Evidence, LedgerItem

logger = logging.getLogger(__name__)
Marks = dict[int, set[tuple[int, int]]]
Found = tuple[Standing, Read, Marks]
_SUMS = ("said", "found", "weights", "images")
_PLACES = ("persons", "opens", "loops", "tasks", "changing")
_ITEM = ("id", "kind", "text", "modality", "origin", "status", "pinned", "by")


def dump(standing: Standing, read: Read, marks: Marks, count: CountCache) -> bytes:
    """Of a context and what was taken in of it. Empty where something is in it that columns do not
    hold."""
    intake = read.intake
    if any(i.more or len(i.evidence) != 1 or i.evidence[0].more for i in intake.items):
        return b""
    atoms, firsts = standing.atoms, standing.firsts
    columns: dict[str, Sequence[Any]] = {
        "atoms": [b - a for a, b in pairwise(firsts)],
        "start": [a.start for a in atoms],
        "end": [a.end for a in atoms],
        "own": [a.raw for a in atoms],
        "thinks": [n for n, a in enumerate(atoms) if a.thinks],
        **{f"at_{name}": getattr(standing, name) for name in (*_SUMS, *_PLACES)},
        "marks": sorted(p for pins in marks.values() for p in pins),
        "done": [len(read.done)],
        "pinned": sorted(read.pinned),
        **_said_columns(standing, intake, count),
        **_item_columns(intake.items, count),
        "rules": intake.rules,
        "shapes": sorted(intake.shapes),
        "pins": [p.model_dump() for p in intake.pins],
        "lists": [n.model_dump() for n in intake.lists],
        "files": [f if isinstance(f, dict) else f.model_dump() for f in intake.files.values()],
        "failed": [f.model_dump() for f in intake.failed],
        "skills": intake.skills,
        "answers": [list(a) for a in intake.answers],
    }
    return pack(columns)


def load(
    data: bytes | memoryview,
    context: list[Msg],
    first: Ledger,
    count: CountCache,
    entry: Callable[[Msg], Entry],
) -> Found | None:
    """What ``dump`` gave, for the same ``context`` as it was stored and the ledger ``first`` that
    was there before; None where it is not sound."""
    try:
        columns = Columns(data)
        standing = _standing(columns, context, entry)
        marks: Marks = {}
        for place, at in columns["marks"]:
            marks.setdefault(place, set()).add((place, at))
        [done] = columns["done"]
        intake = _intake(columns, context, first, count)
        pinned = {(place, at) for place, at in columns["pinned"]}
        return standing, Read(intake, list(range(done)), pinned), marks
    except (ValueError, TypeError, KeyError, IndexError) as error:
        logger.warning("what was ready for a compaction is made anew: %s", error)
        return None


# -- sums ----------------------------------------------------------------------------------------


def _standing(columns: Columns, context: list[Msg], entry: Callable[[Msg], Entry]) -> Standing:
    standing = Standing(context, read=entry)
    each, own = columns["atoms"], columns["own"]
    if len(each) != len(context):
        raise ValueError("it is of another context")
    standing.firsts = list(accumulate(each, initial=0))
    standing.entries = [None] * len(context)
    standing.raw = list(accumulate(own, initial=0.0))
    for name in (*_SUMS, *_PLACES):
        setattr(standing, name, columns[f"at_{name}"])
    flags = [[False] * len(own) for _ in range(4)]
    person, opened, thinks, loop = flags
    for flag, places in ((person, standing.persons), (opened, standing.opens)):
        for n in places:
            flag[n] = True
    for n in columns["thinks"]:
        thinks[n] = True
    for place in standing.loops:
        for n in range(standing.firsts[place], standing.firsts[place + 1]):
            loop[n] = True
    places = [place for place, times in enumerate(each) for _ in range(times)]
    rows = zip(places, columns["start"], columns["end"], own, *flags, strict=True)
    standing.atoms = list(map(Atom._make, rows))
    return standing


# -- what was said -------------------------------------------------------------------------------


class _Later(Said):
    """Words of a message, read when somebody asks for them."""

    def __getattr__(self, name: str) -> Any:
        held = self.__dict__.get("_held")
        if held is not None:
            msg, texts, counts = cast("tuple[Msg, CountCache, list[float]]", held)
            text = _words(msg)
            texts.keep_all([t for t in text.split("\n") if t], counts)
            fields = {"id": self.id, "text": text, "whole": True, "edited": False}
            object.__setattr__(self, "__dict__", fields)
        if type(self) is _Later:
            object.__setattr__(self, "__class__", Said)
        return getattr(self, name)

    def model_copy(self, *args: Any, **how: Any) -> Any:
        _ = self.text
        return self.model_copy(*args, **how)

    def model_dump(self, *args: Any, **how: Any) -> Any:
        _ = self.text
        return self.model_dump(*args, **how)

    def __eq__(self, other: object) -> bool:
        _ = self.text
        return self == other

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def _words(msg: Msg) -> str:
    """A message of the person as ``read_words`` has it: out of its JSON where that is all text."""
    if (raw := stored_json(msg)) is not None:
        blocks: list[dict[str, Any]] = json.loads(bytes(raw))["content"]
        if all(b.get("type") == "text" for b in blocks):
            return "\n\n".join([b["text"] for b in blocks])
    words = read_words(msg)
    return words.text if words is not None else ""


def _said_columns(
    standing: Standing, intake: Intake, count: CountCache
) -> dict[str, Sequence[Any]]:
    """Words by the place of their message, where they are all of it; else as they are."""
    mine: dict[int, int] = {}
    for number in standing.persons:
        place = standing.atoms[number].message
        entry = standing.entries[place]
        if entry is not None and (words := entry.parts[0].words) is not None:
            mine[id(words.said)] = place
    messages = {id(m): place for place, m in enumerate(standing.context)}
    places, texts, counts = list[int](), list[Any](), list[list[float]]()
    for said in intake.said:
        held = said.__dict__.get("_held")
        place = messages[id(held[0])] if held is not None else mine.get(id(said), -1)
        places.append(place)
        if held is not None:
            counts.append(held[2])
        else:
            counts.append(count.counts([t for t in said.text.split("\n") if t]))
        texts.append(None if place >= 0 else said.model_dump())
    cuts = intake.cuts
    return {
        "said": places,
        "said_id": [s.id for s in intake.said],
        "said_text": texts,
        "said_lines": [len(c) for c in counts],
        "said_counts": [n for c in counts for n in c],
        "cut_best": cuts.best,
        "best_counts": count.counts(cuts.best),
        "cut_sound": cuts.sound,
        "cut_again": [list(pair) for pair in cuts.again.items()],
        **{f"cut_{name}": getattr(cuts, name) for name in FLAT},
    }


def _said(columns: Columns, context: Sequence[Msg], count: CountCache) -> list[Said]:
    made: list[Said] = []
    new, at, counts = object.__new__, 0, columns["said_counts"]
    rows = zip(
        columns["said"],
        columns["said_id"],
        columns["said_text"],
        columns["said_lines"],
        strict=True,
    )
    for place, name, told, lines in rows:
        if place < 0:
            made.append(Said.model_validate(told))
        else:
            said = new(_Later)
            own = vars(said)
            own["id"], own["whole"], own["edited"] = name, True, False
            own["_held"] = context[place], count, counts[at : at + lines]
            Said.finish(said)
            made.append(said)
        at += lines
    return made


def _cuts(columns: Columns, said: Sequence[Said], count: CountCache) -> Cuts:
    cuts = Cuts()
    for name in FLAT:
        setattr(cuts, name, columns[f"cut_{name}"])
    cuts.best, cuts.sound = columns["cut_best"], columns["cut_sound"]
    cuts.said = list(said[1 : 1 + len(cuts.whole)])
    cuts.own = [None] * len(cuts.said)
    cuts.again = dict(columns["cut_again"])
    count.keep_all(cuts.best, columns["best_counts"])
    return cuts


# -- the rest ------------------------------------------------------------------------------------


def _item_columns(items: Sequence[LedgerItem], count: CountCache) -> dict[str, Sequence[Any]]:
    texts = [i.text for i in items]
    return {
        **{f"item_{name}": [getattr(i, name) for i in items] for name in _ITEM},
        "item_ref": [i.evidence[0].ref for i in items],
        "item_quote": [None if (q := i.evidence[0].quote) == i.text else q for i in items],
        "item_counts": count.counts(texts),
        "item_lines": count.counts([f"- {t}" for t in texts]),
    }


def _items(columns: Columns, count: CountCache) -> list[LedgerItem]:
    made = {name: columns[f"item_{name}"] for name in _ITEM}
    texts = made["text"]
    count.keep_all(texts, columns["item_counts"])
    count.keep_all([f"- {t}" for t in texts], columns["item_lines"])
    quotes = [t if q is None else q for t, q in zip(texts, columns["item_quote"], strict=True)]
    none = [None] * len(texts)
    seen = zip(map(Evidence._make, zip(columns["item_ref"], quotes, none, strict=True)))
    order = [f.removeprefix("_") for f in LedgerItem._fields]
    rows = zip(*[seen if n == "evidence" else made.get(n, none) for n in order], strict=True)
    return list(map(LedgerItem._make, rows))


def _intake(columns: Columns, context: Sequence[Msg], first: Ledger, count: CountCache) -> Intake:
    intake = Intake(first, count)
    intake.said = _said(columns, context, count)
    intake.cuts = _cuts(columns, intake.said, count)
    intake.items = _items(columns, count)
    intake.rules, intake.shapes = columns["rules"], set(columns["shapes"])
    intake.pins = [Pin.model_validate(p) for p in columns["pins"]]
    intake.lists = [TodoList.model_validate(n) for n in columns["lists"]]
    intake.files = {f["path"]: f for f in columns["files"]}
    intake.failed = [Failed.model_validate(f) for f in columns["failed"]]
    intake.skills = columns["skills"]
    intake.answers = [Answer(ref, tool, tuple(lines)) for ref, tool, lines in columns["answers"]]
    return intake
