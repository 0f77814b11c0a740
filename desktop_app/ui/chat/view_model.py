"""The view model of one conversation: plain methods in, past-tense signals and row changes out.

It owns the tasks of its conversation. A run goes on while no page shows it: pages come and go
(``ChatPage.bind``), the view model stays until ``close``.

At most one batch a frame reaches the transcript and the gauges (``Coalescer``); what a batch does
to one row is merged before it is handed on.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from PySide6.QtCore import QObject, Signal

from desktop_app.core import events as ev
from desktop_app.core.agent.base import Attachment, Conversation, Decision, Question
from desktop_app.core.context.types import Breakdown, CompactionRecord
from desktop_app.core.errors import SlipwayError
from desktop_app.core.events import Approval, Event
from desktop_app.core.ids import now_us
from desktop_app.core.state import Mode
from desktop_app.core.tasks import Tasks
from desktop_app.ui import i18n
from desktop_app.ui.bridge import Coalescer
from desktop_app.ui.transcript.rows import Row

from .fold import Change, Fold
from .items import CompactionItem, Item, NoticeItem, TextItem, ToolItem, UserItem
from .rows_from import Voice, row_from

PAGE = 120  # records of history fetched at once
POINTS = 240  # of the sparkline
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Queued:
    """The one message that is sent when the run ends."""

    text: str
    attachments: tuple[Attachment, ...] = ()


@dataclass(slots=True)
class Draft:
    """What stands in the composer of a session that is not shown."""

    text: str = ""
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    cursor: int = 0


class RowSink(Protocol):
    """Where rows go: the part of ``TranscriptModel`` that a view model uses."""

    def append(self, row: Row) -> Any: ...

    def update(self, row: Row) -> Any: ...

    def extend_text(self, row_id: str, text: str) -> Any: ...

    def remove(self, row_id: str) -> Any: ...

    def prepend(self, rows: Sequence[Row]) -> Any: ...


class ChatViewModel(QObject):
    """One session as the chat page sees it."""

    opened = Signal()
    openFailed = Signal(str, dict)  # code, params
    activityChanged = Signal()
    pendingChanged = Signal()
    queueChanged = Signal()
    contextChanged = Signal()
    compactionsChanged = Signal()
    offerChanged = Signal()
    tasksChanged = Signal()
    titleChanged = Signal(str)
    modeChanged = Signal()
    modelChanged = Signal()
    saved = Signal()
    sendFailed = Signal(str, tuple)  # text, attachments: to be put back into the composer
    failed = Signal(str, dict)  # something beside the run failed; for a toast
    filesTouched = Signal()
    finished = Signal(str)  # reason of the turn that ended

    def __init__(
        self, rows: RowSink, voice: Voice | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.voice = voice or Voice()
        self.rows = rows
        self.draft = Draft()
        self.conversation: Conversation | None = None
        self.approvals: list[Approval] = []
        self.questions: list[Question] = []
        self.queued: Queued | None = None
        self.breakdown: Breakdown | None = None
        self.compactions: list[CompactionRecord] = []
        self.tasks_list: list[dict[str, Any]] = []
        self.points: list[int] = []
        self.touched: dict[str, str] = {}  # path -> tool that wrote it
        self.saved_us = 0
        self.offered = False
        self.compacting = False
        self.stopping = False
        self.waiting_model = ""  # model that has been asked and has not answered yet
        self.at_start = True
        self._fold = Fold()
        self._oldest: int | None = None
        self._loading = False
        self._running = False
        self._reply_id = ""
        self._sent: tuple[str, tuple[Attachment, ...]] | None = None
        self._decisions: list[Decision] = []
        self._last_reason = ""
        self._background = Tasks(self._task_failed)
        self._batches: Coalescer[Event] = Coalescer(self, self._deliver)
        i18n.notifier.changed.connect(self.retranslate)

    # -- what a page reads ------------------------------------------------------------------

    @property
    def activity(self) -> str:
        """``idle``, ``running`` or ``parked``."""
        if self._running:
            return "running"
        return self.conversation.activity if self.conversation is not None else "idle"

    @property
    def busy(self) -> bool:
        """A turn is under way or waits for the person: a new message is queued."""
        return self.activity != "idle"

    @property
    def writable(self) -> bool:
        return self.conversation is not None and self.conversation.writable

    @property
    def empty(self) -> bool:
        return not self._fold.items

    @property
    def title(self) -> str:
        return self.conversation.title if self.conversation is not None else ""

    @property
    def mode(self) -> Mode:
        return self.conversation.permissions.mode if self.conversation is not None else "default"

    def item(self, row_id: str) -> Item | None:
        return self._fold.items.get(row_id)

    def row_of(self, ref: str) -> str | None:
        """The loaded row of a context item's ``ref``: an operation, a message or a block."""
        for prefix in "outhc":
            if f"{prefix}:{ref}" in self._fold.items:
                return f"{prefix}:{ref}"
        return None

    def items(self) -> list[Item]:
        """Everything that is loaded, oldest first."""
        return list(self._fold.items.values())

    # -- opening ----------------------------------------------------------------------------

    def open(self, conversation: Conversation) -> None:
        """Show ``conversation``: its newest records now, older ones when asked for."""
        self.conversation = conversation
        self.voice.writable = conversation.writable
        self._background.replace(self._open(conversation), name="open")

    async def _open(self, conversation: Conversation) -> None:
        self._loading = True
        try:
            history = await conversation.history(limit=PAGE)
            for entry in history.entries:
                self._fold.entry(entry)
            self.at_start = history.at_start
            self._oldest = history.entries[0].seq if history.entries else None
            self._take_pending()
            waiting = {a.op_id for a in self.approvals} | {q.op_id for q in self.questions}
            self._fold.settle(waiting, running=conversation.activity == "running")
            self._show_draft(conversation.draft())
            self._apply()
        except SlipwayError as error:
            self.openFailed.emit(error.code, error.params)
            return
        finally:
            self._loading = False
        state = conversation.state
        self.tasks_list = [t.model_dump() for t in state.tasks_context.tasks]
        self.opened.emit()
        self.titleChanged.emit(self.title)
        self._emit_run_state()
        await self._refresh_context()

    def _show_draft(self, text: str) -> None:
        if not text or self.activity != "idle":
            return
        self._fold.put(TextItem("x:draft", "", text, stopped=True))
        self._fold.put(NoticeItem("x:draft-notice", "warning", "run.cut", {}, ("continue",)))

    async def _refresh_context(self) -> None:
        if self.conversation is None:
            return
        try:
            self.compactions = await self.conversation.compactions()
            self.breakdown = await self.conversation.breakdown()
        except SlipwayError as error:
            self.failed.emit(error.code, error.params)
            return
        if not self.points:
            for record in self.compactions:
                self.points += [record.before, record.after]
        self._point(self.breakdown.total)
        self.compactionsChanged.emit()
        self.contextChanged.emit()

    def load_older(self) -> None:
        """Fetch the records before the oldest one shown."""
        if self._loading or self.at_start or self._oldest is None or self.conversation is None:
            return
        self._loading = True
        self._background.start(self._load_older(self.conversation, self._oldest), name="older")

    async def _load_older(self, conversation: Conversation, before: int) -> None:
        try:
            history = await conversation.history(before=before, limit=PAGE)
            older = Fold()
            for entry in [*history.entries, *self._fold.orphans]:
                older.entry(entry)
            older.settle((), running=False)
            self.at_start = history.at_start
            self._oldest = history.entries[0].seq if history.entries else self._oldest
            items = self._fold.prepend(older)
            self._apply()
            self.rows.prepend([row_from(item, self.voice) for item in items])
        except SlipwayError as error:
            self.failed.emit(error.code, error.params)
        finally:
            self._loading = False

    # -- talking ----------------------------------------------------------------------------

    def send(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Start a turn; while one is under way the message is queued instead."""
        if self.conversation is None or not (text.strip() or attachments):
            return
        if self.busy:
            self.queue(text, attachments)
            return
        names = tuple(a.name for a in attachments)
        self._fold.put(UserItem("x:sent", text, now_us(), names))
        self._apply()
        self._sent = (text, tuple(attachments))
        conversation = self.conversation
        self._start(lambda: conversation.send(text, attachments))

    def queue(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Keep one message until the run ends; more text joins it as a new paragraph."""
        if self.queued is not None:
            text = f"{self.queued.text}\n\n{text}" if text else self.queued.text
            attachments = (*self.queued.attachments, *attachments)
        self.queued = Queued(text, tuple(attachments))
        self.queueChanged.emit()

    def take_queued(self) -> Queued | None:
        """Take the queued message back, to edit or to drop it."""
        queued, self.queued = self.queued, None
        if queued is not None:
            self.queueChanged.emit()
        return queued

    def send_queued(self) -> None:
        """Send the queued message now: the run under way is stopped first."""
        if self.queued is None:
            return
        if self.busy:
            self._last_reason = "send_queued"
            self.stop()
        else:
            self._send_queued()

    def _send_queued(self) -> None:
        if (queued := self.take_queued()) is not None:
            self.send(queued.text, queued.attachments)

    def stop(self) -> None:
        """Stop the run, or give up what waits. What was written stays."""
        conversation = self.conversation
        if conversation is None or self.stopping:
            return
        self._decisions.clear()
        if self._running:
            self.stopping = True
            self.activityChanged.emit()
            self._background.start(self._guarded(conversation.stop()), name="stop")
        elif conversation.activity == "parked" and conversation.pending is not None:
            reply_id = conversation.pending.reply_id
            self._start(lambda: conversation.interrupt(reply_id))

    def retry(self) -> None:
        """Go on after an error, an interruption or the limit of steps."""
        conversation = self.conversation
        if conversation is not None and not self.busy:
            self._start(conversation.go_on)

    def decide(
        self,
        op_id: str,
        *,
        allowed: bool,
        always: bool = False,
        arguments: dict[str, Any] | None = None,
    ) -> None:
        """Answer one approval. While other calls of the turn still run the answer is held."""
        found = next((a for a in self.approvals if a.op_id == op_id), None)
        if found is None:
            return
        self.approvals.remove(found)
        self._decisions.append(Decision(op_id, allowed, arguments, always))
        item = self._fold.items.get(f"o:{op_id}")
        if arguments is not None and isinstance(item, ToolItem):
            item.set_input(arguments)
            self._fold.touch(item.id)
            self._apply()
        self.pendingChanged.emit()
        self._pump()

    def answer(self, op_id: str, answer: dict[str, Any]) -> None:
        """Answer a question of the agent."""
        conversation = self.conversation
        if conversation is None or conversation.pending is None or self._running:
            return
        reply_id = conversation.pending.reply_id
        self.questions = [q for q in self.questions if q.op_id != op_id]
        self.pendingChanged.emit()
        self._start(lambda: conversation.answer(reply_id, op_id, answer))

    def _pump(self) -> None:
        """Hand held decisions on as soon as the run is parked."""
        conversation = self.conversation
        if conversation is None or self._running or not self._decisions:
            return
        if conversation.pending is None:
            self._decisions.clear()
            return
        reply_id, decisions = conversation.pending.reply_id, list(self._decisions)
        self._decisions.clear()
        self._start(lambda: conversation.decide(reply_id, decisions))

    # -- context ----------------------------------------------------------------------------

    def compact(self) -> None:
        """Compact now."""
        conversation = self.conversation
        if conversation is not None and not self.busy:
            self._start(conversation.compact)

    def dismiss_offer(self) -> None:
        """Not now: the offer comes again with the next turn that is over the mark."""
        self._offer(False)

    def undo_compaction(self) -> None:
        """Put back what the newest compaction took out."""
        conversation = self.conversation
        if conversation is not None and not self.busy:
            self._background.start(self._guarded(self._undo(conversation)), name="undo")

    async def _undo(self, conversation: Conversation) -> None:
        for event in await conversation.undo_compaction():
            self._batches.push(event)
        self._batches.flush()
        await self._refresh_context()

    # -- settings of the session ------------------------------------------------------------

    def set_mode(self, mode: Mode) -> None:
        if (conversation := self.conversation) is not None:
            self._background.start(
                self._then(conversation.set_mode(mode), self.modeChanged.emit), name="mode"
            )

    def set_model(self, model_id: str) -> None:
        if (conversation := self.conversation) is not None:
            self._background.start(
                self._then(conversation.set_model(model_id), self._model_set), name="model"
            )

    def _model_set(self) -> None:
        self.modelChanged.emit()
        self._background.replace(self._refresh_context(), name="context")

    def rename(self, title: str) -> None:
        title = " ".join(title.split())
        if (conversation := self.conversation) is not None and title and title != self.title:
            self._background.start(
                self._then(
                    conversation.set_title(title), lambda: self.titleChanged.emit(self.title)
                ),
                name="title",
            )

    async def _then(self, work: Any, done: Callable[[], Any]) -> None:
        await self._guarded(work)
        done()

    async def _guarded(self, work: Any) -> None:
        """Run ``work``; a failure that has words becomes a toast."""
        try:
            await work
        except SlipwayError as error:
            self.failed.emit(error.code, error.params)

    # -- runs -------------------------------------------------------------------------------

    def _start(self, make: Callable[[], AsyncIterator[Event]]) -> None:
        if self._running:
            return
        self._running = True
        self._last_reason = ""
        self._fold.remove("x:error")
        self._apply()
        self._emit_run_state()
        self._background.start(self._consume(make), name="run")

    async def _consume(self, make: Callable[[], AsyncIterator[Event]]) -> None:
        try:
            # The protocol says iterator; every run is a generator, which must be closed.
            stream = cast("AsyncGenerator[Event, None]", make())
            async with aclosing(stream) as events:
                async for event in events:
                    self._batches.push(event)
        except SlipwayError as error:
            self._batches.flush()
            self._run_failed(error.code, error.params)
        finally:
            self._batches.flush()
            self._run_ended()

    def _run_failed(self, code: str, params: dict[str, Any]) -> None:
        if self._sent is not None:
            text, attachments = self._sent
            self._sent = None
            self._fold.remove("x:sent")
            self.sendFailed.emit(text, attachments)
        self._fold.put(NoticeItem("x:error", "danger", code, params, ("retry",)))
        self._last_reason = "error"
        self._apply()

    def _run_ended(self) -> None:
        self._running = self.stopping = False
        self.waiting_model = ""
        self.compacting = False
        self._sent = None
        self._fold.remove("x:compaction")
        self._apply()
        self._take_pending()
        self._emit_run_state()
        if self._decisions:
            self._pump()
        elif not self.busy:
            reason = self._last_reason
            self.finished.emit(reason)
            if self.queued is not None and reason in ("completed", "exceed_max_iters"):
                self._send_queued()

    def _take_pending(self) -> None:
        pending = self.conversation.pending if self.conversation is not None else None
        held = {d.op_id for d in self._decisions}
        self.approvals = [a for a in (pending.approvals if pending else ()) if a.op_id not in held]
        self.questions = list(pending.questions) if pending else []

    def _emit_run_state(self) -> None:
        self.activityChanged.emit()
        self.pendingChanged.emit()

    def _task_failed(self, name: str, error: BaseException) -> None:
        log.error("chat task %s failed", name, exc_info=error)
        params = {"error": type(error).__name__, "where": name}
        if name == "run":
            self._run_failed("app.unexpected", params)
        else:
            self.failed.emit("app.unexpected", params)

    # -- events -----------------------------------------------------------------------------

    def _deliver(self, events: list[Event]) -> None:
        """One batch: fold it, tell the gauges, hand the merged changes to the transcript."""
        signals: dict[str, None] = {}
        for event in events:
            self._fold.event(event)
            self._note(event, signals)
        self._apply()
        for name in signals:
            getattr(self, name).emit()

    def _note(self, event: Event, signals: dict[str, None]) -> None:
        """What an event means beside its row."""
        match event:
            case ev.RunStarted(reply_id=reply_id):
                self._reply_id = reply_id
            case ev.UserMessage():
                self._sent = None
                self._fold.remove("x:sent")
            case ev.ModelCallStarted(model=model):
                self.waiting_model = model
                signals["activityChanged"] = None
            case ev.TextDelta() | ev.ThinkingDelta() | ev.ToolCallStarted():
                if self.waiting_model:
                    self.waiting_model = ""
                    signals["activityChanged"] = None
            case ev.ApprovalRequested(approval=approval):
                self.approvals.append(approval)
                signals["pendingChanged"] = None
            case ev.ApprovalDecided(op_id=op_id):
                self.approvals = [a for a in self.approvals if a.op_id != op_id]
                signals["pendingChanged"] = None
            case ev.QuestionAsked(op_id=op_id, questions=questions):
                self.questions.append(Question(op_id, questions))
                signals["pendingChanged"] = None
            case ev.ToolFinished(op_id=op_id):
                self._touch_file(op_id, event.state, signals)
            case ev.TasksChanged(tasks=tasks):
                self.tasks_list = tasks
                signals["tasksChanged"] = None
            case ev.Saved(ts_us=ts_us):
                self.saved_us = ts_us
                signals["saved"] = None
            case ev.TitleChanged(title=title):
                self.titleChanged.emit(title)
            case ev.RunFinished(reason=reason):
                if self._last_reason != "send_queued":
                    self._last_reason = reason
                else:
                    self._last_reason = "completed"
            case _:
                self._note_context(event, signals)

    def _note_context(self, event: Event, signals: dict[str, None]) -> None:
        match event:
            case ev.ContextChanged(breakdown=breakdown):
                self._measure(breakdown, signals)
            case ev.CompactionOffered(breakdown=breakdown):
                self._measure(breakdown, signals)
                self._offer(True)
            case ev.CompactionStarted():
                self.compacting = True
                self._offer(False)
                signals["activityChanged"] = None
            case ev.CompactionFinished(record=record):
                self.compacting = False
                self._point(record.before)
                self._point(record.after)
                self.compactions = [*self.compactions, record]
                signals["compactionsChanged"] = None
                signals["activityChanged"] = None
            case ev.CompactionFailed():
                self.compacting = False
                signals["activityChanged"] = None
            case ev.CompactionUndone(gen=gen):
                self.compactions = [c for c in self.compactions if c.gen != gen]
                signals["compactionsChanged"] = None
            case _:
                pass

    def _measure(self, breakdown: Any, signals: dict[str, None]) -> None:
        self.breakdown = cast("Breakdown", breakdown)
        self._point(self.breakdown.total)
        signals["contextChanged"] = None

    def _point(self, total: int) -> None:
        if not self.points or self.points[-1] != total:
            self.points = [*self.points, total][-POINTS:]

    def _offer(self, offered: bool) -> None:
        if offered != self.offered:
            self.offered = offered
            self.offerChanged.emit()

    def _touch_file(self, op_id: str, state: str, signals: dict[str, None]) -> None:
        item = self._fold.items.get(f"o:{op_id}")
        if not isinstance(item, ToolItem) or state != "success":
            return
        if item.name in ("Write", "Edit", "Bash"):
            signals["filesTouched"] = None
        path = (item.args or {}).get("file_path")
        if item.name in ("Write", "Edit") and isinstance(path, str):
            self.touched[path] = item.name

    def _apply(self) -> None:
        for change in self._fold.take():
            self._apply_one(change)

    def _apply_one(self, change: Change) -> None:
        if change.kind == "remove":
            self.rows.remove(change.id)
        elif change.kind == "extend":
            self.rows.extend_text(change.id, change.text)
        elif (item := self._fold.items.get(change.id)) is not None:
            row = row_from(item, self.voice)
            if change.kind == "append":
                self.rows.append(row)
            else:
                self.rows.update(row)

    def retranslate(self, _language: str = "") -> None:
        """Render every row again, in the language in force."""
        self._batches.flush()
        for item in self._fold.items.values():
            self.rows.update(row_from(item, self.voice))

    def compaction(self, row_id: str) -> CompactionItem | None:
        item = self._fold.items.get(row_id)
        return item if isinstance(item, CompactionItem) else None

    async def close(self) -> None:
        """Stop what runs and let go of the conversation; what happened is durable afterwards."""
        i18n.notifier.changed.disconnect(self.retranslate)
        conversation = self.conversation
        if conversation is not None and self._running:
            await self._guarded(conversation.stop())
        await self._background.close()
        self._batches.flush()
        self.conversation = None
