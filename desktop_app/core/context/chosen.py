"""What a person's choices mean for a planned compaction: places that stay, leave, or are left out.

A choice that cannot be followed (an id that is not there, a live step that would be torn apart) is
told as (id, reason) and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from desktop_app.core.messages import AnyBlock, Msg, ToolResultBlock

from .atoms import Atom
from .build import slipway
from .draft import Draft
from .iterations import iterations
from .ledger import Ledger
from .ledger_text import all_items
from .masking import Mask
from .pricing import Pricer
from .types import Choices

LEFT_OUT = "[left out of the context by the person; the whole result is in {where}]"


def ids_of(block: AnyBlock) -> set[str]:
    """The names that a block answers to: its own and our operation's."""
    own = (block.model_extra or {}).get("op_id")
    names = {block.id} if getattr(block, "id", None) else set[str]()
    if isinstance(own, str):
        names.add(own)
    if isinstance(block, ToolResultBlock):
        ours = slipway(block.metadata).get("op_id")
        if isinstance(ours, str):
            names.add(ours)
    return names


@dataclass(slots=True)
class Chosen:
    """``stay`` and ``leave`` are places in the state's context; ``results`` are (message, block) of
    live results to leave out."""

    choices: Choices
    context: Sequence[Msg]
    stay: set[int] = field(default_factory=set[int])
    leave: set[int] = field(default_factory=set[int])
    results: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    rejected: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    @classmethod
    def of(cls, choices: Choices, context: Sequence[Msg], found: Sequence[Atom]) -> Chosen:
        """``found`` are the atoms of ``context``."""
        chosen = cls(choices, context)
        if not (choices.keep or choices.drop):
            return chosen
        open_places = {a.message for a in found if a.open}
        last = max((a.message for a in found if a.person), default=None)
        for place, msg in enumerate(context):
            names = {msg.id}.union(*(ids_of(b) for b in msg.content))
            if names & choices.keep:
                chosen.stay.add(place)
            if msg.id in choices.drop:
                if place in open_places or place == last or place == len(context) - 1:
                    chosen.rejected.append((msg.id, "live"))
                else:
                    chosen.leave.add(place)
            for at, block in enumerate(msg.content):
                if isinstance(block, ToolResultBlock) and ids_of(block) & choices.drop:
                    chosen.results.append((place, at))
        chosen.leave -= chosen.stay
        return chosen

    def stays(self, block: AnyBlock) -> bool:
        """Whether a result must stay as it is."""
        return bool(ids_of(block) & self.choices.keep)

    def decided(self, block: AnyBlock) -> bool:
        """Whether the person said something about a result."""
        return bool(ids_of(block) & (self.choices.keep | self.choices.drop))

    def masks(self, where: str, draft: Draft, pricer: Pricer) -> list[Mask]:
        """Masks of live results that the person left out."""
        text = LEFT_OUT.format(where=where)
        found: list[Mask] = []
        for place, at in self.results:
            block = self.context[place].content[at]
            if isinstance(block, ToolResultBlock) and block.text() != text:
                freed = pricer.texts.count(block.text()) - pricer.texts.count(text)
                mask = Mask(place, at, text, block, freed)
                if not draft.leaves(mask):
                    found.append(mask)
        return found

    def absorbed(self, covered: Sequence[Msg]) -> list[Msg]:
        """What of the messages that leave enters the ledger: not what the person left out."""
        drop = self.choices.drop
        if not drop:
            return list(covered)
        kept: list[Msg] = []
        for msg in covered:
            if msg.id in drop:
                continue
            if msg.role == "assistant":
                blocks: list[AnyBlock] = []
                for step in iterations(msg.content):
                    own = msg.content[step.start : step.end]
                    if own and not ids_of(own[0]) & drop:
                        blocks += [b for b in own if not ids_of(b) & drop]
                msg = msg.model_copy(update={"content": blocks})
            kept.append(msg)
        return kept

    def change(self, ledger: Ledger) -> list[tuple[str, str]]:
        """Put edits and omissions of items into the ledger; what could not be done."""
        if not (self.choices.drop or self.choices.edits):
            return []
        known = {i.id: i for i in all_items(ledger)}
        ledger.hidden += [
            n for n in sorted(self.choices.drop) if n in known and n not in ledger.hidden
        ]
        rejected: list[tuple[str, str]] = []
        for name, text in self.choices.edits.items():
            if not text.strip():
                rejected.append((name, "empty"))
            elif not _edit(ledger, name, text):
                rejected.append((name, "not_editable" if name in known else "unknown_item"))
        return rejected


def _edit(ledger: Ledger, name: str, text: str) -> bool:
    for place, said in enumerate(ledger.said):
        if ledger.said_id(place) == name:
            ledger.said[place] = said.model_copy(update={"text": text, "edited": True})
            return True
    for place, item in enumerate(ledger.items):
        if item.id == name:
            changed = item._replace(text=text, origin="human_edit")
            ledger.items = [*ledger.items[:place], changed, *ledger.items[place + 1 :]]
            return True
    for place, pin in enumerate(ledger.pins):
        if pin.id == name:
            ledger.pins[place] = pin.model_copy(update={"text": text, "edited": True})
            return True
    return False
