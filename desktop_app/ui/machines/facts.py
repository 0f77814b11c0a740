"""What is known of a workspace in a row of small pairs; where room is short the least wanted go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import ElidedLabel, Label
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.labels import Tone
from desktop_app.ui.widgets.painting import text_width

_GAP, _WIDEST = 32, 320


@dataclass(frozen=True, slots=True)
class Fact:
    """``rank``: those with the highest give way first, those with 0 never."""

    name: str
    value: str
    rank: int = 0
    tone: Tone = "text"


class Facts(Live, QWidget):
    """``show_facts``; as many as there is room for, each whole. A very long value is elided."""

    def __init__(self) -> None:
        super().__init__()
        self._facts: Sequence[Fact] = ()
        self.pairs: list[tuple[Label, ElidedLabel]] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        follow(self._row, setSpacing=_GAP)
        self._row.addStretch(1)

    def show_facts(self, facts: Sequence[Fact]) -> None:
        self._facts = facts
        self._lay_out()

    def shown(self) -> list[str]:
        """The names of those that are seen."""
        return [name.text() for name, _value in self.pairs if not name.isHidden()]

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def restyle(self) -> None:
        super().restyle()
        self._row.setSpacing(theme().px(_GAP))
        self._lay_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._lay_out()

    def _fitting(self) -> list[Fact]:
        px = theme().px
        shown = list(self._facts)
        wide = {one: _width(one) + px(_GAP) for one in shown}
        ranked = sorted((one for one in shown if one.rank), key=lambda one: -one.rank)
        for one in ranked:
            if sum(wide[each] for each in shown) - px(_GAP) <= self.width():
                break
            shown.remove(one)
        return shown

    def _lay_out(self) -> None:
        shown = self._fitting()
        while len(self.pairs) < len(shown):
            holder = QVBoxLayout()
            holder.setSpacing(0)
            middle = Qt.TextElideMode.ElideMiddle  # of a path the last name tells most
            value = ElidedLabel("", role="body", mode=middle)
            pair = (Label("", role="caption", tone="muted"), value)
            holder.addWidget(pair[0])
            holder.addWidget(pair[1])
            self.pairs.append(pair)
            self._row.insertLayout(len(self.pairs) - 1, holder)  # before the stretch
        for place, (name, value) in enumerate(self.pairs):
            there = place < len(shown)
            name.setVisible(there)
            value.setVisible(there)
            if there:
                one = shown[place]
                name.set_source(one.name)
                value.set_source(one.value)
                value.set_tone(one.tone)
                value.setMaximumWidth(theme().px(_WIDEST))


def _width(one: Fact) -> int:
    longest = max(text_width(one.name, "caption"), text_width(one.value, "body"))
    return min(longest, theme().px(_WIDEST)) + 2
