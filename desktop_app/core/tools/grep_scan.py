"""Searching decoded text line by line, in pieces, in bounded memory and bounded looks."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from .grep_wanted import LINE_CHARS, Hit, Wanted, cut
from .linear import Linear, Paced
from .walk import Budget

LONG = 1 << 18  # characters of one line after which it is searched while it still arrives
OVERLAP = 1_024  # characters that two looks at one line share: a longer match may be missed there
# Anchors of a whole text mean something else for a line than for a stretch of many lines.
_WHOLE = re.compile(r"\\[Az]")


class Matcher:
    """The expression of a search, paced. For a look at the middle of a line there are forms that
    need a character on either side, so that ``^``, ``$`` and ``\\b`` see no border there."""

    def __init__(self, wanted: Wanted, budget: Budget) -> None:
        self._budget = budget
        self._expression = wanted.expression(crlf=True)
        self.whole = Linear(self._expression)
        self.quick = not _WHOLE.search(wanted.pattern)  # a stretch of lines may be asked at once
        self._forms: dict[tuple[bool, bool], Linear] = {(False, False): self.whole}
        self.pace = Paced()

    def lines(self, stretch: str) -> bool:
        """Whether any line of a stretch may match."""
        return not self.quick or self.pace.matches(self.whole, stretch)

    def line(self, line: str, *, before: bool = False, after: bool = False) -> bool:
        """Whether a line matches; ``before`` and ``after``: more of it is on that side."""
        if len(line) <= max(self.pace.size, 2 * OVERLAP):
            return self._look(line, before, after)
        at = 0
        while at < len(line):
            end = min(len(line), at + self.pace.size + OVERLAP)
            if self._look(line[at:end], before or at > 0, after or end < len(line)):
                return True
            if end == len(line) or self._budget.spent():
                break
            at = end - OVERLAP
        return False

    def _look(self, text: str, before: bool, after: bool) -> bool:
        return self.pace.matches(self._form(before, after), text)

    def followed(self) -> Linear:
        """The expression where something comes after its match."""
        return self._form(False, True)

    def _form(self, before: bool, after: bool) -> Linear:
        form = self._forms.get((before, after))
        if form is None:
            left = r"\A(?s:.+?)" if before else ""
            right = r"(?s:.)" if after else ""
            form = self._forms[before, after] = Linear(f"{left}(?:{self._expression}){right}")
        return form


@dataclass(slots=True)
class Scanner:
    """Feed text, get hits. ``path`` is put into the hits."""

    path: str
    wanted: Wanted
    matcher: Matcher
    budget: Budget
    number: int = 0  # lines finished
    _tail: str = ""
    _long_head: str = ""
    _long_size: int = 0  # characters of the line under way that are gone
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
        self._tail = text[end:] + held
        hits: list[Hit] = []
        start = 0
        while start < end and not self._enough(hits):
            size = self.matcher.pace.size
            stop = text.rfind("\n", start, start + size) + 1 or text.find("\n", start) + 1
            hits.extend(self._body(text[start:stop]))
            start = stop
        if last and (self._tail or self._long_size) and not self._enough(hits):
            hits.extend(self._line(self._tail))
            self._tail = ""
        elif len(self._tail) > LONG:
            self._stretch()
        return hits

    def _enough(self, hits: list[Hit]) -> bool:
        return (bool(hits) and self.wanted.names_only) or self.budget.spent()

    def _body(self, body: str) -> list[Hit]:
        """Whole lines. A stretch without any match is passed over at once."""
        short = body.find("\n") != len(body) - 1 or len(body) <= self.matcher.pace.size
        if not self._long_size and not self._after and short and not self.matcher.lines(body):
            self._pass(body)
            return []
        hits: list[Hit] = []
        for line in body.split("\n")[:-1]:
            hits.extend(self._line(line))
            if self._enough(hits):
                break
        return hits

    def _pass(self, body: str) -> None:
        if self.wanted.before:
            lines = body.split("\n")[:-1]
            start = self.number + len(lines) + 1
            newest = lines[-self.wanted.before :]
            self._before.extend(
                (start - len(newest) + i, cut(line)) for i, line in enumerate(newest)
            )
        self.number += body.count("\n")

    def _line(self, line: str) -> list[Hit]:
        self.number += 1
        shown = cut(line)
        if self._long_size:
            match = self._long_match or self.matcher.line(line, before=True)
            size = self._long_size + len(line)
            shown = f"{self._long_head} [cut here: {size:,} characters]"
            self._long_size, self._long_head, self._long_match = 0, "", False
        else:
            match = self.matcher.line(line)
        if match:
            hits = [Hit(self.path, n, text, False) for n, text in self._before]
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
        before = bool(self._long_size)
        if not before:
            self._long_head = self._tail[:LINE_CHARS]
        if not self._long_match:
            self._long_match = self.matcher.line(self._tail, before=before, after=True)
        self._long_size += len(self._tail) - OVERLAP
        self._tail = self._tail[-OVERLAP:]
