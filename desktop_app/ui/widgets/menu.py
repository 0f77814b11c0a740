"""A menu as on the sheet: rows with icon, words, and the keys as caps at the right."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QAction, QIcon, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QWidget

from desktop_app.ui.theme import theme

from .base import Live, Text, say
from .keyhint import caps_width, draw_caps, keys_of
from .painting import box, dpr_of, draw_icon, draw_text, hline, text_width

_PAD, _GLYPH = 4, 15


class Menu(Live, QMenu):
    """Use it wherever a QMenu would do. ``danger`` actions (property ``danger`` on the action) are
    written in red. Keys, arrows and accessible names are Qt's own."""

    def __init__(self, title: Text = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._source = title
        self.setToolTipsVisible(False)
        self.retranslate()

    def retranslate(self) -> None:
        self.setTitle(say(self._source))

    def sizeHint(self) -> QSize:
        """Qt's height, our width: caps are wider than the text that Qt measures."""
        size = super().sizeHint()
        px = theme().px
        widest = 0
        for action in self.actions():
            width = px(2 * _PAD + 8 + _GLYPH + 8 + 10) + text_width(_words(action))
            if keys := _keys(action):
                width += caps_width(keys) + px(24)
            elif action.menu() is not None:
                width += px(24)
            widest = max(widest, width)
        return QSize(max(widest, px(140)), size.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = theme().color
        painter.fillRect(self.rect(), color("raised"))
        box(painter, QRectF(self.rect()), 0, None, color("border-strong"))
        for action in self.actions():
            area = self.actionGeometry(action)
            if not action.isVisible() or not area.intersects(event.rect()):
                continue
            row = QRectF(area)
            row.setLeft(theme().px(_PAD))
            row.setRight(self.width() - theme().px(_PAD))
            if action.isSeparator():
                hline(painter, row.x(), row.right(), round(row.center().y()), color("border"))
            else:
                self._draw(painter, action, row)

    def _draw(self, painter: QPainter, action: QAction, row: QRectF) -> None:
        px = theme().px
        enabled = action.isEnabled()
        if action is self.activeAction() and enabled:
            box(painter, row, theme().radius("small"), theme().color("selection"))
        side = px(_GLYPH)
        inner = row.adjusted(px(8), 0, -px(8), 0)
        glyph = QRectF(inner.x(), inner.y(), side, inner.height())
        if action.isCheckable():
            if action.isChecked():
                draw_icon(painter, glyph, "check", "accent-text" if enabled else "disabled", 14)
        elif not action.icon().isNull():
            self._draw_icon(painter, action, glyph)
        inner.setLeft(inner.x() + side + px(8))
        token = "danger" if action.property("danger") else "text"
        if keys := _keys(action):
            width = caps_width(keys)
            on = "" if enabled else "disabled"
            draw_caps(painter, inner.right() - width, inner.center().y(), keys, on)
            inner.setRight(inner.right() - width - px(8))
        elif action.menu() is not None:
            arrow = QRectF(inner.right() - px(14), inner.y(), px(14), inner.height())
            draw_icon(painter, arrow, "chevron-right", "muted", 14)
        draw_text(painter, inner, _words(action), "body", token if enabled else "disabled")

    def _draw_icon(self, painter: QPainter, action: QAction, rect: QRectF) -> None:
        side = theme().px(_GLYPH)
        mode = QIcon.Mode.Normal if action.isEnabled() else QIcon.Mode.Disabled
        image = action.icon().pixmap(QSize(side, side), dpr_of(painter), mode)
        y = round(rect.center().y() - side / 2)
        painter.drawPixmap(round(rect.x()), y, side, side, image)


def _words(action: QAction) -> str:
    return action.text().replace("&&", "\0").replace("&", "").replace("\0", "&")


def _keys(action: QAction) -> list[str]:
    if action.shortcut().isEmpty() or not action.isShortcutVisibleInContextMenu():
        return []
    return keys_of(action.shortcut())


def context_menu(parent: QWidget) -> Menu:
    """A menu for a right click, deleted when it closes; fill it, then ``popup`` it."""
    menu = Menu(parent=parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu
