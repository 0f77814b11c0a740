"""A workspace in a folder: the person's files, and beside them what the agent's sessions need.

Written against ``Backend`` alone; with ``LocalBackend`` it is a folder on this computer.

Nothing is made in the folder before the first write. A folder that already is a workspace of
another program is used in place, in its generation; otherwise our root is ``.slipway`` in it, which
ignores itself for git.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.skills import Skill, SkillSet

from .backend import Backend
from .base import OffloadEntry
from .history import ContextFile, History, read_history
from .in_use import Use
from .layout import entries
from .mcp_file import McpDeclaration, McpFile, forget_session, read_mcp
from .mcp_write import McpWriter
from .offload import Payload, encode, payload_of, result_text
from .opened_folder import OpenedFolder
from .paths import (
    command_path,
    component,
    context_path,
    is_component,
    join,
    relative,
    require_inside,
    resolve_url,
    tool_result_path,
)
from .paths import session_dir as own_session_dir

if TYPE_CHECKING:
    from desktop_app.core.messages import DataBlock, Msg, ToolResultBlock

    from .remote.tree_tar import Moved

AGENTS_FILE = "AGENTS.md"
AGENTS_BYTES = 32 << 10
OURS = ("sessions", "data", "skills", ".mcp")


@dataclass(frozen=True, slots=True)
class WouldRun:
    """What opening this workspace with trust would bring in, for the question to the person."""

    commands: tuple[McpDeclaration, ...]
    skills: tuple[Skill, ...]
    instructions: bool  # whether it has an AGENTS.md


@dataclass(frozen=True, slots=True)
class Removal:
    """One thing that ``reset`` would remove: path relative to the folder, files in it, bytes."""

    path: str
    files: int
    bytes: int


class LocalWorkspace(OpenedFolder):
    """``base.Workspace`` for a folder.

    ``trusted`` is the person's word (kept by the caller): without it no skill and no instruction
    file enters a prompt, and nothing that ``.mcp`` declares may be started. ``tools`` makes the
    tool objects; it is handed in because tools are a layer above.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        id: str,  # noqa: A002 - the name of the interface
        name: str = "",
        trusted: bool = False,
        backend: Backend | None = None,
        tools: Callable[[], list[Any]] | None = None,
        in_use: Callable[[str, int], Use | None] | None = None,
    ) -> None:
        super().__init__(folder, id=id, name=name, trusted=trusted, backend=backend, in_use=in_use)
        self._tools = tools
        self._skills_off: dict[str, frozenset[str]] = {}

    # -- resources -------------------------------------------------------------------------------

    async def get_instructions(self) -> str:
        """For the system prompt; paths in it are relative to the working directory. Steady for one
        state of the folder, so that provider caches hold."""
        async with self._use():
            root = relative(self._layout.root, self._folder)
            place = "" if root == "." else f"{root}/"
            text = (
                "Your working directory is `.`: a folder of the person you work for. "
                "Name files by paths relative to it.\n"
                f"What left this conversation is kept in `{place}sessions/` "
                f"(`context.jsonl`, `tool_result-*.txt`) and `{place}data/`; "
                "read and search it there, never change it."
            )
            if self._state == "readonly":
                text += "\nThe folder is read-only: nothing can be written in it."
            if self._trusted and (agents := await self._agents_file()):
                text += f"\n\n<instructions file='{AGENTS_FILE}'>\n{agents}\n</instructions>"
            return text

    async def _agents_file(self) -> str:
        path = join(self._folder, AGENTS_FILE)
        try:
            await require_inside(self._backend, path, self._folder)
            data = b""
            async with aclosing(self._backend.read(path, length=AGENTS_BYTES + 1)) as pieces:
                async for piece in pieces:
                    data += piece
        except WorkspaceError as error:
            if error.retryable:
                raise
            return ""
        cut = len(data) > AGENTS_BYTES
        text = data[:AGENTS_BYTES].decode("utf-8-sig", "replace").replace("\r\n", "\n").strip()
        return f"{text}\n[cut here: the file is longer]" if cut else text

    async def list_tools(self) -> list[Any]:
        return self._tools() if self._tools is not None else []

    async def mcp_file(self) -> McpFile:
        """Everything that ``.mcp`` declares, for every agent and session. Nothing is started."""
        async with self._use():
            return await read_mcp(self._backend, join(self._layout.root, ".mcp"))

    def mcp_writer(self) -> McpWriter:
        """Changes declarations, in the generation found."""
        flat = self._layout.generation != "C"
        path = join(self._layout.root, ".mcp")
        return McpWriter(self._backend, path, flat=flat, prepare=self.make_ready)

    async def make_ready(self) -> None:
        """Make the workspace's own root, where it is not there yet. WorkspaceError."""
        async with self._use(write=True):
            await self._prepare()

    async def list_mcps(
        self, *, agent_id: str | None = None, session_id: str | None = None
    ) -> list[McpDeclaration]:
        """Declarations of one session; a file that does not parse is one entry with the reason."""
        declared = await self.mcp_file()
        if declared.error is not None:
            bad = McpDeclaration("", "unknown", error=declared.error, params=declared.params)
            return [bad]
        shared = self._layout.generation != "C"
        return declared.of(agent_id or "", session_id or "", shared=shared)

    async def list_skills(self, *, agent_id: str | None = None) -> list[Skill]:
        """All of them, for the person too; what a prompt may hold is ``skills_for_prompt``."""
        async with self._use():
            return await self._library.list(agent_id)

    async def skills_for_prompt(self, agent_id: str | None = None) -> SkillSet:
        """The agent's skills; none while the workspace is not trusted, and without those that
        were switched off for it."""
        if not self._trusted:
            return SkillSet((), self._backend)
        async with self._use():
            found = await self._library.set(agent_id)
        off = self._skills_off.get(agent_id or "", frozenset())
        if not off:
            return found
        return SkillSet(tuple(s for s in found.skills if s.folder not in off), found.backend)

    def set_skills_off(self, agent_id: str, folders: Collection[str]) -> None:
        """Which skills, by their directories' names, this agent does not get. The caller keeps
        it: nothing is written into the workspace."""
        self._skills_off[agent_id] = frozenset(folders)

    async def would_run(self, agent_id: str | None = None) -> WouldRun:
        """What trust would bring in: commands and addresses, skills, an instruction file."""
        declared = await self.mcp_file()
        skills = await self.list_skills(agent_id=agent_id)
        agents = (await self._backend.stat_many([join(self._folder, AGENTS_FILE)]))[0]
        usable = tuple(d for d in declared.all() if d.error is None)
        return WouldRun(usable, tuple(s for s in skills if s.error is None), agents is not None)

    # -- offload ---------------------------------------------------------------------------------

    def visible(self, path: str) -> str:
        """A path relative to the root as the agent sees it: relative to the working directory."""
        return relative(join(self._layout.root, path), self._folder)

    def context_file(self, session_id: str) -> str:
        """Relative to the root."""
        return relative(context_path(self._layout.root, session_id), self._layout.root)

    def tool_result_file(self, session_id: str, call_id: str, n: int = 0) -> str:
        """Relative to the root."""
        root = self._layout.root
        return relative(tool_result_path(root, session_id, call_id, n), root)

    async def command_file(self, session_id: str, command_id: str) -> str:
        """A new, empty file for what a background command prints, relative to the root."""
        async with self._use(write=True):
            await self._prepare()
            root = self._layout.root
            path = relative(command_path(root, session_id, command_id), root)
            return await self._files.place(path, b"")

    async def offload_context(self, session_id: str, msgs: Sequence[Msg], **kwargs: Any) -> str:
        """Append messages to the session's ``context.jsonl``; inline payloads go to ``data/``."""
        root, generation = self._layout.root, self._layout.generation
        lines, payloads = await encode(msgs, root, generation)
        path = self.context_file(session_id)
        async with self._use(write=True):
            await self._prepare()
            await self._put(payloads)
            if lines:
                await self._files.append_lines(path, lines)
        return self.visible(path)

    async def _put(self, payloads: Sequence[Payload]) -> None:
        for payload in payloads:
            await self._files.put_data(payload.path, payload.data)

    async def offload_tool_result(
        self, session_id: str, tool_result: ToolResultBlock, **kwargs: Any
    ) -> str:
        """Write a whole result; the same again is the same file, a different one of the same call
        id gets ``(1)``."""
        root, generation = self._layout.root, self._layout.generation
        text, payloads = await asyncio.to_thread(result_text, tool_result, root, generation)
        async with self._use(write=True):
            await self._prepare()
            await self._put(payloads)
            path = self.tool_result_file(session_id, tool_result.id)
            return self.visible(await self._files.place(path, text))

    async def offload_data_block(self, block: DataBlock) -> DataBlock:
        """Inline bytes become a file in ``data/``; a block that is a URL is returned as it is."""
        root, generation = self._layout.root, self._layout.generation
        payload = await asyncio.to_thread(payload_of, block, root, generation)
        if payload is None:
            return block
        async with self._use(write=True):
            await self._prepare()
            await self._put([payload])
        return payload.block

    async def deliver(
        self, kind: Literal["messages", "tool_result", "data"], path: str, data: bytes
    ) -> str:
        """For the outbox: bring prepared bytes to ``path`` (relative to the root). Doing it again
        changes nothing. Returns where they are."""
        async with self._use(write=True):
            await self._prepare()
            await require_inside(self._backend, join(self._layout.root, path), self._layout.root)
            if kind == "messages":
                await self._files.append_lines(path, data, once=True)
            elif kind == "tool_result":
                return await self._files.place(path, data)
            else:
                await self._files.put_data(path, data)
            return path

    # -- management ------------------------------------------------------------------------------

    async def list_offloads(self, session_id: str | None = None) -> list[OffloadEntry]:
        """What is there, newest first. Payloads in ``data`` belong to no session: listed with an
        empty one when no session is asked for."""
        from .offload_list import list_offloads

        async with self._use():
            if not self._layout.exists:
                return []
            return await list_offloads(self._backend, self._layout.root, session_id)

    async def read_context(self, session_id: str) -> History:
        """The messages that left a session, folded; an empty history when there are none."""
        async with self._use():
            folder = await self._session_folder(session_id)
            path = join(folder, "context.jsonl")
            await require_inside(self._backend, path, self._layout.root)
            try:
                return await read_history(self._backend, path)
            except WorkspaceError as error:
                if error.code == "file.missing":
                    return History()
                raise

    async def open_context(self, session_id: str) -> ContextFile | None:
        """The same file for reading in pages, however long it is; None when there is none."""
        async with self._use():
            path = join(await self._session_folder(session_id), "context.jsonl")
            await require_inside(self._backend, path, self._layout.root)
            try:
                return await ContextFile.open(self._backend, path)
            except WorkspaceError as error:
                if error.code == "file.missing":
                    return None
                raise

    async def _session_folder(self, session_id: str) -> str:
        """Where a session's files are: a directory of just that name, else the one we would make.
        Programs before us allowed names that we do not write."""
        own = own_session_dir(self._layout.root, session_id)
        if not is_component(session_id):
            return own
        plain = join(self._layout.root, "sessions", session_id)
        found = (await self._backend.stat_many([plain]))[0]
        return plain if found is not None else own

    async def resolve(self, url: str) -> str | None:
        """The path of a payload's URL, or None when it names none; WorkspaceError
        ``path.outside``."""
        path = resolve_url(url, self._layout.root)
        if path is not None:
            await require_inside(self._backend, path, self._layout.root)
        return path

    async def purge_session(self, *, agent_id: str, session_id: str) -> None:
        """Remove a session's offloads and declarations for good. SessionError ``id.unsafe``."""
        component("session", session_id)
        async with self._use(write=True):
            if not self._layout.exists:
                return
            root = self._layout.root
            if self._layout.generation == "C":
                await forget_session(self._backend, join(root, ".mcp"), agent_id, session_id)
            folder = await self._session_folder(session_id)
            await require_inside(self._backend, join(root, "sessions"), root)
            await self._remove(folder)

    async def download(
        self,
        folder: str,
        target: Path,
        *,
        verify: bool = True,
        tell: Callable[[Moved], None] | None = None,
    ) -> Moved:
        """Copy a directory of it to ``target``, which must not exist: whole, or not at all. What
        cannot be (devices, links out of it) is in ``left_out``. WorkspaceError ``file.*``,
        ``disk.full``. Both ends are on this computer: there is nothing to ``verify``."""
        from .remote.tree_tar import Moved, counted, pack, unpack

        moved = Moved()
        async with self._use(), aclosing(pack(Path(folder), Moved(), digests=False)) as tar:
            await unpack(counted(tar, moved, tell), target, moved, digests=False)
        return moved

    async def require_writable(self) -> None:
        """Raise WorkspaceError with why when nothing can be written in it."""
        async with self._use(write=True):
            pass

    async def upload(
        self,
        source: Path,
        folder: str,
        *,
        verify: bool = True,
        tell: Callable[[Moved], None] | None = None,
    ) -> Moved:
        """Bring a directory of this computer into ``folder`` of it, under its own name, which must
        not be there. Otherwise as ``download``."""
        from .remote.tree_tar import Moved, counted, pack, unpack

        read, moved = Moved(), Moved()
        target = Path(join(self._folder, folder)) / source.name
        async with self._use(write=True), aclosing(pack(source, read, digests=False)) as tar:
            await unpack(counted(tar, moved, tell), target, moved, digests=False)
        moved.left_out = [*read.left_out, *moved.left_out]
        return moved

    async def what_reset_removes(self) -> list[Removal]:
        """To be shown to the person before ``reset``."""
        from .offload_list import measure

        async with self._use():
            found: list[Removal] = []
            if not self._layout.exists:
                return found
            there = await entries(self._backend, self._layout.root)
            for name in OURS:
                if name in there:
                    path = join(self._layout.root, name)
                    files, size = await measure(self._backend, path)
                    found.append(Removal(relative(path, self._folder), files, size))
            return found

    async def reset(self) -> None:
        async with self._use(write=True):
            if not self._layout.exists:
                return
            for name in OURS:
                await self._remove(join(self._layout.root, name))
        await self.refresh()

    async def _remove(self, path: str) -> None:
        """Remove ours; a link is removed itself, not what it leads to. Missing is fine."""
        try:
            await self._backend.remove(path, recursive=True)
        except WorkspaceError as error:
            if error.code != "file.missing":
                raise


if TYPE_CHECKING:
    from .base import Workspace

    def conforms(workspace: LocalWorkspace) -> Workspace:
        """Checked by the type checker alone."""
        return workspace
