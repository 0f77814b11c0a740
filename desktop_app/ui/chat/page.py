"""The chat page: header, transcript, what asks the person, composer."""

from __future__ import annotations

from collections import OrderedDict

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QVBoxLayout, QWidget

from desktop_app.core.context.types import Breakdown
from desktop_app.core.paths import paths
from desktop_app.core.state import Mode
from desktop_app.ui.errors import action_label, describe
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.transcript.model import TranscriptModel
from desktop_app.ui.transcript.style import style as transcript_style
from desktop_app.ui.transcript.view import TranscriptView
from desktop_app.ui.widgets.base import Live

from .approval import ApprovalCard
from .composer import Composer
from .drafts import Drafts
from .empty import EmptyChat
from .find_bar import FindBar
from .gauges import usage_of
from .header import ChatHeader
from .items import ToolItem
from .mentions import FileNames
from .offer import ActivityLine, OfferBar
from .page_work import PageWork
from .permissions_work import PermissionsWork
from .question import QuestionCard
from .sources import ChatSources
from .tool_words import title as tool_title
from .view_model import ChatViewModel

WAYS = ("continue_here", "take_over")  # ways out that the window knows
VIEWS = 4  # transcripts kept with their scroll position


class ChatPage(Live, QWidget):
    """Shows one ``ChatViewModel`` at a time (``bind``). The view model lives on when another is
    shown; a run under way is not touched.

    ``notified(tone, title, text)`` is for a toast; ``inspectorRequested(tab)`` opens the inspector.
    """

    notified = Signal(str, str, str)
    inspectorRequested = Signal(str)
    compactionRequested = Signal(int)  # show this generation in the inspector
    workspaceRequested = Signal()
    titleChanged = Signal(str)
    actionRequested = Signal(str)  # a way out of what cannot be done here: an id of ``errors``

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.vm: ChatViewModel | None = None
        self.sources = ChatSources()
        self.view: TranscriptView | None = None
        self._way = ""
        self._views: OrderedDict[ChatViewModel, TranscriptView] = OrderedDict()
        self._wanted: tuple[str, int] | None = None  # what to find once the history is there
        self._offered = ""  # the approval for which the focus was moved last
        self.work = PageWork(self)
        self.permissions = PermissionsWork(self)
        self.drafts = Drafts(paths().state / "drafts.json", self)
        self.header = ChatHeader()
        self.find_bar = FindBar()
        self.empty = EmptyChat()
        self.activity = ActivityLine()
        self.offer = OfferBar()
        self.approval = ApprovalCard()
        self.question = QuestionCard()
        self.composer = Composer()
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._bottom = QWidget()
        self._build()
        self._wire()
        self.setMinimumWidth(360)
        self.bind(None, ChatSources())

    # -- building ---------------------------------------------------------------------------

    def _build(self) -> None:
        stack = QVBoxLayout(self._bottom)
        stack.setSpacing(theme().px(10))
        for widget in (self.activity, self.offer, self.approval, self.question, self.composer):
            stack.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.find_bar)
        column.addWidget(self._stack, 1)
        column.addWidget(self._bottom)
        self.setFocusProxy(self.composer)

    def _wire(self) -> None:
        header, composer = self.header, self.composer
        header.renamed.connect(lambda title: self.vm and self.vm.rename(title))
        header.findRequested.connect(self.open_find)
        header.exportRequested.connect(self.work.export)
        header.compactRequested.connect(self.compact)
        header.workspaceClicked.connect(self.workspaceRequested)
        self.find_bar.searched.connect(lambda text: self.view and self.view.find(text))
        self.find_bar.next.connect(lambda: self.view and self.view.find_next())
        self.find_bar.previous.connect(lambda: self.view and self.view.find_previous())
        self.find_bar.closed.connect(self.composer.setFocus)
        self.empty.chosen.connect(self._fill)
        self.offer.accepted.connect(self.compact)
        self.offer.dismissed.connect(lambda: self.vm and self.vm.dismiss_offer())
        self.approval.decided.connect(self._decided)
        self.question.answered.connect(self._answered)
        composer.submitted.connect(lambda text, files: self.vm and self.vm.send(text, files))
        composer.stopRequested.connect(lambda: self.vm and self.vm.stop())
        composer.queueEdited.connect(self._edit_queued)
        composer.queueRemoved.connect(lambda: self.vm and self.vm.take_queued())
        composer.queueSent.connect(lambda: self.vm and self.vm.send_queued())
        composer.modeChosen.connect(self._mode_chosen)
        composer.rulesWanted.connect(self.permissions.open)
        composer.modelChosen.connect(lambda model: self.vm and self.vm.set_model(model))
        composer.wayOut.connect(lambda: self.actionRequested.emit(self._way))
        composer.gaugeClicked.connect(lambda: self.inspectorRequested.emit("context"))
        composer.changed.connect(self._keep_draft)
        composer.failed.connect(self._failed)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._focus_moved)

    # -- binding ----------------------------------------------------------------------------

    def bind(self, vm: ChatViewModel | None, sources: ChatSources) -> None:
        """Show another session, or none."""
        if (old := self.vm) is not None:
            self._disconnect(old)
        if vm is None or vm is not old:
            self.find_bar.close_bar()
        self.vm = None  # the composer's changes are not this session's draft
        self._wanted = None
        self.sources = sources
        backend = sources.backend
        self.composer.cwd = sources.cwd
        self.composer.count = sources.count
        self.composer.suggest = FileNames(backend).suggest if backend is not None else None
        self.composer.model.models = sources.models
        self.header.set_workspace(sources.workspace_name, sources.workspace_kind)
        self.empty.set_workspace(sources.workspace_name)
        if vm is not None:
            if not vm.draft.text and vm.conversation is not None:
                vm.draft = self.drafts.get(vm.conversation.key)
            draft = vm.draft
            self.composer.set_content(draft.text, list(draft.attachments), draft.cursor)
        else:
            self.composer.set_content("", [])
        self.vm = vm
        self._bottom.setVisible(vm is not None)
        self.view = self._view_of(vm) if vm is not None else None
        if vm is not None:
            vm.set_names(sources.agent, sources.model_label, sources.count)
            self._connect(vm)
        self._refresh()
        self.work.suggest_examples()

    def _signals(self, vm: ChatViewModel) -> list[tuple[object, object]]:
        return [
            (vm.opened, self._opened),
            (vm.openFailed, self._failed),
            (vm.activityChanged, self._show_activity),
            (vm.pendingChanged, self._show_pending),
            (vm.queueChanged, self._show_queue),
            (vm.contextChanged, self._show_context),
            (vm.offerChanged, self._show_offer),
            (vm.titleChanged, self._show_title),
            (vm.modeChanged, self._show_mode),
            (vm.modelChanged, self._show_model),
            (vm.sendFailed, self._take_back),
            (vm.failed, self._failed),
            (_model(vm).rowsInserted, self._show_stack),
            (_model(vm).rowsRemoved, self._show_stack),
            (vm.located, self._located),
        ]

    def _connect(self, vm: ChatViewModel) -> None:
        for signal, slot in self._signals(vm):
            signal.connect(slot)  # type: ignore[attr-defined]

    def _disconnect(self, vm: ChatViewModel) -> None:
        for signal, slot in self._signals(vm):
            signal.disconnect(slot)  # type: ignore[attr-defined]

    def _view_of(self, vm: ChatViewModel) -> TranscriptView:
        view = self._views.get(vm)
        if view is None:
            view = TranscriptView(_model(vm))
            view.actionTriggered.connect(self._row_action)
            view.linkActivated.connect(self.work.open_link)
            view.rowExpanded.connect(vm.set_expanded)
            view.needOlder.connect(vm.load_older)
            view.findChanged.connect(
                lambda current, count, done: self.find_bar.set_count(current, count, done=done)
            )
            view.installEventFilter(self)
            self._stack.addWidget(view)
            self._views[vm] = view
        self._views.move_to_end(vm)
        while len(self._views) > VIEWS:
            self.drop(next(iter(self._views)))
        return view

    def drop(self, vm: ChatViewModel) -> None:
        """Forget the view of a session that is closed."""
        view = self._views.pop(vm, None)
        if vm is self.vm:
            self.bind(None, ChatSources())
        if view is not None:
            self._stack.removeWidget(view)
            view.hide()
            view.deleteLater()

    # -- showing ----------------------------------------------------------------------------

    def _refresh(self) -> None:
        self._show_title(self.vm.title if self.vm is not None else "")
        self._show_stack()
        self._show_disabled()
        self._show_activity()
        self._show_pending()
        self._show_queue()
        self._show_context()
        self._show_offer()
        self._show_mode()
        self._show_model()

    def _opened(self) -> None:
        """The conversation is there: its draft, when nothing was typed meanwhile."""
        vm = self.vm
        if vm is not None and vm.conversation is not None and self.composer.is_empty:
            draft = self.drafts.get(vm.conversation.key)
            if draft.text or draft.attachments:
                self.composer.set_content(draft.text, list(draft.attachments), draft.cursor)
        self._refresh()
        self._seek()

    def retranslate(self) -> None:
        self._refresh()

    def _show_title(self, title: str) -> None:
        writable = self.vm is not None and self.vm.writable
        self.header.set_title(title, renamable=writable)
        self.titleChanged.emit(title)

    def _show_stack(self, *_: object) -> None:
        vm = self.vm
        blank = vm is None or _model(vm).rowCount() == 0
        self._stack.setCurrentWidget(self.empty if blank or self.view is None else self.view)
        self._align()

    def _show_disabled(self) -> None:
        vm = self.vm
        words, self._way = "", ""
        if self.sources.missing is not None:
            words, self._way = _why(*self.sources.missing)
        elif vm is not None and vm.conversation is not None and not vm.writable:
            reason = vm.conversation.why_readonly
            words = tr("This session can only be read")
            if reason:
                words, self._way = _why(*reason)
        if self._way not in WAYS:
            self._way = ""
        self.composer.set_disabled(words, action_label(self._way) if self._way else "")

    def _show_activity(self) -> None:
        vm = self.vm
        busy = vm is not None and vm.busy
        self.composer.set_busy(busy, stopping=vm is not None and vm.stopping)
        self.activity.set_activity(self._activity_words())
        if vm is not None and vm.conversation is not None and vm.activity == "idle":
            self._show_disabled()  # a run may end because another window took the session over

    def _activity_words(self) -> str:
        vm = self.vm
        if vm is None or vm.activity != "running":
            return ""
        if vm.stopping:
            return tr("Stopping…")
        if vm.compacting:
            return tr("Compacting…")
        if vm.waiting_model:
            return tr("Waiting for {model}", model=self.sources.model_label(vm.waiting_model))
        return ""

    def _show_pending(self) -> None:
        vm = self.vm
        self.approval.show_approvals(list(vm.approvals) if vm is not None else [])
        asked = vm is not None and not vm.approvals and vm.activity == "parked"
        self.question.show_questions(list(vm.questions) if vm is not None and asked else [])
        self._offer_keys()

    def _offer_keys(self) -> None:
        """A card that came up takes the focus, so that its keys work, unless a message is being
        written: its letters must not answer."""
        asked = self.approval.approval or self.question.question
        card = self.approval if self.approval.approval is not None else self.question
        if asked is None or card.isHidden() or asked.op_id == self._offered:
            return
        self._offered = asked.op_id
        if self.composer.edit.hasFocus() and self.composer.at_rest:
            card.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_queue(self) -> None:
        queued = self.vm.queued if self.vm is not None else None
        if queued is None:
            self.composer.set_queue("", 0)
        else:
            self.composer.set_queue(queued.text, len(queued.attachments))

    def _show_context(self) -> None:
        breakdown: Breakdown | None = self.vm.breakdown if self.vm is not None else None
        self.composer.set_usage(usage_of(breakdown))
        self.offer.set_breakdown(breakdown)

    def _show_offer(self) -> None:
        vm = self.vm
        self.offer.setVisible(vm is not None and vm.offered and vm.breakdown is not None)

    def _show_mode(self) -> None:
        if self.vm is not None:
            self.composer.mode.set_mode(self.vm.mode)

    def _show_model(self) -> None:
        self.composer.model.set_model(self.sources.current_model())

    # -- what a person does -----------------------------------------------------------------

    def _fill(self, text: str) -> None:
        self.composer.set_content(text, self.composer.attachments())
        self.composer.setFocus()

    def _decided(self, op_id: str, allowed: bool, always: bool, arguments: object) -> None:
        if self.vm is not None:
            given = arguments if isinstance(arguments, dict) else None
            self.vm.decide(op_id, allowed=allowed, always=always, arguments=given)
            self._after_answer()

    def _answered(self, op_id: str, answer: dict[str, object]) -> None:
        if self.vm is not None:
            self.vm.answer(op_id, answer)
            self._after_answer()

    def _after_answer(self) -> None:
        # Focus is never lost: the next card has it, else the transcript, where keys go on.
        for card in (self.approval, self.question):
            if not card.isHidden():
                card.setFocus()
                return
        if self.view is not None:
            self.view.setFocus()

    def _edit_queued(self) -> None:
        queued = self.vm.take_queued() if self.vm is not None else None
        if queued is not None:
            self.composer.set_content(queued.text, list(queued.attachments))
            self.composer.setFocus()

    def _mode_chosen(self, mode: Mode) -> None:
        if self.vm is not None:
            self.vm.set_mode(mode)

    def compact(self) -> None:
        """Compact now."""
        if self.vm is not None:
            self.vm.dismiss_offer()
            self.vm.compact()

    def open_find(self) -> None:
        """Open the find bar."""
        if self.view is not None and self.vm is not None:
            self.find_bar.open_bar()

    def find_at(self, text: str, seq: int) -> None:
        """Find ``text``, beginning at the record ``seq``; older history is fetched as needed."""
        vm = self.vm
        if vm is None or self.view is None:
            return
        self._wanted = (text, seq)
        if vm.ready:
            self._seek()

    def _seek(self) -> None:
        if self._wanted is not None and self.vm is not None:
            self.vm.locate(self._wanted[1])

    def _located(self, rows: list[str]) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is None or self.view is None:
            return
        self._show_stack()
        self.find_bar.open_bar(wanted[0])
        self.view.find(wanted[0])
        if rows:
            self.view.scroll_to_row(rows[0])
            self.view.find_from(rows[0])

    def show_row(self, row_id: str) -> None:
        """Bring a row into view."""
        if self.view is not None:
            self.view.scroll_to_row(row_id)
            self.view.setFocus()

    def mention(self, path: str) -> None:
        """Name a file of the workspace in the message."""
        self.composer.edit.insert_mention(path)
        self.composer.setFocus()

    def _row_action(self, row_id: str, action: str) -> None:
        vm = self.vm
        if vm is None:
            return
        item = vm.item(row_id)
        match action:
            case "retry":
                vm.retry()
            case "compact":
                vm.compact()
            case "undo_compaction":
                vm.undo_compaction()
            case "view_summary":
                if (found := vm.compaction(row_id)) is not None:
                    self.inspectorRequested.emit("compactions")
                    self.compactionRequested.emit(found.gen)
            case "open_offload":
                if isinstance(item, ToolItem):
                    self.work.show_offload(item.offloaded, tool_title(item.name))
            case _:
                pass

    def _take_back(self, text: str, attachments: tuple[object, ...]) -> None:
        if self.composer.is_empty:
            self.composer.set_content(text, list(attachments))  # type: ignore[arg-type]

    def _keep_draft(self) -> None:
        if self.vm is not None:
            draft = self.vm.draft
            draft.text = self.composer.text()
            draft.attachments = self.composer.attachments()
            draft.cursor = self.composer.edit.textCursor().position()
            if self.vm.conversation is not None:
                self.drafts.put(self.vm.conversation.key, draft)

    def _failed(self, code: str, params: dict[str, object]) -> None:
        words = describe(code, params)
        self.notified.emit("danger", words.title, words.reason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._align()

    def _align(self) -> None:
        """The cards and the composer stand under the transcript's column, to the pixel."""
        px = theme().px
        now = transcript_style()
        bar = self.view.verticalScrollBar().sizeHint().width() if self.view is not None else 10
        room = self.width() - bar
        width = max(px(120), min(now.column, room - 2 * now.edge))
        left = (room - width) // 2
        layout = self._bottom.layout()
        if layout is not None:
            layout.setContentsMargins(left, 0, max(0, self.width() - left - width), px(14))

    # -- keys -------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In the transcript the keys of an approval work, and Esc stops."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if self.approval.handle_key(event):
                return True
            if (
                event.key() == Qt.Key.Key_Escape
                and self.vm is not None
                and self.vm.activity == "running"
            ):
                self.vm.stop()
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F6:
            self._after_answer()
        elif event.key() == Qt.Key.Key_Escape and self.vm is not None and self.vm.busy:
            self.vm.stop()
        elif _writes(event) and self.composer.edit.isEnabled() and not self.composer.isHidden():
            # Whoever begins to write means the composer, wherever the focus was left.
            self.composer.setFocus(Qt.FocusReason.OtherFocusReason)
            self.composer.edit.keyPressEvent(event)
        else:
            super().keyPressEvent(event)

    def _focus_moved(self, _old: QWidget | None, now: QWidget | None) -> None:
        live = now is not None and (now is self.view or self.approval.isAncestorOf(now))
        self.approval.set_keys_live(live or now is self.approval)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), theme().color("surface"))

    async def close_tasks(self) -> None:
        """Cancel what the page itself is doing."""
        self.drafts.save()
        await self.work.close()
        await self.permissions.close()
        await self.composer.close_tasks()


def _writes(event: QKeyEvent) -> bool:
    """A key that makes a letter, not one that commands."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    plain = modifiers in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier)
    return plain and event.text().isprintable() and bool(event.text().strip())


def _model(vm: ChatViewModel) -> TranscriptModel:
    assert isinstance(vm.rows, TranscriptModel)
    return vm.rows


def _why(code: str, params: dict[str, object]) -> tuple[str, str]:
    """Why nothing can be sent, and the id of the way out."""
    words = describe(code, params)
    return words.reason or words.title, words.action
