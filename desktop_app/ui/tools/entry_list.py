"""A list of what an agent can use, and the chosen one with its switch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.ui.widgets.base import Live, Text, follow, say
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.card import Act, EmptyState, Line
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.rows import RowList
from desktop_app.ui.widgets.toggles import Switch

Entry = TypeVar("Entry")


class EntryList(Live, QWidget, Generic[Entry]):
    """``switched(key, on)``. A subclass says what a row shows (``item``), by what an entry is known
    (``key``) and what is told of the chosen one (``describe``: ``name``, ``text``, ``notes``).
    ``wide``: the chosen one beside the list, and one always is. With ``add``, the words of a
    button, more can be brought: ``addWanted``."""

    switched = Signal(str, bool)
    addWanted = Signal()

    def __init__(
        self,
        glyph: str,
        title: Text,
        none: Text,
        why: Text,
        switch: Text,
        parent: QWidget | None = None,
        *,
        wide: bool = False,
        add: Text = "",
    ) -> None:
        super().__init__(parent)
        self._title, self._wide = title, wide
        self._entries: list[Entry] = []
        self.model = QStandardItemModel(self)
        self.view = RowList(self.model, "surface" if wide else "bg")
        self.view.selectionModel().currentChanged.connect(lambda now, _old: self._chosen(now))
        acts = [Act("add", add, glyph="plus")] if add else []
        self.empty = EmptyState(glyph, none, why, acts)
        self.empty.action.connect(lambda _: self.addWanted.emit())
        self.more = Button(add, glyph="plus", small=True) if add else None
        self.error = Label("", role="small", tone="danger", wrap=True, select=True)
        self.name = Label("", role="semibold", wrap=True, select=True)
        self.text = Label("", role="small", wrap=True, select=True)
        self.notes = Label("", role="small", tone="warning", wrap=True, select=True)
        self.switch = Switch(switch)
        self.switch.clicked.connect(self._switch)
        self.detail = self._build_detail(wide)
        way = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        row = QBoxLayout(way, self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addLayout(self._build_list(), 1)
        row.addWidget(self.detail, 1 if wide else 0)
        self.retranslate()

    def _build_list(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        follow(self.error, setContentsMargins=(16, 4, 14, 4))
        self.error.hide()
        column.addWidget(self.error)
        column.addWidget(self.view, 1)
        column.addWidget(self.empty, 1)
        if self.more is not None:
            self.more.clicked.connect(self.addWanted)
            foot = QHBoxLayout()
            follow(foot, setContentsMargins=(12, 8, 12, 12))
            foot.addWidget(self.more)
            foot.addStretch(1)
            column.addLayout(foot)
        return column

    def tell(self, error: str) -> None:
        """Say why something could not be done; nothing takes it away again."""
        self.error.set_source(error)
        self.error.setVisible(bool(error))

    def _build_detail(self, wide: bool) -> QWidget:
        detail = QWidget()
        inner = QVBoxLayout(detail)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        if not wide:
            inner.addWidget(Line())
        body = QVBoxLayout()
        follow(body, setContentsMargins=(16, 10, 14, 12), setSpacing=6)
        for widget in (self.name, self.text, self.notes, self.switch):
            body.addWidget(widget)
        if wide:
            body.addStretch(1)
        inner.addLayout(body, 1)
        return detail

    # -- what a subclass says --------------------------------------------------------------------

    def item(self, entry: Entry) -> QStandardItem:
        raise NotImplementedError

    def key(self, entry: Entry) -> str:
        raise NotImplementedError

    def describe(self, entry: Entry) -> None:
        raise NotImplementedError

    # -- what it shows ---------------------------------------------------------------------------

    def show_entries(self, entries: Sequence[Entry]) -> None:
        """These; the one that was chosen stays it."""
        self._entries = list(entries)
        self.retranslate()
        if self._wide and self._entries and self.current() is None:
            self.view.setCurrentIndex(self.model.index(0, 0))

    def retranslate(self) -> None:
        self.view.setAccessibleName(say(self._title))
        chosen = self.current()
        self.model.clear()
        self.view.setVisible(bool(self._entries))
        self.empty.setVisible(not self._entries)
        self.empty.text.retranslate()
        if self.more is not None:
            self.more.setVisible(bool(self._entries))
        for place, entry in enumerate(self._entries):
            self.model.appendRow(self.item(entry))
            if chosen is not None and self.key(entry) == self.key(chosen):
                self.view.setCurrentIndex(self.model.index(place, 0))
        self._chosen(self.view.currentIndex())

    def choose(self, key: str) -> None:
        """Choose the entry that is known by ``key``, if it is there."""
        for place, entry in enumerate(self._entries):
            if self.key(entry) == key:
                self.view.setCurrentIndex(self.model.index(place, 0))
                self.view.setFocus()

    def current(self) -> Entry | None:
        return self._at(self.view.currentIndex())

    def _at(self, index: QModelIndex) -> Entry | None:
        row = index.row()
        return self._entries[row] if 0 <= row < len(self._entries) else None

    def _chosen(self, index: QModelIndex) -> None:
        entry = self._at(index)
        self.detail.setVisible(entry is not None)
        if entry is not None:
            self.describe(entry)
            self.notes.setVisible(bool(self.notes.text()))
            self.text.setVisible(bool(self.text.text()))

    def _switch(self, on: bool) -> None:
        if (entry := self.current()) is not None:
            self.switched.emit(self.key(entry), on)
