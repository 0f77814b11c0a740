"""What a new workspace needs on this computer: an engine, an account, room on the disk.

Findings are codes and figures; the window has the words.
"""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .errors import WorkspaceError
from .places import Places
from .workspaces.docker.engines import Tried
from .workspaces.e2b.sandbox import listed

Verdict = Literal["good", "warning", "bad"]
What = Literal["engine", "other", "disk", "key", "account"]

LOW = 3_000_000_000  # bytes: an image with Python, Node and a few packages, and some work in it
REPLY_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. ``params`` by ``what``: engine and other: product, version,
    system, url, how, context; disk: path, free (bytes); key: kept (keyring, session, environment or
    empty), place (where a new one would be kept); account: sandboxes. ``error`` says what is
    wrong."""

    what: What
    verdict: Verdict
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    error: WorkspaceError | None = None


class Doctor:
    """Looks at what ``places`` would use. ``data`` is the program's folder. Nothing is changed."""

    def __init__(self, places: Places, data: Path) -> None:
        self._places = places
        self._data = data

    async def docker(self) -> list[Finding]:
        """The engine in use first, then the other places that were tried, then the disk."""
        tried = await self._places.engines.report()
        engine = next((one for one in tried if one.error is None), None)
        found = [_engine(engine)] if engine is not None else []
        if engine is None:
            found.append(Finding("engine", "bad", {}, await self._no_engine(tried)))
        found += [_other(one) for one in tried if one is not engine]
        return [*found, await self._disk(await self._images() if engine else None)]

    async def _no_engine(self, tried: list[Tried]) -> WorkspaceError:
        try:
            await self._places.engines.engine()
        except WorkspaceError as error:
            return error
        return WorkspaceError("docker.none", retryable=True)  # it answers by now: try again

    async def _images(self) -> Path | None:
        """Where the engine keeps its images, when that is a folder of this computer."""
        try:
            engine = await self._places.engines.engine()
            async with asyncio.timeout(REPLY_SECONDS):
                said: dict[str, Any] = await (await engine.client()).system.info()
        except Exception:  # noqa: BLE001 - then the program's own disk is looked at
            return None
        root = Path(str(said.get("DockerRootDir") or "/nowhere"))
        there = await asyncio.to_thread(root.exists)
        return root if there and engine.endpoint.url.startswith("unix:") else None

    async def _disk(self, place: Path | None) -> Finding:
        path = place or self._data
        try:
            free = (await asyncio.to_thread(shutil.disk_usage, path)).free
        except OSError as error:
            said = WorkspaceError("file.failed", path=str(path), detail=error.strerror or "")
            return Finding("disk", "warning", {"path": str(path)}, said)
        verdict: Verdict = "good" if free >= LOW else "warning"
        return Finding("disk", verdict, {"path": str(path), "free": free})

    async def folder(self) -> list[Finding]:
        """What a folder on this computer needs: room for its sessions."""
        return [await self._disk(None)]

    async def e2b(self, key: str = "") -> list[Finding]:
        """The key, and what E2B answers to it. ``key`` is one that was typed and not kept yet."""
        kept, place = await self._places.key_kept()
        params = {"kept": kept, "place": place, "typed": bool(key)}
        if not kept and not key:
            return [Finding("key", "bad", params, WorkspaceError("e2b.no_key"))]
        found = [Finding("key", "good", params)]
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                sandboxes = await listed(self._places.account(key))
        except TimeoutError:
            error = WorkspaceError("e2b.unreachable", retryable=True, detail="")
            return [*found, Finding("account", "bad", {}, error)]
        except WorkspaceError as error:
            return [*found, Finding("account", "bad", {}, error)]
        return [*found, Finding("account", "good", {"sandboxes": len(sandboxes)})]


def _params(one: Tried) -> dict[str, Any]:
    where = one.endpoint
    return {
        "product": one.product,
        "version": one.version,
        "system": one.system,
        "url": where.url,
        "how": where.how,
        "context": where.name,
    }


def _engine(one: Tried) -> Finding:
    return Finding("engine", "good", _params(one))


def _other(one: Tried) -> Finding:
    return Finding("other", "warning" if one.error else "good", _params(one), one.error)
