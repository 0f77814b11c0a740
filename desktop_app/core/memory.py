"""The collector's policy: nothing that start-up made is ever looked at again, and full passes
happen while nobody waits.

A full pass over a window's objects takes tens of milliseconds, longer than a frame, so it must not
come in the middle of a stream. Young generations stay as they are: they cost microseconds.
"""

from __future__ import annotations

import gc

YOUNG = 2_000  # allocations before a young pass
MIDDLE = 20  # young passes before a middle one
NEVER = 1_000_000  # middle passes before a full one: idle() makes those
GROWN = 50_000  # allocations, about, since the last full pass that make an idle one worth it


def starting() -> None:
    """No pass while the program starts: nearly everything that start-up makes stays, and looking
    at it 200 times is a twentieth of the time. ``settle`` takes up collecting again."""
    gc.disable()


class Collector:
    """``settle`` once after start-up, ``idle`` whenever nothing has happened for a while."""

    def __init__(self) -> None:
        self._settled = False

    def settle(self) -> None:
        """Collect once, freeze what is left, and leave full passes to ``idle``."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG, MIDDLE, NEVER)
        gc.enable()
        self._settled = True

    def idle(self) -> bool:
        """Make a full pass when enough has piled up; whether it did. Counting the passes since
        the last one costs nothing, counting the objects would cost milliseconds each time."""
        young, middle, full = gc.get_count()
        grown = young + YOUNG * (middle + (MIDDLE + 1) * full)
        if not self._settled or grown < GROWN:
            return False
        gc.collect()
        return True

    def release(self) -> None:
        """Back to Python's own policy, for tests."""
        gc.unfreeze()
        gc.set_threshold(700, 10, 10)
        self._settled = False
