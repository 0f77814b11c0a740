"""The first-run page: open a folder, try the demo, go on where one was; what this computer has.

It asks for nothing else. A folder can be dropped anywhere on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Button, Card, Glyph, Label, Line
from desktop_app.ui.widgets.base import Live, Text, follow, say
from desktop_app.ui.widgets.card import TONE_ICONS

from .checks import Check
from .parts import DropSign, Recent, RecentRow, Side

_COLUMN = 680
RECENT = 6  # workspaces to go on with


class _Offer(QWidget):
    """Icon, what it is, why, and its button."""

    def __init__(self, glyph: str, token: str, title: Text, detail: Text, button: Button) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(4, 4, 4, 4), setSpacing=12)
        row.addWidget(Glyph(glyph, token, 18))
        words = QVBoxLayout()
        follow(words, setSpacing=2)
        self.title = Label(title, role="strong", wrap=True)
        words.addWidget(self.title)
        words.addWidget(Label(detail, role="small", tone="muted", wrap=True))
        row.addLayout(words, 1)
        row.addWidget(button)


class WelcomePage(Live, QWidget):
    """Shown when no workspace is open. ``openFolder(path)`` also for a dropped folder,
    ``openDemo()``, ``openRecent(id)``; language and look as chosen at the lower left;
    ``actWanted(id)`` of a line about this computer."""

    openFolder = Signal(str)
    openDemo = Signal()
    openRecent = Signal(str)
    actWanted = Signal(str)
    languageChosen = Signal(str)
    schemeChosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAcceptDrops(True)
        self._dropping = ""
        self._any = False  # there are workspaces already
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.side = Side()
        self.side.languageChosen.connect(self.languageChosen)
        self.side.schemeChosen.connect(self.schemeChosen)
        row.addWidget(self.side)
        area = QScrollArea()
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._main = QWidget()
        self._main.setProperty("ground", "surface")
        area.setWidget(self._main)
        row.addWidget(area, 1)
        self._build()
        self.set_recent(())
        self.set_checks(())

    # -- what is shown ----------------------------------------------------------------------

    def set_recent(self, recent: Sequence[Recent]) -> None:
        """Workspaces to go on with, newest first; at most ``RECENT`` are shown."""
        _empty(self._recent.body)
        for entry in recent[:RECENT]:
            item = RecentRow(entry)
            item.chosen.connect(self.openRecent)
            self._recent.body.addWidget(item)
        for widget in (self._recent_title, self._recent):
            widget.setVisible(bool(recent))
        self._any = bool(recent)
        self._heading.retranslate()

    def _heading_words(self) -> str:
        return tr("Open a workspace") if self._any else tr("First workspace")

    def set_checks(self, checks: Sequence[Check]) -> None:
        """Lines about this computer; nothing is shown without any."""
        _empty(self._checks.body)
        for place, check in enumerate(checks):
            if place:
                self._checks.body.addWidget(Line())
            self._checks.body.addWidget(_check_row(check, self.actWanted.emit))
        for widget in (self._checks_title, self._checks):
            widget.setVisible(bool(checks))

    def choose_folder(self) -> None:
        """Ask for a folder (``openFolder`` follows)."""
        dialog = QFileDialog(self, tr("Open a folder as a workspace"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.openFolder)
        dialog.open()

    # -- building ---------------------------------------------------------------------------

    def _build(self) -> None:
        px = theme().px
        outer = QHBoxLayout(self._main)
        follow(outer, setContentsMargins=(24, 56, 24, 24))
        outer.addStretch(1)
        holder = QWidget()
        follow(holder, setMaximumWidth=_COLUMN)
        holder.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        outer.addWidget(holder, 100)
        outer.addStretch(1)
        column = QVBoxLayout(holder)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
        self._heading = Label(self._heading_words, role="figure")
        column.addWidget(self._heading)
        column.addWidget(
            Label(
                lambda: tr(
                    "A workspace is a folder in which an agent works. It asks before it changes "
                    "anything, and everything it keeps stays visible to you."
                ),
                role="message",
                tone="muted",
                wrap=True,
            )
        )
        column.addSpacing(px(12))
        column.addWidget(self._offers())
        column.addWidget(self._demo())
        self._recent_title = self._title(column, lambda: tr("Recent"))
        self._recent = Card()
        follow(self._recent.body, setContentsMargins=(4, 4, 4, 4), setSpacing=0)
        column.addWidget(self._recent)
        self._checks_title = self._title(column, lambda: tr("This computer"))
        self._checks = Card()
        follow(self._checks.body, setSpacing=8)
        column.addWidget(self._checks)
        column.addStretch(1)

    def _title(self, column: QVBoxLayout, text: Text) -> Label:
        label = Label(text, role="small-semibold", tone="muted")
        follow(label, setContentsMargins=(0, 14, 0, 0))
        column.addWidget(label)
        return label

    def _offers(self) -> Card:
        self.folder_button = Button(
            lambda: tr("Open a folder"), variant="primary", glyph="folder-open"
        )
        self.folder_button.clicked.connect(self.choose_folder)
        card = Card()
        card.body.addWidget(
            _Offer(
                "folder",
                "accent-text",
                lambda: tr("Your own files"),
                lambda: tr("Choose a folder, or drop one here."),
                self.folder_button,
            )
        )
        return card

    def _demo(self) -> Card:
        self.demo_button = Button(lambda: tr("Open the demo"), glyph="play")
        self.demo_button.clicked.connect(self.openDemo)
        card = Card(fill="bg")
        card.body.addWidget(
            _Offer(
                "flask-conical",
                "accent-text",
                lambda: tr("Try it without a key"),
                lambda: tr("The demo workspace works offline with the built-in Guide."),
                self.demo_button,
            )
        )
        return card

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.folder_button.setFocus()

    # -- dropping ---------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        folder = _folder(event)
        if folder:
            self._dropping = Path(folder).name
            event.acceptProposedAction()
            self._veil()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._dropping = ""
        self._veil()

    def dropEvent(self, event: QDropEvent) -> None:
        folder = _folder(event)
        self._dropping = ""
        self._veil()
        if folder:
            event.acceptProposedAction()
            self.openFolder.emit(folder)

    def _veil(self) -> None:
        """Show or hide the sign that the folder can be let go here."""
        sign = self.findChild(DropSign)
        if self._dropping:
            sign = sign or DropSign(self)
            sign.name = self._dropping
            sign.setGeometry(self.rect())
            sign.show()
            sign.raise_()
            sign.update()
        elif sign is not None:
            sign.hide()


def _folder(event: QDropEvent) -> str:
    """The one folder that is dragged, empty for anything else."""
    paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
    return paths[0] if len(paths) == 1 and Path(paths[0]).is_dir() else ""


def _check_row(check: Check, act: Callable[[str], object]) -> QWidget:
    holder = QWidget()
    row = QHBoxLayout(holder)
    follow(row, setContentsMargins=(4, 0, 4, 0), setSpacing=12)
    row.addWidget(Glyph(TONE_ICONS[check.tone], check.tone, 18))
    words = QVBoxLayout()
    follow(words, setSpacing=1)
    words.addWidget(Label(check.title, role="strong"))
    words.addWidget(Label(check.detail, role="small", tone="muted", wrap=True, select=True))
    row.addLayout(words, 1)
    if check.act:
        button = Button(check.act, small=True)
        button.clicked.connect(lambda: act(check.id))
        row.addWidget(button)
    holder.setAccessibleName(f"{say(check.title)}: {say(check.detail)}")
    return holder


def _empty(layout: QVBoxLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
