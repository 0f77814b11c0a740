"""From the layout of generation A or B to that of C, when the person asks for it.

What changes: ``.mcp`` from a list to an object by agent and session, the skills from ``skills/``
into the template ``skills/.seed`` with their index. Messages, results and payloads stay as they
are, byte for byte: both spellings of a payload's URL are read in every generation.

In this order, so that a kill at any instant leaves the old layout or the new one whole:

1. a complete copy of the workspace's own parts beside it (``<root>.backup-<time>``), compared with
   the original, with a text in it that says how to go back;
2. everything new in ``.slipway-migration.new`` inside the root, synced, then renamed to
   ``.slipway-migration``: from here on it is decided;
3. ``finish``: each new part renamed to its place, the old ones aside. It may be done again, and is,
   at the next opening, when something stopped it.

Local folders only; all functions block.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from desktop_app.core.errors import WorkspaceError

from .layout import Generation
from .mcp_file import Pair, parse_mcp
from .paths import is_component

PARTS = (".mcp", "data", "sessions", "skills")
DECIDED = ".slipway-migration"
MAKING = DECIDED + ".new"
DONE = DECIDED + ".done"
SPARE = 64 << 20  # bytes that must stay free on the disk beside the copy
BACK = """\
This is a complete copy of an AgentScope workspace, made {when}
before it was moved from layout {generation} to layout C:

  {root}

To go back, with no program using the workspace, in a shell:

  rm -rf {quoted}/.mcp {quoted}/data {quoted}/sessions {quoted}/skills
  cp -a .mcp data sessions skills {quoted}/    # run in the folder of this file; what is not there
                                               # was not there before either

What was written into the workspace since then would be lost: copy it elsewhere first.
When all is well, this folder may be deleted.
"""

Progress = Callable[[int, int], None]  # bytes done, bytes in all


@dataclass(frozen=True, slots=True)
class Plan:
    """What a migration would do. ``bytes`` is the size of the backup; ``sessions`` are the ids of
    those that left files, to choose who gets the MCP servers."""

    root: str
    generation: Generation
    backup: str
    bytes: int
    servers: tuple[str, ...]
    skills: tuple[str, ...]
    sessions: tuple[str, ...]


def plan(root: str, generation: Generation) -> Plan:
    """Look, change nothing. WorkspaceError ``migrate.current`` (it is C already),
    ``migrate.bad_mcp`` (the file does not parse), ``migrate.link`` (a part is a link)."""
    place = Path(root)
    if generation == "C":
        raise WorkspaceError("migrate.current", path=root)
    for part in PARTS:
        if (place / part).is_symlink():
            raise WorkspaceError("migrate.link", path=str(place / part))
    declared = parse_mcp(_mcp(place) or b"[]")
    if declared.error is not None:
        raise WorkspaceError("migrate.bad_mcp", path=str(place / ".mcp"))
    sessions = place / "sessions"
    found = [p.name for p in sessions.iterdir() if p.is_dir()] if sessions.is_dir() else []
    size = sum(info.st_size for _, info in _walk(place) if stat.S_ISREG(info.st_mode))
    stamp = time.strftime("%Y%m%d-%H%M%S")
    backup = f"{root.rstrip('/')}.backup-{stamp}"
    names = tuple(d.name for d in declared.all())
    return Plan(root, generation, backup, size, names, tuple(_flat(place)), tuple(sorted(found)))


def migrate(plan: Plan, pairs: Sequence[Pair], progress: Progress | None = None) -> str:
    """Do it; the backup's path. ``pairs`` are the agents and sessions that get the MCP servers;
    without any they go to the pair of empty ids, which Slipway reads for every session.
    WorkspaceError ``migrate.space``, ``migrate.backup``, ``migrate.changed``, all with nothing
    changed."""
    place = Path(plan.root)
    before = _signature(place)
    _back_up(place, plan, progress)
    if _signature(place) != before:
        raise WorkspaceError("migrate.changed", retryable=True, path=plan.root)
    _prepare(place, pairs)
    os.rename(place / MAKING, place / DECIDED)
    _sync_dir(place)
    finish(plan.root)
    return plan.backup


def unfinished(root: str) -> bool:
    """Whether a migration was decided and not brought to its end."""
    return os.path.isdir(os.path.join(root, DECIDED))


def finish(root: str) -> None:
    """Bring a decided migration to its end; may be done again."""
    place = Path(root)
    staged = place / DECIDED
    old = staged / "old"
    for path in (staged, old, place / "skills"):  # a folder from elsewhere must not lead us out
        if path.is_symlink():
            raise WorkspaceError("migrate.link", path=str(path))
    old.mkdir(exist_ok=True)
    (place / "skills").mkdir(exist_ok=True)
    seed = place / "skills" / ".seed"
    if (staged / "seed").is_dir():
        os.rename(staged / "seed", seed)
    if (staged / "mcp").is_file():
        os.replace(staged / "mcp", place / ".mcp")
    _sync_dir(place / "skills")
    _sync_dir(place)
    for name in cast(list[Any], json.loads((staged / "moved.json").read_text("utf-8"))):
        if not isinstance(name, str) or not is_component(name):
            continue
        if os.path.lexists(place / "skills" / name):
            os.rename(place / "skills" / name, old / name)
    _sync_dir(place / "skills")
    shutil.rmtree(place / DONE, ignore_errors=True)
    os.rename(staged, place / DONE)
    shutil.rmtree(place / DONE, ignore_errors=True)


def _back_up(place: Path, plan: Plan, progress: Progress | None) -> None:
    target, part = Path(plan.backup), Path(plan.backup + ".partial")
    try:
        free = shutil.disk_usage(target.parent).free
        if free < plan.bytes + SPARE:
            raise WorkspaceError("migrate.space", size=plan.bytes + SPARE, free=free)
        for left in target.parent.glob(f"{glob.escape(place.name)}.backup-*.partial"):
            shutil.rmtree(left, ignore_errors=True)  # of one that was killed
        part.mkdir()
        done = 0
        for name, info in _walk(place):
            done += _copy(place / name, part / name, info)
            if progress is not None:
                progress(done, plan.bytes)
        _compare(place, part)
        quoted = "'" + plan.root.rstrip("/").replace("'", "'\\''") + "'"
        when = time.strftime("%Y-%m-%d %H:%M:%S")
        told = BACK.format(when=when, generation=plan.generation, root=plan.root, quoted=quoted)
        _write(part / "HOW-TO-GO-BACK.txt", told.encode())
        os.rename(part, target)
        _sync_dir(target.parent)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise WorkspaceError(
            "migrate.backup", retryable=True, path=plan.backup, reason=reason
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _copy(source: Path, target: Path, info: os.stat_result) -> int:
    if stat.S_ISDIR(info.st_mode):
        target.mkdir()
        return 0
    shutil.copy2(source, target, follow_symlinks=False)
    if not stat.S_ISREG(info.st_mode):
        return 0
    with open(target, "rb") as file:
        os.fsync(file.fileno())
    return info.st_size


def _compare(place: Path, copy: Path) -> None:
    """OSError when the copy is not what was copied; then the directories' own times."""
    names = [name for name, _ in _walk(place)]
    for name in reversed(names):
        source, target = place / name, copy / name
        if source.is_dir() and not source.is_symlink():
            shutil.copystat(source, target)
        elif source.is_file() and _digest(source) != _digest(target):
            raise OSError(f"the copy of {name} differs")


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _prepare(place: Path, pairs: Sequence[Pair]) -> None:
    making = place / MAKING
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    seed = making / "seed"
    moved = _flat(place)
    seed.mkdir()
    for name in moved:
        shutil.copytree(place / "skills" / name, seed / name, symlinks=True)
    index = place / "skills" / ".skills"
    if index.is_file():
        shutil.copy2(index, seed / ".index")
        moved.append(".skills")
    declared: Any = json.loads((_mcp(place) or b"null").decode("utf-8-sig"))
    if isinstance(declared, list):
        mcps: dict[str, dict[str, Any]] = {}
        for agent_id, session_id in dict.fromkeys(pairs or [("", "")]):
            mcps.setdefault(agent_id, {})[session_id] = declared
        text = json.dumps({"version": 2, "mcps": mcps}, indent=2, ensure_ascii=False)
        _write(making / "mcp", text.encode("utf-8", "surrogatepass"))
        shutil.copymode(place / ".mcp", making / "mcp")
    _write(making / "moved.json", json.dumps(moved).encode())
    for folder, _, files in os.walk(making):
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                with open(path, "rb") as file:
                    os.fsync(file.fileno())
        _sync_dir(Path(folder))


def _flat(place: Path) -> list[str]:
    """The skills of the old layout: directories that hold a SKILL.md, as AgentScope 2.0.7 and later
    tell them; whatever else lies in ``skills`` stays where it is."""
    skills = place / "skills"
    if not skills.is_dir():
        return []
    return sorted(p.name for p in skills.iterdir() if (p / "SKILL.md").is_file())


def _mcp(place: Path) -> bytes | None:
    try:
        return (place / ".mcp").read_bytes()
    except FileNotFoundError:
        return None


def _walk(place: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Everything in the workspace's parts, a directory before what is in it; links not followed."""
    waiting = [part for part in reversed(PARTS) if os.path.lexists(place / part)]
    while waiting:
        name = waiting.pop()
        info = os.lstat(place / name)
        if not (stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode) or _link(info)):
            continue  # a socket or a pipe that some program left: nothing to be kept
        yield name, info
        if stat.S_ISDIR(info.st_mode):
            inner = sorted(os.listdir(place / name), reverse=True)
            waiting += [f"{name}/{one}" for one in inner]


def _link(info: os.stat_result) -> bool:
    return stat.S_ISLNK(info.st_mode)


def _signature(place: Path) -> list[tuple[str, int, int]]:
    return [(name, info.st_size, info.st_mtime_ns) for name, info in _walk(place)]


def _write(path: Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_dir(path: Path) -> None:
    if os.name == "nt":
        return
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
