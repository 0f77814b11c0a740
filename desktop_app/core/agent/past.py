"""What a session's journal holds, found again: by name or by a pattern, live or gone from the
context.

Records are read in pages and looked at beside the loop; a large value that lies beside the journal
is read when its record is. Nothing here changes anything.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from desktop_app.core.errors import SessionError
from desktop_app.core.messages import DataBlock, Msg, ToolCallBlock, ToolResultBlock
from desktop_app.core.sessions.base import Journal, Record

Who = Literal["user", "assistant", "tool"]
KINDS: dict[str, Who] = {
    "user.message": "user",
    "assistant.message": "assistant",
    "tool.result": "tool",
}
PAGE = 400
OWN = frozenset({"context_read", "context_search"})  # what was found once is not found again


@dataclass(frozen=True, slots=True)
class Entry:
    """One record as text. ``ref`` names it (``#`` and its number), ``label`` is a tool's name and
    what it was about; ``names`` are all ids that it answers to."""

    seq: int
    who: Who
    label: str
    text: str
    names: frozenset[str]

    @property
    def ref(self) -> str:
        return f"#{self.seq}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that matches. ``line`` counts from 1."""

    entry: Entry
    line: int
    text: str


class Past:
    """The past of one session."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def find(self, ref: str) -> Entry | None:
        """The entry named ``ref``: ``#12``, a message's or block's id, an operation's; the newest
        when there are several."""
        if re.fullmatch(r"#\d{1,15}", ref):
            seq = int(ref[1:])
            records = await self._journal.read(after=seq - 1, before=seq + 1, kinds=tuple(KINDS))
            return await self._entry(records[0]) if records else None
        wanted = ref.encode()
        before: int | None = None
        while page := await self._journal.read(
            before=before, limit=PAGE, newest_first=True, kinds=tuple(KINDS)
        ):
            before = page[-1].seq
            for record in page:
                entry = await self._entry(record) if wanted in record.raw else None
                if entry is not None and ref in entry.names:
                    return entry
        return None

    async def search(
        self, matches: Callable[[str], bool], *, who: Who | None = None, limit: int = 20
    ) -> list[Hit]:
        """Lines that match, newest entry first, three of an entry at most."""
        hits: list[Hit] = []
        async for entry in self._newest(who):
            found = await asyncio.to_thread(_lines, entry, matches)
            hits += found[: limit - len(hits)]
            if len(hits) >= limit:
                break
        return hits

    async def whole(self, ref: str) -> bytes | None:
        """The whole result ``ref``, as the tool gave it."""
        entry = await self.find(ref)
        return entry.text.encode("utf-8", "replace") if entry is not None else None

    async def _newest(self, who: Who | None) -> AsyncIterator[Entry]:
        kinds = tuple(k for k, w in KINDS.items() if who in (None, w))
        before: int | None = None
        while page := await self._journal.read(
            before=before, limit=PAGE, newest_first=True, kinds=kinds
        ):
            before = page[-1].seq
            for record in page:
                entry = await self._entry(record)
                if entry is not None and entry.label.split(" ")[0] not in OWN:
                    yield entry

    async def _entry(self, record: Record) -> Entry | None:
        entry, blob = await asyncio.to_thread(_parsed, record)
        if entry is None or not blob:
            return entry
        try:
            data = await self._journal.get_blob(blob)
        except SessionError as error:
            if error.code not in ("blob.missing", "blob.corrupt"):
                raise
            return entry  # what the model saw of it is there all the same
        text = await asyncio.to_thread(data.decode, "utf-8", "replace")
        return Entry(entry.seq, entry.who, entry.label, text, entry.names)


def _parsed(record: Record) -> tuple[Entry | None, str]:
    """The entry of a record as the model saw it, and the blob that has the whole of it."""
    body: dict[str, Any] = record.body()
    who = KINDS[record.kind]
    if who == "tool":
        block = ToolResultBlock.model_validate(body["block"])
        names = frozenset({str(body["op_id"]), block.id})
        entry = Entry(record.seq, who, block.name, block.text(), names)
        return entry, str(body.get("blob") or "")
    if who == "user":
        msg = Msg.model_validate(body["msg"])
        return Entry(record.seq, who, "", _with_names(msg), frozenset({msg.id})), ""
    blocks = {"name": "a", "role": "assistant", "content": body["blocks"]}
    msg = Msg.model_validate(blocks)
    names = frozenset({str(body["reply_id"]), *(b.id for b in msg.content)})
    calls = [
        f"{b.name} {b.input}"
        for b in msg.content
        if isinstance(b, ToolCallBlock) and b.name not in OWN
    ]
    text = "\n".join([msg.text(), *calls]).strip()
    return (Entry(record.seq, who, "", text, names) if text else None), ""


def _with_names(msg: Msg) -> str:
    data = [b.name or b.source.media_type for b in msg.content if isinstance(b, DataBlock)]
    return "\n".join([msg.text(), *(f"[{name}]" for name in data)]).strip()


def _lines(entry: Entry, matches: Callable[[str], bool]) -> list[Hit]:
    found: list[Hit] = []
    for number, line in enumerate(entry.text.split("\n"), 1):
        if matches(line):
            found.append(Hit(entry, number, line))
            if len(found) == 3:
                break
    return found


def some_lines(text: str, first: int, count: int) -> tuple[Sequence[str], int]:
    """``count`` lines from line ``first`` (from 1), and how many there are."""
    lines = text.split("\n")
    return lines[first - 1 : first - 1 + count], len(lines)
