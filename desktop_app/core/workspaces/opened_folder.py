"""A folder that is open as a workspace: what state it is in, and which layout it has."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.skills import SkillLibrary

from .backend import Backend
from .base import WorkspaceInfo
from .in_use import CODES, Use, newest_change
from .layout import OWN, OWN_GENERATION, Layout, detect
from .local import LocalBackend
from .offload import Files
from .paths import join

log = logging.getLogger(__name__)

State = Literal[
    "ready", "missing", "unreadable", "readonly", "stopped", "paused", "starting", "error"
]


class OpenedFolder:
    """The life cycle of a workspace in a folder, and a guard around each of its operations.

    Where the folder is gone, unreadable or read-only, ``info.state`` says so and operations raise
    ``workspace.missing``, ``workspace.unreadable``, ``workspace.readonly`` or
    ``workspace.failed``; ``refresh`` looks again, and a folder that came back works again.

    ``in_use`` says whether another program may be using a workspace that another program wrote
    (``in_use.who_uses``; None: nobody asks). It is asked when the folder is opened, and while it
    says so again at each look: until then the folder is ``readonly`` with the code and who it is in
    ``info.params``, unless ``open_anyway`` was called.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        id: str,  # noqa: A002 - the name of the interface
        name: str = "",
        trusted: bool = False,
        backend: Backend | None = None,
        in_use: Callable[[str, int], Use | None] | None = None,
    ) -> None:
        self._in_use = in_use
        self._left_ns = 0
        self._wrote = False
        self._backend: Backend = backend if backend is not None else LocalBackend(folder)
        self._folder = self._backend.cwd
        self._id = id
        self._name = name or self._folder.rstrip("/").rpartition("/")[2] or self._folder
        self._trusted = trusted
        self._state: State = "stopped"
        self._params: dict[str, Any] = {}
        self._closed = False
        self._lock = asyncio.Lock()
        root = join(self._folder, OWN)
        self._layout = Layout(self._folder, root, OWN_GENERATION, False, False)
        self._files = Files(self._backend, root)
        self._library = SkillLibrary(self._backend, root, OWN_GENERATION, self._folder)

    # -- life cycle ------------------------------------------------------------------------------

    @property
    def info(self) -> WorkspaceInfo:
        return WorkspaceInfo(
            id=self._id,
            name=self._name,
            backend=self._backend.kind,
            folder=self._folder,
            root=self._layout.root,
            generation=self._layout.generation,
            trusted=self._trusted,
            foreign=self._layout.foreign,
            state=self._state,
            params=dict(self._params),
        )

    @property
    def layout(self) -> Layout:
        return self._layout

    def set_trusted(self, trusted: bool) -> None:
        self._trusted = trusted

    def set_name(self, name: str) -> None:
        self._name = name

    @property
    def held(self) -> bool:
        """Whether it is read-only because another program may be using it."""
        return self._state == "readonly" and self._params.get("code") in CODES.values()

    def check_free(self) -> None:
        """Raise WorkspaceError with why when ``held``: nothing may be begun that could write."""
        if self.held:
            params = {key: value for key, value in self._params.items() if key != "code"}
            raise WorkspaceError(self._params["code"], retryable=True, **params)

    @property
    def left_ns(self) -> int:
        """The newest change in it when we closed it last, in nanoseconds: ours."""
        return self._left_ns

    def set_left(self, left_ns: int) -> None:
        """See ``left_ns``; the value is from ``left``."""
        self._left_ns = left_ns

    def wrote(self) -> None:
        """Something was written in it on our behalf, beside its own methods."""
        self._wrote = True

    async def left(self) -> int:
        """The newest change in it now, in nanoseconds; 0 when we wrote nothing since it was
        opened."""
        if not self._wrote or self._backend.kind != "local":
            return 0
        return (await asyncio.to_thread(newest_change, self._layout.root))[0]

    async def open_anyway(self) -> None:
        """The person says that it may be written, whoever else uses it. Until it is closed."""
        self._in_use = None
        await self.refresh()

    async def initialize(self) -> None:
        """Look at the folder; never raises for what is wrong with it: ``info.state`` tells. After
        ``close`` it is the way to open it again."""
        self._closed = False
        self._state = "starting"
        await self.refresh()

    async def refresh(self) -> WorkspaceInfo:
        """Look again: what state the folder is in and which layout it has. Changes nothing."""
        async with self._lock:
            if self._closed:
                return self.info
            try:
                await self._backend.start()
                readable, writable = await self._backend.access(self._folder)
                if not readable:
                    self._set("unreadable", code="file.denied")
                    return self.info
                await self._finish_migration()
                layout = await detect(self._backend, self._folder)
            except WorkspaceError as error:
                self._set_error(error)
                return self.info
            self._adopt(layout)
            use = await self._used_by_others(layout) if writable else None
            if use is not None:
                params = {**use.params(), "code": use.code, "path": self._folder}
                self._set("readonly", **params)
            else:
                self._set("ready" if writable else "readonly")
            return self.info

    async def _finish_migration(self) -> None:
        """A move to the newer layout that was decided here, and stopped by a kill, is ended."""
        if not self._trusted or self._backend.kind != "local":
            return

        def work() -> None:
            from .migrate import finish, unfinished

            for root in (self._folder, join(self._folder, OWN)):
                if unfinished(root):
                    finish(root)

        try:
            await asyncio.to_thread(work)
        except (OSError, ValueError, WorkspaceError) as error:
            log.warning("a move to the newer layout cannot be ended: %r", error)

    async def _used_by_others(self, layout: Layout) -> Use | None:
        """Asked until nobody does; from then on what changes may be our own doing."""
        if self._in_use is None or not layout.foreign or self._backend.kind != "local":
            return None
        use = await asyncio.to_thread(self._in_use, layout.root, self._left_ns)
        if use is None:
            self._in_use = None
        return use

    async def changed(self) -> bool:
        """Whether the folder went away, came back, or may be used differently than ``info.state``
        says. Cheap: one look, nothing is read or changed."""
        if self._closed:
            return False
        try:
            readable, writable = await self._backend.access(self._folder)
        except WorkspaceError as error:
            gone = error.code in ("file.missing", "file.not_dir")
            return self._state != ("missing" if gone else "error")
        if self.held and writable:
            return True  # who held it may be gone
        now = "unreadable" if not readable else "ready" if writable else "readonly"
        return self._state != now

    def _adopt(self, layout: Layout) -> None:
        same = (layout.root, layout.generation) == (self._layout.root, self._layout.generation)
        self._layout = layout
        if not same:
            self._files = Files(self._backend, layout.root)
            self._library = SkillLibrary(
                self._backend, layout.root, layout.generation, self._folder
            )

    def _set(self, state: State, **params: Any) -> None:
        self._state, self._params = state, params

    def _set_error(self, error: WorkspaceError) -> None:
        if error.code in ("file.missing", "file.not_dir"):
            self._set("missing", code=error.code)
        elif error.code == "file.denied":
            self._set("unreadable", code=error.code)
        else:
            self._set("error", **{**error.params, "code": error.code})

    async def close(self) -> None:
        self._closed = True
        await self._backend.close()
        self._set("stopped")

    async def __aenter__(self) -> Self:
        await self.initialize()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def get_backend(self) -> Backend:
        return self._backend

    @asynccontextmanager
    async def _use(self, *, write: bool = False) -> AsyncGenerator[None]:
        """Around every operation: know the layout, notice a folder that went away meanwhile."""
        if self._closed:
            raise WorkspaceError("backend.closed", path=self._folder)
        doubtful = self._state not in ("ready", "readonly")
        if doubtful or (await self._backend.stat_many([self._folder]))[0] is None:
            await self.refresh()
        self._require(write)
        self._wrote = self._wrote or write
        try:
            yield
        except WorkspaceError as error:
            if error.retryable or error.code == "path.outside":
                raise
            await self.refresh()
            self._require(write)
            raise

    def _require(self, write: bool) -> None:
        if self._state == "missing":
            raise WorkspaceError("workspace.missing", retryable=True, path=self._folder)
        if self._state == "unreadable":
            raise WorkspaceError("workspace.unreadable", retryable=True, path=self._folder)
        if write:
            self.check_free()
        if self._state == "readonly" and write:
            raise WorkspaceError("workspace.readonly", retryable=True, path=self._folder)
        if self._state == "error":
            code, path = self._params.get("code"), self._folder
            if code == "backend.unreachable":
                raise WorkspaceError("backend.unreachable", retryable=True, path=path)
            raise WorkspaceError("workspace.failed", retryable=True, path=path, reason=code)

    async def _prepare(self) -> None:
        """Before a write: our root with a ``.gitignore`` that ignores it and itself, unless it is
        there. One that was deleted meanwhile is made again."""
        root = self._layout.root
        found = (await self._backend.stat_many([root]))[0]
        if found is not None and found.kind == "dir":
            return
        await self._backend.mkdir(root)
        try:
            await self._backend.write(join(root, ".gitignore"), b"*\n", create=True)
        except WorkspaceError as error:
            if error.code != "file.exists":
                raise
        self._layout = replace(self._layout, exists=True)
