"""Searching for what may span lines, with an engine that only says whether a text matches."""

from __future__ import annotations

from .grep_scan import Matcher
from .grep_wanted import Hit, Wanted, cut
from .linear import SMALLEST
from .walk import Budget

MAX_SPANS = 2_000


class _TooDear(Exception):
    """The next look would hold everything up."""


class _Finder:
    """Ends of matches by doubling and halving over whole lines."""

    def __init__(self, text: str, matcher: Matcher, budget: Budget) -> None:
        self.text, self._matcher, self._budget = text, matcher, budget
        # An expression that may match nothing would also do so behind the last line.
        self._nothing = matcher.whole.matches("")
        self._engine = matcher.followed() if self._nothing else matcher.whole
        self.starts = [0]
        at = text.find("\n")
        while at >= 0:
            self.starts.append(at + 1)
            at = text.find("\n", at + 1)
        if self.starts[-1] < len(text):
            self.starts.append(len(text))
        self.lines = len(self.starts) - 1

    def _matches(self, first: int, end: int) -> bool:
        low, high = self.starts[first], self.starts[end]
        pace = self._matcher.pace
        if high - low > 16 * SMALLEST:  # find out what it costs before the long look
            pace.matches(self._engine, self.text[low : low + SMALLEST])
        if pace.too_dear(high - low):
            self._budget.stopped = "pattern"
        if self._budget.spent():
            raise _TooDear
        part = self.text[low:high]
        if self._nothing and not part.endswith("\n"):
            part += "\n"
        return pace.matches(self._engine, part)

    def next(self, pos: int) -> tuple[int, int] | None:
        """(first line, line after the last) of the fewest lines that hold the first match to be
        complete at or after ``pos``. The cost is that of the distance."""
        size = 1
        while not self._matches(pos, min(self.lines, pos + size)):
            if pos + size >= self.lines:
                return None
            size *= 2
        low, high = pos + 1, min(self.lines, pos + size)
        while low < high:
            middle = (low + high) // 2
            if self._matches(pos, middle):
                high = middle
            else:
                low = middle + 1
        end = low
        low, high = pos, end - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self._matches(middle, end):
                low = middle
            else:
                high = middle - 1
        return low, end


def across(path: str, text: str, wanted: Wanted, matcher: Matcher, budget: Budget) -> list[Hit]:
    """Hits of an expression that may span lines: for each match, from the top, the fewest whole
    lines that hold it. Ends early, with what was found, when the budget or the pattern says so."""
    finder = _Finder(text.replace("\r\n", "\n"), matcher, budget)
    matched: list[int] = []
    pos = spans = 0
    try:
        while pos < finder.lines and spans < MAX_SPANS:
            found = finder.next(pos)
            if found is None:
                break
            matched.extend(range(*found))
            pos, spans = found[1], spans + 1
            if wanted.names_only:
                break
    except _TooDear:
        pass
    return _with_context(path, finder, matched, wanted)


def _with_context(path: str, finder: _Finder, matched: list[int], wanted: Wanted) -> list[Hit]:
    hits = set(matched)
    shown = {
        n
        for m in matched
        for n in range(max(0, m - wanted.before), min(finder.lines, m + wanted.after + 1))
    }
    text, starts = finder.text, finder.starts
    return [
        Hit(path, n + 1, cut(text[starts[n] : starts[n + 1]]), n in hits) for n in sorted(shown)
    ]
