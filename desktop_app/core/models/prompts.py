"""Prompts that the models process still has: of a prompt that grew, only the end is sent.

Both sides keep the messages of the last ``SLOTS`` prompts and change them at the same places of
the same stream of frames, so the program knows what the process has without asking. A prompt
builds upon the one with which it shares the longest beginning, message for message and block for
block the same objects (``context/build.py`` keeps them); it then takes that one's place.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from desktop_app.core.messages import Msg

SLOTS = 8


def shared(known: Sequence[tuple[Msg, tuple[Any, ...]]], messages: Sequence[Msg]) -> int:
    """How many messages at the beginning are the same objects with the same blocks."""
    count = 0
    for (msg, blocks), now in zip(known, messages, strict=False):
        content = now.content
        if msg is not now or len(blocks) != len(content):
            break
        if not all(a is b for a, b in zip(blocks, content, strict=True)):
            break
        count += 1
    return count


class Sent:
    """The program's side. ``lock`` is held while a frame that changes something is handed over:
    what is noted then happens in the order of the frames."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._slots: OrderedDict[int, list[tuple[Msg, tuple[Any, ...]]]] = OrderedDict(
            (n, []) for n in range(SLOTS)
        )

    def place(self, messages: Sequence[Msg]) -> tuple[int, int]:
        """The slot of a prompt, and how many of its messages the process has there."""
        best, most = next(iter(self._slots)), 0  # else the one that was not used for longest
        for slot, known in self._slots.items():
            if (count := shared(known, messages)) > most:
                best, most = slot, count
        self._slots.move_to_end(best)
        return best, most

    def note(self, slot: int, messages: Sequence[Msg]) -> None:
        """All of a prompt was handed over."""
        self._slots[slot] = [(msg, tuple(msg.content)) for msg in messages]


class Held:
    """The process's side."""

    def __init__(self) -> None:
        self._slots: dict[int, list[Msg]] = {}

    def beginning(self, slot: int, count: int) -> list[Msg]:
        """The messages that a new prompt shares. ValueError when they are not here."""
        known = self._slots.get(slot, [])
        if len(known) < count:
            raise ValueError("the beginning of a prompt is not known")
        return known[:count]

    def note(self, slot: int, messages: list[Msg]) -> None:
        """A prompt has arrived whole."""
        self._slots[slot] = list(messages)
