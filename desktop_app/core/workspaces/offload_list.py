"""Listing what is in a workspace's root, for the browser of offloads and before a reset."""

from __future__ import annotations

from contextlib import aclosing

from desktop_app.core.errors import WorkspaceError

from .backend import Backend, FileInfo
from .base import OffloadEntry
from .layout import entries
from .paths import DATA_NAME, component, is_inside, join, session_dir


async def list_offloads(backend: Backend, root: str, session_id: str | None) -> list[OffloadEntry]:
    """Newest first; ``items`` is not counted (that would read the files)."""
    found: list[OffloadEntry] = []
    if session_id is None:
        for name in await _directories(backend, join(root, "sessions")):
            found += await _session(backend, root, name, name)
        for info in (await _entries(backend, join(root, "data"))).values():
            if info.kind == "file" and DATA_NAME.fullmatch(info.name):
                path = join("data", info.name)
                found.append(OffloadEntry("", "data", path, info.size, info.mtime_ns // 1000))
    else:
        names = {component("session", session_id), session_dir("", session_id).split("/")[-1]}
        for name in names:
            found += await _session(backend, root, name, session_id)
    return sorted(found, key=lambda entry: entry.modified_us, reverse=True)


async def _session(backend: Backend, root: str, folder: str, session_id: str) -> list[OffloadEntry]:
    found: list[OffloadEntry] = []
    for name, info in (await _entries(backend, join(root, "sessions", folder))).items():
        if info.kind != "file":
            continue
        path, time = join("sessions", folder, name), info.mtime_ns // 1000
        if name == "context.jsonl":
            found.append(OffloadEntry(session_id, "messages", path, info.size, time))
        elif name.startswith("tool_result-") and name.endswith(".txt"):
            found.append(OffloadEntry(session_id, "tool_result", path, info.size, time))
    return found


async def _directories(backend: Backend, path: str) -> list[str]:
    return [n for n, i in (await _entries(backend, path)).items() if i.kind == "dir"]


async def _entries(backend: Backend, path: str) -> dict[str, FileInfo]:
    try:
        return await entries(backend, path, limit=1_000_000)
    except WorkspaceError as error:
        if error.code in ("file.missing", "file.not_dir"):
            return {}
        raise


async def measure(backend: Backend, path: str) -> tuple[int, int]:
    """Files and bytes below a path; links count as one file and are not followed."""
    info = await backend.stat(path, follow=False)
    if info.kind != "dir":
        return 1, info.size
    files = size = 0
    pending = [path]
    while pending:
        folder = pending.pop()
        async with aclosing(backend.scandir(folder)) as batches:
            async for batch in batches:
                for entry in batch:
                    if entry.kind == "dir" and is_inside(entry.path, path):
                        pending.append(entry.path)
                    else:
                        files, size = files + 1, size + entry.size
    return files, size
