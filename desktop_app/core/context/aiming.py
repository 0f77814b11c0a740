"""Where a compaction is likely to cut, by sums alone: so far the past is read ahead of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .foresight import Foresight
from .ledger import FILES, Ledger, Room
from .levels import LEVELS
from .standing import Standing

if TYPE_CHECKING:
    from .accounting import Accounting

KEEP = 0.25  # of W: the newest steps stay in this, counting the conversation alone
KEEP_LEAST = 0.08  # of W: before they get less, what gives way in the ledger does
FOUND = 0.35  # of W: decisions and facts, where there is room for them


def room_of(account: Accounting, level: int, found: float) -> Room:
    """What a ledger may take at a level of giving way, in raw tokens."""
    said, notes, seen, files = LEVELS[level]
    shown = max(8, min(FILES, account.limits.usable // 400))
    return Room(
        said=account.of_w(said),
        found=found,
        notes=account.of_w(notes),
        seen=account.of_w(seen),
        shown=round(files * shown),
        read=level == 0,
    )


class Aim:
    """Of one account."""

    def __init__(self, account: Accounting) -> None:
        self._account = account
        self._known: tuple[Ledger, Foresight] | None = None  # of the ledger that was there before

    def leaves(self, standing: Standing, ledger: Ledger) -> int:
        """How many of the oldest atoms leave, after a compaction that left ``ledger``."""
        account = self._account
        if self._known is None or self._known[0] is not ledger:
            texts = account.pricer.texts
            self._known = ledger, Foresight.of(standing, ledger, texts)
        foresight = self._known[1]
        foresight.standing = standing
        target = account.raw(account.limits.mark(account.limits.target))
        room = room_of(account, 0, account.of_w(FOUND))
        free = target - account.pricer.known()
        return foresight.leaves(account.of_w(KEEP), account.of_w(KEEP_LEAST), free, room)
