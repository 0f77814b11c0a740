"""Files that are dropped on the files of a workspace, and the mark that shows where they go."""

from __future__ import annotations

import posixpath
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QDropEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from desktop_app.core.workspaces.backend import FileInfo
from desktop_app.ui.files.browser import FileBrowser
from desktop_app.ui.files.model import InfoRole, PathRole
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.painting import box, draw_text, text_width

_MOVES = (QEvent.Type.DragEnter, QEvent.Type.DragMove)


class DropMark(QWidget):
    """Over everything of the tab while something is dragged: a frame around the folder that would
    take it, and its name in words."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.target, self.words = QRect(), ""
        self.hide()

    def mark(self, target: QRect, words: str) -> None:
        self.target, self.words = target, words
        self.setGeometry(self._over.rect())
        self.show()
        self.raise_()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        px, color = theme().px, theme().color
        painter = QPainter(self)
        if not self.target.isEmpty():
            frame = QRectF(self.target)
            box(painter, frame, theme().radius("small"), None, color("focus"), 2)
        width = text_width(self.words, "small-strong") + px(24)
        pill = QRectF((self.width() - width) / 2, self.height() - px(40), width, px(28))
        box(painter, pill, theme().radius("button"), color("raised"), color("border-strong"))
        inner = pill.adjusted(px(12), 0, -px(12), 0)
        draw_text(painter, inner, self.words, "small-strong", "text")


class FileDrops(QObject):
    """Watches ``tab``, in which ``browser`` shows a workspace. ``dropped(paths, folder)``: files
    and folders of this computer for a folder of it (relative, empty for the top). What cannot be
    taken now is not handed on either: the window would open it as a workspace."""

    dropped = Signal(list, str)

    def __init__(self, tab: QWidget, browser: FileBrowser) -> None:
        super().__init__(tab)
        self._tab, self._browser = tab, browser
        self.why_not = ""  # why nothing can be dropped now, in words
        self.mark = DropMark(tab)
        tab.setAcceptDrops(True)
        tab.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.DragLeave:
            self.mark.hide()
        elif isinstance(event, QDropEvent) and (paths := self._paths(event)):
            folder, target = self._place(event.position().toPoint())
            action = Qt.DropAction.IgnoreAction if self.why_not else Qt.DropAction.CopyAction
            if kind in _MOVES:
                words = tr("Upload into {folder}", folder=folder or tr("the top folder"))
                self.mark.mark(QRect() if self.why_not else target, self.why_not or words)
            else:
                self.mark.hide()
                if not self.why_not:
                    self.dropped.emit(paths, folder)
            event.setDropAction(action)
            event.accept()
            return True
        return super().eventFilter(watched, event)

    @staticmethod
    def _paths(event: QDropEvent) -> list[Path]:
        return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]

    def _place(self, at: QPoint) -> tuple[str, QRect]:
        """The folder at a point, and where it is seen: a folder's row, that of the folder of a
        file, or the whole tree."""
        tree = self._browser.tree
        viewport = tree.viewport()
        whole = QRect(viewport.mapTo(self._tab, QPoint(0, 0)), viewport.size())
        index = tree.indexAt(viewport.mapFrom(self._tab, at)) if whole.contains(at) else None
        while index is not None and index.isValid():
            info: FileInfo | None = index.data(InfoRole)
            if info is not None and info.kind == "dir":
                seen = tree.visualRect(index)
                seen.setLeft(0)
                seen.moveTo(viewport.mapTo(self._tab, seen.topLeft()))
                seen.setWidth(viewport.width())
                return str(index.data(PathRole)), seen
            index = index.parent()
        return ("", whole) if whole.contains(at) else (self._chosen(), whole)

    def _chosen(self) -> str:
        """Beside the tree: the folder that is looked at."""
        info = self._browser.info
        if info is not None and info.kind == "dir":
            return self._browser.path
        return posixpath.dirname(self._browser.path)
