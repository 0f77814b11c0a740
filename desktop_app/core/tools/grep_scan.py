"""Searching decoded text line by line, in pieces and bounded memory; and across lines."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from .grep_wanted import LINE_CHARS, Hit, Wanted, cut
from .linear import Linear

LONG = 1 << 20  # characters of one line after which it is searched in overlapping pieces
OVERLAP = 4_096
MAX_SPANS = 2_000
# Anchors of a whole text mean something else for a line than for a piece of many lines.
_WHOLE = re.compile(r"\\[Az]")


@dataclass(slots=True)
class Scanner:
    """Feed text, get hits. ``path`` is put into the hits."""

    path: str
    wanted: Wanted
    engine: Linear
    number: int = 0  # lines finished
    _tail: str = ""
    _long_head: str = ""
    _long_size: int = 0
    _long_match: bool = False
    _after: int = 0
    _before: deque[tuple[int, str]] = field(default_factory=deque[tuple[int, str]])

    def __post_init__(self) -> None:
        self._before = deque(maxlen=self.wanted.before)

    def feed(self, text: str, *, last: bool = False) -> list[Hit]:
        """Search the next piece; ``last`` for the end of the file."""
        held = ""
        if text.endswith("\r") and not last:
            text, held = text[:-1], "\r"
        text = self._tail + text
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        end = text.rfind("\n") + 1
        body, self._tail = text[:end], text[end:] + held
        hits = self._body(body) if body else []
        if last and (self._tail or self._long_size):
            hits.extend(self._line(self._tail))
            self._tail = ""
        elif len(self._tail) > LONG:
            self._stretch()
        return hits

    def _body(self, body: str) -> list[Hit]:
        """Whole lines. A piece without any match is passed over at once."""
        quiet = not self._long_size and not self._after and not _WHOLE.search(self.engine.pattern)
        if quiet and not self.engine.matches(body):
            if self.wanted.before:
                kept = body.split("\n")[:-1]
                start = self.number + len(kept)
                newest = kept[-self.wanted.before :]
                for i, line in enumerate(newest):
                    self._before.append((start - len(newest) + i + 1, line))
            self.number += body.count("\n")
            return []
        hits: list[Hit] = []
        for line in body.split("\n")[:-1]:
            hits.extend(self._line(line))
            if hits and self.wanted.names_only:
                break
        return hits

    def _line(self, line: str) -> list[Hit]:
        self.number += 1
        match = self.engine.matches(line)
        shown = cut(line) if len(line) > LINE_CHARS else line
        if self._long_size:
            match = match or self._long_match
            size = self._long_size + len(line)
            shown = f"{self._long_head} [cut here: {size:,} characters]"
            self._long_size, self._long_head, self._long_match = 0, "", False
        if match:
            hits = [Hit(self.path, n, cut(text), False) for n, text in self._before]
            self._before.clear()
            self._after = self.wanted.after
            hits.append(Hit(self.path, self.number, shown, True))
            return hits
        if self._after:
            self._after -= 1
            return [Hit(self.path, self.number, shown, False)]
        if self.wanted.before:
            self._before.append((self.number, shown))
        return []

    def _stretch(self) -> None:
        """A very long line: search what is there, keep its start and an overlap."""
        if not self._long_size:
            self._long_head = self._tail[:LINE_CHARS]
        self._long_match = self._long_match or self.engine.matches(self._tail)
        self._long_size += len(self._tail) - OVERLAP
        self._tail = self._tail[-OVERLAP:]


def across(path: str, text: str, wanted: Wanted, engine: Linear) -> list[Hit]:
    """Hits of an expression that may span lines: for each match, found from the top, the fewest
    whole lines that hold it. The engine says only whether a stretch matches, so its ends are found
    by halving."""
    text = text.replace("\r\n", "\n")
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    if starts[-1] < len(text):
        starts.append(len(text))
    lines = len(starts) - 1
    matched: list[int] = []
    pos = spans = 0
    while pos < lines and spans < MAX_SPANS:
        if not engine.matches(text[starts[pos] :]):
            break
        low, high = pos + 1, lines  # the fewest lines from pos that hold a match
        while low < high:
            middle = (low + high) // 2
            if engine.matches(text[starts[pos] : starts[middle]]):
                high = middle
            else:
                low = middle + 1
        end = low
        low, high = pos, end - 1  # the last line from which it still does
        while low < high:
            middle = (low + high + 1) // 2
            if engine.matches(text[starts[middle] : starts[end]]):
                low = middle
            else:
                high = middle - 1
        matched.extend(range(low, end))
        pos, spans = end, spans + 1
        if wanted.names_only:
            break
    return _with_context(path, text, starts, matched, wanted)


def _with_context(
    path: str, text: str, starts: list[int], matched: list[int], wanted: Wanted
) -> list[Hit]:
    lines, hits = len(starts) - 1, set(matched)
    shown = {
        n
        for m in matched
        for n in range(max(0, m - wanted.before), min(lines, m + wanted.after + 1))
    }
    return [
        Hit(path, n + 1, cut(text[starts[n] : starts[n + 1]]), n in hits) for n in sorted(shown)
    ]
