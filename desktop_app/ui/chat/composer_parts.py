"""Pieces of the composer: the queued message, attachments as chips."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLayout, QLayoutItem, QSizePolicy, QWidget

from desktop_app.core.agent.base import Attachment
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.buttons import Button, IconButton
from desktop_app.ui.widgets.card import Glyph
from desktop_app.ui.widgets.labels import ElidedLabel, Label
from desktop_app.ui.widgets.painting import box, hline

from .tool_words import one_line


class QueueRow(Live, QWidget):
    """The message that is sent when the run ends: 30 high, on top of the composer."""

    sendNow = Signal()
    edit = Signal()
    remove = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(12, 0, 6, 1))
        follow(row, setSpacing=6)
        row.addWidget(Glyph("clock", "muted", 14))
        row.addWidget(Label(lambda: tr("Queued"), role="small", tone="faint"))
        self.text = ElidedLabel("", role="small")
        row.addWidget(self.text, 1)
        self.now = Button(lambda: tr("Send now"), variant="ghost", small=True)
        self.now.clicked.connect(self.sendNow)
        self.pencil = IconButton("pencil", lambda: tr("Edit the queued message"), small=True)
        self.pencil.clicked.connect(self.edit)
        self.cross = IconButton("x", lambda: tr("Remove the queued message"), small=True)
        self.cross.clicked.connect(self.remove)
        for button in (self.now, self.pencil, self.cross):
            row.addWidget(button)
        self.restyle()

    def restyle(self) -> None:
        self.setFixedHeight(theme().px(30))

    def set_message(self, text: str, attachments: int) -> None:
        more = f"  +{attachments}" if attachments else ""
        self.text.set_source(one_line(text) + more)

    def paintEvent(self, event: QPaintEvent) -> None:
        hline(QPainter(self), 1, self.width() - 1, self.height() - 1, theme().color("border"))


class Chip(Live, QWidget):
    """One attachment, with a cross."""

    removed = Signal()

    def __init__(self, attachment: Attachment, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.attachment = attachment
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(6, 0, 2, 0), setSpacing=4)
        picture = attachment.media_type.startswith("image/")
        row.addWidget(Glyph("image" if picture else "file", "muted", 12))
        label = ElidedLabel(
            attachment.path or attachment.name,
            role="small",
            tone="muted",
            mode=Qt.TextElideMode.ElideMiddle,
        )
        follow(label, setMaximumWidth=220)
        row.addWidget(label)
        self.cross = IconButton("x", lambda: tr("Remove {name}", name=attachment.name), small=True)
        follow(self.cross, setFixedWidth=18, setFixedHeight=18)
        self.cross.clicked.connect(self.removed)
        row.addWidget(self.cross)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        follow(self, setFixedHeight=22)
        self.setAccessibleName(attachment.name)

    def paintEvent(self, event: QPaintEvent) -> None:
        color = theme().color
        rect = QRectF(self.rect())
        box(QPainter(self), rect, theme().radius("small"), color("sunken"), color("border"))


class Flow(QLayout):
    """Lays widgets in rows, as many in each as fit."""

    def __init__(self, parent: QWidget | None = None, *, gap: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # type: ignore[override]
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # type: ignore[override]
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _place(self, rect: QRect, *, move: bool) -> int:
        margins = self.contentsMargins()
        area = rect.marginsRemoved(margins)
        x, y, tall = area.x(), area.y(), 0
        for item in self._items:
            if item.isEmpty():  # hidden
                continue
            size = item.sizeHint()
            width = min(size.width(), area.width())
            if x > area.x() and x + width > area.right() + 1:
                x, y, tall = area.x(), y + tall + self._gap, 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), QSize(width, size.height())))
            x += width + self._gap
            tall = max(tall, size.height())
        return y + tall - rect.y() + margins.bottom()


class Chips(Live, QWidget):
    """All attachments of the message being written; hidden when there are none."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        px = theme().px
        self._flow = Flow(self, gap=px(6))
        follow(self._flow, setContentsMargins=(14, 8, 14, 0))
        self._chips: list[Chip] = []
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.hide()

    @property
    def attachments(self) -> list[Attachment]:
        return [chip.attachment for chip in self._chips]

    def add(self, attachment: Attachment) -> None:
        """Add one; the same file of the workspace is added once."""
        if attachment.path and any(a.path == attachment.path for a in self.attachments):
            return
        chip = Chip(attachment, self)
        chip.removed.connect(lambda: self.drop(chip))
        self._chips.append(chip)
        self._flow.addWidget(chip)
        self._show()

    def drop(self, chip: Chip) -> None:
        self._chips.remove(chip)
        self._flow.removeWidget(chip)
        chip.hide()
        chip.deleteLater()
        self._show()

    def set(self, attachments: list[Attachment]) -> None:
        """Show these instead."""
        for chip in list(self._chips):
            self._chips.remove(chip)
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        for attachment in attachments:
            self.add(attachment)
        self._show()

    def _show(self) -> None:
        self.setVisible(bool(self._chips))
        self.updateGeometry()
        self.changed.emit()
