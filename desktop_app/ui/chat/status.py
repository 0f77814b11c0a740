"""The chat's part of the window's status line."""

from __future__ import annotations

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from desktop_app.core.models.base import ModelInfo
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.card import Glyph, Line
from desktop_app.ui.widgets.gauge import ContextGauge
from desktop_app.ui.widgets.labels import ElidedLabel, Label

from . import figures
from .gauges import forecast_words, offer_share, usage_of
from .sources import ChatSources
from .view_model import ChatViewModel

_KIND_ICONS = {"local": "folder", "docker": "container", "e2b": "cloud"}


def kind_name(kind: str) -> str:
    """The name of a backend."""
    return {"local": tr("Local"), "docker": "Docker", "e2b": "E2B"}.get(kind, kind)


class ChatStatus(Live, QWidget):
    """Workspace, model and window, the gauge with its figures, the offer mark, when it was saved.
    A click on the gauge opens the inspector (``gaugeClicked``)."""

    gaugeClicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._vm: ChatViewModel | None = None
        self._sources = ChatSources()
        self._row = QHBoxLayout(self)
        follow(self._row, setContentsMargins=(12, 0, 12, 0), setSpacing=6)
        self._kind = Glyph("folder", "muted", 14)
        self.workspace = ElidedLabel("", role="caption", tone="muted")
        self.model = self._label()
        self._word = self._label()
        self.gauge = ContextGauge(thick=6, width=148)
        self.gauge.clicked.connect(self.gaugeClicked)
        self.figures = self._label()
        self.offer = self._label()
        self.spent = self._label()
        self._saved = Glyph("check", "success", 12)
        self.saved = self._label()
        self._lines: list[Line] = []
        self._row.addWidget(self._kind)
        self._row.addWidget(self.workspace)
        self._divide()
        self._row.addWidget(self.model)
        self._divide()
        self._row.addWidget(self._word)
        self._row.addWidget(self.gauge)
        self._row.addWidget(self.figures)
        self._divide()
        self._row.addWidget(self.offer)
        self._row.addStretch(1)
        self._row.addWidget(self.spent)
        self._row.addWidget(self._saved)
        self._row.addWidget(self.saved)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        # The saved time changes with every barrier; a line of text twice a second is enough.
        self._soon = QTimer(self, singleShot=True, interval=500)
        self._soon.timeout.connect(self._show_saved)
        self.restyle()
        self.bind(None, ChatSources())

    def _label(self) -> Label:
        return Label("", role="caption", tone="muted")

    def _divide(self) -> None:
        line = Line(vertical=True)
        follow(line, setFixedHeight=12)
        self._row.addSpacing(theme().px(6))
        self._row.addWidget(line)
        self._row.addSpacing(theme().px(6))
        self._lines.append(line)

    def restyle(self) -> None:
        self.setFixedHeight(theme().size("status"))

    def bind(self, vm: ChatViewModel | None, sources: ChatSources) -> None:
        """Show another session, or none."""
        if (old := self._vm) is not None:
            old.contextChanged.disconnect(self.retranslate)
            old.modelChanged.disconnect(self.retranslate)
            old.opened.disconnect(self.retranslate)
            old.saved.disconnect(self._save_soon)
        self._vm, self._sources = vm, sources
        if vm is not None:
            vm.contextChanged.connect(self.retranslate)
            vm.modelChanged.connect(self.retranslate)
            vm.opened.connect(self.retranslate)
            vm.saved.connect(self._save_soon)
        self.retranslate()

    def _save_soon(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def retranslate(self) -> None:
        shown = self._vm is not None
        for widget in (self._kind, self.workspace, self.model, *self._lines):
            widget.setVisible(shown)
        sources = self._sources
        self._kind.set_glyph(_KIND_ICONS.get(sources.workspace_kind, "folder"))
        self.workspace.set_source(f"{kind_name(sources.workspace_kind)} · {sources.workspace_name}")
        self._show_model(sources.current_model() if shown else None)
        self._show_gauge()
        self._show_spent()
        self._show_saved()
        self._fit()

    def _fit(self) -> None:
        """Where room is short, what can be seen elsewhere goes, the gauge last."""
        if self._vm is None:
            return
        known = self._vm.breakdown is not None
        saved = bool(self._vm.saved_us)
        groups: list[tuple[bool, tuple[QWidget, ...]]] = [
            (known, (self._lines[2], self.offer)),
            (saved, (self._saved, self.saved)),
            (True, (self.model, self._lines[1])),
            (known, (self._word,)),
        ]
        for shown, widgets in groups:
            for widget in widgets:
                widget.setVisible(shown)
        for _, widgets in groups:
            if self._row.minimumSize().width() <= self.width():
                break
            for widget in widgets:
                widget.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def _show_spent(self) -> None:
        """What the session cost, as soon as a call with a known price was measured."""
        conversation = self._vm.conversation if self._vm is not None else None
        spent = conversation.spent if conversation is not None else None
        self.spent.setVisible(spent is not None)
        if spent is not None:
            self.spent.set_source(figures.dollars(spent.session))
            session, turn = figures.dollars(spent.session), figures.dollars(spent.turn)
            words = tr("This session: {session}. Newest turn: {turn}.", session=session, turn=turn)
            self.spent.setToolTip(words)
            self.spent.setAccessibleName(words)

    def _show_model(self, model: ModelInfo | None) -> None:
        words = tr("No model")
        if model is not None:
            words = f"{model.name} · {figures.window(model.window)}"
        self.model.set_source(words)

    def _show_gauge(self) -> None:
        breakdown = self._vm.breakdown if self._vm is not None else None
        for widget in (self._word, self.gauge, self.figures, self.offer):
            widget.setVisible(breakdown is not None)
        if breakdown is None:
            return
        self._word.set_source(tr("Context"))
        self.gauge.set_usage(usage_of(breakdown))
        self.figures.set_source(
            f"{figures.tokens(breakdown.total)} / {figures.window(breakdown.limits.window)} · "
            f"{figures.percent(breakdown.share)}"
        )
        over = breakdown.upper >= breakdown.limits.mark(breakdown.limits.alert)
        words = tr("Offers to compact at {share}", share=offer_share(breakdown))
        if over and self._vm is not None:
            words = forecast_words(breakdown, by_itself=self._vm.by_itself)
        self.offer.set_source(words)

    def _show_saved(self) -> None:
        saved = self._vm.saved_us if self._vm is not None else 0
        self._saved.setVisible(bool(saved))
        self.saved.setVisible(bool(saved))
        self.saved.set_source(tr("Saved {time}", time=figures.clock_seconds(saved)))
