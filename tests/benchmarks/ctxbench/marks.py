"""How a reader tells whether something stands in a text, and whether a task there is still open.

Plain rules over text, the same for every system and for the scripted summarisers.
"""

from __future__ import annotations

import re

from .events import Probe

NEAR = 200  # characters around a key in which its value must stand
_OPEN = ("pending", "in_progress", "todo", "open")
_CLOSED = ("completed", "done")
_AFTER = re.compile(r'"\s*,\s*"status"\s*:\s*"(\w+)"')
_BEFORE = re.compile(r"\[([ x]|\w+)\]|\b(pending|in_progress|completed|done)\b")


def places(text: str, key: str) -> list[int]:
    """Where ``key`` stands."""
    found: list[int] = []
    at = text.find(key)
    while at >= 0:
        found.append(at)
        at = text.find(key, at + len(key))
    return found


def near(text: str, key: str, value: str) -> bool:
    """Whether ``value`` stands near some ``key``."""
    return any(value in text[max(0, at - NEAR) : at + len(key) + NEAR] for at in places(text, key))


def stands(text: str, probe: Probe) -> bool:
    """Whether the probe is there in a form that still says what it said: rules, the task and odd
    spellings word for word, values with their names, the rest by name."""
    if probe.kind in ("task", "constraint", "unicode"):
        return probe.text in text
    if probe.value:
        return near(text, probe.key, probe.value)
    return probe.key in text


def task_state(text: str, key: str) -> bool | None:
    """What the last mention of a task says: True open, False finished, None when there is none. A
    mention that says neither counts as open."""
    found = places(text, f"handle {key}") or places(text, key)
    if not found:
        return None
    at = found[-1]
    name = len(f"handle {key}") if text.startswith("handle ", at) else len(key)
    if after := _AFTER.match(text, at + name):
        return after.group(1) not in _CLOSED
    line = text[max(text.rfind("\n", 0, at), at - 60) + 1 : at]
    marks = [m.group(1) or m.group(2) for m in _BEFORE.finditer(line)]
    return not marks or marks[-1] not in ("x", *_CLOSED)
