"""What a proposed compaction would do, line by line, before it is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from desktop_app.core.messages import Msg, ToolCallBlock, ToolResultBlock

from .accounting import Accounting
from .build import from_iteration, from_user, summary_text
from .draft import Draft
from .iterations import Iteration, iterations
from .pricing import Piece
from .tokens import FRAME
from .types import Category, Fate, PreviewRow


def preview_rows(draft: Draft, account: Accounting) -> tuple[PreviewRow, ...]:
    """One row for each message of the person, step of a reply and tool result, oldest first, then
    one for what the compaction itself writes (ref ``ledger``). Estimated tokens."""
    rows = _Rows(draft, account)
    found = [row for place in range(len(draft.state.context)) for row in rows.of(place)]
    return (*found, rows.ledger())


class _Rows:
    def __init__(self, draft: Draft, account: Accounting) -> None:
        self._draft = draft
        self._pricer = account.pricer
        self._ratio = account.ratio.ratio
        self._masks = {(m.message, m.block): m for m in draft.masks}
        self._labels: dict[str, str] = {}
        self._gone = draft.gone

    def of(self, place: int) -> Iterator[PreviewRow]:
        msg = self._draft.state.context[place]
        if msg.role != "assistant":
            pieces = [p for m in from_user(msg) for p in self._pieces(m)]
            if pieces:
                row = self._row(self._fate(place, 0, msg.id), msg.id, "user", pieces)
                cut = sum(m.freed for (at, _), m in self._masks.items() if at == place)
                if cut and row.fate == "kept":
                    row = replace(row, fate="masked", after=max(0, row.before - self._tokens(cut)))
                yield row
            return
        for number, step in enumerate(iterations(msg.content)):
            yield from self._step(place, msg, step, number)

    def _step(self, place: int, msg: Msg, step: Iteration, number: int) -> Iterator[PreviewRow]:
        built = from_iteration(msg, step, number, set(), False)
        pieces = [p for m in built for p in self._pieces(m)]
        head = [p for p in pieces if p.category not in ("result", "images")]
        block = msg.content[step.start]
        fate = self._fate(place, step.start, msg.id, block.id)
        if head:
            thinks = all(p.category == "thinking" for p in head)
            label = next((p for p in head if p.category != "thinking"), head[0])
            category: Category = "thinking" if thinks else "assistant"
            row = self._row(fate, block.id, category, [label, *(p for p in head if p != label)])
            freed = sum(
                mask.freed
                for at in range(step.start, step.end)
                if isinstance(msg.content[at], ToolCallBlock)
                and (mask := self._masks.get((place, at))) is not None
            )
            if freed and fate == "kept":
                after = max(0, row.before - self._tokens(freed))
                row = replace(row, fate="masked", after=after)
            yield row
        for at in range(step.start, step.end):
            result = msg.content[at]
            if isinstance(result, ToolResultBlock):
                yield self._result(place, at, msg.id, result)

    def _result(self, place: int, at: int, owner: str, block: ToolResultBlock) -> PreviewRow:
        label = self._labels.get(block.id, block.name)
        before = self._tokens(self._pricer.texts.count(block.text()))
        mask = self._masks.get((place, at))
        fate = self._fate(place, at, owner, block.id)
        after = before if fate == "kept" else 0
        if mask is not None and fate == "kept":
            dropped = block.id in self._draft.dropped
            fate, after = "dropped" if dropped else "masked", self._count(mask.text)
        return PreviewRow(fate, block.id, "result", label, before, after)

    def _row(self, fate: Fate, ref: str, category: Category, pieces: list[Piece]) -> PreviewRow:
        before = self._tokens(sum(p.raw for p in pieces))
        after = before if fate == "kept" else 0
        return PreviewRow(fate, ref, category, pieces[0].label, before, after)

    def ledger(self) -> PreviewRow:
        before = self._count(summary_text(self._draft.state))
        after = self._count(self._draft.summary_text())
        return PreviewRow("kept", "ledger", "ledger", "ledger", before, after)

    def _fate(self, place: int, at: int, *names: str) -> Fate:
        leaves = place in self._gone or at < self._draft.gone_from(place)
        if not leaves:
            return "kept"
        return "dropped" if any(n in self._draft.dropped for n in names) else "summarised"

    def _pieces(self, msg: Msg) -> list[Piece]:
        return self._pricer.message(msg, 0, self._labels)

    def _count(self, text: str) -> int:
        return self._tokens(self._pricer.texts.counter.count(text) + FRAME) if text else 0

    def _tokens(self, raw: float) -> int:
        return round(raw * self._ratio)
