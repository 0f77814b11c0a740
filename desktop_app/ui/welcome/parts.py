"""Pieces of the first-run page: a recent workspace, the panel at the left, the sign while a folder
is dragged."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.ui import i18n
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Choice, Glyph, Label, SegmentedControl
from desktop_app.ui.widgets.base import Live, Text, follow
from desktop_app.ui.widgets.focus import Ringed
from desktop_app.ui.widgets.mark import AppMark
from desktop_app.ui.widgets.painting import box, draw_icon, draw_text, vline

_SIDE = 320


@dataclass(frozen=True, slots=True)
class Recent:
    """A workspace to go on with: its name, folder, and when it was used ("2 h")."""

    id: str
    name: str
    folder: str
    when: str = ""
    missing: bool = False


class RecentRow(Live, Ringed, QWidget):
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

    def keyPressEvent(self, event: QKeyEvent) -> None:
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


class Side(Live, QWidget):
    """The left panel: who this is; language and look at the bottom."""

    languageChosen = Signal(str)
    schemeChosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        follow(self, setFixedWidth=_SIDE)
        px = theme().px
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(28, 56, 28, 24), setSpacing=0)
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
        follow(row, setSpacing=8)
        row.addWidget(Glyph("languages", "muted", 16))
        self.language = Choice(lambda: tr("Language"))
        names: list[tuple[str, Text]] = list(i18n.LANGUAGES.items())
        self.language.set_choices(names, i18n.language())
        self.language.chosen.connect(self.languageChosen)
        row.addWidget(self.language)
        row.addStretch(1)
        self.scheme = SegmentedControl(lambda: tr("Look"))
        self.scheme.set_choices(
            # By icons alone: beside a language's own name there is no room for words.
            [("light", "", "sun"), ("dark", "", "moon"), ("system", "", "monitor")],
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


class DropSign(QWidget):
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
