"""The journal's contract: append-only records of one session, its operations, drafts and blobs.

The journal stores what it is handed and judges nothing. Order is ``seq`` alone. What a record
means is decided by whoever folds it (``core.agent.fold``); what operations there are is kept here
so that recovery can ask.

Record kinds (``body`` is JSON; unknown kinds are kept and skipped when ``ignorable``):

    session.created    {user_id, agent_id, session_id, workspace_id, model, title, config}; whatever
                       ``create`` was given as config is in the body, ids added
    session.config     {config}: a later change of it (ignorable)
    user.message       {msg}                                  barrier
    model.request      {reply_id, iteration, model, tokens, envelope}       barrier
    assistant.message  {reply_id, blocks, usage?, finish, ops: [op ids]}   barrier; the intents of
                       its operations follow in one transaction before any of them starts; one
                       that asks for small files alone comes with what they say (50 ms at most)
    approval.asked     {reply_id, op_id, approval}
    approval.decided   {reply_id, op_id, allowed, by, arguments?, rule?}    barrier
    question.answered  {reply_id, op_id, answer}              barrier
    request.asked      {id, reply_id, op_id, server, tool, kind, what was asked} (ignorable)
    request.answered   {id, …, answer, by, seconds, usage?, cost?}               (ignorable)
    tool.result        {reply_id, op_id, block, seconds, blob?, offload?}   barrier; of a read that
                       a restart would do again, with the model.request that follows at once
    compaction         {CompactionRecord}                     barrier
    compaction.undone  {gen, undo: what it puts back}         barrier
    compaction.measured {gen, after}; compaction.failed {id, trigger, code, params, before, seconds}
    compaction.held    {trigger}: the next one by itself waits for the next mark, as after an undo
    pin                {ref, pinned}
    spent              {purpose, cost, usage}: a call beside the conversation (ignorable)
    turn.finished      {reply_id, reason, code?, params?}     barrier
    permissions        {permission_context}
    model              {model}; effort {effort: low | medium | high, or empty} (ignorable)
    compaction.policy  {policy: {mode, at_danger, marks}, or null: as the agent is set} (ignorable)
    tasks              {tasks}
    title              {title, by: person | agent}
    command.started    {id, op_id, command, started_us, mark, path, at}: a background command
                       (ignorable), before it runs; command.ended {id, why, code, seconds, bytes,
                       error}. How far the model knows of it is in ``commands`` of tool.result and
                       assistant.message: {id: {read_to?, told?}}
    state.replaced     {state}                                barrier
    recovered          {ops: [{op_id, outcome}]}              barrier
    offload            {kind, path, blob, …}: an outbox entry; offload.delivered {id}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

OpState = Literal[
    "planned", "asking", "approved", "intent", "done", "failed", "unknown", "cancelled"
]


@dataclass(frozen=True, slots=True)
class SessionKey:
    """``(user_id, agent_id, session_id)``."""

    user_id: str
    agent_id: str
    session_id: str


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to be written. ``made_of``, of no interest to a journal: fields of the body as the
    objects that they were dumped from, for who folds the record at once."""

    kind: str
    body: dict[str, Any]
    v: int = 1
    ignorable: bool = False
    made_of: dict[str, Any] = field(
        default_factory=dict[str, Any], kw_only=True, compare=False, repr=False
    )


@dataclass(frozen=True, slots=True)
class Record:
    """A durable line of the journal. ``raw`` is the JSON as stored; ``body()`` parses it, so that
    a long history stays bytes until somebody looks."""

    seq: int
    kind: str
    v: int
    ts_us: int
    raw: bytes
    ignorable: bool = False

    def body(self) -> dict[str, Any]:
        from json import loads

        return loads(self.raw)


@dataclass(frozen=True, slots=True)
class OpUpdate:
    """A change of one tool operation, written in the same transaction as the records beside it.

    ``op_id`` is ours: ``{session}:{assistant seq or reply}:{index}``, never the provider's id.
    An update of a known operation that names no ``tool`` changes its state (and attempt) only.
    ``intent`` for an operation that already had one and is neither ``read`` nor ``idempotent``
    needs a higher ``attempt``; otherwise ``operation.repeated`` and nothing is written."""

    op_id: str
    state: OpState
    tool: str = ""
    call_id: str = ""
    effect: str = "unsafe"
    args_sha: str = ""
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Operation:
    """``intent_seq`` and ``result_seq``: the newest record of the transaction that brought the
    operation to ``intent`` and to its end; ``writer_gen`` is the lease that wrote last."""

    op_id: str
    state: OpState
    tool: str
    call_id: str
    effect: str
    args_sha: str
    attempt: int
    writer_gen: int
    intent_seq: int | None
    result_seq: int | None


@dataclass(frozen=True, slots=True)
class BlobRef:
    """Bytes kept beside the journal by their SHA-256 (hex of the bytes)."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class JournalInfo:
    """``writable`` False: another process writes (``journal.in_use``), the disk is read-only
    (``disk.readonly``), the schema is newer (``journal.newer``), the journal is damaged after
    ``head`` (``journal.damaged``; ``params["seq"]`` is the first record that is not whole), or a
    read-only view was asked for (``journal.readonly``). ``why`` is the code."""

    key: SessionKey
    head: int
    schema: int
    writer_gen: int
    writable: bool
    why: str | None = None
    params: dict[str, Any] = field(default_factory=dict[str, Any])


class Journal(Protocol):
    """One session's journal, opened. All methods run off the loop; order of calls is order of
    effect. Raises SessionError: ``journal.fenced`` (another writer took over),
    ``journal.readonly``, ``journal.damaged``, ``journal.busy``, ``journal.closed``,
    ``journal.missing`` (its files were removed under it), ``operation.repeated``,
    ``disk.full``, ``disk.readonly``, ``disk.failed``. After an error nothing of the call is in
    the journal; after ``disk.full`` and ``disk.failed`` the same call may be made again.

    A call that was made is carried out even when its caller is cancelled while waiting. Bodies
    handed in must not be changed before the call returns."""

    @property
    def info(self) -> JournalInfo: ...

    async def append(
        self,
        records: Sequence[NewRecord],
        *,
        ops: Sequence[OpUpdate] = (),
        draft: bytes | None = b"",
    ) -> list[Record]:
        """One transaction, synced before it returns: records, operation changes, and the draft
        (``b""`` clears it, ``None`` leaves it). All or nothing. With no records it still writes
        operation changes and the draft."""
        ...

    async def save_draft(self, data: bytes) -> None:
        """The streaming text so far; replaced as a whole. Loss of the last second is allowed."""
        ...

    async def draft(self) -> bytes: ...

    async def read(
        self,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
        kinds: Sequence[str] | None = None,
    ) -> list[Record]:
        """Records with ``after < seq < before``, ascending unless ``newest_first``."""
        ...

    async def operations(self, *states: OpState) -> list[Operation]: ...

    async def put_blob(self, data: bytes) -> BlobRef:
        """Store bytes (temporary file, sync, rename, directory sync) before any row names them."""
        ...

    async def get_blob(self, ref: BlobRef | str) -> bytes:
        """SessionError ``blob.missing`` or ``blob.corrupt`` (checked against its hash)."""
        ...

    async def put_snapshot(self, seq: int, data: bytes) -> None:
        """A projection of the records up to ``seq``; three are kept."""
        ...

    async def snapshot(self) -> tuple[int, bytes] | None:
        """The newest snapshot that is whole, or None."""
        ...

    async def wait_for_change(self, after: int, timeout: float) -> int:
        """The head as soon as it is over ``after``, or after ``timeout`` seconds as it is then:
        how a read-only view follows the writer, in this process or another."""
        ...

    async def verify(self) -> int | None:
        """Check every record from the first; the first that is not whole, or None. Works in
        pieces, so that appends go on in between. What it finds makes the journal read-only."""
        ...

    async def close(self) -> None:
        """Release the lease; idempotent."""
        ...


class JournalStore(Protocol):
    """Where journals live."""

    async def create(self, key: SessionKey, config: dict[str, Any]) -> Journal:
        """A new journal with its ``session.created`` record; SessionError ``session.exists``."""
        ...

    async def open(self, key: SessionKey, *, write: bool = True, steal: bool = False) -> Journal:
        """KeyError when there is none. When another process (or another opening in this one)
        holds it, the journal opens read-only, ``info.why`` is ``journal.in_use`` and
        ``info.params`` tells of the owner (``pid``, ``host``). ``steal`` takes the lease from an
        owner that does not answer; its next write fails with ``journal.fenced``."""
        ...

    async def keys(self) -> list[SessionKey]: ...

    async def delete(self, key: SessionKey) -> None:
        """Remove a session's files for good; nothing happens when there is none, SessionError
        ``journal.in_use`` while it is open for writing. Trash is the caller's business
        (``app.db``)."""
        ...
