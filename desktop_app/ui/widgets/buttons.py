"""Buttons: with text (primary, normal, ghost, danger, link), with an icon only, in the rail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QEnterEvent, QFont, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QPushButton, QSizePolicy, QToolButton, QWidget

from desktop_app.ui.theme import theme

from .base import Live, Text, say
from .focus import Ringed
from .keyhint import caps_width, draw_caps, keys_of, spoken
from .painting import box, draw_icon, text_width

_Button = QAbstractButton if TYPE_CHECKING else object
Variant = Literal["primary", "normal", "ghost", "danger", "link"]
State = Literal["off", "pressed", "hover", "rest"]

# variant -> state -> (fill, line, text)
_LOOK: dict[str, dict[str, tuple[str | None, str | None, str]]] = {
    "primary": {
        "rest": ("accent", None, "accent-fg"),
        "hover": ("accent-hover", None, "accent-fg"),
        "pressed": ("accent-pressed", None, "accent-fg"),
        "off": (None, "border", "disabled"),
    },
    "normal": {
        "rest": ("raised", "border-strong", "text"),
        "hover": ("hover", "border-strong", "text"),
        "pressed": ("pressed", "border-strong", "text"),
        "off": (None, "border", "disabled"),
    },
    "danger": {
        "rest": ("raised", "border-strong", "danger"),
        "hover": ("hover", "border-strong", "danger"),
        "pressed": ("pressed", "border-strong", "danger"),
        "off": (None, "border", "disabled"),
    },
    "ghost": {
        "rest": (None, None, "muted"),
        "hover": ("hover", None, "text"),
        "pressed": ("pressed", None, "text"),
        "off": (None, None, "disabled"),
    },
    "link": {
        "rest": (None, None, "accent-text"),
        "hover": (None, None, "accent-text"),
        "pressed": (None, None, "accent-text"),
        "off": (None, None, "disabled"),
    },
}


def state_of(button: QAbstractButton) -> State:
    """What the pointer and the program do with a button just now. The property ``shownState``
    stands in for the pointer in reference pictures."""
    if not button.isEnabled():
        return "off"
    forced = button.property("shownState")
    if forced:
        return forced
    if button.isDown():
        return "pressed"
    return "hover" if button.underMouse() else "rest"


class _Pressed(_Button):
    """Mixin, named before the Qt class: Enter presses the button that has the focus. Without it a
    dialog would press its default one, whatever the person had gone to."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and plain == Qt.KeyboardModifier.NoModifier:
            if not event.isAutoRepeat():
                self.click()
            event.accept()
        else:
            super().keyPressEvent(event)


class Button(Live, Ringed, _Pressed, QPushButton):
    """A button with text. ``keys`` draws the shortcut as caps (it does not bind it); ``glyph`` is
    a Lucide name, ``menu`` buttons get a chevron."""

    def __init__(
        self,
        text: Text = "",
        parent: QWidget | None = None,
        *,
        variant: Variant = "normal",
        glyph: str | None = None,
        small: bool = False,
        keys: str = "",
        chevron: bool = False,
    ) -> None:
        super().__init__(parent)
        self._source = text
        self.variant: Variant = variant
        self._glyph = glyph
        self._small = small
        self._keys = keys
        self._chevron = chevron
        self._shrinks = False
        self.ring_radius = "small" if small else "button"
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAutoDefault(False)
        if variant == "link":
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.retranslate()

    def retranslate(self) -> None:
        self.setText(say(self._source))
        self.setAccessibleDescription(spoken(self._keys) if self._keys else "")

    def set_source(self, text: Text) -> None:
        """New words."""
        self._source = text
        self.retranslate()
        self.updateGeometry()

    def set_keys(self, keys: str) -> None:
        """Another shortcut is drawn; none where it does not work now."""
        self._keys = keys
        self.retranslate()
        self.updateGeometry()
        self.update()

    @property
    def glyph(self) -> str | None:
        return self._glyph

    def set_glyph(self, glyph: str | None) -> None:
        self._glyph = glyph
        self.updateGeometry()
        self.update()

    def set_variant(self, variant: Variant) -> None:
        self.variant = variant
        self.update()

    @property
    def _role(self) -> str:
        return "small-strong" if self._small else "strong"

    @property
    def _pad(self) -> int:
        return 2 if self.variant == "link" else theme().px(8 if self._small else 11)

    def _parts(self) -> list[tuple[str, int]]:
        """What is drawn from left to right, and how wide."""
        parts: list[tuple[str, int]] = []
        if self._glyph:
            parts.append(("icon", theme().px(14)))
        if self.text():
            parts.append(("text", text_width(self._plain(), self._role)))
        if self._keys:
            parts.append(("keys", caps_width(keys_of(self._keys))))
        if self._chevron or self.menu() is not None:
            parts.append(("chevron", theme().px(14)))
        return parts

    def _plain(self) -> str:
        return self.text().replace("&&", "\0").replace("&", "").replace("\0", "&")

    def sizeHint(self) -> QSize:
        parts = self._parts()
        width = sum(w for _, w in parts) + theme().px(6) * max(0, len(parts) - 1)
        height = theme().size("small-button" if self._small else "button")
        return QSize(width + 2 * self._pad, height)

    def minimumSizeHint(self) -> QSize:
        size = self.sizeHint()
        if self._shrinks and self._glyph and self.text():
            size.setWidth(size.width() - text_width(self._plain(), self._role) - theme().px(6))
        return size

    def set_shrinks(self) -> None:
        """Where room is short the words are elided, down to the icon alone."""
        self._shrinks = True
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def _fitted(self) -> list[tuple[str, int]]:
        """The parts, with the words in the room there is."""
        parts = self._parts()
        gap = theme().px(6)
        total = sum(w for _, w in parts) + gap * max(0, len(parts) - 1)
        over = total - (self.width() - 2 * self._pad)
        if not self._shrinks or over <= 0:
            return parts
        room = dict(parts).get("text", 0) - over
        if room < theme().px(28):
            return [part for part in parts if part[0] != "text"]
        return [(kind, room if kind == "text" else width) for kind, width in parts]

    def paintEvent(self, event: QPaintEvent) -> None:
        state = state_of(self)
        fill, line, ink = _LOOK[self.variant][state]
        if self.isChecked() and state != "off" and self.variant != "link":
            fill, line, ink = "selection", line, "text"
        painter = QPainter(self)
        color = theme().color
        box(
            painter,
            QRectF(self.rect()),
            theme().radius(self.ring_radius),
            color(fill) if fill else None,
            color(line) if line else None,
        )
        parts = self._fitted()
        total = sum(w for _, w in parts) + theme().px(6) * max(0, len(parts) - 1)
        x = (self.width() - total) / 2
        for kind, width in parts:
            rect = QRectF(x, 0, width, self.height())
            self._draw(painter, kind, rect, ink, state)
            x += width + theme().px(6)

    def _draw(self, painter: QPainter, kind: str, rect: QRectF, ink: str, state: State) -> None:
        if kind == "icon" and self._glyph:
            draw_icon(painter, rect, self._glyph, ink, 14)
        elif kind == "chevron":
            draw_icon(painter, rect, "chevron-down", ink if ink != "text" else "muted", 14)
        elif kind == "keys":
            on = "disabled" if state == "off" else "accent" if self.variant == "primary" else ""
            draw_caps(painter, rect.x(), rect.center().y(), keys_of(self._keys), on)
        else:
            font = QFont(theme().font(self._role))
            font.setUnderline(self.variant == "link" and state == "hover")
            painter.setFont(font)
            painter.setPen(theme().color(ink))
            words = self._plain()
            if rect.width() < text_width(words, self._role):
                mode = Qt.TextElideMode.ElideRight
                words = QFontMetricsF(font).elidedText(words, mode, rect.width())
            painter.drawText(rect.adjusted(0, 0, 1, 0), Qt.AlignmentFlag.AlignCenter, words)


class IconButton(Live, Ringed, _Pressed, QToolButton):
    """A button with an icon only. ``name`` is its accessible name and, with the keys, its
    tooltip. Checkable ones show ``accent-text`` on ``selection`` when on."""

    def __init__(
        self,
        glyph: str,
        name: Text,
        parent: QWidget | None = None,
        *,
        small: bool = False,
        keys: str = "",
        checkable: bool = False,
    ) -> None:
        super().__init__(parent)
        self._glyph = glyph
        self._name = name
        self._small = small
        self._keys = keys
        self.ring_radius = "small" if small else "button"
        self.setCheckable(checkable)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def retranslate(self) -> None:
        name = say(self._name)
        self.setAccessibleName(name)
        self.setToolTip(f"{name}  {spoken(self._keys)}" if self._keys else name)

    def set_name(self, name: Text) -> None:
        self._name = name
        self.retranslate()

    def set_glyph(self, glyph: str) -> None:
        self._glyph = glyph
        self.update()

    def _side(self) -> int:
        return theme().size("small-icon-button" if self._small else "icon-button")

    def sizeHint(self) -> QSize:
        return QSize(self._side(), self._side())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _look(self) -> tuple[str | None, str]:
        state = state_of(self)
        if state == "off":
            return None, "disabled"
        if self.isChecked():
            return "selection", "accent-text"
        fills = {"rest": None, "hover": "hover", "pressed": "pressed"}
        return fills[state], "muted" if state == "rest" else "text"

    def paintEvent(self, event: QPaintEvent) -> None:
        fill, ink = self._look()
        painter = QPainter(self)
        rect = QRectF(self.rect())
        if fill:
            box(painter, rect, theme().radius(self.ring_radius), theme().color(fill))
        draw_icon(painter, rect, self._glyph, ink, self._icon_size())

    def _icon_size(self) -> int:
        return 14 if self._small else 16

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.update()


class RailButton(IconButton):
    """A page of the window. ``set_attention`` puts a dot on it and says in the tooltip what
    waits."""

    def __init__(self, glyph: str, name: Text, parent: QWidget | None = None, *, keys: str = ""):
        self._attention: Text = ""
        super().__init__(glyph, name, parent, keys=keys, checkable=True)
        self.ring_radius = "card"

    def set_attention(self, what: Text) -> None:
        """``what`` waits for the person; empty when nothing does."""
        self._attention = what
        self.retranslate()
        self.update()

    def retranslate(self) -> None:
        super().retranslate()
        if what := say(self._attention):
            self.setToolTip(f"{self.toolTip()}\n{what}")
        self.setAccessibleDescription(say(self._attention))

    def _side(self) -> int:
        return theme().size("rail-button")

    def _icon_size(self) -> int:
        return 18

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._attention:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            centre = QPointF(self.width() - 8.0, 8.0)
            for token, radius in (("bg", 5.0), ("warning", 4.0)):
                painter.setBrush(theme().color(token))
                painter.drawEllipse(centre, radius, radius)
