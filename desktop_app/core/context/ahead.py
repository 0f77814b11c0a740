"""What is ready for a compaction, as columns beside a snapshot: the sums of a context and the
ledger of what is likely to leave. A session that is opened again proposes from them, and reads no
message but those that its plan takes apart.

Derived data: whatever does not fit is read anew.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from json.decoder import scanstring  # pyright: ignore
from typing import Any, cast

from desktop_app.core.asleep import stored_json
from desktop_app.core.messages import Msg

from .atoms import Atoms
from .columns import Columns, Keys, pack
from .cuts import FLAT, Cuts
from .glimpses import RESULTS, Answer
from .holdings import Holdings, columns_of
from .intake import Intake
from .ledger import Failed, Ledger, Pin
from .parts import Entry
from .pieces import Said
from .reading import read_words
from .standing import Read, Standing
from .todos import TodoList
from .tokens import CountCache

logger = logging.getLogger(__name__)
Marks = dict[int, set[tuple[int, int]]]
Found = tuple[Standing, Read, Marks]
_SUMS = ("raw", "said", "found", "weights", "images")
_PLACES = ("persons", "opens", "loops", "tasks", "changing")


def dump(standing: Standing, read: Read, marks: Marks, count: CountCache) -> bytes:
    """Of a context and what was taken in of it. Empty where something is in it that columns do not
    hold."""
    intake = read.intake
    if (items := columns_of(intake.items)) is None:
        return b""
    places, starts, ends, raws, flags = standing.atoms.columns()
    columns: dict[str, Sequence[Any]] = {
        "place": places,
        "start": starts,
        "end": ends,
        "own": raws,
        "flags": list(flags),
        **{f"at_{name}": getattr(standing, name) for name in ("firsts", *_SUMS, *_PLACES)},
        "marks": sorted(p for pins in marks.values() for p in pins),
        "done": [read.upto],
        "pinned": sorted(read.pinned),
        **_said_columns(standing, intake, count),
        **items,
        "shapes": intake.shapes.column(),
        "pins": [p.model_dump() for p in intake.pins],
        "lists": [n.model_dump() for n in intake.lists],
        "files": [f if isinstance(f, dict) else f.model_dump() for f in intake.files.values()],
        "failed": [f.model_dump() for f in intake.failed],
        "skills": intake.skills,
        "answers": [list(a) for a in intake.answers[-RESULTS:]],
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
        return standing, Read(intake, [(0, done)], pinned), marks
    except (ValueError, TypeError, KeyError, IndexError) as error:
        logger.warning("what was ready for a compaction is made anew: %s", error)
        return None


# -- sums ----------------------------------------------------------------------------------------


def _standing(columns: Columns, context: list[Msg], entry: Callable[[Msg], Entry]) -> Standing:
    standing = Standing(context, read=entry)
    for name in _SUMS:
        setattr(standing, name, columns.floats(f"at_{name}"))
    for name in _PLACES:
        setattr(standing, name, columns[f"at_{name}"])
    standing.firsts = columns.ints("at_firsts")
    if len(standing.firsts) != len(context) + 1:
        raise ValueError("it is of another context")
    standing.entries = [None] * len(context)
    of_atoms = [columns.ints(name) for name in ("place", "start", "end")]
    flags = bytes(columns["flags"])
    standing.atoms = Atoms((*of_atoms, columns.floats("own"), flags))
    return standing


# -- what was said -------------------------------------------------------------------------------


# A row of the columns, the messages as they were stored, and who counts.
_Held = tuple[tuple[int, str, Any, float, int], Sequence[Msg], CountCache]


class _Later(Said):
    """Words of a message, read when somebody asks for them."""

    def __getattr__(self, name: str) -> Any:
        held = self.__dict__.get("_held")
        if held is not None:
            (place, _, _, size, plain), context, texts = cast(_Held, held)
            msg = context[place]
            raw = stored_json(msg) if plain else None
            if raw is not None:
                text = _first_text(str(raw, "utf-8"))
            else:
                text = msg.text() if plain else _words(msg)
            texts.keep(text, size)
            fields = {"id": self.id, "text": text, "whole": True, "edited": False}
            object.__setattr__(self, "__dict__", fields)
            Said.finish(self)
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


_TEXT = '"type":"text","text":"'


def _first_text(whole: str) -> str:
    """The first text in the JSON of a message, without reading the rest."""
    at = whole.find(_TEXT)
    return str(scanstring(whole, at + len(_TEXT))[0]) if at >= 0 else ""  # pyright: ignore


def _is_text(msg: Msg, text: str) -> bool:
    """Whether a message of the person is this text and nothing else, and told by that alone."""
    return len(msg.content) == 1 and _first_text(msg.to_json()) == text


def _words(msg: Msg) -> str:
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
    places, texts, counts, plain = list[int](), list[Any](), list[float](), list[int]()
    for said in intake.said:
        held = cast("_Held | None", vars(said).get("_held"))
        if held is None:
            place, size = mine.get(id(said), -1), count.count(said.text)
        else:
            place, size = messages[id(held[1][held[0][0]])], held[0][3]
        places.append(place)
        counts.append(size)
        texts.append(None if place >= 0 else said.model_dump())
        if held is not None:
            plain.append(held[0][4])
        else:
            plain.append(int(place >= 0 and _is_text(standing.context[place], said.text)))
    cuts = intake.cuts
    return {
        "said": places,
        "said_id": [s.id for s in intake.said],
        "said_text": texts,
        "said_counts": counts,
        "said_plain": plain,
        "cut_best": cuts.best,
        "cut_seen": cuts.seen.column(),
        "cut_sums": [cuts.all_whole, cuts.all_sizes, cuts.worst],
        "cut_again": [list(pair) for pair in cuts.again.items()],
        **{f"cut_{name}": getattr(cuts, name) for name in FLAT},
    }


def _said(columns: Columns, context: Sequence[Msg], count: CountCache) -> list[Said]:
    made: list[Said] = []
    new = object.__new__
    names = ("said", "said_id", "said_text", "said_counts", "said_plain")
    for row in zip(*[columns[n] for n in names], strict=True):
        if row[0] < 0:
            made.append(Said.model_validate(row[2]))
            continue
        said = new(_Later)
        own = vars(said)
        own["id"], own["whole"], own["edited"] = row[1], True, False
        own["_held"] = row, context, count
        made.append(said)
    return made


def _cuts(columns: Columns, said: Sequence[Said]) -> Cuts:
    cuts = Cuts()
    for name, kind in FLAT.items():
        column = f"cut_{name}"
        setattr(cuts, name, columns.ints(column) if kind == "q" else columns.floats(column))
    cuts.best, cuts.seen = columns["cut_best"], Keys(columns.ints("cut_seen"))
    cuts.all_whole, cuts.all_sizes, cuts.worst = columns["cut_sums"]
    cuts.said = list(said[1 : 1 + len(cuts.whole)])
    cuts.own = [None] * len(cuts.said)
    cuts.again = dict(columns["cut_again"])
    return cuts


# -- the rest ------------------------------------------------------------------------------------


def _intake(columns: Columns, context: Sequence[Msg], first: Ledger, count: CountCache) -> Intake:
    intake = Intake(first, count)
    intake.said = _said(columns, context, count)
    intake.cuts = _cuts(columns, intake.said)
    intake.items, intake.shapes = Holdings.load(columns), Keys(columns.ints("shapes"))
    intake.pins = [Pin.model_validate(p) for p in columns["pins"]]
    intake.lists = [TodoList.model_validate(n) for n in columns["lists"]]
    intake.files = {f["path"]: f for f in columns["files"]}
    intake.failed = [Failed.model_validate(f) for f in columns["failed"]]
    intake.skills = columns["skills"]
    intake.answers = [Answer(ref, tool, tuple(lines)) for ref, tool, lines in columns["answers"]]
    return intake
