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
from desktop_app.ui.chat.gauges import (
    drift_detail,
    drift_words,
    estimated_words,
    forecast_basis,
    forecast_words,
    most_words,
    usage_of,
)
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.card import EmptyState, Glyph
from desktop_app.ui.widgets.charts import Sparkline
from desktop_app.ui.widgets.gauge import ContextGauge
from desktop_app.ui.widgets.labels import Label

from .context_parts import Legend
from .xray import Xray

_LIST_MS = 250  # the map and the legend follow four times a second; the bar every frame


def _noted(glyph: str) -> tuple[Label, QWidget]:
    """A line of small words after a glyph."""
    holder = QWidget()
    row = QHBoxLayout(holder)
    follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
    row.addWidget(Glyph(glyph, "muted", 14), 0, Qt.AlignmentFlag.AlignTop)
    words = Label("", role="small", tone="muted", wrap=True)
    row.addWidget(words, 1)
    return words, holder


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
            self._why_nothing,
        )
        holder = QWidget()
        column = QVBoxLayout(holder)
        follow(column, setContentsMargins=(16, 12, 14, 16), setSpacing=0)
        head = QHBoxLayout()
        follow(head, setSpacing=6)
        self.used = Label("", role="figure")
        self.of = Label("", tone="muted")
        self.share = Label("", role="semibold")
        bottom = Qt.AlignmentFlag.AlignBottom
        head.addWidget(self.used, 0, bottom)
        head.addWidget(self.of, 0, bottom)
        head.addStretch(1)
        head.addWidget(self.share, 0, bottom)
        column.addLayout(head)
        self.estimated = Label("", role="caption", tone="muted", wrap=True)
        column.addWidget(self.estimated)
        column.addSpacing(px(6))
        self.gauge = ContextGauge(thick=8)
        column.addWidget(self.gauge)
        column.addSpacing(px(10))
        self.forecast, self._forecast = _noted("timer")
        column.addWidget(self._forecast)
        column.addSpacing(px(6))
        self.spark = Sparkline(lambda: tr("Tokens in the context over time"), height=24)
        column.addWidget(self.spark)
        column.addSpacing(px(4))
        self.drift, self._drift = _noted("scale")
        column.addWidget(self._drift)
        column.addSpacing(px(12))
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

    def _why_nothing(self) -> str:
        talk = self._vm.conversation if self._vm is not None else None
        reason = talk.why_readonly if talk is not None else None
        if reason is not None and reason[0] == "session.foreign":
            return tr("Another program wrote this session: what is here has left its window.")
        return tr("After the first message this shows who uses the context window.")

    def _changed(self) -> None:
        self._empty.text.retranslate()
        self._breakdown = self._vm.breakdown if self._vm is not None else None
        self._scroll.setVisible(self._breakdown is not None)
        self._empty.setVisible(self._breakdown is None)
        if self._breakdown is None:
            return
        breakdown = self._breakdown
        self.used.set_source(figures.tokens(breakdown.total))
        self.of.set_source(tr("of {window} used", window=figures.window(breakdown.limits.window)))
        self.share.set_source(figures.percent(breakdown.share))
        words = (estimated_words(breakdown), most_words(breakdown))
        self.estimated.set_source(" · ".join(filter(None, words)))
        self.gauge.set_usage(usage_of(breakdown))
        by_itself = self._vm is not None and self._vm.by_itself
        words = forecast_words(breakdown, by_itself=by_itself)
        self.forecast.set_source(words)
        self._forecast.setVisible(bool(words))
        self._forecast.setToolTip(forecast_basis(breakdown))
        drift = drift_words(breakdown)
        self.drift.set_source(drift)
        notable = breakdown.drift is not None and breakdown.drift.notable
        self.drift.set_tone("warning" if notable else "muted")
        self._drift.setToolTip(drift_detail(breakdown))
        self._drift.setVisible(bool(drift))
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
