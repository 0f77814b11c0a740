"""What durability costs: an append at a barrier against one sync, and the first rows of a list.

Both sides of the first figure are of the same run, taken in turns on the same disk. The
baseline is the least that a durable append can be: the record's bytes written to the end of a file
and one ``fdatasync``, where the file was opened before and nothing else is kept. Ours is awaited on
the event loop, the work in the journal's thread.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from desktop_app.core.sessions.appdb import Placement
from desktop_app.core.sessions.base import NewRecord, SessionKey
from desktop_app.core.sessions.index import Index
from desktop_app.core.sessions.sqlite import SqliteJournal, SqliteJournalStore
from tests.benchmarks.figures import against, limit

ROUNDS = 600
BLOCK = 20
TEXT = "A message of about a kilobyte. " * 32


def _record() -> NewRecord:
    block = {"type": "text", "text": TEXT}
    return NewRecord("user.message", {"msg": {"role": "user", "content": [block]}})


async def _session(n_existing: int, folder: Path) -> SqliteJournal:
    store = SqliteJournalStore(folder / f"journals-{n_existing}")
    journal = await store.create(SessionKey("u", "a", "s"), {})
    while (left := n_existing - journal.info.head) > 0:
        await journal.append([_record()] * min(left, 100))
    return journal


async def append_vs_fdatasync(folder: Path, *n_existing: int) -> list[float]:
    """Milliseconds, taken in turns: an append to a session of each number of records,
    and last a write and sync of the same bytes."""
    journals = [await _session(n, folder) for n in n_existing]
    plain = os.open(folder / "plain", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    raw = (await journals[0].append([_record()]))[0].raw
    taken: list[list[float]] = [[] for _ in (*journals, plain)]
    for _ in range(ROUNDS // BLOCK):
        # In blocks: the first sync after another file has grown pays for that file too.
        for which, times in enumerate(taken):
            for _ in range(BLOCK):
                began = time.perf_counter()
                if which < len(journals):
                    await journals[which].append([_record()])
                else:
                    os.write(plain, raw)
                    os.fdatasync(plain)
                times.append(time.perf_counter() - began)
    os.close(plain)
    for journal in journals:
        await journal.close()
    return [_middle(times) * 1000 for times in taken]


def _middle(times: list[float]) -> float:
    """The mean without the fastest and slowest tenth. (A disk whose syncs take either 0.1 or 4 ms
    moves a median from one to the other and back.)"""
    tenth = len(times) // 10
    return statistics.fmean(sorted(times)[tenth : len(times) - tenth])


async def open_list_10000(folder: Path) -> float:
    """Milliseconds from a closed index of 10,000 sessions to the first 100 rows."""
    index = await Index.open(folder / "index.db")
    await index.place(
        Placement(SessionKey("u", "a", f"s{n}"), f"w{n % 50}", f"Session {n}", created_us=n + 1)
        for n in range(10_000)
    )
    await index.close()
    taken: list[float] = []
    for _ in range(5):
        began = time.perf_counter()
        index = await Index.open(folder / "index.db")
        rows = await index.rows(limit=100)
        taken.append(time.perf_counter() - began)
        assert len(rows) == 100
        await index.close()
    return statistics.median(taken) * 1000


async def open_session(n_existing: int, folder: Path) -> float:
    """Milliseconds to open a session of ``n_existing`` records for writing and read its newest
    200."""
    await (await _session(n_existing, folder)).close()
    store = SqliteJournalStore(folder / f"journals-{n_existing}")
    taken: list[float] = []
    for _ in range(7):
        began = time.perf_counter()
        journal = await store.open(SessionKey("u", "a", "s"))
        await journal.read(newest_first=True, limit=200)
        taken.append(time.perf_counter() - began)
        await journal.close()
    return statistics.median(taken) * 1000


def _ratio(name: str, ours: float, baseline: float, most: float) -> dict[str, Any]:
    return against(name, ours, baseline, most, "ms", f"≤ {most:g} ×")


async def _run(folder: Path) -> list[dict[str, Any]]:
    few, many, sync = await append_vs_fdatasync(folder / "appends", 10, 10_000)
    short, long = [await open_session(n, folder / "opens") for n in (300, 10_000)]
    listed = await open_list_10000(folder)
    return [
        _ratio("append at a barrier to 10 records, against one sync", few, sync, 1.5),
        _ratio("append at a barrier to 10,000 records, against one sync", many, sync, 1.5),
        _ratio("append to 10,000 records, against to 10", many, few, 1.25),
        _ratio("open 10,000 records, read the newest 200, against 300 records", long, short, 2.0),
        limit("first rows of 10,000 sessions, from a closed index", listed, 50, "ms", "≤ 50 ms"),
    ]


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "appends").mkdir()
        return asyncio.run(_run(Path(folder)))


if __name__ == "__main__":
    for figure in run():
        print(figure)
