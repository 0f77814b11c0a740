"""The button that leads to the newest row, with the number of rows that came meanwhile."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from desktop_app.ui.i18n import tr, trn

from .style import box, style


class JumpButton(QAbstractButton):
    """Floats over the lower edge of the transcript while the reader is elsewhere."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._unread = 0
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    def retranslate(self) -> None:
        n = self._unread
        self.setText(trn("{n} new", "{n} new", n) if n else tr("Jump to newest"))
        self.setAccessibleName(tr("Jump to newest"))
        self.setToolTip(tr("Jump to newest") + "  End")
        self._fit()

    def place(self, stick: bool, unread: int) -> None:
        """Show or hide; ``unread`` rows came since the reader left the end."""
        if unread != self._unread:
            self._unread = unread
            self.retranslate()
        self._fit()
        if self.isHidden() != stick:
            self.setVisible(not stick)

    def _fit(self) -> None:
        now = style()
        width = int(now.fm("small-strong").horizontalAdvance(self.text())) + now.px(
            12 + 14 + 6 + 12
        )
        height = now.px(28)
        parent = self.parentWidget()
        assert parent is not None
        x = (parent.width() - width) // 2
        y = parent.height() - height - now.px(12)
        if (x, y, width, height) != self.geometry().getRect():
            self.setGeometry(x, y, width, height)

    def paintEvent(self, event: QPaintEvent) -> None:
        now = style()
        p = QPainter(self)
        rect = QRectF(self.rect())
        fill = "pressed" if self.isDown() else "hover" if self.underMouse() else "raised"
        line = "focus" if self.hasFocus() else "border-strong"
        box(p, rect, rect.height() / 2, now.color(fill), now.color(line))
        token = "accent-text" if self._unread else "text"
        side = now.px(14)
        pixmap = now.icon("arrow-down", token, 14, self.devicePixelRatioF())
        p.drawPixmap(QPointF(now.px(12), (rect.height() - side) / 2), pixmap)
        p.setFont(now.font("small-strong"))
        p.setPen(now.color(token))
        area = rect.adjusted(now.px(12 + 14 + 6), 0, -now.px(8), 0)
        p.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text())
        p.end()
