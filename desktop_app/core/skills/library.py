"""The skills of a workspace, by agent, parsed once and kept until a file changes."""

from __future__ import annotations

import asyncio
import posixpath
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from desktop_app.core.errors import SettingsError, WorkspaceError

from .parse import is_quick, parse_skill
from .skill import MAX_BYTES, Skill, SkillSet

if TYPE_CHECKING:
    from desktop_app.core.workspaces.backend import Backend, FileInfo, Version
    from desktop_app.core.workspaces.layout import Generation

FILE = "SKILL.md"
INDEXES = (".index", ".skills")
READERS = 8  # files read at once


@dataclass(slots=True)
class _Partition:
    """What is known of one directory of skills. ``links``: which entries are links."""

    version: str = ""
    names: list[str] = field(default_factory=list[str])
    links: set[str] = field(default_factory=set[str])
    aliases: dict[str, str] = field(default_factory=dict[str, str])
    files: list[str] = field(default_factory=list[str])  # below the directory
    versions: list[Version] = field(default_factory=list["Version"])
    raw: dict[str, tuple[Version, Skill]] = field(
        default_factory=dict[str, "tuple[Version, Skill]"]
    )
    skills: tuple[Skill, ...] = ()


class SkillLibrary:
    """Reads ``<root>/skills``: flat in generations A and B, a partition for each agent and a
    ``.seed`` for those that have none yet in C. A person who puts a folder with a ``SKILL.md``
    right into ``skills`` means it for every agent: in C too it is one. Changes nothing on disk.

    ``cwd`` is what ``Skill.dir`` is relative to. A listing that finds nothing changed costs two
    questions to the backend, in C three, whatever the number of skills.
    """

    def __init__(self, backend: Backend, root: str, generation: Generation, cwd: str) -> None:
        self._backend = backend
        self._root = root
        self._base = posixpath.join(root, "skills")
        self._generation = generation
        self._cwd = cwd
        self._cache: dict[str, _Partition] = {}
        self._lock = asyncio.Lock()

    async def partition(self, agent_id: str | None) -> str:
        """The directory an agent's skills are in."""
        return (await self._partition(agent_id))[0]

    async def _partition(
        self, agent_id: str | None
    ) -> tuple[str, FileInfo | None, FileInfo | None]:
        """The same, what is there, and what ``skills`` itself is."""
        if self._generation != "C":
            here = (await self._backend.stat_many([self._base]))[0]
            return self._base, here, here
        name = agent_id or "default"
        seed = posixpath.join(self._base, ".seed")
        good = name not in (".", "..") and not any(c in name for c in "/\\\0")
        own = posixpath.join(self._base, name) if good else seed
        found, here, base = await self._backend.stat_many([own, seed, self._base])
        if found is not None and found.kind == "dir":
            return own, found, base
        return seed, here, base

    async def list(self, agent_id: str | None = None) -> list[Skill]:
        """All of them by directory name; one that cannot be loaded carries why."""
        return list((await self.set(agent_id)).skills)

    async def set(self, agent_id: str | None = None) -> SkillSet:
        """The same as a set for the prompt and the Skill tool."""
        async with self._lock:
            path, here, base = await self._partition(agent_id)
            found = await self._load(path, here)
            if self._generation == "C":
                found = _together(found, await self._load(self._base, base))
            return SkillSet(found, self._backend)

    async def _load(self, path: str, here: FileInfo | None) -> tuple[Skill, ...]:
        known = self._cache.setdefault(path, _Partition())
        if here is None or here.kind != "dir":
            self._cache.pop(path, None)
            return ()
        if here.version != known.version:
            known.names, known.links, indexes = await self._scan(path)
            known.aliases = await self._aliases(path, indexes)
            known.files = [f"{name}/{FILE}" for name in known.names]
        # Asked for ahead of what is read: a change that comes between is seen the next time.
        versions = await self._backend.versions(path, known.files)
        if here.version == known.version and versions == known.versions:
            return known.skills
        files = [posixpath.join(path, file) for file in known.files]
        fresh = {
            file: known.raw[file][1]
            for file, version in zip(files, versions, strict=True)
            if version and file in known.raw and known.raw[file][0] == version
        }
        stale = [file for file in files if file not in fresh]
        found = dict(zip(stale, await self._backend.stat_many(stale), strict=True))
        loaded = await self._read(path, known, files, found, fresh)
        known.raw = dict(zip(files, zip(versions, loaded, strict=True), strict=True))
        known.version, known.versions = here.version, versions
        known.skills = tuple(_name_apart(loaded, known.names, known.aliases))
        return known.skills

    async def _scan(self, path: str) -> tuple[list[str], set[str], list[str]]:
        names: list[str] = []
        links: set[str] = set()
        indexes: list[str] = []
        async with aclosing(self._backend.scandir(path)) as batches:
            async for batch in batches:
                for info in batch:
                    if info.name in INDEXES:
                        indexes.append(info.name)
                    elif not info.name.startswith(".") and info.kind in ("dir", "link"):
                        names.append(info.name)
                        if info.kind == "link":
                            links.add(info.name)
        return sorted(names), links, indexes

    async def _aliases(self, path: str, indexes: list[str]) -> dict[str, str]:
        """Directory name to the name an index gave it (``name (1)`` after a clash)."""
        from desktop_app.core.workspaces.layout import read_json

        for name in indexes:
            value: Any = await read_json(self._backend, posixpath.join(path, name))
            listed = cast(dict[str, Any], value).get("skills") if isinstance(value, dict) else None
            if isinstance(listed, dict):
                return {
                    key: cast(dict[str, Any], item)["skill_name"]
                    for key, item in cast(dict[str, Any], listed).items()
                    if isinstance(item, dict)
                    and isinstance(cast(dict[str, Any], item).get("skill_name"), str)
                }
        return {}

    async def _read(
        self,
        path: str,
        known: _Partition,
        files: list[str],
        found: dict[str, FileInfo | None],
        fresh: dict[str, Skill],
    ) -> list[Skill]:
        gate = asyncio.Semaphore(READERS)

        async def one(name: str, file: str) -> Skill:
            if file in fresh:
                return fresh[file]
            async with gate:
                return await self._one(path, name, file, found[file], name in known.links)

        work = zip(known.names, files, strict=True)
        return await asyncio.gather(*(one(*item) for item in work))

    async def _one(
        self, partition: str, name: str, file: str, info: FileInfo | None, link: bool
    ) -> Skill:
        folder = posixpath.dirname(file)
        skill = Skill(name, "", file, posixpath.relpath(folder, self._cwd))
        try:
            if link and not await self._inside(folder):
                return replace(skill, error="skill.link_outside")
            if info is None:
                return await self._missing(skill, folder)
            if info.size > MAX_BYTES:
                return replace(skill, error="skill.too_large", params={"size": info.size})
            data = await self._backend.read_bytes(file, max_bytes=MAX_BYTES)
            if is_quick(data):
                parsed = parse_skill(data)
            else:
                parsed = await asyncio.to_thread(parse_skill, data)
        except SettingsError as error:
            return replace(skill, error=error.code, params=error.params)
        except WorkspaceError as error:
            if error.retryable:
                raise
            return replace(skill, error=error.code, params=error.params)
        return replace(
            skill,
            name=parsed.name,
            description=parsed.description,
            warnings=parsed.warnings,
            allowed_tools=parsed.allowed_tools,
            size=info.size,
        )

    async def _inside(self, folder: str) -> bool:
        real = await self._backend.realpath(folder)
        root = await self._backend.realpath(self._root)
        return real.startswith(root.rstrip("/\\") + "/")

    async def _missing(self, skill: Skill, folder: str) -> Skill:
        """Why there is no SKILL.md: another spelling, or nothing at all."""
        async with aclosing(self._backend.scandir(folder)) as batches:
            async for batch in batches:
                for info in batch:
                    if info.name.lower() == FILE.lower():
                        return replace(skill, error="skill.file_case", params={"found": info.name})
        return replace(skill, error="skill.no_file")


def _together(own: tuple[Skill, ...], flat: tuple[Skill, ...]) -> tuple[Skill, ...]:
    """A partition's skills and those beside the partitions; what has no ``SKILL.md`` there is a
    partition, and one of both places counts once."""
    known = {skill.folder for skill in own}
    more = [s for s in flat if s.error != "skill.no_file" and s.folder not in known]
    if not more:
        return own
    skills = [*own, *more]
    return tuple(_name_apart(skills, [s.folder for s in skills], {}))


def _name_apart(skills: list[Skill], names: list[str], aliases: dict[str, str]) -> list[Skill]:
    """Give skills of one name different ones: the index's where it has one, else ``name (1)``."""
    taken: set[str] = set()
    result: list[Skill] = []
    for skill, folder in zip(skills, names, strict=True):
        name = skill.name
        if skill.error is None:
            alias = aliases.get(folder, "")
            if alias.startswith(f"{name} (") and alias not in taken:
                name = alias
            n = 0
            while name in taken:
                n += 1
                name = f"{skill.name} ({n})"
            taken.add(name)
        result.append(skill if name == skill.name else replace(skill, name=name))
    return result
