"""The chat page: header, transcript, what asks the person, composer."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDropEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QStackedWidget, QVBoxLayout, QWidget

from desktop_app.core.agent.base import Attachment
from desktop_app.core.paths import paths
from desktop_app.core.state import Mode
from desktop_app.ui.errors import describe
from desktop_app.ui.theme import theme
from desktop_app.ui.transcript.style import style as transcript_style
from desktop_app.ui.transcript.view import TranscriptView
from desktop_app.ui.widgets.base import Live, follow

from .approval import ApprovalCard
from .branching import Branches
from .compaction_work import CompactionWork
from .composer import Composer
from .drafts import Drafts
from .empty import EmptyChat
from .find_bar import FindBar
from .header import ChatHeader
from .items import NoticeItem, ToolItem
from .mentions import FileNames
from .offer import ActivityLine, OfferBar
from .page_commands import PageCommands
from .page_show import PageShow, rows_of
from .page_views import PageViews
from .page_work import PageWork
from .permissions_work import PermissionsWork
from .question import QuestionCard
from .requests import RequestCard
from .sources import ChatSources
from .view_model import ChatViewModel


class ChatPage(Live, QWidget):
    """Shows one ``ChatViewModel`` at a time (``bind``). The view model lives on when another is
    shown; a run under way is not touched.

    ``notified(tone, title, text)`` is for a toast; ``inspectorRequested(tab)`` opens the inspector.
    """

    notified = Signal(str, str, str)
    inspectorRequested = Signal(str)
    sessionRequested = Signal(object)  # open this session (a SessionKey)
    workspaceRequested = Signal()
    titleChanged = Signal(str)
    stateChanged = Signal()  # what can be done in the session is asked anew
    trustWanted = Signal(str, dict)  # of a certificate: the error's code and parameters
    actionRequested = Signal(str)  # a way out of what cannot be done here: an id of ``errors``

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.vm: ChatViewModel | None = None
        self.sources = ChatSources()
        self.view: TranscriptView | None = None
        self._wanted: tuple[str, int] | None = None  # what to find once the history is there
        self.face = PageShow(self)
        self.views = PageViews(self)
        self.work = PageWork(self)
        self.permissions = PermissionsWork(self)
        self.commands = PageCommands(self, self.work.tasks)
        self.compaction = CompactionWork(self)
        self.branches = Branches(self, self.work.tasks)
        self.drafts = Drafts(paths().state / "drafts.json", self)
        self.header = ChatHeader()
        self.find_bar = FindBar()
        self.empty = EmptyChat()
        self.activity = ActivityLine()
        self.offer = OfferBar()
        self.approval = ApprovalCard()
        self.question = QuestionCard()
        self.request = RequestCard()
        self.composer = Composer()
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self._bottom = QWidget()
        self._build()
        self._wire()
        self.setAcceptDrops(True)
        # What is hidden, or comes for a while, makes no window grow and presses nothing flat.
        self.setMinimumSize(360, 240)
        self.stack.setMinimumHeight(1)
        self.bind(None, ChatSources())

    # -- building ---------------------------------------------------------------------------

    def _build(self) -> None:
        stack = QVBoxLayout(self._bottom)
        follow(stack, setSpacing=10)
        cards = (self.commands.bar, self.offer, self.approval, self.request, self.question)
        for widget in (self.activity, *cards, self.composer):
            stack.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.find_bar)
        column.addWidget(self.stack, 1)
        column.addWidget(self._bottom)
        self.setFocusProxy(self.composer)

    def _wire(self) -> None:
        header, composer = self.header, self.composer
        header.renamed.connect(lambda title: self.vm and self.vm.rename(title))
        header.findRequested.connect(self.open_find)
        header.exportRequested.connect(self.work.export)
        header.compactRequested.connect(self.compact)
        header.previewRequested.connect(self.compaction.preview)
        header.workspaceClicked.connect(self.workspaceRequested)
        self.find_bar.searched.connect(lambda text: self.view and self.view.find(text))
        self.find_bar.next.connect(lambda: self.view and self.view.find_next())
        self.find_bar.previous.connect(lambda: self.view and self.view.find_previous())
        self.find_bar.closed.connect(self.composer.setFocus)
        self.empty.chosen.connect(self._fill)
        self.offer.accepted.connect(self.compact)
        self.offer.previewed.connect(self.compaction.preview)
        self.offer.dismissed.connect(lambda: self.vm and self.vm.dismiss_offer())
        self.approval.decided.connect(self._decided)
        self.question.answered.connect(self._answered)
        self.request.answered.connect(self.work.answer_request)
        self.request.visit.connect(self.work.visit)
        composer.submitted.connect(self._send)
        composer.stopRequested.connect(lambda: self.vm and self.vm.stop())
        composer.queueEdited.connect(self._edit_queued)
        composer.queueRemoved.connect(lambda: self.vm and self.vm.take_queued())
        composer.queueSent.connect(lambda: self.vm and self.vm.send_queued())
        composer.modeChosen.connect(self._mode_chosen)
        composer.rulesWanted.connect(self.permissions.open)
        composer.modelChosen.connect(lambda model: self.vm and self.vm.set_model(model))
        composer.effortChosen.connect(lambda effort: self.vm and self.vm.set_effort(effort))
        composer.wayOut.connect(lambda: self.actionRequested.emit(self.face.way))
        composer.gaugeClicked.connect(lambda: self.inspectorRequested.emit("context"))
        composer.changed.connect(self._keep_draft)
        composer.failed.connect(self.failed)
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
        self.header.set_agent(sources.agent)
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
        self.view = self.views.of(vm) if vm is not None else None
        if vm is not None:
            vm.set_names(sources.agent, sources.model_label, sources.count)
            self._connect(vm)
        self.face.everything()
        self.work.suggest_examples()

    def _signals(self, vm: ChatViewModel) -> list[tuple[object, object]]:
        return [
            (vm.opened, self._opened),
            (vm.openFailed, self.failed),
            (vm.activityChanged, self.face.activity),
            (vm.pendingChanged, self.face.pending),
            (vm.requestsChanged, self.face.requests),
            (vm.queueChanged, self.face.queue),
            (vm.contextChanged, self.face.context),
            (vm.offerChanged, self.face.offer),
            (vm.commandsChanged, self.commands.show),
            (vm.commandPrinted, self.commands.printed),
            (vm.titleChanged, self.face.title),
            (vm.modeChanged, self.face.mode),
            (vm.modelChanged, self.face.model),
            (vm.sendFailed, self._take_back),
            (vm.failed, self.failed),
            (rows_of(vm).rowsInserted, self.face.stack),
            (rows_of(vm).rowsRemoved, self.face.stack),
            (vm.located, self._located),
            (vm.undoRefused, self.compaction.undo_refused),
            (vm.refFound, self.compaction.found),
            (vm.wayWanted, self.actionRequested),
        ]

    def _connect(self, vm: ChatViewModel) -> None:
        for signal, slot in self._signals(vm):
            signal.connect(slot)  # type: ignore[attr-defined]

    def _disconnect(self, vm: ChatViewModel) -> None:
        for signal, slot in self._signals(vm):
            signal.disconnect(slot)  # type: ignore[attr-defined]

    def drop(self, vm: ChatViewModel) -> None:
        """Forget the view of a session that is closed."""
        if vm is self.vm:
            self.bind(None, ChatSources())
        self.views.drop(vm)

    # -- showing ----------------------------------------------------------------------------

    def _opened(self) -> None:
        """The conversation is there: its draft, when nothing was typed meanwhile."""
        vm = self.vm
        if vm is not None and vm.conversation is not None and self.composer.is_empty:
            draft = self.drafts.get(vm.conversation.key)
            if draft.text or draft.attachments:
                self.composer.set_content(draft.text, list(draft.attachments), draft.cursor)
        self.face.everything()
        self._seek()
        if vm is not None:
            self.branches.opened(vm)

    def retranslate(self) -> None:
        self.face.everything()

    # -- what a person does -----------------------------------------------------------------

    def _send(self, text: str, attachments: list[Attachment]) -> None:
        if self.vm is not None:
            self.vm.send(text, attachments)
            if self.view is not None:
                self.view.jump_to_end()  # whoever speaks wants to see the answer

    def _fill(self, text: str) -> None:
        self.composer.set_content(text, self.composer.attachments())
        self.composer.setFocus()

    def _decided(self, op_id: str, allowed: bool, always: bool, arguments: object) -> None:
        if self.vm is not None:
            given = arguments if isinstance(arguments, dict) else None
            self.vm.decide(op_id, allowed=allowed, always=always, arguments=given)
            self.after_answer()

    def _answered(self, op_id: str, answer: dict[str, object]) -> None:
        if self.vm is not None:
            self.vm.answer(op_id, answer)
            self.after_answer()

    def after_answer(self) -> None:
        # Focus is never lost: the next card has it, else the transcript, where keys go on.
        for card in (self.approval, self.request, self.question):
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
            self.vm.compact()  # its start takes the offer away

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
        self.face.stack()
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

    def row_action(self, row_id: str, action: str) -> None:
        vm = self.vm
        if vm is None or self.compaction.row_action(vm, row_id, action):
            return
        if self.branches.row_action(vm, row_id, action):
            return
        item = vm.item(row_id)
        if action == "retry":
            vm.retry()
        elif action == "trust_certificate" and isinstance(item, NoticeItem):
            self.trustWanted.emit(item.code, item.params)
        elif action == "open_offload" and isinstance(item, ToolItem):
            self.work.offloads.look(item.offloaded)

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

    def failed(self, code: str, params: dict[str, object]) -> None:
        words = describe(code, params)
        self.notified.emit("danger", words.title, words.reason)

    # Files that are dropped anywhere on the chat are for its message; folders are the window's.

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if not self._bottom.isHidden():
            self.composer.dragEnterEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        self.composer.dropEvent(event)
        self.composer.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.align()

    def align(self) -> None:
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
        around = self.header.height() + self.composer.sizeHint().height() + px(56)
        self.approval.set_room(self.height() - around)

    # -- keys -------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In the transcript the keys of an approval work, and Esc stops."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if self.approval.handle_key(event) or self.request.handle_key(event):
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
            self.after_answer()
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
