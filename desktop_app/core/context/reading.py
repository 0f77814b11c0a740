"""What a message of the person or a step of a reply tells the ledger, read once.

All of it follows from the blocks alone, which never change once they are there: so it is read when
they come, and a compaction only puts together what was read. What may change later (a pin) is not
in it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from desktop_app.core.messages import (
    DataBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)

from .artifacts import Action, touched
from .findings import changes, findings, shape
from .glimpses import Answer, is_data, telling
from .iterations import Iteration, iterations
from .pieces import Said, key_of
from .redact import redact
from .rules import modality, rules_in, takes_back
from .todos import Change, boxes_of, change_of, is_list
from .types import Evidence, ItemKind, LedgerItem, Modality, Origin

UNKNOWN = "tool.outcome_unknown"  # what recovery notes at a call without an end
_ABOUT = ("file_path", "path", "command", "pattern", "url", "query", "skill", "target")


class Rule(NamedTuple):
    """A sentence that sets a rule, or (``back``) takes one back."""

    text: str
    back: bool
    modality: Modality


@dataclass(frozen=True, slots=True)
class Words:
    """A message of the person; ``text`` names what it has beside words."""

    text: str
    rules: tuple[Rule, ...]
    said: Said


@dataclass(frozen=True, slots=True)
class Found:
    """A decision or a fact as the ledger takes it in. ``key`` is equal of two that say the
    same; ``changes`` whether it tells that something is used no more."""

    item: LedgerItem
    key: int
    changes: bool


@dataclass(frozen=True, slots=True)
class Told:
    """A text of a step: the list that stands in it, and what it found."""

    block: TextBlock
    boxes: Change | None
    found: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class Called:
    """A call and its result. ``what`` names it, ``why`` it failed; ``answer`` is what stood
    out in it, None for one that failed and for lists."""

    call: ToolCallBlock
    result: ToolResultBlock
    what: str
    why: str
    change: Change | None
    files: tuple[tuple[str, Action], ...]
    skill: str
    answer: Answer | None


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a reply: its texts, its calls that have a result, and all that was found."""

    texts: tuple[Told, ...]
    calls: tuple[Called, ...]
    found: tuple[Found, ...]
    lists: bool  # whether some text has a list in it

    @property
    def changing(self) -> bool:
        """Whether it does something to lists."""
        return self.lists or any(c.change is not None for c in self.calls)

    def changes(self, name: str) -> list[tuple[Change, str]]:
        """What it does to lists, in order, each with what it was seen in; ``name`` is the id of
        its message."""
        found = [(t.boxes, name) for t in self.texts if t.boxes is not None]
        return [*found, *((c.change, c.call.id) for c in self.calls if c.change is not None)]


def read_words(msg: Msg) -> Words | None:
    """A message of the person; None when nothing is in it."""
    data = [b for b in msg.content if isinstance(b, DataBlock)]
    names = [f"[{b.name or b.source.media_type}]" for b in data]
    text = "\n".join(t for t in (msg.text(), " ".join(names)) if t)
    if not text.strip():
        return None
    found = rules_in(text)
    rules = tuple(Rule(r, takes_back(r), modality(r)) for r in found)
    return Words(text, rules, Said(id=msg.id, text=text))


def read_step(msg: Msg, step: Iteration) -> Step:
    """A step of the reply ``msg``."""
    called = [c.input for c in step.calls]
    texts = [_told(msg, b, called) for b in step.head if isinstance(b, TextBlock)]
    calls = [
        _called(call, result)
        for call, result in zip(step.calls, step.results, strict=True)
        if result is not None
    ]
    found = tuple(f for told in texts for f in told.found)
    return Step(tuple(texts), tuple(calls), found, any(t.boxes is not None for t in texts))


def list_changes(msg: Msg) -> list[tuple[Change, str]]:
    """What a reply does to lists, as ``Step.changes`` of its steps, and nothing else read."""
    found: list[tuple[Change, str]] = []
    for step in iterations(msg.content):
        texts = (boxes_of(b.text) for b in step.head if isinstance(b, TextBlock))
        found += [(change, msg.id) for change in texts if change is not None]
        for call, result in zip(step.calls, step.results, strict=True):
            if result is not None and result.state == "success":
                change = change_of(call.name, arguments_of(call), result.text()[:400])
                if change is not None:
                    found.append((change, call.id))
    return found


def item_of(
    kind: ItemKind, name: str, text: str, evidence: Evidence, *, by_model: bool = False
) -> Found:
    """A decision or a fact; a model's closes nothing."""
    origin: Origin = "summariser" if by_model else "assistant"
    item = LedgerItem(name, kind, text, origin=origin, evidence=(evidence,))
    return Found(item, key_of(shape(text)), kind == "decision" and not by_model and changes(text))


def _told(msg: Msg, block: TextBlock, called: list[str]) -> Told:
    found = findings(block.text, called, last=not called)
    made = [
        item_of(f.kind, f"{f.kind}-{block.id}-{n}", f.text, Evidence(ref=msg.id, quote=f.quote))
        for n, f in enumerate(found)
    ]
    return Told(block, boxes_of(block.text), tuple(made))


def _called(call: ToolCallBlock, result: ToolResultBlock) -> Called:
    arguments = arguments_of(call)
    about = next((str(arguments[k]) for k in _ABOUT if isinstance(arguments.get(k), str)), "")
    what, answer = redact(f"{call.name} {about[:120]}".strip()), result.text()
    if result.state != "success":
        why = _why(answer, result) if result.state == "error" else ""
        return Called(call, result, what, why, None, (), "", None)
    skill = str(arguments.get("skill", "")) if call.name == "Skill" else ""
    change = change_of(call.name, arguments, answer[:400])
    files = tuple(touched(call.name, arguments))
    told = None if is_list(call.name) else Answer(call.id, call.name, telling(answer, call.input))
    return Called(call, result, what, "", change, files, skill, told)


def _why(text: str, result: ToolResultBlock) -> str:
    """The first line of an error that tells something and poses as nothing. Of a call that a kill
    cut short the program's own words say it, which are no text of a tool."""
    ours = result.metadata.get("slipway")
    if isinstance(ours, dict) and cast("dict[str, Any]", ours).get("code") == UNKNOWN:
        return "its outcome is unknown; look before it is done again"
    for line in text.splitlines()[:40]:
        line = line.strip()
        if len(line) > 3 and is_data(line):
            return redact(line[:160])
    return ""


def arguments_of(call: ToolCallBlock) -> dict[str, Any]:
    """A call's arguments; empty when they are no JSON object."""
    try:
        value = json.loads(call.input)
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
