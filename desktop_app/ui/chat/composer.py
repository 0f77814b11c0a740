"""Where a person writes: text, attachments, model, mode, effort, send or stop."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.agent.base import Attachment
from desktop_app.core.errors import SlipwayError
from desktop_app.core.models.base import ModelInfo
from desktop_app.core.tasks import Tasks
from desktop_app.ui.bridge import show
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, Text, follow, say
from desktop_app.ui.widgets.buttons import Button, IconButton
from desktop_app.ui.widgets.card import Glyph, Line
from desktop_app.ui.widgets.gauge import Ring
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.painting import box
from desktop_app.ui.widgets.usage import Usage

from . import attach, figures
from .composer_choices import EffortButton, ModeButton, ModelButton
from .composer_parts import Chips, QueueRow
from .mentions import MentionList, Suggest
from .message_edit import MessageEdit

_COUNT_MS = 150
_REST_MS = 800
log = logging.getLogger(__name__)


class Composer(Live, QFrame):
    """The composer. It knows nothing of a conversation: the page sets what it shows and hears
    ``submitted(text, attachments)``, ``stopRequested``, ``modeChosen``, ``modelChosen`` …"""

    submitted = Signal(str, list)
    stopRequested = Signal()
    queueEdited = Signal()
    queueRemoved = Signal()
    queueSent = Signal()
    modeChosen = Signal(str)
    rulesWanted = Signal()
    modelChosen = Signal(str)
    effortChosen = Signal(str)
    gaugeClicked = Signal()
    wayOut = Signal()  # what is offered where nothing can be sent
    changed = Signal()
    failed = Signal(str, dict)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.count: Callable[[str], int] | None = None
        self.suggest: Suggest | None = None
        self.cwd: str | None = None
        self._reason: Text = ""
        self._busy = False
        self._queued = False
        self._tasks = Tasks(self._task_failed)
        self.queue = QueueRow(self)
        self.chips = Chips(self)
        self.edit = MessageEdit(self._placeholder, self)
        self.mentions = MentionList(self)
        self._timer = QTimer(self, singleShot=True, interval=_COUNT_MS)
        self._timer.timeout.connect(self._show_count)
        self._build()
        self._wire()
        self.setAcceptDrops(True)
        self.set_usage(Usage())
        self.set_queue("", 0)
        self.set_busy(False)
        self.set_disabled("")

    # -- building ---------------------------------------------------------------------------

    def _build(self) -> None:
        self.attach = IconButton("paperclip", lambda: tr("Attach files"), small=False)
        self.at = IconButton("at-sign", lambda: tr("Mention a file of the workspace"))
        self.model = ModelButton()
        self.mode = ModeButton()
        self.effort = EffortButton()
        self.tokens = Label("", role="caption", tone="faint")
        self.ring = Ring()
        self.share = Label("", role="small", tone="muted")
        self.send = Button("", variant="primary", glyph="arrow-up")
        self.stop = Button(lambda: tr("Stop"), glyph="square", keys="Esc")
        for button in (self.model, self.mode, self.effort, self.stop):
            button.set_shrinks()
        follow(self.send, setFixedWidth=28)
        field = QHBoxLayout()
        follow(field, setContentsMargins=(14, 11, 10, 6))
        field.addWidget(self.edit)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        self.blind = Label("", role="caption", tone="warning", wrap=True)
        follow(self.blind, setContentsMargins=(14, 6, 14, 0))
        self.blind.hide()
        for widget in (self.queue, self._make_why(), self.chips, self.blind):
            column.addWidget(widget)
        column.addLayout(field)
        column.addLayout(self._tool_row())
        self.setFocusProxy(self.edit)
        self.retranslate()

    def _make_why(self) -> QWidget:
        """Why nothing can be sent, and the way out."""
        self._why = QWidget()
        why = QHBoxLayout(self._why)
        # Room for the focus ring of the way out.
        follow(why, setContentsMargins=(14, 9, 14, 3), setSpacing=6)
        self.why = Label("", role="small", tone="muted", wrap=True)
        why.addWidget(Glyph("lock", "muted", 14))
        why.addWidget(self.why, 1)
        self.way = Button("", variant="link")
        why.addWidget(self.way)
        return self._why

    def _tool_row(self) -> QHBoxLayout:
        px = theme().px
        tools = QHBoxLayout()
        follow(tools, setContentsMargins=(8, 0, 6, 6), setSpacing=2)
        divider = Line(vertical=True)
        follow(divider, setFixedHeight=16)
        for widget in (self.attach, self.at):
            tools.addWidget(widget)
        tools.addSpacing(px(6))
        tools.addWidget(divider)
        tools.addSpacing(px(6))
        tools.addWidget(self.model)
        tools.addWidget(self.mode)
        tools.addWidget(self.effort)
        tools.addStretch(1)
        tools.addWidget(self.tokens)
        tools.addSpacing(px(14))
        tools.addWidget(self.ring)
        tools.addSpacing(px(5))
        tools.addWidget(self.share)
        tools.addSpacing(px(8))
        tools.addWidget(self.send)
        tools.addSpacing(px(4))
        tools.addWidget(self.stop)
        return tools

    def _wire(self) -> None:
        self.edit.submitted.connect(self._submit)
        self.edit.stopRequested.connect(self._stop)
        self.edit.queuedRequested.connect(lambda: self._queued and self.queueEdited.emit())
        self.edit.filesPasted.connect(self.add_files)
        self.edit.attached.connect(self.chips.add)
        self.edit.textChanged.connect(self._text_changed)
        self.edit.mentionChanged.connect(self._suggest)
        self.edit.mentionEnded.connect(self._end_mention)
        self.edit.mentionKey.connect(self.mentions.key)
        self.mentions.chosen.connect(self._mention_chosen)
        self.mentions.closed.connect(self._mention_closed)
        self.edit.installEventFilter(self)
        self.chips.changed.connect(self._text_changed)
        self.chips.changed.connect(self._show_blind)
        self.send.clicked.connect(self._submit)
        self.stop.clicked.connect(self.stopRequested)
        self.attach.clicked.connect(self._pick)
        self.at.clicked.connect(self.edit.begin_mention)
        self.mode.chosen.connect(self.modeChosen)
        self.mode.rulesWanted.connect(self.rulesWanted)
        self.model.chosen.connect(self.modelChosen)
        self.effort.chosen.connect(self.effortChosen)
        self.ring.clicked.connect(self.gaugeClicked)
        self.way.clicked.connect(self.wayOut)
        self.queue.edit.connect(self.queueEdited)
        self.queue.remove.connect(self.queueRemoved)
        self.queue.sendNow.connect(self.queueSent)

    # -- what the page sets -----------------------------------------------------------------

    def set_busy(self, busy: bool, *, stopping: bool = False) -> None:
        """A run is under way or waits: Stop is there; Send queues."""
        self._busy = busy
        self.stop.setVisible(busy)
        self.stop.setEnabled(not stopping)
        self.stop.set_source(lambda: tr("Stopping…") if stopping else tr("Stop"))
        self._text_changed()
        self.edit.retranslate()
        self.retranslate()

    def set_queue(self, text: str, attachments: int) -> None:
        """The queued message; empty when there is none."""
        self._queued = bool(text or attachments)
        self.queue.set_message(text, attachments)
        self.queue.setVisible(self._queued)

    def set_usage(self, usage: Usage) -> None:
        self.ring.set_usage(usage)
        self.share.set_source(figures.percent(usage.share) if usage.window else "")
        self.ring.setVisible(bool(usage.window))
        self._fit()

    def _fit(self) -> None:
        """In a narrow window the figures beside the ring go first."""
        width, px = self.width(), theme().px
        self.share.setVisible(not self.ring.isHidden() and width >= px(400))
        self.tokens.setVisible(width >= px(520))
        self.stop.set_keys("Esc" if width >= px(430) else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def set_disabled(self, reason: Text, way: Text = "") -> None:
        """Nothing can be sent, and why; empty when it can. ``way`` names a way out."""
        self._reason = reason
        self.why.set_source(reason)
        self.way.set_source(way)
        self.way.setVisible(bool(say(way)))
        off = bool(say(reason))
        self._why.setVisible(off)
        for widget in (self.edit, self.attach, self.at, self.model, self.mode, self.effort):
            widget.setEnabled(not off)
        self._text_changed()

    def set_content(self, text: str, attachments: list[Attachment], cursor: int = -1) -> None:
        """Put a draft (or a message that came back) into the field."""
        self.edit.setPlainText(text)
        at = self.edit.textCursor()
        at.setPosition(len(text) if cursor < 0 else min(cursor, len(text)))
        self.edit.setTextCursor(at)
        self.chips.set(attachments)

    def text(self) -> str:
        return self.edit.toPlainText()

    def attachments(self) -> list[Attachment]:
        return self.chips.attachments

    @property
    def is_empty(self) -> bool:
        return not self.text().strip() and not self.attachments()

    @property
    def at_rest(self) -> bool:
        """Nothing is in it and no key was pressed for a while: nobody is about to write."""
        return self.is_empty and self.edit.idle_ms() >= _REST_MS

    def retranslate(self) -> None:
        words = tr("Queue the message") if self._busy else tr("Send")
        self.send.setAccessibleName(words)
        self.send.setToolTip(f"{words}  Enter")
        self._show_count()

    def show_model(self, model: ModelInfo | None) -> None:
        """Which model answers."""
        self.model.set_model(model)
        self._show_blind()

    def _show_blind(self) -> None:
        """What the model cannot see of what is attached: said before it is sent."""
        model = self.model.model
        pictures = [
            a.name for a in self.attachments() if a.media_type.startswith("image/") and a.data
        ]
        unseen = bool(pictures) and model is not None and not model.images
        if unseen and model is not None:
            names = ", ".join(pictures)
            self.blind.set_source(
                lambda: tr("{model} sees no images: {names}", model=model.name, names=names)
            )
        self.blind.setVisible(unseen)

    def _placeholder(self) -> str:
        if self._busy:
            return tr("Write the next message; it is sent when this run ends")
        return tr("Ask for something to be done in this workspace")

    # -- doing ------------------------------------------------------------------------------

    def _submit(self) -> None:
        if self.is_empty or say(self._reason):
            return
        text, attachments = self.text().strip(), self.attachments()
        self.set_content("", [])
        self.submitted.emit(text, attachments)

    def _stop(self) -> None:
        if self._busy:
            self.stopRequested.emit()

    def _text_changed(self) -> None:
        ready = not self.is_empty and not say(self._reason)
        self.send.setEnabled(ready)
        # While a run is on, Stop is the one button until there is something to queue.
        self.send.setVisible(not self._busy or ready)
        self._timer.start()
        self.changed.emit()

    def _show_count(self) -> None:
        self._timer.stop()
        text = self.text()
        if not text.strip() or self.count is None:
            self.tokens.set_source("")
            return
        n = self.count(text)
        self.tokens.set_source(
            "≈ " + trn("{count} token", "{count} tokens", n, count=figures.tokens(n))
        )

    def _pick(self) -> None:
        self._tasks.start(self._pick_files(), name="pick")

    async def _pick_files(self) -> None:
        dialog = QFileDialog(self, tr("Attach files"), self.cwd or "")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        if await show(dialog, keep=True):
            self.add_files(dialog.selectedFiles())
        dialog.deleteLater()

    def add_files(self, paths: list[str]) -> None:
        """Attach files of this computer."""
        if not say(self._reason):
            self._tasks.start(self._add_files(paths), name="attach")

    async def _add_files(self, paths: list[str]) -> None:
        for path in paths:
            try:
                self.chips.add(await attach.from_file(path, self.cwd))
            except SlipwayError as error:
                self.failed.emit(error.code, error.params)

    def _task_failed(self, name: str, error: BaseException) -> None:
        log.error("composer task %s failed", name, exc_info=error)
        self.failed.emit("run.crashed", {"error": type(error).__name__, "detail": str(error)[:500]})

    async def close_tasks(self) -> None:
        """Cancel what is still being read."""
        await self._tasks.close()

    # -- mentions ---------------------------------------------------------------------------

    def _suggest(self, query: str) -> None:
        if self.suggest is not None and self.edit.hasFocus():
            self._tasks.replace(self._show_suggestions(self.suggest, query), name="suggest")

    async def _show_suggestions(
        self, suggest: Callable[[str], Awaitable[list[str]]], query: str
    ) -> None:
        paths = await suggest(query)
        found = self.edit.mention_at_cursor()
        if found is None or found[1] != query:
            return
        corner = self.edit.cursorRect().topLeft() + QPoint(0, -2)
        self.mentions.show_paths(paths, self.edit.viewport(), corner)
        self.edit.mention_keys = not self.mentions.isHidden()

    def _mention_chosen(self, path: str) -> None:
        self._end_mention()
        self.edit.insert_mention(path)

    def _mention_closed(self) -> None:
        self._tasks.cancel("suggest")
        self.edit.mention_keys = False

    def _end_mention(self) -> None:
        self._tasks.cancel("suggest")
        self.mentions.hide()
        self.edit.mention_keys = False

    # -- look -------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.edit and event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.update()
            if event.type() == QEvent.Type.FocusOut:
                self._end_mention()
        return False

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths and not any(Path(p).is_dir() for p in paths) and not say(self._reason):
            event.acceptProposedAction()
        else:
            event.ignore()  # a folder is for the window

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            self.add_files(paths)
            event.acceptProposedAction()

    def paintEvent(self, event: QPaintEvent) -> None:
        color = theme().color
        focused = self.edit.hasFocus()
        line = "focus" if focused else "border-strong"
        fill = "surface" if say(self._reason) else "raised"
        box(QPainter(self), QRectF(self.rect()), theme().radius("dialog"), color(fill), color(line))
