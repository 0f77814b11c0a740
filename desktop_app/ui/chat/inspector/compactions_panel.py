"""The log of compactions: before and after, why, when, the summary, undo."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QHBoxLayout, QListView, QTextBrowser, QVBoxLayout, QWidget

from desktop_app.core.context.types import CompactionRecord
from desktop_app.core.ids import now_us
from desktop_app.ui.chat import figures
from desktop_app.ui.chat.foreign import ForeignBox
from desktop_app.ui.chat.gauges import trigger_words
from desktop_app.ui.chat.summary_text import summary_html
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.i18n import tr, trc, trn
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.card import EmptyState
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.rows import Role, RowDelegate

GenRole = Qt.ItemDataRole.UserRole + 1


def detail_words(record: CompactionRecord, model_name: Callable[[str], str]) -> str:
    """What a compaction did, in a line of parts."""
    parts: list[str] = []
    n = len(record.covered_ids)
    if n:
        parts.append(trn("{n} message offloaded", "{n} messages offloaded", n))
    if record.pinned:
        parts.append(trn("{n} constraint", "{n} constraints", record.pinned))
    if record.pending:
        parts.append(trn("{n} pending item", "{n} pending items", record.pending))
    if record.seconds:
        parts.append(figures.whole_seconds(record.seconds))
    if record.summariser:
        parts.append(model_name(record.summariser))
    return " · ".join(parts)


class CompactionsPanel(Live, QWidget):
    """Newest first; the chosen one's summary below. ``viewRequested(id)``: look at it closely."""

    viewRequested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._vm: ChatViewModel | None = None
        self._records: list[CompactionRecord] = []
        self._gen = -1
        px = theme().px
        self.model = QStandardItemModel(self)
        self.view = QListView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(RowDelegate(self.view, two_line=True))
        self.view.setProperty("ground", "bg")
        self.view.viewport().setProperty("ground", "bg")
        self.view.setMouseTracking(True)
        self.view.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.selectionModel().currentChanged.connect(self._choose)
        self._empty = EmptyState(
            "fold-vertical",
            lambda: tr("Nothing was compacted"),
            lambda: tr("When the context is nearly full, older messages become a summary. "
                       "They stay readable, and the newest compaction can be undone."),
        )  # fmt: skip
        self.detail = Label("", role="caption", tone="muted", wrap=True)
        self.summary = QTextBrowser()
        self.summary.setOpenLinks(False)
        self.summary.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.summary.setProperty("bare", True)
        self.summary.document().setDocumentMargin(px(8))
        self._box = QWidget()
        below = QVBoxLayout(self._box)
        below.setContentsMargins(px(14), px(8), px(14), px(14))
        below.setSpacing(px(8))
        frame = ForeignBox(self.summary)
        policy = frame.sizePolicy()
        policy.setVerticalPolicy(policy.Policy.Expanding)
        frame.setSizePolicy(policy)
        self.undo = Button(lambda: tr("Undo this compaction"), small=True, glyph="undo-2")
        self.undo.clicked.connect(lambda: self._vm is not None and self._vm.undo_compaction())
        self.look = Button(lambda: trc("compaction", "View"), small=True, glyph="eye")
        self.look.clicked.connect(self._view)
        row = QHBoxLayout()
        row.addWidget(self.look)
        row.addWidget(self.undo)
        row.addStretch(1)
        below.addWidget(self.detail)
        below.addWidget(frame, 1)
        below.addLayout(row)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, px(8), 0, 0)
        column.setSpacing(0)
        column.addWidget(self.view)
        column.addWidget(self._box, 1)
        column.addWidget(self._empty, 1)
        self.bind(None)

    def bind(self, vm: ChatViewModel | None) -> None:
        """Follow another session, or none."""
        if self._vm is not None:
            self._vm.compactionsChanged.disconnect(self.retranslate)
            self._vm.activityChanged.disconnect(self._show_undo)
        self._vm = vm
        self._gen = -1
        if vm is not None:
            vm.compactionsChanged.connect(self.retranslate)
            vm.activityChanged.connect(self._show_undo)
        self.retranslate()

    def retranslate(self) -> None:
        self._records = list(reversed(self._vm.compactions)) if self._vm is not None else []
        for widget in (self.view, self._box):
            widget.setVisible(bool(self._records))
        self._empty.setVisible(not self._records)
        self.view.setAccessibleName(tr("Compactions"))
        self.summary.setAccessibleName(tr("Summary"))
        keep = self._gen
        self.model.clear()
        for record in self._records:
            item = QStandardItem(
                f"{figures.rough_tokens(record.before)} → {figures.rough_tokens(record.after)}"
            )
            item.setData("fold-vertical", Role.ICON)
            item.setData(True, Role.STRONG)
            item.setData(trigger_words(record.trigger), Role.DETAIL)
            item.setData(figures.when(record.ts_us, now_us()), Role.TIME)
            item.setData(record.gen, GenRole)
            self.model.appendRow(item)
        rows = min(5, len(self._records))
        self.view.setFixedHeight(rows * theme().size("two-line-row") + theme().px(2))
        if self._records:
            self.choose(keep if any(r.gen == keep for r in self._records) else -1)

    def choose(self, gen: int) -> None:
        """Show the compaction of a generation; the newest for -1."""
        row = next((i for i, r in enumerate(self._records) if r.gen == gen), 0)
        self.view.setCurrentIndex(self.model.index(row, 0))

    def _choose(self, index: QModelIndex, _old: QModelIndex | None = None) -> None:
        if not index.isValid() or index.row() >= len(self._records):
            return
        record = self._records[index.row()]
        self._gen = record.gen
        self.detail.set_source(detail_words(record, self._model_name))
        self.summary.setHtml(summary_html(record.summary))
        self._show_undo()

    def _view(self) -> None:
        record = next((r for r in self._records if r.gen == self._gen), None)
        if record is not None:
            self.viewRequested.emit(record.id)

    def _model_name(self, model: str) -> str:
        return self._vm.voice.model_name(model) if self._vm is not None else model

    def restyle(self) -> None:
        super().restyle()
        if self._gen >= 0:
            self.choose(self._gen)

    def _show_undo(self) -> None:
        newest = bool(self._records) and self._records[0].gen == self._gen
        vm = self._vm
        self.undo.setVisible(newest and vm is not None and vm.writable)
        self.undo.setEnabled(vm is not None and not vm.busy)
