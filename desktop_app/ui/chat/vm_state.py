"""What a view model of a conversation holds, and what each event does to it beside its row."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, cast

from PySide6.QtCore import QObject, Signal

from desktop_app.core import events as ev
from desktop_app.core.agent.base import Attachment, Conversation, Decision, Question
from desktop_app.core.agent.request_shapes import Request
from desktop_app.core.context.types import Breakdown, CompactionRecord
from desktop_app.core.events import Approval, Event
from desktop_app.core.state import Mode
from desktop_app.core.tasks import Tasks
from desktop_app.core.tools.background import Command
from desktop_app.ui import i18n
from desktop_app.ui.bridge import Coalescer
from desktop_app.ui.transcript.rows import Row

from .fold import Change, Fold
from .items import Item, ToolItem
from .rows_from import Voice, row_from
from .vm_shapes import Draft, Queued, RowSink, crash_params
from .waiting import Waiting

_GIVEN_UP = ("compaction.stopped", "compaction.stale", "compaction.below")  # no failures
POINTS = 240  # of the sparkline
log = logging.getLogger(__name__)


class ChatState(QObject):
    """The state of one session as the chat page sees it, changed by events only.

    ``ChatHistory`` adds loading, ``ChatViewModel`` what a person can do.
    """

    opened = Signal()
    openFailed = Signal(str, dict)  # code, params
    activityChanged = Signal()
    pendingChanged = Signal()
    requestsChanged = Signal()
    queueChanged = Signal()
    contextChanged = Signal()
    compactionsChanged = Signal()
    logMoved = Signal()  # something came to the log of compactions, or became of one of it
    offerChanged = Signal()
    tasksChanged = Signal()
    commandsChanged = Signal()  # background commands began, ended or were put aside
    commandPrinted = Signal(str, str)  # command id, text
    titleChanged = Signal(str)
    modeChanged = Signal()
    modelChanged = Signal()
    saved = Signal()
    sendFailed = Signal(str, tuple)  # text, attachments: to be put back into the composer
    failed = Signal(str, dict)  # something beside the run failed; for a toast
    filesTouched = Signal()
    finished = Signal(str)  # reason of the turn that ended
    located = Signal(list)  # row ids of a record that was looked for

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
        self.requests: list[Request] = []  # of MCP servers, while their calls run
        self.queued: Queued | None = None
        self.breakdown: Breakdown | None = None
        self.compactions: list[CompactionRecord] = []
        self.compaction_log: list[CompactionRecord] = []  # undone and failed ones too
        self.tasks_list: list[dict[str, Any]] = []
        self.commands: dict[str, Command] = {}
        self._commands_news: set[str] = set()  # those that ended and were not put aside
        self.points: list[int] = []
        self.touched: dict[str, str] = {}  # path -> tool that wrote it
        self.saved_us = 0
        self.offered = False
        self.drafting = ""  # "working", "ready" or "failed": a compaction prepared ahead
        self.draft_why: tuple[str, dict[str, Any]] = ("", {})  # none came of it
        self.compacting = False
        self.stopping = False
        self.waiting = Waiting(self)
        self.at_start = True
        self.ready = False  # the history is there
        self._title = ""  # until the conversation is there
        self._glanced = 0  # the newest record that was shown before it was
        self._fold = Fold()
        self._oldest: int | None = None
        self._loading = False
        self._running = False
        self._sent: tuple[str, tuple[Attachment, ...]] | None = None
        self._decisions: list[Decision] = []
        self._last_reason = ""
        self._background = Tasks(self._task_failed)
        self._batches: Coalescer[Event] = Coalescer(self, self._deliver)
        self._deaf: Callable[[], None] | None = None
        i18n.notifier.changed.connect(self.retranslate)
        self.logMoved.connect(self._read_log)
        self.compactionsChanged.connect(self._ledger_moved)
        self.waiting.changed.connect(self.activityChanged)

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
        return self.conversation.title if self.conversation is not None else self._title

    @property
    def mode(self) -> Mode:
        return self.conversation.permissions.mode if self.conversation is not None else "default"

    def set_names(
        self,
        agent: str,
        model_name: Callable[[str], str],
        count_tokens: Callable[[str], int] | None,
    ) -> None:
        """How the agent and models are called, and how tokens are estimated."""
        renamed = agent != self.voice.agent or self.voice.count_tokens is None
        if agent:
            self.voice.agent = agent
        self.voice.model_name, self.voice.count_tokens = model_name, count_tokens
        if renamed and self._fold.items:
            self.retranslate()

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

    # -- events -----------------------------------------------------------------------------

    def _deliver(self, events: list[Event]) -> None:
        """One batch: fold it, tell the gauges, hand the merged changes to the transcript."""
        signals: dict[str, None] = {}
        for event in events:
            self._fold.event(event)
            self._note(event, signals)
        self._apply()
        if "pendingChanged" in signals and not self._running:
            self._take_pending()
        for name in signals:
            getattr(self, name).emit()

    def _note(self, event: Event, signals: dict[str, None]) -> None:
        """What an event means beside its row."""
        match event:
            case ev.RunStarted() | ev.RunParked():
                signals["activityChanged"] = None
                signals["pendingChanged"] = None
            case ev.UserMessage():
                self._sent = None
                self._fold.remove("x:sent")
                self.waiting.began()
            case ev.ModelCallStarted(model=model):
                self.waiting.asked(model)
            case ev.TextDelta() | ev.ThinkingDelta() | ev.ToolCallStarted() | ev.ToolCallDelta():
                self.waiting.heard()
            case ev.ModelCallFinished():
                self.waiting.ended()
            case ev.ApprovalRequested(approval=approval):
                self.approvals = [a for a in self.approvals if a.op_id != approval.op_id]
                self.approvals.append(approval)
                signals["pendingChanged"] = None
            case ev.ApprovalDecided(op_id=op_id):
                self.approvals = [a for a in self.approvals if a.op_id != op_id]
                signals["pendingChanged"] = None
            case ev.QuestionAsked(op_id=op_id, questions=questions):
                self.questions = [q for q in self.questions if q.op_id != op_id]
                self.questions.append(Question(op_id, questions))
                signals["pendingChanged"] = None
            case ev.RequestAsked(request=request):
                self.requests.append(cast("Request", request))
                signals["requestsChanged"] = None
            case ev.RequestAnswered(body=body):
                self.requests = [r for r in self.requests if r.id != body.get("id")]
                signals["requestsChanged"] = None
            case ev.ToolFinished(op_id=op_id):
                self._touch_file(op_id, event.state, signals)
            case ev.TasksChanged(tasks=tasks):
                self.tasks_list = tasks
                signals["tasksChanged"] = None
            case ev.CommandChanged(command=command):
                self._command_changed(cast("Command", command))
                signals["commandsChanged"] = None
            case ev.CommandOutput(command_id=command_id, text=text):
                self.commandPrinted.emit(command_id, text)
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
                signals["activityChanged"] = None
                signals["pendingChanged"] = None
            case _:
                self._note_context(event, signals)

    def _command_changed(self, command: Command) -> None:
        self.commands[command.id] = command
        if command.ended is not None:
            self._commands_news.add(command.id)

    @property
    def commands_running(self) -> int:
        """How many commands run in the background here."""
        return sum(c.ended is None for c in self.commands.values()) if self.writable else 0

    def commands_shown(self) -> list[Command]:
        """Background commands that run or are news, oldest first."""
        news = self._commands_news
        return [c for c in self.commands.values() if c.ended is None or c.id in news]

    def dismiss_commands(self) -> None:
        """Put those aside that have ended."""
        self._commands_news.clear()
        self.commandsChanged.emit()

    def recall_commands(self) -> None:
        """Show all of the session again."""
        self._commands_news = set(self.commands)
        self.commandsChanged.emit()

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
                self.compacting, self.drafting = False, ""
                self._point(record.before)
                self._point(record.after)
                self.compactions = [*self.compactions, record]
                signals["compactionsChanged"] = signals["logMoved"] = None
                signals["activityChanged"] = None
            case ev.CompactionFailed():
                self.compacting = False
                signals["activityChanged"] = signals["logMoved"] = None
            case ev.CompactionMeasured():
                signals["logMoved"] = None
            case ev.CompactionUndone(gen=gen):
                self.compactions = [c for c in self.compactions if c.gen != gen]
                signals["compactionsChanged"] = signals["logMoved"] = None
            case ev.DraftStarted() | ev.DraftReady() | ev.DraftDropped():
                self._drafting(event)
            case _:
                pass

    def _read_log(self) -> None:
        """Read the log of compactions; the view model that loads has it."""
        raise NotImplementedError

    def _ledger_moved(self) -> None:
        """The first compaction brings the way to the ledger to every row, its undo takes it."""
        if self.voice.compacted != bool(self.compactions):
            self.voice.compacted = bool(self.compactions)
            self.retranslate()

    def _drafting(self, event: Event) -> None:
        match event:
            case ev.DraftStarted():
                self.drafting = "working"
            case ev.DraftReady():
                self.drafting = "ready"
            case ev.DraftDropped(code=code, params=params) if code not in _GIVEN_UP:
                self.drafting, self.draft_why = "failed", (code, params)
            case _:
                self.drafting = ""
        self.offerChanged.emit()

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

    def _take_pending(self) -> None:
        pending = self.conversation.pending if self.conversation is not None else None
        held = {d.op_id for d in self._decisions}
        self.approvals = [a for a in (pending.approvals if pending else ()) if a.op_id not in held]
        self.questions = list(pending.questions) if pending else []
        self.requests = list(self.conversation.requests) if self.conversation is not None else []

    def _take_commands(self) -> None:
        """What ended in the moment in which a run did."""
        conversation = self.conversation
        known = list(conversation.background()) if conversation is not None else []
        for command in known:
            shown = self.commands.get(command.id)
            if shown is None or (shown.ended is None) != (command.ended is None):
                self._command_changed(command)
                self.commandsChanged.emit()

    def _emit_run_state(self) -> None:
        self.activityChanged.emit()
        self.pendingChanged.emit()
        self.requestsChanged.emit()

    def _heard(self, event: Event) -> None:
        """An event that no run of ours brings: beside runs, or of a run that somebody else
        started."""
        if not self._running:
            self._batches.push(event)

    def _task_failed(self, name: str, error: BaseException) -> None:
        """A defect: it is logged, and told where the person was looking."""
        log.error("chat task %s failed", name, exc_info=error)
        self.failed.emit("run.crashed", crash_params(error))

    def retranslate(self, _language: str = "") -> None:
        """Render every row again, in the language in force."""
        self._batches.flush()
        for item in self._fold.items.values():
            self.rows.update(row_from(item, self.voice))

    def _apply(self) -> None:
        """Hand changes on in order; rows that come one after the other go in together, so that a
        history is laid out once and not once a row."""
        fresh: list[Row] = []
        for change in self._fold.take():
            if change.kind == "append":
                if (item := self._fold.items.get(change.id)) is not None:
                    fresh.append(row_from(item, self.voice))
                continue
            if fresh:
                self.rows.extend(fresh)
                fresh = []
            self._apply_one(change)
        if fresh:
            self.rows.extend(fresh)

    def _apply_one(self, change: Change) -> None:
        if change.kind == "remove":
            self.rows.remove(change.id)
        elif change.kind == "extend":
            self.rows.extend_text(change.id, change.text)
        elif (item := self._fold.items.get(change.id)) is not None:
            self.rows.update(row_from(item, self.voice))
