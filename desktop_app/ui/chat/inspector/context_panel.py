"""What fills the context window: the figure, the bar, the forecast, the X-ray, categories."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop_app.core.context.types import Breakdown
from desktop_app.ui.chat import figures
from desktop_app.ui.chat.gauges import estimated_words, forecast_words, usage_of
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live
from desktop_app.ui.widgets.card import EmptyState, Glyph
from desktop_app.ui.widgets.charts import Sparkline
from desktop_app.ui.widgets.gauge import ContextGauge
from desktop_app.ui.widgets.labels import Label

from .context_parts import Legend
from .xray import Xray

_LIST_MS = 250  # the map and the legend follow four times a second; the bar every frame


class ContextPanel(Live, QWidget):
    """Shows a ``Breakdown``. ``showRequested(ref)``: bring that item into view in the chat;
    ``tabRequested(tab)``: show another panel."""

    showRequested = Signal(str)
    tabRequested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._vm: ChatViewModel | None = None
        self._breakdown: Breakdown | None = None
        self._later = QTimer(self, singleShot=True, interval=_LIST_MS)
        self._later.timeout.connect(self._show_lists)
        self._build()
        self.bind(None, ChatSources())

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
        self.xray = Xray()
        self.xray.acts.showRequested.connect(self.showRequested)
        self.xray.acts.tabRequested.connect(self.tabRequested)
        self.xray.acts.failed.connect(lambda c, p: self._vm and self._vm.failed.emit(c, p))
        column.addWidget(self.xray)
        column.addSpacing(px(12))
        self.legend = Legend()
        column.addWidget(self.legend)
        column.addSpacing(px(14))
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

    # -- following --------------------------------------------------------------------------

    def bind(self, vm: ChatViewModel | None, sources: ChatSources) -> None:
        """Follow another session, or none."""
        if self._vm is not None:
            self._vm.contextChanged.disconnect(self._changed)
        self._vm = vm
        self.xray.bind(vm, sources)
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
        self.xray.set_breakdown(self._breakdown)

    def retranslate(self) -> None:
        self._changed()
        self._show_lists()
