"""The card of what a server asks: who, what exactly goes out, and the answers there are."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from desktop_app.core.agent.request_shapes import Answered, Request
from desktop_app.core.mcp.asks import Form, Sampling, Visit
from desktop_app.ui.chat.foreign import ForeignBox, ForeignText, visible
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.badge import StateGlyph
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.card import paint_asking
from desktop_app.ui.widgets.labels import ElidedLabel, Label

from . import words
from .form import FormPart
from .sampling import SamplingPart

_HEAD = 34
_GRACE_MS = 350  # a key meant for the card before must not answer this one
_HIGHEST = 340


class RequestCard(Live, QFrame):
    """One request at a time, "n of m" when several wait. ``answered(request_id, Answered)``;
    ``visit(url)`` before the answer that says it was opened.

    Y, A, E, N answer what is asked of the model, Esc puts a form or an address aside.
    """

    answered = Signal(str, object)
    visit = Signal(str)

    def __init__(self, parent: QWidget | None = None, *, grace_ms: int = _GRACE_MS) -> None:
        super().__init__(parent)
        self.request: Request | None = None
        self.part: QWidget | None = None
        self._place = (1, 1)
        self._seen: set[str] = set()
        self._grace = grace_ms
        self._shown = QElapsedTimer()
        self._editing = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self._build()
        self.hide()

    # -- building ---------------------------------------------------------------------------

    def _build(self) -> None:
        self._head = QWidget()
        head = QHBoxLayout(self._head)
        follow(head, setContentsMargins=(12, 0, 12, 0), setSpacing=8)
        head.addWidget(StateGlyph("waiting"))
        self.title = ElidedLabel("", role="semibold")
        head.addWidget(self.title, 1)
        self._count = Label("", tone="muted")
        self._tool = Label("", tone="muted")
        head.addWidget(self._count)
        head.addWidget(self._tool)
        follow(self._head, setFixedHeight=_HEAD)
        self.message = Label("", wrap=True, select=True)
        self._holder = QWidget()
        self._column = QVBoxLayout(self._holder)
        follow(self._column, setContentsMargins=(13, 10, 13, 4), setSpacing=10)
        self._column.addWidget(self.message)
        self._column.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(self._holder)
        self._scroll.viewport().setAutoFillBackground(False)
        self._holder.setAutoFillBackground(False)
        self._holder.installEventFilter(self)
        self.note = Label("", role="small", tone="muted", wrap=True)
        self.error = Label("", role="small", tone="danger", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addWidget(self._head)
        column.addWidget(self._scroll)
        foot = QVBoxLayout()
        follow(foot, setContentsMargins=(13, 4, 13, 12), setSpacing=8)
        foot.addWidget(self.note)
        foot.addWidget(self.error)
        foot.addLayout(self._buttons())
        column.addLayout(foot)

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        follow(row, setSpacing=8)
        self.allow = Button(lambda: tr("Allow once"), variant="primary", keys="Y")
        self.always = Button(lambda: tr("Always"), keys="A")
        self.edit = Button(lambda: tr("Edit"), keys="E")
        self.run = Button(lambda: tr("Allow what I wrote"), variant="primary")
        self.back = Button(lambda: tr("Cancel"))
        self.send = Button(lambda: tr("Send"), variant="primary")
        self.open = Button(lambda: tr("Open in the browser"), variant="primary")
        self.aside = Button(lambda: tr("Not now"), keys="Esc")
        self.deny = Button(lambda: tr("Deny"), variant="danger", keys="N")
        self.decline = Button(lambda: tr("Decline"), variant="danger")
        for button in (self.allow, self.always, self.edit, self.run, self.back, self.send,
                       self.open, self.aside):  # fmt: skip
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.deny)
        row.addWidget(self.decline)
        self.allow.clicked.connect(lambda: self._answer(Answered("accept")))
        self.always.clicked.connect(lambda: self._answer(Answered("accept", always=True)))
        self.edit.clicked.connect(lambda: self._edit(True))
        self.back.clicked.connect(lambda: self._edit(False))
        self.run.clicked.connect(self._run_edited)
        self.send.clicked.connect(self._send)
        self.open.clicked.connect(self._open)
        self.aside.clicked.connect(lambda: self._answer(Answered("cancel")))
        for button in (self.deny, self.decline):
            button.clicked.connect(lambda: self._answer(Answered("decline")))
        return row

    # -- showing ----------------------------------------------------------------------------

    def show_requests(self, requests: list[Request]) -> None:
        """Show the first of ``requests``; hidden when there are none. What is being typed into
        it stays while it is the same."""
        if not requests:
            self.request = None
            self._seen.clear()
            self._clear()
            self.hide()
            return
        self._seen |= {r.id for r in requests}
        self._place = (len(self._seen) - len(requests) + 1, len(self._seen))
        if self.request is None or self.request.id != requests[0].id:
            self.request = requests[0]
            self._fill(self.request)
            self._shown.restart()
        self.retranslate()
        self.show()
        self._fit()

    def _clear(self) -> None:
        if self.part is not None:
            self._column.removeWidget(self.part)
            self.part.hide()
            self.part.deleteLater()
            self.part = None

    def _fill(self, request: Request) -> None:
        self._clear()
        match request.what:
            case Sampling() as what:
                self.part = SamplingPart(what)
                self.message.hide()
            case Form() as what:
                self.part = FormPart(what)
                self._say(what.message)
            case Visit() as what:
                text = ForeignText(lambda: tr("Address"), max_lines=6)
                text.show_text(what.url)
                self.part = ForeignBox(text)
                self._say(words.scopes_message(request) if what.scopes else what.message)
        self._column.insertWidget(1, self.part)
        self._edit(False)

    def _say(self, message: str) -> None:
        self.message.set_source(visible(message)[0])
        self.message.setVisible(bool(message.strip()))

    def retranslate(self) -> None:
        if (request := self.request) is None:
            return
        self.title.set_source(words.title(request))
        n, m = self._place
        self._count.set_source(tr("{n} of {m}", n=n, m=m) if m > 1 else "")
        self._tool.set_source(visible(request.tool)[0])
        match request.what:
            case Sampling() as what:
                self.note.set_source(words.sampling_facts(request, what))
                self.always.setToolTip(
                    tr("Every question of this server to the model, in this session.")
                )
            case Form():
                self.note.set_source(words.form_note(request.server))
            case Visit() as what:
                self.note.set_source(words.visit_note(what.url))
        self.setAccessibleName(self.title.text())
        self.setAccessibleDescription(f"{self.message.text()} {self.note.text()}".strip())

    def _show_buttons(self) -> None:
        kind = self.request.kind if self.request is not None else ""
        asks, editing = kind == "sampling", self._editing
        for button, shown in (
            (self.allow, asks and not editing),
            (self.always, asks and not editing),
            (self.edit, asks and not editing),
            (self.run, editing),
            (self.back, editing),
            (self.deny, asks),
            (self.send, kind == "form"),
            (self.open, kind == "visit"),
            (self.aside, kind in ("form", "visit")),
            (self.decline, kind in ("form", "visit")),
        ):
            button.setVisible(shown)

    def show_error(self, said: str) -> None:
        self.error.set_source(said)
        self.error.setVisible(bool(said))

    def _fit(self) -> None:
        """As high as the content needs, up to a limit; then it scrolls."""
        width = max(theme().px(200), self._scroll.viewport().width())
        needed = self._column.heightForWidth(width)
        if needed < 0:
            needed = self._column.sizeHint().height()
        height = min(max(0, needed), theme().px(_HIGHEST))
        if self._scroll.height() != height or self._scroll.maximumHeight() != height:
            self._scroll.setFixedHeight(height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    # -- answering --------------------------------------------------------------------------

    def _answer(self, answer: Answered) -> None:
        if self.request is not None:
            self.answered.emit(self.request.id, answer)

    def _edit(self, on: bool) -> None:
        self._editing = on and isinstance(self.part, SamplingPart)
        if isinstance(self.part, SamplingPart):
            self.part.edit(on)
            if not on and self.isVisible():
                self.setFocus()
        self.show_error("")
        self._show_buttons()
        self._fit()

    def _run_edited(self) -> None:
        if isinstance(self.part, SamplingPart):
            edited = self.part.edited()
            if not edited.messages:
                self.show_error(tr("There is nothing to send"))
                return
            self._answer(Answered("accept", edited=edited))

    def _send(self) -> None:
        if isinstance(self.part, FormPart):
            content = self.part.content()
            self._fit()
            if content is not None:
                self._answer(Answered("accept", content=content))

    def _open(self) -> None:
        if self.request is not None and isinstance(self.request.what, Visit):
            self.visit.emit(self.request.what.url)
            self._answer(Answered("accept"))

    def handle_key(self, event: QKeyEvent) -> bool:
        """Answer by key; True when the key was one of the card's. Ignored for a moment after a new
        request came up, with modifiers, and while something is being typed."""
        if self.request is None or not self.isVisible():
            return False
        if event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier or event.isAutoRepeat():
            return False
        if self.request.kind != "sampling" or self._editing:
            return False
        actions = {
            Qt.Key.Key_Y: self.allow,
            Qt.Key.Key_A: self.always,
            Qt.Key.Key_E: self.edit,
            Qt.Key.Key_N: self.deny,
        }
        button = actions.get(Qt.Key(event.key()))
        if button is None:
            return False
        if self._shown.elapsed() >= self._grace:
            button.click()
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        kind = self.request.kind if self.request is not None else ""
        if event.key() == Qt.Key.Key_Escape and self._editing:
            self._edit(False)
        elif event.key() == Qt.Key.Key_Escape and kind in ("form", "visit"):
            self._answer(Answered("cancel"))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and kind == "form":
            self._send()
        elif not self.handle_key(event):
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() == Qt.FocusReason.OtherFocusReason and isinstance(self.part, FormPart):
            self.take_focus(event.reason())

    def take_focus(self, reason: Qt.FocusReason) -> None:
        """To the first field of a form, else to the card, where its keys work."""
        if isinstance(self.part, FormPart) and self.part.fields:
            self.part.fields[0].focus()
        else:
            self.setFocus(reason)

    # -- look -------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_asking(self, self._head)
