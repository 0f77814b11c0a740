"""The list of files that "@" opens, and where its entries come from."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable

from PySide6.QtCore import QPoint, QRectF, QStringListModel, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QListView, QVBoxLayout, QWidget

from desktop_app.core.errors import SlipwayError
from desktop_app.core.workspaces.backend import Backend
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live
from desktop_app.ui.widgets.painting import box
from desktop_app.ui.widgets.rows import RowDelegate

Suggest = Callable[[str], Awaitable[list[str]]]
MAX_FILES = 20_000
SHOWN = 50
_SKIP = {".git", ".slipway", "node_modules", "__pycache__", ".venv", ".hg", ".svn"}
_FRESH_S = 20.0


def rank(query: str, paths: Iterable[str], limit: int = SHOWN) -> list[str]:
    """The paths that hold the letters of ``query`` in order, best first: names before folders,
    unbroken before scattered, short before long. Case does not matter."""
    query = query.casefold()
    if not query:
        return sorted(paths, key=lambda p: (p.count("/"), p.casefold()))[:limit]
    scored: list[tuple[int, int, str]] = []
    for path in paths:
        folded = path.casefold()
        name = folded.rsplit("/", 1)[-1]
        if name.startswith(query):
            score = 0
        elif query in name:
            score = 1
        elif query in folded:
            score = 2
        else:
            letters = iter(folded)
            if not all(letter in letters for letter in query):
                continue
            score = 3
        scored.append((score, len(path), path))
    return [path for _, _, path in sorted(scored)[:limit]]


class FileNames:
    """The names of a workspace's files, read through its backend when first asked for and again
    when they are old. Bounded: what is deeper or more than ``MAX_FILES`` is not offered."""

    def __init__(self, backend: Backend, clock: Callable[[], float] = time.monotonic) -> None:
        self._backend = backend
        self._clock = clock
        self._paths: list[str] = []
        self._read_at: float | None = None
        self._lock = asyncio.Lock()

    async def suggest(self, query: str) -> list[str]:
        """The best names for ``query``."""
        async with self._lock:
            if self._read_at is None or self._clock() - self._read_at > _FRESH_S:
                self._paths = await self._read()
                self._read_at = self._clock()
        return await asyncio.to_thread(rank, query, self._paths)

    async def _read(self) -> list[str]:
        root = self._backend.cwd.rstrip("/")
        found: list[str] = []
        level = [root]
        while level and len(found) < MAX_FILES:
            deeper: list[str] = []
            for folder in level:
                try:
                    async for batch in self._backend.scandir(folder):
                        for info in batch:
                            if info.kind == "dir":
                                if info.name not in _SKIP:
                                    deeper.append(f"{folder}/{info.name}")
                                    found.append(f"{folder}/{info.name}/"[len(root) + 1 :])
                            else:
                                found.append(f"{folder}/{info.name}"[len(root) + 1 :])
                except SlipwayError:
                    continue  # one folder that cannot be read hides nothing else
                if len(found) >= MAX_FILES:
                    break
            level = sorted(deeper)
        return found[:MAX_FILES]


class MentionList(Live, QFrame):
    """A small list above the cursor, inside the window (a window of its own could not be placed
    on Wayland). It never takes the focus: the field hands it keys."""

    chosen = Signal(str)
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._model = QStringListModel(self)
        self.view = QListView(self)
        self.view.setModel(self._model)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setUniformItemSizes(True)
        self.view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.view.clicked.connect(lambda index: self.chosen.emit(index.data()))
        column = QVBoxLayout(self)
        pad = theme().px(5)
        column.setContentsMargins(pad, pad, pad, pad)
        column.addWidget(self.view)
        self.view.setProperty("ground", "raised")
        self.view.viewport().setProperty("ground", "raised")
        self.view.setItemDelegate(RowDelegate(self.view, size="menu-row"))
        self.hide()
        self.retranslate()

    def retranslate(self) -> None:
        self.view.setAccessibleName(tr("Files of the workspace"))

    def show_paths(self, paths: list[str], field: QWidget, at: QPoint) -> None:
        """Show ``paths`` above the point ``at`` of ``field``; hides when there are none."""
        if not paths:
            self.hide()
            return
        window = field.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        self._model.setStringList(paths)
        self.view.setCurrentIndex(self._model.index(0))
        px = theme().px
        corner = field.mapTo(window, at)
        height = min(8, len(paths)) * theme().size("menu-row") + 2 * px(5) + 2
        height = min(height, max(px(60), corner.y() - px(8)))
        width = min(px(420), window.width() - px(16))
        x = max(px(8), min(corner.x() - px(8), window.width() - width - px(8)))
        self.setGeometry(x, max(0, corner.y() - height - px(4)), width, height)
        self.show()
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        color = theme().color
        rect = QRectF(self.rect())
        box(QPainter(self), rect, theme().radius("card"), color("raised"), color("border-strong"))

    def key(self, key: int) -> None:
        """A key from the field: Up, Down, Enter or Tab choose, Esc closes."""
        if key == Qt.Key.Key_Escape:
            self.hide()
            self.closed.emit()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            step = -1 if key == Qt.Key.Key_Up else 1
            row = (self.view.currentIndex().row() + step) % self._model.rowCount()
            self.view.setCurrentIndex(self._model.index(row))
        elif (index := self.view.currentIndex()).isValid():
            self.chosen.emit(index.data())

    def paths(self) -> list[str]:
        return self._model.stringList()
