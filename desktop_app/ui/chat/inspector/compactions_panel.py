"""The log of compactions: before and after, why, when, the summary, undo; also those that were
taken back or came to nothing."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QHBoxLayout, QTextBrowser, QVBoxLayout, QWidget

from desktop_app.core.context.types import CompactionRecord
from desktop_app.core.ids import now_us
from desktop_app.ui.chat import figures
from desktop_app.ui.chat.composer_parts import Flow
from desktop_app.ui.chat.foreign import ForeignBox
from desktop_app.ui.chat.gauges import trigger_words
from desktop_app.ui.chat.summary_text import summary_html
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.chat.ways import ways_after
from desktop_app.ui.errors import action_label, describe
from desktop_app.ui.i18n import tr, trc, trn
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.card import EmptyState
from desktop_app.ui.widgets.labels import Label
from desktop_app.ui.widgets.rows import Role, RowList

IdRole = Qt.ItemDataRole.UserRole + 1


def detail_words(record: CompactionRecord, model_name: Callable[[str], str]) -> str:
    """What a compaction did, in a line of parts."""
    parts = [tr("estimated") if record.measured is None else tr("measured")]
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


def entry_words(record: CompactionRecord) -> tuple[str, str, str]:
    """Icon, title and second line of an entry of the log."""
    why = trigger_words(record.trigger)
    if record.status == "failed":
        return "triangle-alert", describe(record.code, record.params).title, why
    after = record.after if record.measured is None else record.measured
    sizes = f"{figures.rough_tokens(record.before)} → {figures.rough_tokens(after)}"
    if record.status == "undone":
        return "undo-2", sizes, f"{tr('taken back')} · {why}"
    return "fold-vertical", sizes, why


class CompactionsPanel(Live, QWidget):
    """Newest first; the chosen one's summary below. ``viewRequested(id)``: look at it closely;
    ``offloadsRequested``: list what left the context, with where it is kept."""

    viewRequested = Signal(str)
    offloadsRequested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._vm: ChatViewModel | None = None
        self._records: list[CompactionRecord] = []
        self._id = ""
        self._filling = False
        self._read: tuple[str, int] | None = None  # whose summary is laid out, in which look
        self.model = QStandardItemModel(self)
        self.view = RowList(self.model, "bg")
        self.view.selectionModel().currentChanged.connect(self._choose)
        self._empty = EmptyState(
            "fold-vertical",
            lambda: tr("Nothing was compacted"),
            lambda: tr("When the context is nearly full, older messages become a summary. "
                       "They stay readable, and the newest compaction can be undone."),
        )  # fmt: skip
        self._box = self._make_box()
        self._lay_out()
        self.bind(None)

    def _make_box(self) -> QWidget:
        """The chosen one: figures, summary, what can be done about it."""
        px, made = theme().px, QWidget()
        self.detail = Label("", role="caption", tone="muted", wrap=True)
        self.summary = QTextBrowser()
        self.summary.setOpenLinks(False)
        self.summary.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.summary.setProperty("bare", True)
        self.summary.document().setDocumentMargin(px(8))
        below = QVBoxLayout(made)
        follow(below, setContentsMargins=(14, 8, 14, 14), setSpacing=8)
        frame = ForeignBox(self.summary)
        policy = frame.sizePolicy()
        policy.setVerticalPolicy(policy.Policy.Expanding)
        frame.setSizePolicy(policy)
        self.undo = Button(lambda: tr("Undo this compaction"), small=True, glyph="undo-2")
        self.undo.clicked.connect(lambda: self._vm is not None and self._vm.undo_compaction())
        self.look = Button(lambda: trc("compaction", "View"), small=True, glyph="eye")
        self.look.clicked.connect(self._view)
        self.ways = self._make_ways()
        row = Flow(gap=px(8))
        for button in (self.look, self.undo, *self.ways.values()):
            row.addWidget(button)
        below.addWidget(self.detail)
        below.addWidget(frame, 1)
        below.addLayout(row)
        below.addStretch()
        self._frame = frame
        return made

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(0, 8, 0, 0), setSpacing=0)
        column.addWidget(self.view)
        column.addWidget(self._box, 1)
        column.addWidget(self._empty, 1)
        self.offloads = Button(lambda: tr("Offloads of this session…"), small=True, glyph="archive")
        self.offloads.clicked.connect(self.offloadsRequested)
        foot = QHBoxLayout()
        follow(foot, setContentsMargins=(14, 0, 14, 14))
        foot.addWidget(self.offloads)
        foot.addStretch(1)
        column.addLayout(foot)

    def _make_ways(self) -> dict[str, Button]:
        """What can be done about one that failed."""
        made = {
            "compact": Button(lambda: tr("Try again"), small=True, glyph="refresh-cw"),
            "compact_plain": Button(lambda: tr("Without the model"), small=True),
            "choose_model": Button(lambda: action_label("choose_model"), small=True),
        }
        for name, button in made.items():
            button.clicked.connect(lambda _=False, name=name: self._go(name))
        return made

    def _go(self, way: str) -> None:
        vm = self._vm
        if vm is None:
            return
        if way == "choose_model":
            vm.wayWanted.emit(way)
        else:
            vm.compact(notes=way == "compact")

    def bind(self, vm: ChatViewModel | None) -> None:
        """Follow another session, or none."""
        if self._vm is not None:
            self._vm.compactionsChanged.disconnect(self.retranslate)
            self._vm.activityChanged.disconnect(self._show_buttons)
        self._vm = vm
        self._id = ""
        if vm is not None:
            vm.compactionsChanged.connect(self.retranslate)
            vm.activityChanged.connect(self._show_buttons)
        self.retranslate()

    def retranslate(self) -> None:
        self._records = list(reversed(self._vm.compaction_log)) if self._vm is not None else []
        for widget in (self.view, self._box):
            widget.setVisible(bool(self._records))
        self._empty.setVisible(not self._records)
        self.view.setAccessibleName(tr("Compactions"))
        self.summary.setAccessibleName(tr("Summary"))
        keep, at = self._id, self.view.currentIndex().row()
        self._filling = True  # rows that go make others the current one
        self.model.clear()
        for record in self._records:
            icon, title, detail = entry_words(record)
            item = QStandardItem(title)
            item.setData(icon, Role.ICON)
            item.setData(record.status == "committed", Role.STRONG)
            item.setData(detail, Role.DETAIL)
            item.setData(figures.when(record.ts_us, now_us()), Role.TIME)
            item.setData(record.id, IdRole)
            self.model.appendRow(item)
        self._filling = False
        rows = min(5, len(self._records))
        self.view.setFixedHeight(rows * theme().size("two-line-row") + theme().px(2))
        if self._records:
            # Who looks at the newest sees what comes; who looks at an older one keeps it.
            self.choose(keep if at > 0 else "")

    def choose(self, compaction_id: str) -> None:
        """Show one of the log; the newest when there is none of that id."""
        row = next((i for i, r in enumerate(self._records) if r.id == compaction_id), 0)
        self.view.setCurrentIndex(self.model.index(row, 0))

    def _choose(self, index: QModelIndex, _old: QModelIndex | None = None) -> None:
        if self._filling or not index.isValid() or index.row() >= len(self._records):
            return
        record = self._records[index.row()]
        self._id = record.id
        failed = record.status == "failed"
        if failed:
            words = describe(record.code, record.params)
            self.detail.set_source("\n".join(p for p in (words.reason, words.fix) if p))
        else:
            self.detail.set_source(detail_words(record, self._model_name))
        self._frame.setVisible(not failed)
        if self._read != (record.summary, theme().serial):
            self._read = (record.summary, theme().serial)
            self.summary.setHtml(summary_html(record.summary))
        self._show_buttons()

    def _view(self) -> None:
        if (record := self._chosen()) is not None:
            self.viewRequested.emit(record.id)

    def _model_name(self, model: str) -> str:
        return self._vm.voice.model_name(model) if self._vm is not None else model

    def restyle(self) -> None:
        super().restyle()
        if self._id:
            self.choose(self._id)

    def _chosen(self) -> CompactionRecord | None:
        return next((r for r in self._records if r.id == self._id), None)

    def _show_buttons(self) -> None:
        """Undo for the newest that holds, the ways on for the newest that failed."""
        vm, record = self._vm, self._chosen()
        can = vm is not None and vm.writable
        idle = vm is not None and not vm.busy
        holding = vm.compactions[-1].id if vm is not None and vm.compactions else None
        failed = record is not None and record.status == "failed"
        self.look.setVisible(record is not None and not failed)
        self.undo.setVisible(can and record is not None and record.id == holding)
        self.undo.setEnabled(idle)
        newest = failed and record is self._records[0]
        ways = ways_after(record.code) if newest and record is not None else ()
        for name, button in self.ways.items():
            button.setVisible(can and name in ways)
            button.setEnabled(idle)
