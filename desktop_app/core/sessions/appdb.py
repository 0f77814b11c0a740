"""``app.db``: which workspaces and agents there are and which session belongs where.

No settings, no secrets, no conversation: those have their own places. Rows are frozen; a change is
``put`` again or one of the small verbs. All calls run in a thread of the database's own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

from desktop_app.core.crew import Crew, P, T
from desktop_app.core.errors import SessionError
from desktop_app.core.ids import now_us

from .appdb_file import Notice, Opened, backup_if_due, open_app_file
from .base import JournalStore, SessionKey
from .db import Database, Row


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """A workspace the person knows. ``folder`` is the person's, ``root`` the workspace's own
    (None until made); ``config`` what the backend needs (no secret); times in microseconds."""

    id: str
    name: str
    backend: str = "local"
    folder: str | None = None
    root: str | None = None
    generation: str = ""
    trusted: bool = False
    config: dict[str, Any] = field(default_factory=dict[str, Any])
    last_used_us: int = 0
    position: int = 0
    forgotten_us: int | None = None


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An agent: who answers. ``tools`` are names; ``rules`` a permission context as JSON; ``mode``
    the permission mode that its sessions begin with, empty for the usual one. ``made_us`` is when a
    person made it, 0 for one that is only known from sessions."""

    id: str
    name: str
    prompt: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()
    rules: dict[str, Any] = field(default_factory=dict[str, Any])
    position: int = 0
    mode: str = ""
    made_us: int = 0


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a session belongs and what the person did with it. ``title`` is a cache of the
    journal's; ``trashed_us`` when it was put into the trash."""

    key: SessionKey
    workspace_id: str
    title: str = ""
    pinned: bool = False
    tags: tuple[str, ...] = ()
    created_us: int = 0
    trashed_us: int | None = None


_WORKSPACE = (
    "id, name, backend, folder, root, generation, trusted, config, last_used_us, position,"
    " forgotten_us"
)
_AGENT = "id, name, prompt, model, tools, rules, position, mode, made_us"
_SESSION = (
    "user_id, agent_id, session_id, workspace_id, title, pinned, tags, created_us, trashed_us"
)
_KEY = "user_id = ? AND agent_id = ? AND session_id = ?"


class AppDb:
    """See the module. Raises SessionError ``appdb.newer`` (nothing can be changed: a newer program
    wrote the file), ``appdb.damaged``, ``appdb.busy``, ``disk.*``; KeyError for an id that is not
    there. ``notices`` are for the window to show once."""

    def __init__(self, opened: Opened, worker: Crew) -> None:
        self._db: Database = opened.db
        self._writable = opened.writable
        self._worker = worker
        self.notices: list[Notice] = opened.notices
        self._closed = False

    @classmethod
    async def open(cls, path: Path) -> AppDb:
        """Open or make the file; a backup is made beside, when one is due."""
        worker = Crew("app-db")
        try:
            opened = await worker.call(open_app_file, path)
        except BaseException:
            worker.stop()
            raise
        if opened.writable:
            worker.soon(backup_if_due, opened.db)
        return cls(opened, worker)

    @property
    def writable(self) -> bool:
        return self._writable

    async def close(self) -> None:
        """Idempotent."""
        if not self._closed:
            self._closed = True
            try:
                await self._worker.call(self._db.close)
            finally:
                self._worker.stop()

    # -- workspaces ---------------------------------------------------------------------------

    async def workspaces(self, *, forgotten: bool = False) -> list[WorkspaceRow]:
        """In the person's order; with ``forgotten`` those that were forgotten instead."""
        test = "NOT NULL" if forgotten else "NULL"
        return await self._workspaces(f"forgotten_us IS {test}", ())

    async def workspace(self, workspace_id: str) -> WorkspaceRow:
        """KeyError when there is none; a forgotten one is given too."""
        found = await self._workspaces("id = ?", (workspace_id,))
        if not found:
            raise KeyError(workspace_id)
        return found[0]

    async def workspace_of(self, folder: str, *, backend: str = "local") -> WorkspaceRow | None:
        """The workspace made for a folder, forgotten or not."""
        found = await self._workspaces("folder = ? AND backend = ?", (folder, backend))
        return found[0] if found else None

    async def put_workspace(self, row: WorkspaceRow) -> None:
        """Add or replace. A new one of position 0 comes last."""
        await self._write(lambda db: _put_workspace(db, row))

    async def rename_workspace(self, workspace_id: str, name: str) -> None:
        await self._change("UPDATE workspace SET name = ? WHERE id = ?", name, workspace_id)

    async def configure(self, workspace_id: str, **parts: Any) -> None:
        """Keep these parts in its config; of a part that is a table, these entries. All else of the
        row stays, whoever changes it meanwhile."""
        sql = "UPDATE workspace SET config = json_patch(config, ?) WHERE id = ?"
        await self._change(sql, json.dumps(parts), workspace_id)

    async def trust_workspace(self, workspace_id: str, trusted: bool) -> None:
        await self._change("UPDATE workspace SET trusted = ? WHERE id = ?", trusted, workspace_id)

    async def move_workspace(self, workspace_id: str, folder: str, trusted: bool) -> None:
        """Its folder is at another place now."""
        sql = "UPDATE workspace SET folder = ?, root = NULL, trusted = ? WHERE id = ?"
        await self._change(sql, folder, trusted, workspace_id)

    async def use_workspace(self, workspace_id: str) -> None:
        """Note that it was used just now."""
        await self._change(
            "UPDATE workspace SET last_used_us = ? WHERE id = ?", now_us(), workspace_id
        )

    async def order_workspaces(self, ids: Sequence[str]) -> None:
        """The person's order; those not named keep theirs, after these."""
        rows = [(n, name) for n, name in enumerate(ids, start=1)]

        def write(db: Database) -> None:
            db.run("UPDATE workspace SET position = position + ?", (len(rows),))
            db.many("UPDATE workspace SET position = ? WHERE id = ?", rows)

        await self._write(write)

    async def forget_workspace(self, workspace_id: str) -> None:
        """Take it off the list. Its files, its sessions and their journals stay as they are."""
        await self._change(
            "UPDATE workspace SET forgotten_us = ? WHERE id = ?", now_us(), workspace_id
        )

    async def recall_workspace(self, workspace_id: str) -> None:
        """Undo ``forget_workspace``."""
        await self._change("UPDATE workspace SET forgotten_us = NULL WHERE id = ?", workspace_id)

    async def _workspaces(self, where: str, params: Sequence[Any]) -> list[WorkspaceRow]:
        sql = f"SELECT {_WORKSPACE} FROM workspace WHERE {where} ORDER BY position, id"
        rows = await self._call(self._db.rows, sql, params)
        return [WorkspaceRow(*_decoded(row, {6: bool, 7: json.loads})) for row in rows]

    # -- agents -------------------------------------------------------------------------------

    async def agents(self) -> list[AgentRow]:
        rows = await self._call(self._db.rows, f"SELECT {_AGENT} FROM agent ORDER BY position, id")
        return [AgentRow(*_decoded(row, {4: _tuple, 5: json.loads})) for row in rows]

    async def agent(self, agent_id: str) -> AgentRow:
        """KeyError when there is none."""
        for row in await self.agents():
            if row.id == agent_id:
                return row
        raise KeyError(agent_id)

    async def put_agent(self, row: AgentRow) -> None:
        """Add or replace."""
        fields = (row.id, row.name, row.prompt, row.model)
        fields = (*fields, json.dumps(row.tools), json.dumps(row.rules), row.position)
        fields = (*fields, row.mode, row.made_us)
        sql = f"INSERT OR REPLACE INTO agent({_AGENT}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"
        await self._write(lambda db: db.run(sql, fields))

    async def remove_agent(self, agent_id: str) -> None:
        """Its sessions stay and can be read."""
        await self._change("DELETE FROM agent WHERE id = ?", agent_id)

    # -- sessions -----------------------------------------------------------------------------

    async def place(self, placement: Placement) -> None:
        """Add a session or replace what is known of it."""
        await self._write(lambda db: _place(db, [placement]))

    async def placement(self, key: SessionKey) -> Placement:
        """KeyError when there is none."""
        found = await self._placements(f"WHERE {_KEY}", _ids(key))
        if not found:
            raise KeyError(key)
        return found[0]

    async def placements(
        self, workspace_id: str | None = None, *, trashed: bool = False
    ) -> list[Placement]:
        """Sessions of a workspace, or of all; with ``trashed`` those in the trash instead, newest
        trash first."""
        where = f"WHERE trashed_us IS {'NOT NULL' if trashed else 'NULL'}"
        params: tuple[str, ...] = ()
        if workspace_id is not None:
            where, params = f"{where} AND workspace_id = ?", (workspace_id,)
        order = "trashed_us DESC" if trashed else "pinned DESC, created_us DESC"
        return await self._placements(f"{where} ORDER BY {order}, session_id", params)

    async def set_title(self, key: SessionKey, title: str) -> None:
        """Cache the title that the journal has (append the ``title`` record first)."""
        await self._of_session("title = ?", key, title)

    async def pin(self, key: SessionKey, pinned: bool) -> None:
        await self._of_session("pinned = ?", key, int(pinned))

    async def tag(self, key: SessionKey, tags: Sequence[str]) -> None:
        await self._of_session("tags = ?", key, json.dumps(list(tags)))

    async def move(self, key: SessionKey, workspace_id: str) -> None:
        await self._of_session("workspace_id = ?", key, workspace_id)

    async def trash(self, key: SessionKey) -> None:
        """Into the trash; nothing of its files is touched. Undo is ``restore``."""
        await self._of_session("trashed_us = ?", key, now_us())

    async def restore(self, key: SessionKey) -> None:
        await self._of_session("trashed_us = ?", key, None)

    async def purge(self, key: SessionKey, store: JournalStore) -> None:
        """Remove a session for good, journal first, so that what is cut off can be repeated.
        SessionError ``session.not_trashed`` unless it is in the trash, ``journal.in_use``."""
        if (await self.placement(key)).trashed_us is None:
            raise SessionError("session.not_trashed", session=key.session_id)
        await store.delete(key)
        await self._write(lambda db: db.run(f"DELETE FROM session WHERE {_KEY}", _ids(key)))

    async def rebuild(self, store: JournalStore) -> int:
        """Place every journal that has no place yet, by its own first record and newest title; how
        many. A workspace that only journals know of comes back with its folder, not trusted. After
        ``appdb.damaged``; harmless at any time."""
        there = {
            row.id for row in [*await self.workspaces(), *await self.workspaces(forgotten=True)]
        }
        rows = await self._call(self._db.rows, "SELECT user_id, agent_id, session_id FROM session")
        known = {SessionKey(*row) for row in rows}
        missing = [key for key in await store.keys() if key not in known]
        for start in range(0, len(missing), 50):
            found = [await _placement_of(store, key) for key in missing[start : start + 50]]
            placed = [p[0] for p in found if p is not None]
            await self._write(partial(_place, placements=placed))
            for row in (p[1] for p in found if p is not None):
                if row is not None and row.id not in there:
                    there.add(row.id)
                    await self.put_workspace(row)
        return len(missing)

    async def _placements(self, rest: str, params: Sequence[Any]) -> list[Placement]:
        rows = await self._call(self._db.rows, f"SELECT {_SESSION} FROM session {rest}", params)
        decoders: dict[int, Callable[[Any], Any]] = {5: bool, 6: _tuple}
        return [Placement(SessionKey(*row[:3]), *_decoded(row, decoders)[3:]) for row in rows]

    async def _of_session(self, change: str, key: SessionKey, value: Any) -> None:
        await self._change(
            f"UPDATE session SET {change} WHERE {_KEY}", value, *_ids(key), missing=key
        )

    # -- plumbing -----------------------------------------------------------------------------

    async def _change(self, sql: str, *params: Any, missing: object = None) -> None:
        """One statement that must find its row, else KeyError."""

        def write(db: Database) -> None:
            db.run(sql, params)
            if not db.changes():
                raise KeyError(missing if missing is not None else params[-1])

        await self._write(write)

    async def _write(self, do: Callable[[Database], None]) -> None:
        if not self._writable:
            raise SessionError("appdb.newer", path=str(self._db.path))

        def write() -> None:
            with self._db.write():
                do(self._db)

        await self._call(write)

    async def _call(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._closed:
            raise SessionError("appdb.closed")
        try:
            return await self._worker.call(do, *args, **kwargs)
        except SessionError as error:
            if error.code == "journal.damaged":
                raise SessionError("appdb.damaged", **error.params) from error
            if error.code == "journal.busy":
                raise SessionError("appdb.busy", retryable=True, **error.params) from error
            raise


def _decoded(row: Row, decoders: dict[int, Callable[[Any], Any]]) -> list[Any]:
    return [decoders[n](value) if n in decoders else value for n, value in enumerate(row)]


def _tuple(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _ids(key: SessionKey) -> tuple[str, str, str]:
    return key.user_id, key.agent_id, key.session_id


def _put_workspace(db: Database, row: WorkspaceRow) -> None:
    at = row.position or db.rows("SELECT coalesce(max(position), 0) + 1 FROM workspace")[0][0]
    db.run(
        f"INSERT INTO workspace({_WORKSPACE}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(id) DO UPDATE SET name = excluded.name, backend = excluded.backend,"
        " folder = excluded.folder, root = excluded.root, generation = excluded.generation,"
        " trusted = excluded.trusted, config = excluded.config,"
        " last_used_us = excluded.last_used_us, forgotten_us = excluded.forgotten_us,"
        f" position = {'excluded.position' if row.position else 'position'}",
        (
            *(row.id, row.name, row.backend, row.folder, row.root, row.generation),
            *(int(row.trusted), json.dumps(row.config), row.last_used_us, at, row.forgotten_us),
        ),
    )


def _place(db: Database, placements: Sequence[Placement]) -> None:
    rows = [
        (
            *(*_ids(p.key), p.workspace_id, p.title, int(p.pinned), json.dumps(p.tags)),
            *(p.created_us or now_us(), p.trashed_us),
        )
        for p in placements
    ]
    db.many(f"INSERT OR REPLACE INTO session({_SESSION}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


async def _placement_of(
    store: JournalStore, key: SessionKey
) -> tuple[Placement, WorkspaceRow | None] | None:
    """What a journal says of itself and of its workspace; None when it cannot be read now."""
    try:
        journal = await store.open(key, write=False)
    except (KeyError, SessionError):
        return None
    try:
        first = await journal.read(limit=1)
        titles = await journal.read(kinds=["title"], newest_first=True, limit=1)
        body = first[0].body() if first else {}
        title: Any = titles[0].body().get("title") if titles else body.get("title")
        workspace = body.get("workspace_id") or cast(dict[str, Any], body.get("config") or {}).get(
            "workspace_id"
        )
        placed = Placement(
            key,
            workspace_id=str(workspace or ""),
            title=str(title or ""),
            created_us=first[0].ts_us if first else 0,
        )
        folder = str(body.get("folder") or "")
        name = folder.rstrip("/").rpartition("/")[2] or folder
        row = WorkspaceRow(placed.workspace_id, name, folder=folder) if folder else None
        return placed, _machine_of(placed.workspace_id, body) or row
    except SessionError:
        return Placement(key, workspace_id=""), None
    finally:
        await journal.close()


def _machine_of(workspace_id: str, body: dict[str, Any]) -> WorkspaceRow | None:
    """The row of a workspace that is no folder, from what the first record says of it."""
    found: Any = body.get("workspace")
    if not isinstance(found, dict):
        return None
    said = cast(dict[str, Any], found)
    config: Any = said.get("config")
    return WorkspaceRow(
        workspace_id,
        str(said.get("name") or workspace_id),
        str(said.get("backend") or "local"),
        str(body.get("folder") or "") or None,
        config=cast(dict[str, Any], config) if isinstance(config, dict) else {},
    )
