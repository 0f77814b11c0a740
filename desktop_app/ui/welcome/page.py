"""The first-run page: open a folder, try the demo, go on where one was; what this computer has.

It asks for nothing else. A folder can be dropped anywhere on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
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

from desktop_app.ui import i18n
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Button, Card, Choice, Glyph, Label, Line, SegmentedControl
from desktop_app.ui.widgets.base import Live, Text, say
from desktop_app.ui.widgets.card import TONE_ICONS
from desktop_app.ui.widgets.focus import Ringed
from desktop_app.ui.widgets.mark import AppMark
from desktop_app.ui.widgets.painting import box, draw_icon, draw_text, vline

from .checks import Check

_COLUMN, _SIDE = 680, 320


@dataclass(frozen=True, slots=True)
class Recent:
    """A workspace to go on with: its name, folder, and when it was used ("2 h")."""

    id: str
    name: str
    folder: str
    when: str = ""
    missing: bool = False


class _RecentRow(Live, Ringed, QWidget):
    """A row of the recent list; by click, Enter or Space."""

    chosen = Signal(str)
    ring_radius = "button"

    def __init__(self, recent: Recent) -> None:
        super().__init__()
        self._recent = recent
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(recent.folder)
        self.retranslate()
        self.restyle()

    def restyle(self) -> None:
        self.setFixedHeight(theme().size("two-line-row"))

    def retranslate(self) -> None:
        name = tr("Open {name}", name=self._recent.name)
        self.setAccessibleName(name)
        self.setAccessibleDescription(self._detail())

    def _detail(self) -> str:
        if self._recent.missing:
            return tr("{path} is not there now", path=self._recent.folder)
        return self._recent.folder

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.rect().contains(event.position().toPoint()):
            self.chosen.emit(self._recent.id)

    def keyPressEvent(self, event) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self._recent.id)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        px = theme().px
        if self.underMouse():
            box(painter, QRectF(self.rect()), theme().radius("button"), theme().color("hover"))
        missing = self._recent.missing
        side = px(16)
        glyph = ("folder-x", "warning") if missing else ("folder", "muted")
        draw_icon(painter, QRectF(px(8), 0, side, self.height()), *glyph, 16)
        x = px(8) + side + px(10)
        top = (self.height() - theme().line("strong") - theme().line("caption")) / 2
        line = QRectF(x, top, self.width() - x - px(80), theme().line("strong"))
        draw_text(painter, line, self._recent.name, "strong", "text")
        line.translate(0, line.height())
        line.setHeight(theme().line("caption"))
        middle = Qt.TextElideMode.ElideMiddle
        tone = "warning" if missing else "muted"
        draw_text(painter, line, self._detail(), "caption", tone, elide=middle)
        right = QRectF(0, 0, self.width() - px(8), self.height())
        align = Qt.AlignmentFlag.AlignRight
        draw_text(painter, right, self._recent.when, "caption", "faint", align, figures=True)


class _Side(Live, QWidget):
    """The left panel: who this is; language and look at the bottom."""

    languageChosen = Signal(str)
    schemeChosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(theme().px(_SIDE))
        px = theme().px
        column = QVBoxLayout(self)
        column.setContentsMargins(px(28), px(56), px(28), px(24))
        column.setSpacing(0)
        column.addWidget(AppMark())
        column.addSpacing(px(18))
        column.addWidget(Label("Slipway", role="display"))
        column.addSpacing(px(4))
        column.addWidget(
            Label(
                lambda: tr("Run agents in workspaces, and see everything they keep."),
                role="message",
                tone="muted",
                wrap=True,
            )
        )
        column.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(px(8))
        row.addWidget(Glyph("languages", "muted", 16))
        self.language = Choice(lambda: tr("Language"))
        names: list[tuple[str, Text]] = list(i18n.LANGUAGES.items())
        self.language.set_choices(names, i18n.language())
        self.language.chosen.connect(self.languageChosen)
        row.addWidget(self.language)
        row.addStretch(1)
        self.scheme = SegmentedControl(lambda: tr("Look"))
        self.scheme.set_choices(
            [
                ("light", "", "sun"),
                ("dark", "", "moon"),
                ("system", lambda: tr("System"), "monitor"),
            ],
            theme().choice,
        )
        self._name_schemes()
        self.scheme.changed.connect(self.schemeChosen)
        row.addWidget(self.scheme)
        column.addLayout(row)

    def _name_schemes(self) -> None:
        names = {"light": tr("Light"), "dark": tr("Dark"), "system": tr("System")}
        for part in self.scheme.parts():
            part.setAccessibleName(names[part.value])
            part.setToolTip(names[part.value])

    def retranslate(self) -> None:
        self.language.set_value(i18n.language())
        self._name_schemes()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color("bg"))
        vline(painter, self.width() - 1, 0, self.height(), theme().color("border"))


class _Offer(QWidget):
    """Icon, what it is, why, and its button."""

    def __init__(self, glyph: str, token: str, title: Text, detail: Text, button: Button) -> None:
        super().__init__()
        px = theme().px
        row = QHBoxLayout(self)
        row.setContentsMargins(px(4), px(4), px(4), px(4))
        row.setSpacing(px(12))
        row.addWidget(Glyph(glyph, token, 18))
        words = QVBoxLayout()
        words.setSpacing(px(2))
        self.title = Label(title, role="strong", wrap=True)
        words.addWidget(self.title)
        words.addWidget(Label(detail, role="small", tone="muted", wrap=True))
        row.addLayout(words, 1)
        row.addWidget(button)


class WelcomePage(Live, QWidget):
    """Shown when no workspace is open. ``openFolder(path)`` also for a dropped folder,
    ``openDemo()``, ``openRecent(id)``; language and look as chosen at the lower left."""

    openFolder = Signal(str)
    openDemo = Signal()
    openRecent = Signal(str)
    languageChosen = Signal(str)
    schemeChosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAcceptDrops(True)
        self._dropping = ""
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.side = _Side()
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
        """Workspaces to go on with, newest first; at most six are shown."""
        _empty(self._recent.body)
        for entry in recent[:6]:
            item = _RecentRow(entry)
            item.chosen.connect(self.openRecent)
            self._recent.body.addWidget(item)
        for widget in (self._recent_title, self._recent):
            widget.setVisible(bool(recent))

    def set_checks(self, checks: Sequence[Check]) -> None:
        """Lines about this computer; nothing is shown without any."""
        _empty(self._checks.body)
        for place, check in enumerate(checks):
            if place:
                self._checks.body.addWidget(Line())
            self._checks.body.addWidget(_check_row(check))
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
        outer.setContentsMargins(px(24), px(56), px(24), px(24))
        outer.addStretch(1)
        holder = QWidget()
        holder.setMaximumWidth(px(_COLUMN))
        holder.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        outer.addWidget(holder, 100)
        outer.addStretch(1)
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(8))
        column.addWidget(Label(lambda: tr("First workspace"), role="figure"))
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
        self._recent.body.setContentsMargins(px(4), px(4), px(4), px(4))
        self._recent.body.setSpacing(0)
        column.addWidget(self._recent)
        self._checks_title = self._title(column, lambda: tr("This computer"))
        self._checks = Card()
        self._checks.body.setSpacing(px(8))
        column.addWidget(self._checks)
        column.addStretch(1)

    def _title(self, column: QVBoxLayout, text: Text) -> Label:
        label = Label(text, role="small-semibold", tone="muted")
        label.setContentsMargins(0, theme().px(14), 0, 0)
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
        sign = self.findChild(_DropSign)
        if self._dropping:
            sign = sign or _DropSign(self)
            sign.name = self._dropping
            sign.setGeometry(self.rect())
            sign.show()
            sign.raise_()
            sign.update()
        elif sign is not None:
            sign.hide()


class _DropSign(QWidget):
    """Over the page while a folder is dragged over it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.name = ""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = theme().color
        painter.fillRect(self.rect(), color("accent-soft", 0.94))
        inner = QRectF(self.rect()).adjusted(12, 12, -12, -12)
        box(painter, inner, theme().radius("dialog"), None, color("accent-text"), 2)
        centre = Qt.AlignmentFlag.AlignHCenter
        words = tr("Drop to open “{name}”", name=self.name)
        draw_text(painter, inner, words, "figure", "text", centre)


def _folder(event: QDropEvent) -> str:
    """The one folder that is dragged, empty for anything else."""
    paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
    return paths[0] if len(paths) == 1 and Path(paths[0]).is_dir() else ""


def _check_row(check: Check) -> QWidget:
    px = theme().px
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(px(4), 0, px(4), 0)
    row.setSpacing(px(12))
    row.addWidget(Glyph(TONE_ICONS[check.tone], check.tone, 18))
    words = QVBoxLayout()
    words.setSpacing(px(1))
    words.addWidget(Label(check.title, role="strong"))
    words.addWidget(Label(check.detail, role="small", tone="muted", wrap=True, select=True))
    row.addLayout(words, 1)
    holder.setAccessibleName(f"{say(check.title)}: {say(check.detail)}")
    return holder


def _empty(layout: QVBoxLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
