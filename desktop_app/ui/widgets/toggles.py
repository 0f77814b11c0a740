"""On and off, and one of a few: switch, check box, segmented control, tabs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Property, QPointF, QPropertyAnimation, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QCheckBox,
    QHBoxLayout,
    QRadioButton,
    QSizePolicy,
    QWidget,
)

from desktop_app.ui.theme import theme

from .base import Live, Text, follow, say
from .focus import Ringed
from .painting import box, draw_icon, draw_text, hline, text_width, vline

_Button = QAbstractButton if TYPE_CHECKING else object


class _Marked(Live, Ringed, _Button):
    """Mixin: a button that draws itself as a mark, then words. The ring is around both."""

    mark = (15, 15)
    ring_radius = "button"

    def __init__(self, text: Text = "", parent: QWidget | None = None, *, name: Text = "") -> None:
        super().__init__(parent)
        self._source = text
        self._name = name
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def retranslate(self) -> None:
        self.setText(say(self._source))
        if self._name:
            self.setAccessibleName(say(self._name))

    def sizeHint(self) -> QSize:
        width = theme().px(self.mark[0])
        if self.text():
            width += theme().px(8) + text_width(self.text())
        return QSize(width, max(theme().px(self.mark[1]), theme().line("body")))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos) -> bool:
        return self.rect().contains(pos)

    def _mark_rect(self) -> QRectF:
        width, height = theme().px(self.mark[0]), theme().px(self.mark[1])
        return QRectF(0, (self.height() - height) // 2, width, height)

    def _draw_words(self, painter: QPainter) -> None:
        if self.text():
            x = theme().px(self.mark[0]) + theme().px(8)
            rect = QRectF(x, 0, self.width() - x, self.height())
            token = "text" if self.isEnabled() else "disabled"
            draw_text(painter, rect, self.text(), "body", token)


class Check(_Marked, QCheckBox):
    """A check box."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self._mark_rect()
        color = theme().color
        on = self.isChecked()
        if not self.isEnabled():
            box(painter, rect, theme().radius("badge"), None, color("border-strong"))
        elif on:
            box(painter, rect, theme().radius("badge"), color("accent"))
        else:
            box(painter, rect, theme().radius("badge"), color("raised"), color("outline"))
        if on:
            draw_icon(painter, rect, "check", "accent-fg" if self.isEnabled() else "disabled", 11)
        self._draw_words(painter)


class Radio(_Marked, QRadioButton):
    """One of several; those with the same parent exclude each other, arrow keys move."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self._mark_rect()
        color = theme().color
        round_ = rect.height() / 2
        if not self.isEnabled():
            box(painter, rect, round_, None, color("border-strong"))
        elif self.isChecked():
            box(painter, rect, round_, color("accent"))
        else:
            box(painter, rect, round_, color("raised"), color("outline"))
        if self.isChecked():
            dot = theme().px(5) / 2
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color("accent-fg" if self.isEnabled() else "disabled"))
            painter.drawEllipse(rect.center(), dot, dot)
        self._draw_words(painter)


class Switch(_Marked, QCheckBox):
    """On or off, at once. The knob moves in 100 ms."""

    mark = (26, 16)

    def __init__(self, text: Text = "", parent: QWidget | None = None, *, name: Text = "") -> None:
        self._at = 0.0
        super().__init__(text, parent, name=name)
        self._motion = QPropertyAnimation(self, b"at", self)
        self.toggled.connect(self._move)

    def _get_at(self) -> float:
        return self._at

    def _set_at(self, at: float) -> None:
        self._at = at
        self.update()

    at = Property(float, _get_at, _set_at)

    def _move(self, on: bool) -> None:
        self._motion.stop()
        ms = theme().ms("switch") if self.isVisible() else 0
        if ms == 0:
            self._set_at(float(on))
            return
        self._motion.setDuration(ms)
        self._motion.setStartValue(self._at)
        self._motion.setEndValue(float(on))
        self._motion.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self._mark_rect()
        color = theme().color
        track = "accent" if self.isChecked() else "outline"
        if not self.isEnabled():
            track = "border-strong"
        box(painter, rect, rect.height() / 2, color(track))
        knob = theme().px(12)
        gap = (rect.height() - knob) / 2
        x = rect.x() + gap + self._at * (rect.width() - knob - 2 * gap)
        painter.setBrush(color("accent-fg"))
        painter.setPen(Qt.PenStyle.NoPen)
        centre = QPointF(x + knob / 2, rect.center().y())
        painter.drawEllipse(centre, knob / 2, knob / 2)
        self._draw_words(painter)


class _Part(Live, Ringed, QAbstractButton):
    """One of a row of which one is on; arrow keys move (Qt does it for exclusive groups)."""

    ring_inside = True

    def __init__(self, value: str, text: Text, parent: QWidget) -> None:
        super().__init__(parent)
        self.value = value
        self.source = text
        self.glyph: str | None = None
        self.count: Text = ""
        self.setCheckable(True)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.retranslate()

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def retranslate(self) -> None:
        self.setText(say(self.source))
        self.setAccessibleName(" ".join(filter(None, (self.text(), say(self.count)))))
        self.updateGeometry()


class _Segment(_Part):
    ring_radius = "button"

    def sizeHint(self) -> QSize:
        row = self.parentWidget()
        big = row is not None and row.property("big")
        width = theme().px(20)
        if self.glyph:
            width += theme().px(14)
        if self.text():
            width += text_width(self.text(), "small-strong") + (theme().px(6) if self.glyph else 0)
        return QSize(width, theme().size("button" if big else "segmented"))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        on = self.isChecked()
        ink = "text" if on or self.underMouse() else "muted"
        if not self.isEnabled():
            ink = "disabled"
        x = theme().px(10)
        if self.glyph:
            side = theme().px(14)
            rect = QRectF(x, 0, side, self.height())
            draw_icon(painter, rect, self.glyph, ink, 14)
            x += side + theme().px(6)
        rect = QRectF(x, 0, self.width() - x, self.height())
        draw_text(painter, rect, self.text(), "small-strong" if on else "small", ink)


class _Row(Live, QWidget):
    """Base of segmented control and tabs."""

    changed = Signal(str)
    part: type[_Part] = _Part

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._group.buttonToggled.connect(self._toggled)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)

    def parts(self) -> list[_Part]:
        return [b for b in self._group.buttons() if isinstance(b, _Part)]

    def _add(self, value: str, text: Text) -> _Part:
        part = self.part(value, text, self)
        self._group.addButton(part)
        self._row.addWidget(part)
        return part

    def _clear(self) -> None:
        for part in self.parts():
            self._group.removeButton(part)
            self._row.removeWidget(part)
            part.hide()
            part.deleteLater()

    def _stops(self) -> None:
        """Tab comes to the one that is on; from there the arrow keys go on."""
        on = self._group.checkedButton()
        for part in self.parts():
            stop = part is on or on is None
            part.setFocusPolicy(Qt.FocusPolicy.TabFocus if stop else Qt.FocusPolicy.NoFocus)

    def _toggled(self, button: QAbstractButton, on: bool) -> None:
        self.update()
        self._stops()
        if on and isinstance(button, _Part):
            self.changed.emit(button.value)

    def value(self) -> str:
        button = self._group.checkedButton()
        return button.value if isinstance(button, _Part) else ""

    def set_value(self, value: str) -> None:
        """Choose without telling."""
        for part in self.parts():
            if part.value == value and not part.isChecked():
                blocked = self._group.blockSignals(True)
                part.setChecked(True)
                self._group.blockSignals(blocked)
                self.update()
        self._stops()


class SegmentedControl(_Row):
    """One of a few, all visible. ``set_choices([(value, words[, glyph]), …])``; ``changed`` tells
    the value a person chose."""

    part = _Segment

    def __init__(self, name: Text = "", parent: QWidget | None = None, *, big: bool = False):
        super().__init__(parent)
        self._name = name
        self.setProperty("big", big)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def retranslate(self) -> None:
        self.setAccessibleName(say(self._name))

    def set_choices(
        self, choices: Sequence[tuple[str, Text] | tuple[str, Text, str]], value: str = ""
    ):
        self._clear()
        for choice in choices:
            part = self._add(choice[0], choice[1])
            if len(choice) == 3:
                part.glyph = choice[2]
        self.set_value(value or (choices[0][0] if choices else ""))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = theme().color
        radius = theme().radius("button")
        box(painter, QRectF(self.rect()), radius, color("sunken"), color("border-strong"))
        inside = QPainterPath()
        inside.addRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), radius - 1, radius - 1)
        painter.setClipPath(inside)
        for place, part in enumerate(self.parts()):
            if part.isChecked():
                painter.fillRect(part.geometry(), color("raised"))
            if place:
                vline(painter, part.x(), 1, self.height() - 1, color("border-strong"))


class _Tab(_Part):
    ring_radius = "button"

    def sizeHint(self) -> QSize:
        width = text_width(self.text(), "strong") + theme().px(12)
        if count := say(self.count):
            width += theme().px(5) + text_width(count, "body")
        return QSize(width, theme().size("tabs"))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        on = self.isChecked()
        pad = theme().px(6)
        rect = QRectF(pad, 0, self.width() - pad, self.height())
        ink = "text" if on or self.underMouse() else "muted"
        if not self.isEnabled():
            ink = "disabled"
        role = "strong" if on else "body"
        used = draw_text(painter, rect, self.text(), role, ink)
        if count := say(self.count):
            rect.setLeft(rect.left() + used + theme().px(5))
            draw_text(painter, rect, count, "body", "faint")
        if on:
            y = self.height() - 2
            line = QRectF(theme().px(4), y, self.width() - theme().px(8), 2)
            painter.fillRect(line, theme().color("accent-text"))


class TabBar(_Row):
    """Tabs over an area: ``set_tabs([(value, words), …])``, ``set_count``; ``changed`` tells."""

    part = _Tab

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        follow(self._row, setContentsMargins=(8, 0, 8, 0), setSpacing=4)

    def set_tabs(self, tabs: Sequence[tuple[str, Text]], value: str = "") -> None:
        self._clear()
        while self._row.count():
            self._row.takeAt(0)
        for name, text in tabs:
            self._add(name, text)
        self._row.addStretch(1)
        self.set_value(value or (tabs[0][0] if tabs else ""))

    def set_count(self, value: str, count: Text) -> None:
        for part in self.parts():
            if part.value == value:
                part.count = count
                part.retranslate()
                part.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        hline(painter, 0, self.width(), self.height() - 1, theme().color("border"))
