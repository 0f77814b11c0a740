"""What fills the context window: the figure, the bar, the forecast, categories, biggest items."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListView,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop_app.core.context.types import Breakdown, Item
from desktop_app.ui.chat import figures
from desktop_app.ui.chat.gauges import estimated_words, forecast_words, usage_of
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.card import Card, EmptyState, Glyph
from desktop_app.ui.widgets.charts import Sparkline
from desktop_app.ui.widgets.gauge import ContextGauge, category_name
from desktop_app.ui.widgets.labels import ElidedLabel, Label

from .context_parts import ItemDelegate, ItemRole, ItemsModel, Legend, item_name

_LIST_MS = 250  # the list and the legend follow four times a second; the bar every frame


class ContextPanel(Live, QWidget):
    """Shows a ``Breakdown``. ``showRequested(ref)``: bring that item into view in the chat."""

    showRequested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._vm: ChatViewModel | None = None
        self._breakdown: Breakdown | None = None
        self._chosen = ""
        self._later = QTimer(self, singleShot=True, interval=_LIST_MS)
        self._later.timeout.connect(self._show_lists)
        self._build()
        self.bind(None)

    def _build(self) -> None:
        px = theme().px
        self._empty = EmptyState(
            "gauge",
            lambda: tr("Nothing measured yet"),
            lambda: tr("After the first message this shows who uses the context window."),
        )
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(px(16), px(12), px(14), px(16))
        column.setSpacing(0)
        head = QHBoxLayout()
        head.setSpacing(px(6))
        self.used = Label("", role="figure")
        self.of = Label("", tone="muted")
        self.share = Label("", role="semibold")
        bottom = Qt.AlignmentFlag.AlignBottom
        head.addWidget(self.used, 0, bottom)
        head.addWidget(self.of, 0, bottom)
        head.addStretch(1)
        head.addWidget(self.share, 0, bottom)
        column.addLayout(head)
        self.estimated = Label("", role="caption", tone="muted")
        column.addWidget(self.estimated)
        column.addSpacing(px(6))
        self.gauge = ContextGauge(thick=8)
        column.addWidget(self.gauge)
        column.addSpacing(px(10))
        self._forecast = QWidget()
        line = QHBoxLayout(self._forecast)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(px(8))
        line.addWidget(Glyph("timer", "muted", 14))
        self.forecast = Label("", role="small", tone="muted", wrap=True)
        line.addWidget(self.forecast, 1)
        column.addWidget(self._forecast)
        column.addSpacing(px(6))
        self.spark = Sparkline(lambda: tr("Tokens in the context over time"), height=24)
        column.addWidget(self.spark)
        column.addSpacing(px(14))
        self.legend = Legend()
        column.addWidget(self.legend)
        column.addSpacing(px(14))
        self._biggest = Label(lambda: tr("Biggest items"), role="small-semibold", tone="muted")
        column.addWidget(self._biggest)
        column.addSpacing(px(4))
        self._build_list(column)
        column.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(holder)
        holder.setProperty("ground", "bg")
        self._scroll.viewport().setProperty("ground", "bg")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._scroll)
        outer.addWidget(self._empty)

    def _build_list(self, column: QVBoxLayout) -> None:
        px = theme().px
        self.items = ItemsModel(self)
        self.view = QListView()
        self.view.setModel(self.items)
        self.view.setItemDelegate(ItemDelegate(self.view))
        self.view.setProperty("ground", "bg")
        self.view.viewport().setProperty("ground", "bg")
        self.view.setMouseTracking(True)
        self.view.setUniformItemSizes(True)
        self.view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setSizeAdjustPolicy(QListView.SizeAdjustPolicy.AdjustToContents)
        self.view.activated.connect(self._activated)
        self.view.selectionModel().currentChanged.connect(self._choose)
        column.addWidget(self.view)
        self.card = Card()
        self.card.body.setSpacing(px(6))
        self.card_name = ElidedLabel("", role="strong", mode=Qt.TextElideMode.ElideMiddle)
        self.card_detail = Label("", role="caption", tone="muted", wrap=True)
        self.show_button = Button(lambda: tr("Show in chat"), small=True, glyph="eye")
        self.show_button.clicked.connect(lambda: self.showRequested.emit(self._chosen))
        row = QHBoxLayout()
        row.addWidget(self.show_button)
        row.addStretch(1)
        for widget in (self.card_name, self.card_detail):
            self.card.body.addWidget(widget)
        self.card.body.addLayout(row)
        column.addSpacing(px(8))
        column.addWidget(self.card)
        self.card.hide()

    # -- following --------------------------------------------------------------------------

    def bind(self, vm: ChatViewModel | None) -> None:
        """Follow another session, or none."""
        if self._vm is not None:
            self._vm.contextChanged.disconnect(self._changed)
        self._vm = vm
        self._chosen = ""
        self.card.hide()
        if vm is not None:
            vm.contextChanged.connect(self._changed)
        self._changed()
        self._show_lists()

    def _changed(self) -> None:
        self._breakdown = self._vm.breakdown if self._vm is not None else None
        self._scroll.setVisible(self._breakdown is not None)
        self._empty.setVisible(self._breakdown is None)
        if self._breakdown is None:
            return
        breakdown = self._breakdown
        self.used.set_source(figures.tokens(breakdown.total))
        self.of.set_source(tr("of {window} used", window=figures.window(breakdown.limits.window)))
        self.share.set_source(figures.percent(breakdown.share))
        self.estimated.set_source(estimated_words(breakdown))
        self.gauge.set_usage(usage_of(breakdown))
        words = forecast_words(breakdown)
        self.forecast.set_source(words)
        self._forecast.setVisible(bool(words))
        if not self._later.isActive():
            self._later.start()

    def _show_lists(self) -> None:
        self._later.stop()
        if self._breakdown is None or self._vm is None:
            return
        points = self._vm.points
        self.spark.set_values([float(n) for n in points])
        self.spark.setVisible(len(points) > 1)
        self.legend.set_breakdown(self._breakdown)
        self.items.set_breakdown(self._breakdown)
        rows = self.items.rowCount()
        for widget in (self._biggest, self.view):
            widget.setVisible(rows > 0)
        self.view.setFixedHeight(rows * theme().px(24) + 2)
        if self._chosen:
            row = self.items.row_of(self._chosen)
            if row >= 0:
                self.view.setCurrentIndex(self.items.index(row))
            else:
                self._chosen = ""
                self.card.hide()

    def retranslate(self) -> None:
        self._changed()
        self._show_lists()

    # -- choosing ---------------------------------------------------------------------------

    def _choose(self, index: QModelIndex, _old: QModelIndex | None = None) -> None:
        item: Item | None = index.data(ItemRole) if index.isValid() else None
        if item is None:
            return
        self._chosen = item.ref
        self.card_name.set_source(item_name(item))
        share = figures.percent(self.items.share(item))
        parts = [
            category_name(item.category),
            figures.tokens(item.tokens),
            tr("{share} of what is used", share=share),
            tr("measured") if item.measured else tr("estimated"),
        ]
        self.card_detail.set_source(" · ".join(parts))
        shown = self._vm is not None and self._vm.row_of(item.ref) is not None
        self.show_button.setEnabled(shown)
        self.show_button.setToolTip("" if shown else tr("This is not a part of the conversation"))
        self.card.show()

    def _activated(self, index: QModelIndex) -> None:
        self._choose(index)
        if self.show_button.isEnabled():
            self.showRequested.emit(self._chosen)
