"""What needs no library: cutting off the oldest, and hiding old results."""

from __future__ import annotations

from dataclasses import replace

from .events import Agent, Person, Piece, Prompt
from .system import System, pieces_of

TRIGGER = 0.8  # of the window
TARGET = 0.5
KEPT_RESULTS = 10  # as in "The Complexity Trap" (arXiv 2508.21433)
SHORT = 120  # characters of a result that is not worth hiding


class Truncation(System):
    """Drops the oldest messages at 80 % of the window until half of it is used. It is told the
    true number of tokens, which no program knows: better than any real one."""

    name = "truncation"

    async def person(self, event: Person) -> None:
        self.pieces += pieces_of(event)

    async def agent(self, event: Agent) -> None:
        await self.call()
        self.pieces += pieces_of(event)

    async def end(self) -> None:
        await self.call()

    async def call(self) -> None:
        if self.size(self.pieces) > TRIGGER * self.window:
            self.shrink()
            self.changed()
        self.sent(Prompt(self.fixed, tuple(self.pieces)))

    def size(self, pieces: list[Piece]) -> int:
        return self.scales.prompt(Prompt(self.fixed, tuple(pieces)))

    def shrink(self) -> None:
        kept: list[Piece] = []
        for piece in reversed(self.pieces):
            if kept and self.size([piece, *kept]) > TARGET * self.window:
                break
            kept.insert(0, piece)
        while kept and kept[0].role == "tool":  # a result without its call
            kept.pop(0)
        self.pieces = kept


class Masking(Truncation):
    """Hides all but the newest ten results; when that is not enough, truncates."""

    name = "observation masking"

    def shrink(self) -> None:
        seen = 0
        for place in reversed(range(len(self.pieces))):
            piece = self.pieces[place]
            if piece.role == "tool":
                seen += 1
                if seen > KEPT_RESULTS and len(piece.text) > SHORT:
                    lines = piece.text.count("\n") + 1
                    text = f"Previous {lines} lines omitted for brevity."
                    self.pieces[place] = replace(piece, text=text)
        if self.size(self.pieces) > TRIGGER * self.window:
            super().shrink()
