"""What could be taken into the list of workspaces: those that AgentScope keeps below one folder,
and rescue copies that are on this computer. Looking writes nothing."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .errors import WorkspaceError
from .folders import Folders
from .ids import safe_name
from .places import RESCUED

log = logging.getLogger(__name__)

LOOKED = 1_000  # folders below one that are looked at
AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """A folder that could be a workspace of the list. ``known``: it is one already. ``sessions``
    and ``when`` (of a rescue copy: ``2026-11-30 12.30.05``) are there where they could be told."""

    kind: Literal["theirs", "copy"]
    folder: str
    name: str
    known: bool = False
    sessions: int | None = None
    when: str = ""


async def below(shelf: Folders, root: str) -> list[Candidate]:
    """The workspaces of AgentScope in ``root``: it keeps each in a folder of its own below one; or
    ``root`` itself. By name; those that cannot be read are left out and logged. WorkspaceError when
    ``root`` cannot be listed."""
    top = Path(root).expanduser().absolute()

    def folders() -> list[Path]:
        try:
            return sorted(one for one in top.iterdir() if one.is_dir())[:LOOKED]
        except OSError as error:
            raise WorkspaceError(
                "workspace.unreadable", path=str(top), detail=str(error.strerror)
            ) from error

    turn = asyncio.Semaphore(AT_ONCE)

    async def look(folder: Path) -> Candidate | None:
        async with turn:
            try:
                report = await shelf.inspect_folder(str(folder))
            except WorkspaceError as error:
                log.info("%s cannot be looked at: %s", folder, error)
                return None
        if not report.foreign:
            return None
        return Candidate("theirs", report.folder, report.name, report.known, report.sessions)

    itself = await look(top)
    found = await asyncio.gather(*(look(one) for one in await asyncio.to_thread(folders)))
    return [one for one in ([itself] if itself else found) if one is not None]


async def copies(shelf: Folders) -> list[Candidate]:
    """The rescue copies on this computer, newest first, also of workspaces that were deleted."""
    rows = [*await shelf.db.workspaces(), *await shelf.db.workspaces(forgotten=True)]
    names = {safe_name(row.id): row.name for row in rows}
    known = {row.folder for row in await shelf.db.workspaces()}
    top = shelf.paths.data / RESCUED

    def stamps() -> list[Path]:
        if not top.exists():
            return []
        return [copy for kept in top.iterdir() if kept.is_dir() for copy in kept.iterdir()
                if copy.is_dir() and not copy.name.startswith(".")]  # fmt: skip

    found = [
        Candidate(
            "copy",
            str(copy),
            names.get(copy.parent.name, copy.parent.name),
            str(copy) in known,
            when=copy.name,
        )
        for copy in await asyncio.to_thread(stamps)
    ]
    return sorted(found, key=lambda one: one.when, reverse=True)
