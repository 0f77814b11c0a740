"""Which of AgentScope's on-disk generations a folder holds, told by its shape alone.

There is no manifest. A (up to 2.0.5): flat ``.mcp`` array, ``skills/.skills``, ``file:///`` data
URLs. B (2.0.6): the same with ``workspace:///`` URLs and times in blocks. C (2.0.7 and later):
``.mcp`` object with a version, ``skills/.seed`` and a partition for each agent. A container or a
sandbox need not leave ``.mcp`` or ``.seed``: then the places of ``SKILL.md`` tell.

A person's folder may well have a ``data`` or a ``skills`` of its own, so a name is never enough:
what is inside must look the part.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal, cast

from desktop_app.core.errors import WorkspaceError

from .backend import Backend, FileInfo
from .paths import DATA_NAME, join, require_inside

Generation = Literal["A", "B", "C"]
OWN = ".slipway"
OWN_GENERATION: Generation = "C"
_HEAD = 64 << 10


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a workspace's own files are. ``foreign``: the folder itself is the root, made by
    another program. ``exists``: something of it is on disk already. ``evidence`` says what gave
    the generation away."""

    folder: str
    root: str
    generation: Generation
    foreign: bool
    exists: bool
    evidence: tuple[str, ...] = ()


async def detect(backend: Backend, folder: str) -> Layout:
    """Look at a folder: a foreign workspace is used in place, else our root is ``.slipway`` in it.

    Reads a few small files, changes nothing. Raises what the backend raises for the folder."""
    names = await entries(backend, folder)
    if OWN in names:
        root = join(folder, OWN)
        if names[OWN].kind == "link":  # a folder from elsewhere must not lead us out of it
            await require_inside(backend, root, folder)
        inner = await entries(backend, root)
        generation, evidence = await _shape(backend, root, inner) or (OWN_GENERATION, ())
        if not any(sign.endswith(":flat") for sign in evidence):
            generation = OWN_GENERATION  # messages alone look like B; we never write that
        return Layout(folder, root, generation, False, True, evidence)
    if (found := await _shape(backend, folder, names)) is not None:
        return Layout(folder, folder, found[0], True, True, found[1])
    return Layout(folder, join(folder, OWN), OWN_GENERATION, False, False)


async def entries(backend: Backend, path: str, limit: int = 20_000) -> dict[str, FileInfo]:
    """Name to what it is, of one directory; at most ``limit`` of them."""
    found: dict[str, FileInfo] = {}
    async with aclosing(backend.scandir(path)) as batches:
        async for batch in batches:
            found.update((info.name, info) for info in batch)
            if len(found) >= limit:
                break
    return found


async def _entries_or_none(backend: Backend, path: str) -> dict[str, FileInfo]:
    try:
        return await entries(backend, path)
    except WorkspaceError as error:
        if error.retryable:
            raise
        return {}


async def _shape(
    backend: Backend, root: str, names: dict[str, FileInfo]
) -> tuple[Generation, tuple[str, ...]] | None:
    """The generation and what it was seen by, or None when this is no workspace."""
    evidence: list[str] = []
    mcp = await _mcp_shape(backend, root, names)
    if mcp:
        evidence.append(f".mcp:{mcp}")
    skills = await _skills_shape(backend, root, names)
    if skills:
        evidence.append(f"skills:{skills}")
    messages = await _session_shape(backend, root, names)
    if messages:
        evidence.append(f"sessions:{messages}")
    if not evidence and not await _bare(backend, root, names):
        return None
    if "C" in (mcp, skills):
        return "C", tuple(evidence)
    if messages and messages != "A" and "flat" not in (mcp, skills):
        # Neither of the files that tell. The places of the skills do; without any it is C, whose
        # programs are the newest and read what we write, where those of B were current for one
        # release and would leave a declaration of ours alone.
        placed = await _skill_places(backend, root, names)
        if placed:
            evidence.append(f"skills:{placed}")
        return "B" if placed == "flat" else "C", tuple(evidence)
    if messages in ("A", "B"):
        return cast(Generation, messages), tuple(evidence)
    return "B", tuple(evidence)


async def _mcp_shape(backend: Backend, root: str, names: dict[str, FileInfo]) -> str:
    if ".mcp" not in names or names[".mcp"].kind == "dir":
        return ""
    value = await read_json(backend, join(root, ".mcp"))
    if isinstance(value, dict) and isinstance(cast(dict[str, Any], value).get("mcps"), dict):
        return "C"
    if isinstance(value, list):
        items = cast(list[Any], value)
        if all(isinstance(v, dict) and "mcp_config" in v for v in items):
            return "flat"
    return ""


async def _skills_shape(backend: Backend, root: str, names: dict[str, FileInfo]) -> str:
    if "skills" not in names or names["skills"].kind != "dir":
        return ""
    skills = await _entries_or_none(backend, join(root, "skills"))
    if ".seed" in skills and skills[".seed"].kind == "dir":
        return "C"
    if ".skills" in skills:
        value = await read_json(backend, join(root, "skills", ".skills"))
        if isinstance(value, dict) and "skills_dir_mtime" in value:
            return "flat"
    return ""


async def _skill_places(backend: Backend, root: str, names: dict[str, FileInfo]) -> str:
    """``flat`` with ``skills/<name>/SKILL.md``, ``partitions`` with a directory for each agent
    between. Says nothing of what is no workspace: people keep such folders too."""
    if "skills" not in names or names["skills"].kind != "dir":
        return ""
    place = join(root, "skills")
    for name in sorted(await _dirs(backend, place))[:8]:
        inner = await _entries_or_none(backend, join(place, name))
        if "SKILL.md" in inner:
            return "flat"
        for below in sorted(n for n, info in inner.items() if info.kind == "dir")[:8]:
            if "SKILL.md" in await _entries_or_none(backend, join(place, name, below)):
                return "partitions"
    return ""


async def _dirs(backend: Backend, path: str) -> list[str]:
    return [n for n, info in (await _entries_or_none(backend, path)).items() if info.kind == "dir"]


async def _session_shape(backend: Backend, root: str, names: dict[str, FileInfo]) -> str:
    """From the first messages of up to eight sessions: ``file:///`` URLs are A, times in blocks or
    ``workspace:///`` are B (and C, told apart elsewhere), ``some`` when neither shows."""
    if "sessions" not in names or names["sessions"].kind != "dir":
        return ""
    found = ""
    sessions = await _entries_or_none(backend, join(root, "sessions"))
    for name in sorted(sessions)[:8]:
        if sessions[name].kind != "dir":
            continue
        inner = await _entries_or_none(backend, join(root, "sessions", name))
        if any(n.startswith("tool_result-") and n.endswith(".txt") for n in inner):
            found = found or "some"
        if "context.jsonl" in inner and inner["context.jsonl"].kind == "file":
            kind = await _message_shape(backend, join(root, "sessions", name, "context.jsonl"))
            if kind in ("A", "B"):
                return kind
            found = found or kind
    return found


async def _message_shape(backend: Backend, path: str) -> str:
    head = b""
    async with aclosing(backend.read(path, length=_HEAD)) as pieces:
        async for piece in pieces:
            head += piece
    found = ""
    for line in head.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        message = cast(dict[str, Any], value if isinstance(value, dict) else {})
        blocks = message.get("content")
        if "role" not in message or not isinstance(blocks, list):
            continue
        found = "some"
        if b'"file:///' in line:
            return "A"
        if b'"workspace:///' in line:
            return "B"
        for block in cast(list[Any], blocks):
            if isinstance(block, dict):
                return "B" if "created_at" in block else "A"
    return found


async def _bare(backend: Backend, root: str, names: dict[str, FileInfo]) -> bool:
    """A workspace without content: all three directories there and nothing in them that AgentScope
    would not have put there."""
    for name in ("data", "sessions", "skills"):
        if name not in names or names[name].kind != "dir":
            return False
    data = await _entries_or_none(backend, join(root, "data"))
    if not all(DATA_NAME.fullmatch(name) for name in data):
        return False
    sessions = await _entries_or_none(backend, join(root, "sessions"))
    skills = await _entries_or_none(backend, join(root, "skills"))
    return not sessions and not skills


async def read_json(backend: Backend, path: str, max_bytes: int = 4 << 20) -> object:
    """A small JSON file, a byte order mark tolerated; None when it cannot be read or parsed."""
    try:
        data = await backend.read_bytes(path, max_bytes=max_bytes)
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    except WorkspaceError as error:
        if error.retryable:
            raise
        return None
