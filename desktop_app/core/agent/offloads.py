"""What a session offloaded, wherever it is kept: a list out of its journal, and what each holds.

The journal had everything before a workspace or a store got it, so that all of it is found and read
here also when a container is gone, a bucket cannot be reached, or nothing was delivered yet.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from desktop_app.core.errors import SessionError
from desktop_app.core.sessions.base import Journal, Record

PAGE = 400


@dataclass(frozen=True, slots=True)
class Offload:
    """One offload. ``name`` is the one promised to the agent, relative; ``place`` where it is,
    as the workspace or the store says (empty: on its way); ``store`` the kind of a store of the
    person's own (empty: the workspace). ``label`` is the tool of a result. Bytes; microseconds;
    ``items`` messages. ``blob`` finds its bytes beside the journal. ``why`` it is not there yet:
    the error of the last try."""

    id: str
    kind: Literal["messages", "tool_result", "data"]
    name: str
    bytes: int
    items: int
    ts_us: int
    blob: str
    label: str = ""
    place: str = ""
    store: str = ""
    why: tuple[str, dict[str, Any]] | None = None


async def offloads_in(journal: Journal) -> list[Offload]:
    """All of a session's offloads, newest first."""
    found = await _promised(journal)
    wanted = {kept.blob for kept in found if kept.kind == "tool_result"}
    if not wanted:
        return found
    tools: dict[str, str] = {}
    before: int | None = None
    while page := await journal.read(
        before=before, limit=PAGE, newest_first=True, kinds=("tool.result",)
    ):
        before = page[-1].seq
        tools |= await asyncio.to_thread(_tools, page, wanted)
        if len(tools) == len(wanted):
            break
    return [replace(kept, label=tools.get(kept.blob, "")) for kept in found]


async def content_of(journal: Journal, offload_id: str) -> bytes:
    """What was offloaded. SessionError ``offload.unknown``, ``blob.missing``, ``blob.corrupt``."""
    for kept in await _promised(journal):
        if kept.id == offload_id:
            return await journal.get_blob(kept.blob)
    raise SessionError("offload.unknown", id=offload_id)


async def _promised(journal: Journal) -> list[Offload]:
    records = await journal.read(kinds=("offload", "offload.delivered"))
    return await asyncio.to_thread(_listed, records)


def _listed(records: Iterable[Record]) -> list[Offload]:
    found: dict[str, Offload] = {}
    for record in records:
        body: dict[str, Any] = record.body()
        name = str(body["id"])
        if record.kind == "offload":
            found[name] = Offload(
                name,
                body["kind"],
                str(body["path"]),
                int(body["bytes"]),
                int(body["count"]),
                record.ts_us,
                str(body["blob"]),
            )
        elif name in found:
            place, store = str(body["path"]), str(body.get("store") or "")
            found[name] = replace(found[name], place=place, store=store)
    return list(reversed(found.values()))


def _tools(records: Iterable[Record], blobs: set[str]) -> dict[str, str]:
    """The tool of each whole result among ``blobs``; a result without one is not parsed."""
    found: dict[str, str] = {}
    for record in records:
        named = re.search(rb'"blob"\s*:\s*"([0-9a-f]{16,})"', record.raw)
        if named is not None and (blob := named[1].decode()) in blobs:
            found[blob] = str(record.body()["block"].get("name", ""))
    return found
