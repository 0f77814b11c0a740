"""A list of rows that takes what a view model hands to the transcript, and counts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from desktop_app.ui.transcript.rows import MarkdownRow, Row


class RowList:
    """Rows by id, in order. Unknown and doubled ids fail at once."""

    def __init__(self) -> None:
        self.by_id: dict[str, Row] = {}
        self.changes = 0
        self.has_older = False

    def append(self, row: Row) -> None:
        assert row.id not in self.by_id, row.id
        self.by_id[row.id] = replace(row)
        self.changes += 1

    def extend(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self.append(row)

    def update(self, row: Row) -> None:
        assert row.id in self.by_id, row.id
        self.by_id[row.id] = replace(row)
        self.changes += 1

    def extend_text(self, row_id: str, text: str) -> None:
        row = self.by_id[row_id]
        assert isinstance(row, MarkdownRow)
        row.text += text
        self.changes += 1

    def remove(self, row_id: str) -> None:
        del self.by_id[row_id]
        self.changes += 1

    def prepend(self, rows: Sequence[Row], has_older: bool = False) -> None:
        self.has_older = has_older
        assert not ({r.id for r in rows} & set(self.by_id))
        self.by_id = {**{r.id: replace(r) for r in rows}, **self.by_id}
        self.changes += 1

    def list(self) -> list[Row]:
        return list(self.by_id.values())
