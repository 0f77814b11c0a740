"""The command palette: every command, and what sources offer beside them."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from desktop_app.ui.commands import Commands
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.theme.tokens import SIZES
from desktop_app.ui.widgets.base import Text, say
from desktop_app.ui.widgets.keyhint import caps_width, draw_caps, keys_of
from desktop_app.ui.widgets.rows import Role, RowDelegate

from .model import KEYS, Entry, Index, PaletteModel, Source, count_words
from .overlay import Overlay


class _Delegate(RowDelegate):
    """A row with key caps at the right; heads of groups are lower."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, size="palette-row")

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width(), theme().px(26)) if index.data(Role.HEADER) else size

    def _right(self, painter: QPainter, inner: QRectF, index: Index) -> float:
        keys = keys_of(index.data(KEYS) or "")
        if not keys:
            return inner.right()
        x = inner.right() - caps_width(keys)
        draw_caps(painter, x, inner.center().y(), keys)
        return x - theme().px(8)


class Palette(Overlay):
    """Commands and, by ``add_source``, sessions, files and others, ranked by how well they fit."""

    def __init__(self, window: QWidget, commands: Commands) -> None:
        self.model = PaletteModel()
        super().__init__(window, self.model, lambda: tr("run"), SIZES["palette"])
        self.model.setParent(self)
        self._commands = commands
        self._sources: list[tuple[Text, Source]] = []
        self.list.setItemDelegate(_Delegate(self.list))
        self.restyle()
        self.retranslate()

    def retranslate(self) -> None:
        words = tr("Search or run a command")
        self.field.setPlaceholderText(words)
        self.field.setAccessibleName(words)
        self.list.setAccessibleName(tr("Commands"))

    def add_source(self, title: Text, source: Source) -> None:
        """Offer what ``source`` gives under ``title``."""
        self._sources.append((title, source))

    def open(self, query: str = "") -> None:
        self._commands.refresh()
        super().open(query)

    def chosen_row(self, row: int) -> Any:
        entry = self.model.entry(row)
        return entry.run if entry is not None else None

    # -- content ----------------------------------------------------------------------------

    def refresh(self) -> None:
        """Ask all sources again and keep the choice at the best entry."""
        query = self.field.text()
        groups: list[tuple[str, list[Entry]]] = self._command_groups(query)
        for title, source in self._sources:
            groups.append((say(title), list(source(query))))
        self.model.fill(query, groups)
        self._count.set_source(count_words(self.model.found))
        self.select_row(self.next_row(-1, 1))
        self.place()

    def _entry(self, command_id: str) -> Entry:
        command = self._commands[command_id]
        return Entry(
            command_id,
            say(command.title).rstrip("…"),
            lambda: self._commands.run(command_id),
            say(command.group),
            command.icon,
            self._commands.key(command_id),
            f"{say(command.words)} {command_id}",
        )

    def _command_groups(self, query: str) -> list[tuple[str, list[Entry]]]:
        live = [c.id for c in self._commands if not c.hidden and c.enabled()]
        recent = [name for name in self._commands.recent if name in live]
        if query.strip():
            order = [*recent, *(name for name in live if name not in recent)]
            return [(tr("Commands"), [self._entry(name) for name in order])]
        rest = [self._entry(name) for name in live if name not in recent]
        recents = [self._entry(name) for name in recent[:5]]
        return [(tr("Recent"), recents), (tr("Commands"), rest)]
