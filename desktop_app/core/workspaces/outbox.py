"""The outbox: offloads are committed to the journal first and reach the workspace from there.

A workspace that cannot be reached never blocks a compaction: the journal has the bytes (a blob) and
the promise (an ``offload`` record), and the file in the workspace is a projection of them with a
deterministic name. Delivery is in order, tried again until it is done, and may be repeated: a
crash between a delivery and its ``offload.delivered`` record is met by a look at the file's tail,
and a repeat that slips through is folded by every reader.

Records::

    offload            {id, kind: messages | tool_result | data, session_id, blob, path, count,
                        bytes}; path is relative to the workspace's root
    offload.delivered  {id, path, store?}; path differs when another file had the name already,
                       and is what an offloader returned where there is one (``elsewhere``), whose
                       class ``store`` names
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from desktop_app.core.errors import SessionError, SlipwayError, WorkspaceError
from desktop_app.core.ids import new_id
from desktop_app.core.sessions.base import Journal, NewRecord, Record

from .elsewhere import Elsewhere, Parcel
from .offload import Payload, encode, payload_of, result_text

if TYPE_CHECKING:
    from desktop_app.core.messages import DataBlock, Msg, ToolResultBlock

    from .layout import Generation

Kind = Literal["messages", "tool_result", "data"]
NEVER = {"path.outside", "file.bad_name", "file.loop", "id.unsafe"}  # waiting does not help
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds


class Target(Protocol):
    """The part of a workspace that the outbox needs; ``LocalWorkspace`` has it."""

    @property
    def info(self) -> Any: ...

    def visible(self, path: str) -> str: ...

    def context_file(self, session_id: str) -> str: ...

    def tool_result_file(self, session_id: str, call_id: str, n: int = 0) -> str: ...

    async def deliver(self, kind: Kind, path: str, data: bytes) -> str: ...


@dataclass(frozen=True, slots=True)
class Staged:
    """``records`` go into the transaction that takes the content out of the context (the payloads'
    before the one that refers to them). ``path`` is what the agent will find, as it sees it;
    ``blob`` has the bytes beside the journal. ``file``: whether Read and Grep reach it."""

    records: tuple[NewRecord, ...]
    path: str
    bytes: int
    block: DataBlock | None = None
    blob: str = ""
    file: bool = True


@dataclass(slots=True)
class _Entry:
    id: str
    parcel: Parcel
    blob: str


class Outbox:
    """One session's deliveries, to ``elsewhere`` if there is one, else to the workspace. Call
    ``load`` once, ``add`` with the records of each append, and run ``run`` as a
    supervised task; or ``deliver`` by hand."""

    def __init__(
        self,
        journal: Journal,
        workspace: Target,
        *,
        elsewhere: Elsewhere | None = None,
        on_change: Callable[[], None] | None = None,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
    ) -> None:
        self._journal = journal
        self._workspace = workspace
        self._elsewhere = elsewhere
        # Payloads without a taker elsewhere stay the workspace's.
        self._data_elsewhere = elsewhere is not None and elsewhere.takes_data
        self._moved: dict[str, str] = {}  # payload's path -> where it was brought elsewhere
        self._on_change = on_change or (lambda: None)
        self._sleep = sleep
        self._queue: dict[str, _Entry] = {}
        self._paths: dict[str, str] = {}  # path -> blob of every tool result promised so far
        self._loaded_to = 0
        self._wake = asyncio.Event()
        self._lock = asyncio.Lock()
        self.error: SlipwayError | None = None
        self.broken: list[str] = []  # ids that cannot be delivered

    def pending(self) -> int:
        """How many offloads have not reached the workspace yet."""
        return len(self._queue)

    # -- what is promised ------------------------------------------------------------------------

    async def load(self) -> None:
        """Read what earlier runs promised and did not deliver."""
        kinds = ("offload", "offload.delivered")
        self.add(await self._journal.read(after=self._loaded_to, kinds=kinds))

    def add(self, records: Sequence[Record]) -> None:
        """Take note of appended records; those of other kinds, and known ones, are passed over."""
        moved = False
        for record in records:
            if record.seq <= self._loaded_to:
                continue
            self._loaded_to = record.seq
            moved = moved or record.kind in ("offload", "offload.delivered")
            if record.kind == "offload":
                body = record.body()
                kind, path = body["kind"], body["path"]
                parcel = Parcel(kind, body["session_id"], path, record.seq)
                self._queue[body["id"]] = _Entry(body["id"], parcel, body["blob"])
                if kind == "tool_result":
                    self._paths[path] = body["blob"]
            elif record.kind == "offload.delivered":
                body = record.body()
                self._arrived(self._queue.pop(body["id"], None), body["path"])
        if self._queue:
            self._wake.set()
        if moved:
            self._on_change()

    def _arrived(self, entry: _Entry | None, path: str) -> None:
        if entry is not None and entry.parcel.kind == "data" and path != entry.parcel.path:
            self._moved[entry.parcel.path] = path

    def where(self, session_id: str) -> str:
        """The offload of messages as the agent names it."""
        return self._visible("messages", self._workspace.context_file(session_id))

    def _visible(self, kind: Kind, path: str) -> str:
        away = self._away(kind) is not None
        return Elsewhere.visible(path) if away else self._workspace.visible(path)

    def _generation(self) -> Generation:
        return "C" if self._data_elsewhere else self._workspace.info.generation

    async def stage_messages(self, session_id: str, msgs: Sequence[Msg]) -> Staged:
        """Messages for ``context.jsonl``; their inline payloads go to ``data/``."""
        info = self._workspace.info
        lines, payloads = await encode(msgs, info.root, self._generation())
        path = self._workspace.context_file(session_id)
        return await self._staged("messages", session_id, path, lines, payloads, len(msgs))

    async def stage_tool_result(self, session_id: str, result: ToolResultBlock) -> Staged:
        """A whole tool result. A different one of the same call id gets the next ``(n)``."""
        info = self._workspace.info
        text, payloads = await asyncio.to_thread(result_text, result, info.root, self._generation())
        return await self._stage_result(session_id, result.id, text, payloads)

    async def stage_raw_result(self, session_id: str, call_id: str, raw: bytes) -> Staged:
        """The same for a result that is bytes already (``ToolOutcome.raw``)."""
        return await self._stage_result(session_id, call_id, raw, [])

    async def _stage_result(
        self, session_id: str, call_id: str, text: bytes, payloads: Sequence[Payload]
    ) -> Staged:
        ref = await self._journal.put_blob(text)
        n = 0
        while True:
            path = self._workspace.tool_result_file(session_id, call_id, n)
            if self._paths.setdefault(path, ref.sha256) == ref.sha256:
                break
            n += 1
        return await self._staged("tool_result", session_id, path, text, payloads, 1)

    async def stage_data(self, session_id: str, block: DataBlock) -> Staged | None:
        """An inline payload; ``block`` of the result points at its file. None for a URL."""
        info = self._workspace.info
        payload = await asyncio.to_thread(payload_of, block, info.root, self._generation())
        if payload is None:
            return None
        record = await self._record("data", session_id, payload.path, payload.data, 1)
        path = self._visible("data", payload.path)
        return Staged((record,), path, len(payload.data), payload.block)

    async def _staged(
        self,
        kind: Kind,
        session_id: str,
        path: str,
        data: bytes,
        payloads: Sequence[Payload],
        count: int,
    ) -> Staged:
        records = [
            await self._record("data", session_id, payload.path, payload.data, 1)
            for payload in payloads
        ]
        records.append(await self._record(kind, session_id, path, data, count))
        blob = str(records[-1].body["blob"])
        file = self._elsewhere is None
        return Staged(tuple(records), self._visible(kind, path), len(data), blob=blob, file=file)

    async def _record(
        self, kind: Kind, session_id: str, path: str, data: bytes, count: int
    ) -> NewRecord:
        ref = await self._journal.put_blob(data)
        body = {
            "id": new_id(),
            "kind": kind,
            "session_id": session_id,
            "blob": ref.sha256,
            "path": path,
            "count": count,
            "bytes": ref.bytes,
        }
        return NewRecord("offload", body)

    # -- delivery --------------------------------------------------------------------------------

    async def deliver(self) -> bool:
        """One pass in order; True when nothing is left. Never raises for the workspace: ``error``
        tells why it stopped. SessionError of the journal is raised."""
        async with self._lock:
            while self._queue:
                entry = next(iter(self._queue.values()))
                try:
                    data = await self._journal.get_blob(entry.blob)
                except SessionError as error:
                    if error.code not in ("blob.missing", "blob.corrupt"):
                        raise
                    self._give_up(entry, error)
                    continue
                try:
                    path = await self._bring(entry.parcel, data)
                except (WorkspaceError, SessionError) as error:
                    if error.code in NEVER:
                        self._give_up(entry, error)
                        continue
                    self.error = error
                    self._on_change()
                    return False
                # The draft of a streaming answer is not ours to clear.
                body = {"id": entry.id, "path": path}
                if (away := self._away(entry.parcel.kind)) is not None:
                    body["store"] = away.name
                done = NewRecord("offload.delivered", body, ignorable=True)
                await self._journal.append([done], draft=None)
                self._arrived(self._queue.pop(entry.id, None), path)
                self.error = None
                self._on_change()
            return True

    def _away(self, kind: Kind) -> Elsewhere | None:
        """The store that takes this kind in the workspace's place."""
        return self._elsewhere if kind != "data" or self._data_elsewhere else None

    async def _bring(self, parcel: Parcel, data: bytes) -> str:
        if (away := self._away(parcel.kind)) is not None:
            return await away.deliver(parcel, data, self._moved)
        return await self._workspace.deliver(parcel.kind, parcel.path, data)

    def _give_up(self, entry: _Entry, error: SlipwayError) -> None:
        """The journal's own copy is gone or damaged, or its place cannot be reached in any way: say
        so, go on with the others. The next ``load`` tries again."""
        del self._queue[entry.id]
        self.broken.append(entry.id)
        self.error = error
        self._on_change()

    def kick(self) -> None:
        """Try now: the workspace may be back."""
        self._wake.set()

    async def run(self) -> None:
        """Deliver whenever there is something, waiting longer after each failure. Ends when the
        journal is no longer ours."""
        wait = FIRST_WAIT
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                if await self.deliver():
                    wait = FIRST_WAIT
                    continue
            except SessionError as error:
                self.error = error
                self._on_change()
                return
            await self._pause(wait)
            wait = min(wait * 2, LONGEST_WAIT)

    async def _pause(self, seconds: float) -> None:
        """Wait, or less when kicked."""
        async with asyncio.TaskGroup() as group:
            pause = group.create_task(self._sleeping(seconds))
            kicked = group.create_task(self._woken(pause))
            await asyncio.wait({pause})
            kicked.cancel()
        self._wake.set()

    async def _sleeping(self, seconds: float) -> None:
        await self._sleep(seconds)

    async def _woken(self, pause: asyncio.Task[None]) -> None:
        await self._wake.wait()
        pause.cancel()
