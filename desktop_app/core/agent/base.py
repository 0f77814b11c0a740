"""What the window (or a script) holds of one session: the conversation.

A ``Conversation`` is one opened session in one opened workspace. It owns the journal and the run
under way; the agent object behind it is disposable. Every method that starts or continues a run
returns an async iterator of events; use it with ``contextlib.aclosing``. Closing the iterator
stops the run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from desktop_app.core.context.compaction import Proposal
from desktop_app.core.context.types import Breakdown, Choices, CompactionRecord
from desktop_app.core.events import Approval, Event
from desktop_app.core.messages import DataBlock
from desktop_app.core.models.base import Effort
from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.state import AgentState, Mode, PermissionContext
from desktop_app.core.tools.background import Command

from .detail import CompactionDetail
from .offloads import Offload
from .policy import Policy
from .request_shapes import Answered, Request


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file the person added to a message. ``path`` is inside the workspace when the backend can
    see it; else its bytes travel in ``data``."""

    name: str
    media_type: str
    path: str | None = None
    data: DataBlock | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """A session that goes on from an earlier place of another one: its key, and what the person
    had said there, to be said again or changed."""

    key: SessionKey
    text: str = ""
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's answer to one approval. ``arguments`` replaces the call's (edit before running);
    ``always`` adds the approval's rule."""

    op_id: str
    allowed: bool
    arguments: dict[str, Any] | None = None
    always: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """An AskUser call that waits."""

    op_id: str
    questions: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Pending:
    """What the conversation waits for."""

    reply_id: str
    approvals: tuple[Approval, ...] = ()
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class Spent:
    """US dollars, measured from the provider's usage: of the newest turn, of the session."""

    turn: float
    session: float


Activity = Literal["idle", "running", "parked"]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One record that a transcript shows, unparsed. ``raw`` is the record's body as JSON bytes."""

    seq: int
    kind: str
    ts_us: int
    raw: bytes


@dataclass(frozen=True, slots=True)
class History:
    """A stretch of a session, oldest first; ``at_start`` when nothing older exists."""

    entries: list[HistoryEntry] = field(default_factory=list[HistoryEntry])
    at_start: bool = True


class Conversation(Protocol):
    @property
    def key(self) -> SessionKey: ...

    @property
    def activity(self) -> Activity: ...

    @property
    def asked(self) -> frozenset[str]:
        """Operations that wait for an answer of the person: here, or where the session is written.
        What can be answered here is ``pending``."""
        ...

    @property
    def title(self) -> str: ...

    @property
    def writable(self) -> bool:
        """False: another process writes this session, or its journal is damaged or newer."""
        ...

    @property
    def why_readonly(self) -> tuple[str, dict[str, Any]] | None: ...

    @property
    def pending(self) -> Pending | None: ...

    @property
    def requests(self) -> tuple[Request, ...]:
        """What MCP servers ask the person while their calls run, oldest first."""
        ...

    def answer_request(self, request_id: str, answer: Answered) -> None:
        """Answer one of ``requests``. SessionError ``request.gone``, ``request.bad_value``."""
        ...

    @property
    def resumable(self) -> str | None:
        """The reply that ended early (a stop, an error, a killed process) and that ``go_on`` would
        continue; None when there is none or something runs or waits."""
        ...

    @property
    def spent(self) -> Spent | None:
        """What the session cost so far; None while no call had a known price."""
        ...

    def listen(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Hear every event, of runs and beside them (titles, offloads delivered, undo); returns
        the way to stop. Called on the event loop, in order."""
        ...

    @property
    def state(self) -> AgentState: ...

    @property
    def permissions(self) -> PermissionContext: ...

    async def history(self, *, before: int | None = None, limit: int | None = None) -> History:
        """Records that a transcript shows (user.message, assistant.message, tool.result,
        approval.decided, compaction, compaction.undone, turn.finished, recovered, question
        .answered), the newest ``limit`` before ``before``."""
        ...

    def draft(self) -> str:
        """Text that was streaming when the process died; shown as interrupted."""
        ...

    def send(self, text: str, attachments: Sequence[Attachment] = ()) -> AsyncIterator[Event]:
        """A new turn. SessionError ``run.busy`` while one runs, ``run.parked`` while one waits."""
        ...

    def decide(self, reply_id: str, decisions: Sequence[Decision]) -> AsyncIterator[Event]:
        """Answer approvals, all or some; the run goes on when none is left. SessionError
        ``run.wrong_reply`` for another reply id."""
        ...

    def answer(self, reply_id: str, op_id: str, answer: dict[str, Any]) -> AsyncIterator[Event]:
        """Answer AskUser: ``{"answers": [{"question", "selected": [], "other"?}]}``."""
        ...

    def interrupt(self, reply_id: str) -> AsyncIterator[Event]:
        """Give up a parked run: its open calls get ``interrupted`` results."""
        ...

    def go_on(self) -> AsyncIterator[Event]:
        """Continue after an interruption or an error, without a new message ("Retry")."""
        ...

    async def stop(self) -> None:
        """Stop the run under way and wait until what happened is durable."""
        ...

    def background(self) -> Sequence[Command]:
        """The session's background commands, oldest first."""
        ...

    async def stop_command(self, command_id: str) -> None:
        """End one with everything that it started; returns when it is gone."""
        ...

    async def command_output(self, command_id: str) -> str:
        """The newest part of what one printed, as text. WorkspaceError where the workspace cannot
        be read."""
        ...

    async def breakdown(self) -> Breakdown: ...

    async def compactions(self) -> list[CompactionRecord]:
        """Those that hold, oldest first; ``id`` names one."""
        ...

    async def compaction_log(self) -> list[CompactionRecord]:
        """Every compaction there was, oldest first: also undone and failed ones (``status``)."""
        ...

    async def compaction_detail(self, compaction_id: str) -> CompactionDetail:
        """What was there before one and what stands there now. SessionError
        ``compaction.unknown``."""
        ...

    @property
    def drafted(self) -> Proposal | None:
        """A proposal made in the background (``DraftReady``), while it can still be accepted."""
        ...

    def cancel_draft(self) -> None:
        """Stop preparing one, or throw away what is ready."""
        ...

    async def propose_compaction(self, focus: str = "", choices: Choices | None = None) -> Proposal:
        """What a compaction would do now: ``rows``, ``items``, ``before``, ``after``,
        ``rejected``. Nothing is changed; a turn may run meanwhile, and cancelling the call stops
        it. ContextError ``compaction.*`` when there is none to propose."""
        ...

    async def accept_compaction(
        self, proposal: Proposal, choices: Choices | None = None
    ) -> CompactionRecord:
        """Do it; with other ``choices`` than it was made with it is proposed anew first. While a
        turn runs it is done before the next model call, and the call returns then. ContextError
        ``compaction.stale`` when the conversation has changed otherwise than by growing."""
        ...

    def compact(self, *, notes: bool = True) -> AsyncIterator[Event]:
        """Compact now, by hand, without a preview; without ``notes`` by rules alone, no model
        takes part."""
        ...

    def compact_again(self, focus: str) -> AsyncIterator[Event]:
        """The newest compaction once more, its notes written with ``focus`` in mind; the old one
        stays when the new one does not work out (the error is raised)."""
        ...

    async def undo_compaction(self) -> list[Event]:
        """Take the newest compaction back: the former prompt exactly, followed by what came since.
        ContextError ``compaction.none``, ``compaction.would_not_fit``: then
        ``fork_before_compaction`` is a way back."""
        ...

    async def branch(self, message_id: str, *, after: bool = False) -> Branch:
        """A new session with everything up to a message of the person, without it; ``after``: with
        it and all that was done about it. This one stays as it is, and so do the files.
        SessionError ``message.unknown``, ``session.no_fork``, ``run.busy``."""
        ...

    async def fork_before_compaction(self, compaction_id: str) -> SessionKey:
        """A new session with everything up to that compaction. SessionError
        ``compaction.unknown``, ``session.no_fork``."""
        ...

    async def pin(self, ref: str, pinned: bool = True) -> None:
        """Keep a message or a tool result (its id, a block's, an operation's) byte for byte through
        every compaction, or not any more; what has left comes back. ContextError
        ``context.not_live`` for what this session never had."""
        ...

    async def unpin(self, ref: str) -> None: ...

    async def whole_result(self, ref: str) -> str:
        """A message, or a tool result as it was before it was shortened or left. ContextError
        ``context.not_live``."""
        ...

    async def offloads(self) -> list[Offload]:
        """What left the context, newest first, whichever store keeps it."""
        ...

    async def offload_content(self, offload_id: str) -> bytes:
        """What one of them holds. SessionError ``offload.unknown``, ``blob.missing``,
        ``blob.corrupt``."""
        ...

    async def offload_now(self, ref: str) -> CompactionRecord:
        """Take one tool result (or image) out of the prompt now; a line that says where it is
        stays. Undone like a compaction. ContextError ``context.not_live``,
        ``context.nothing_to_offload``."""
        ...

    async def drop_image(self, ref: str) -> CompactionRecord:
        """``offload_now`` for the image with block id ``ref``."""
        ...

    async def set_mode(self, mode: Mode) -> None: ...

    async def set_model(self, model_id: str) -> None: ...

    @property
    def effort(self) -> Effort | None: ...

    async def set_effort(self, effort: Effort | None) -> None:
        """How hard the session's models think; None: as each is set."""
        ...

    @property
    def own_policy(self) -> Policy | None: ...

    def policy(self) -> Policy:
        """What compaction does by itself here."""
        ...

    async def set_policy(self, policy: Policy | None) -> None:
        """What compaction does by itself in this session alone; None: as its agent is set."""
        ...

    async def set_tool(self, name: str, on: bool) -> None:
        """Switch a built-in tool for this session."""
        ...

    async def recount(self) -> None:
        """Look at instructions, skills and tools again; ``ContextChanged`` follows."""
        ...

    async def set_title(self, title: str) -> None: ...

    async def add_rule(self, rule: dict[str, Any]) -> None: ...

    async def remove_rule(self, rule: dict[str, Any]) -> None: ...

    async def close(self) -> None: ...
