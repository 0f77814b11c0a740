"""In which order the parts of a compacted context give way when it is too long."""

from __future__ import annotations

from dataclasses import dataclass

# What gives way, in this order, when the ledger is too long: narratives, lines of results and the
# names of files that were only read; facts and old decisions (by as much as is needed); the list of
# files; the newest steps; then the person's older messages by reference. Shares of W: said, notes,
# seen; then of the files, how many are listed one by one.
LEVELS = (
    (0.15, 0.04, 0.04, 1.0),
    (0.15, 0.0, 0.02, 1.0),
    (0.15, 0.0, 0.0, 0.6),
    (0.15, 0.0, 0.0, 0.2),
    (0.08, 0.0, 0.0, 0.0),
    (0.02, 0.0, 0.0, 0.0),
)
SAID_LESS = 4  # the first level at which the person's words give way
_PARTS = ("notes", "lines of results"), ("files",), ("messages",)


@dataclass(slots=True)
class Way:
    """Raw tokens that the newest steps (``keep``) and decisions and facts (``most``) may have, at
    a level of giving way. ``least`` and ``floor`` are what they have before other things give."""

    keep: float
    least: float
    most: float
    floor: float
    target: float
    level: int = 0

    def less(self, over: float, kept: float, used: float) -> bool:
        """Take away ``over`` tokens, when the steps kept so many and decisions and facts used so
        many; False when nothing gives way any more."""
        if self.keep > self.least:
            self.keep = max(self.least, min(self.keep, kept) - over)
        elif self.level == 0:
            self.level = 1
        elif used > self.floor and self.most > self.floor:
            self.most = max(self.floor, min(self.most, used) - over)
        elif self.level + 1 < SAID_LESS:
            self.level += 1
        elif self.keep > 0:
            small = self.keep < 0.02 * self.target
            self.keep = 0.0 if small else max(0.0, self.keep - max(over, 1))
        elif self.level + 1 < len(LEVELS):
            self.level, self.most = self.level + 1, 0.0
        else:
            return False
        return True


def gone_at(level: int, *, found: bool) -> list[str]:
    """The parts that have given way at a level, decisions and facts too when some were ``found``
    to have no room."""
    gone = [*_PARTS[0]] if level else []
    gone += ["facts", "decisions"] if found else []
    gone += _PARTS[1] if level > 1 else ()
    gone += _PARTS[2] if level >= SAID_LESS else ()
    return gone
