"""Put what a model proved into a ledger. Items are added, never rewritten."""

from __future__ import annotations

from .delta import Delta
from .intake import Intake
from .ledger import Ledger, Note
from .rules import modality
from .types import LedgerItem

MOST_RULES = 20  # of one answer: a model that calls everything a rule gives none weight


def add_notes(ledger: Ledger, delta: Delta) -> None:
    """Add the items of ``delta`` and its narrative. What stands in the ledger already is left out;
    rules are the person's own sentences and count as theirs."""
    rules, intake = 0, Intake(ledger, len)
    for number, proven in enumerate(delta.items):
        name = f"{proven.kind}-g{ledger.gen}-{number}"
        if proven.kind != "constraint":
            intake.note(proven.kind, name, proven.text, proven.evidence)
            continue
        known = any(i.kind == "constraint" and i.text == proven.text for i in intake.items)
        if not known and rules < MOST_RULES:
            rules += 1
            item = LedgerItem(id=name, kind="constraint", text=proven.text)
            item.origin, item.modality = "user", modality(proven.text)
            item.evidence = [proven.evidence]
            intake.items.append(item)
    ledger.items = intake.items
    if delta.narrative:
        ledger.notes.append(Note(gen=ledger.gen, text=delta.narrative))
