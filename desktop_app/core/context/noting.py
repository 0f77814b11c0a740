"""Put what a model proved into a ledger. Items are added, never rewritten."""

from __future__ import annotations

from .delta import Delta
from .intake import Intake
from .ledger import Ledger, Note
from .reading import Rule
from .rules import modality

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
        known = any(intake.items.at(n).text == proven.text for n in intake.items.rules)
        if not known and rules < MOST_RULES:
            rules += 1
            rule = Rule(proven.text, False, modality(proven.text))
            intake.set_rule(name, rule, proven.evidence)
    ledger.hold(intake.items)
    if delta.narrative:
        ledger.notes.append(Note(gen=ledger.gen, text=delta.narrative))
