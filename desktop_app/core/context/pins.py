"""Pins on what has left the context: the words come back at once, and leave it as simply.

A pin on a live message is a mark beside its text. What left is in the ledger or the journal only:
its pin is noted under ``later``, stands in the tail of the prompt (so that nothing before it
changes), and enters or leaves the pinned block at the next compaction.
"""

from __future__ import annotations

from typing import Any, cast

from desktop_app.core.state import AgentState

from .applying import with_part
from .build import compaction_part
from .ledger import Ledger, Pin
from .pieces import Said


def pin_left(state: AgentState, ref: str, pinned: bool, *, text: str, who: str) -> AgentState:
    """The state with a pin set or taken back on something that left. ``text`` is its whole text
    (unused when a pin is taken back), ``who`` wrote it: user, assistant or a tool's name."""
    part = compaction_part(state)
    later = [e for e in _later(part) if e.get("id") != ref]
    known = any(p.get("id") == ref for p in cast(list[dict[str, Any]], part.get("pins", [])))
    if pinned and not known:
        later.append({"id": ref, "on": True, "text": text, "who": who})
    elif not pinned and known:
        later.append({"id": ref, "on": False})
    return state.model_copy(update={"middle_context": with_part(state, {**part, "later": later})})


def _later(part: dict[str, Any]) -> list[dict[str, Any]]:
    return list(cast(list[dict[str, Any]], part.get("later", [])))


def settle(ledger: Ledger) -> None:
    """Take the pins of ``later`` into the ledger. A message of the person that is not pinned any
    more goes back among their words."""
    for entry in ledger.later:
        name = str(entry.get("id", ""))
        gone = [p for p in ledger.pins if p.id == name]
        ledger.pins = [p for p in ledger.pins if p.id != name]
        if entry.get("on"):
            who, text = str(entry.get("who", "user")), str(entry.get("text", ""))
            ledger.pins.append(Pin(id=name, who=who, text=text))
        for pin in gone:
            if not entry.get("on") and pin.who == "user":
                at = max(0, len(ledger.said) - 1)
                ledger.said.insert(at, Said(id=pin.id, text=pin.text))
    ledger.later = []
