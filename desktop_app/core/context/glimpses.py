"""Lines of tool results that stood out, kept as data when their results leave the context.

Rare lines only (``core.tools.digest``), the newest results first. A line that reads like a rule or
an order, poses as a message, or holds a secret is never taken: it would outlive what it stood in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from desktop_app.core.messages import WireModel
from desktop_app.core.tools.digest import digest

from .entities import entities
from .findings import poses
from .redact import redact
from .rules import orders

RESULTS = 80  # newest ones looked at
LINES = 2  # of one result
LONGEST = 200  # characters of one line
LOOK_AT = 200_000  # characters of one result
ALIKE = 2  # lines that differ in their numbers only
SMALL = 160  # characters: such a result is its own line
_ORDERS = re.compile(
    r"\b(?:you (?:must|should|need to|have to)|instructions?|system[- ]?(?:reminder|prompt)"
    r"|the user|before every|upload|curl\b|wget\b|mail all|send (?:all|the|every))\b"
    r"|用户(?:要求|说)",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_OURS = re.compile(  # of ``core.tools.bounds``
    r"^\s*(?:\[?… [\d,]+ |\[(?:…|structure of [\d,]+ bytes|rare or telling lines)|\[ [\d,]+ items$)"
)
_NUMBERED = re.compile(r"^\s*\d+(?:: |\t|→)")


class Glimpse(WireModel):
    ref: str  # the call
    about: str
    text: str


def is_data(line: str) -> bool:
    """Whether a line of a tool's output may be carried on: no rule, no order, no posing."""
    return not (orders(line) or poses(line) or _ORDERS.search(line))


def size_of_line(line: Glimpse, count: Callable[[str], float]) -> float:
    """Tokens of one in the prompt."""
    return count(line.text) + 8


def newest_lines(
    lines: Sequence[Glimpse], room: float, count: Callable[[str], float]
) -> tuple[list[Glimpse], list[Glimpse]]:
    """The older of ``lines``, and the newest that fit ``room`` tokens."""
    at = len(lines)
    while at and (room := room - size_of_line(lines[at - 1], count)) >= 0:
        at -= 1
    return list(lines[:at]), list(lines[at:])


class Answer(NamedTuple):
    """What stood out (``telling``) in the answer to the call ``ref`` of a tool."""

    ref: str
    tool: str
    lines: tuple[str, ...]


def glimpses(answers: Sequence[Answer], known: set[str]) -> list[Glimpse]:
    """The telling lines of the newest results, oldest first."""
    found: list[Glimpse] = []
    kinds = Counter(_DIGITS.sub("#", line) for line in known)
    for answer in reversed(answers[-RESULTS:]):
        for line in reversed(answer.lines):
            kind = _DIGITS.sub("#", line)
            kinds[kind] += 1
            if kinds[kind] <= ALIKE:
                found.append(Glimpse(ref=answer.ref, about=answer.tool, text=line))
    return found[::-1]


def telling(text: str, known: str) -> tuple[str, ...]:
    """The lines of a result that stand out, at most ``LINES``: those that say something exact that
    the call (``known``) did not."""
    text = text[:LOOK_AT]
    if len(text) <= SMALL:
        candidates = [text.strip()] if "\n" not in text.strip() else text.strip().split("\n")
    else:
        if text[:1] in "[{" and text.count("\n") < 3:
            text = text.strip("[]").replace("}, {", "}\n{").replace("},{", "}\n{")
        data = text.encode("utf-8", "replace")
        last = text.count("\n") + 1
        candidates = [line for _, line in sorted(digest(data, 2 * LINES, 0, last))]
    kept: list[str] = []
    for line in candidates:
        line = _NUMBERED.sub("", line).strip()
        if not 8 <= len(line) <= LONGEST or _OURS.match(line):
            continue
        new = any(word not in known for word in entities(line))
        if new and is_data(line) and redact(line) == line:
            kept.append(line)
    return tuple(kept[:LINES])
