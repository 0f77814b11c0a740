"""Which records a reader wants, and getting their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from desktop_app.core.errors import SessionError

from .chain import COLUMNS, Row
from .db import Database


@dataclass(frozen=True, slots=True)
class Wanted:
    """The arguments of ``Journal.read``."""

    after: int = 0
    before: int | None = None
    limit: int | None = None
    newest_first: bool = False
    kinds: Sequence[str] | None = None


def select(db: Database, wanted: Wanted) -> list[Row]:
    """The rows, by one query."""
    where: list[str] = ["seq > ?"]
    params: list[object] = [wanted.after]
    if wanted.before is not None:
        where.append("seq < ?")
        params.append(wanted.before)
    if wanted.kinds is not None:
        where.append(f"kind IN ({', '.join('?' * len(wanted.kinds))})")
        params.extend(wanted.kinds)
    sql = (
        f"SELECT {COLUMNS} FROM record WHERE {' AND '.join(where)}"
        f" ORDER BY seq {'DESC' if wanted.newest_first else 'ASC'} LIMIT ?"
    )
    found = db.rows(sql, [*params, -1 if wanted.limit is None else wanted.limit])
    return [Row(*row) for row in found]


def singly(db: Database, wanted: Wanted, last: int) -> list[Row]:
    """The rows up to record ``last``, one by one: in a damaged file a query over several can meet
    the damage behind them."""
    end = last + 1 if wanted.before is None else min(wanted.before, last + 1)
    seqs = range(max(wanted.after + 1, 1), end)
    found: list[Row] = []
    for seq in reversed(seqs) if wanted.newest_first else seqs:
        if wanted.limit is not None and len(found) >= wanted.limit:
            break
        try:
            row = db.one(f"SELECT {COLUMNS} FROM record WHERE seq = ?", (seq,))
        except SessionError:
            continue
        if row is not None and (wanted.kinds is None or row[1] in wanted.kinds):
            found.append(Row(*row))
    return found
