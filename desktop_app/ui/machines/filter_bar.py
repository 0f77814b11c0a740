"""Above the table: what is looked for, which rows are shown, and how they are put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import Button, Menu, SearchField, SegmentedControl
from desktop_app.ui.widgets.base import Text, follow, say

from .columns import KIND_ICONS
from .grouping import STATE_WORDS
from .orphans import FoundLine
from .view_model import MachinesViewModel


class Pick(Button):
    """A quiet button that says what is chosen, with a menu of the choices; the first of them stands
    for none. ``words(chosen)`` are its own, ``plain`` those for none when they differ."""

    chosen = Signal(str)
    _choices: Sequence[tuple[str, Text]] = ()

    def __init__(
        self,
        glyph: str,
        name: Text,
        words: Callable[[str], str],
        choices: Sequence[tuple[str, Text]],
        plain: Text = "",
    ) -> None:
        super().__init__("", variant="ghost", glyph=glyph)
        self._name, self._words, self._unset = name, words, plain
        self._value = choices[0][0]
        self._actions: dict[str, QAction] = {}
        self.setCheckable(True)  # looks pressed while something is chosen
        menu = Menu(parent=self)
        group = QActionGroup(menu)
        for value, text in choices:
            action = menu.addAction(say(text))
            action.setCheckable(True)
            group.addAction(action)
            action.triggered.connect(lambda _on=False, value=value: self._choose(value))
            self._actions[value] = action
        self._choices = choices
        self.setMenu(menu)
        self.set_value(self._value)

    def nextCheckState(self) -> None:
        """A press opens the menu and changes nothing."""

    def value(self) -> str:
        return self._value

    def set_value(self, value: str) -> None:
        """Choose; what is no choice is taken for none."""
        self._value = value if value in self._actions else self._choices[0][0]
        self._actions[self._value].setChecked(True)
        self.setChecked(self._value != self._choices[0][0])
        self.set_source(self._shown)

    def _choose(self, value: str) -> None:
        if value != self._value:
            self.set_value(value)
            self.chosen.emit(value)

    def _shown(self) -> str:
        if self._unset and self._value == self._choices[0][0]:
            return say(self._unset)
        return self._words(say(dict(self._choices)[self._value]))

    def retranslate(self) -> None:
        super().retranslate()
        if self._choices:
            for value, text in self._choices:
                self._actions[value].setText(say(text))
            chosen = say(dict(self._choices)[self._value])
            self.setAccessibleName(f"{say(self._name)}: {chosen}")
            self.setToolTip(say(self._name))


class FilterBar(QWidget):
    """``changed`` when other rows are wanted, ``leaving`` when the table shall have the keys."""

    changed = Signal()
    leaving = Signal()

    def __init__(self, vm: MachinesViewModel) -> None:
        super().__init__()
        self._vm = vm
        follow(self, setFixedHeight="filter-bar")
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(16, 0, 16, 0), setSpacing=8)
        self.search = SearchField(lambda: tr("Filter by name, id or engine"))
        follow(self.search, setMaximumWidth=240)
        self.search.searched.connect(lambda _text: self._filter())
        self.search.leaving.connect(self.leaving)
        row.addWidget(self.search, 1)
        self.kinds = SegmentedControl(lambda: tr("Kind"), big=True)
        self.kinds.changed.connect(lambda _kind: self._filter())
        row.addWidget(self.kinds)
        self._add_picks(row)
        row.addStretch(1)
        self.found = FoundLine(vm)
        row.addWidget(self.found)

    def _add_picks(self, row: QHBoxLayout) -> None:
        states: list[tuple[str, Text]] = [("", lambda: tr("Any state"))]
        states += [(key, lambda words=words: tr(words)) for key, words in STATE_WORDS.items()]
        self.states = Pick(
            "list-filter",
            lambda: tr("Filter by state"),
            lambda what: what,
            states,
            lambda: tr("State"),
        )
        self.states.chosen.connect(lambda _group: self._filter())
        self.groups = Pick(
            "layers",
            lambda: tr("Group by"),
            lambda what: tr("Group: {what}", what=what),
            [
                ("", lambda: tr("none")),
                ("kind", lambda: tr("kind")),
                ("state", lambda: tr("state")),
                ("engine", lambda: tr("runs on")),
            ],
        )
        self.groups.chosen.connect(self._vm.rows.group)
        for pick in (self.states, self.groups):
            pick.set_shrinks()
            row.addWidget(pick)

    def set_counts(self, kinds: Counter[str]) -> None:
        """How many there are of each kind."""
        words = {"local": tr("Local"), "docker": "Docker", "e2b": "E2B"}
        self.kinds.set_choices(
            [
                ("", tr("All")),
                *((kind, f"{words[kind]} {kinds[kind]}", KIND_ICONS[kind]) for kind in words),
            ],
            self.kinds.value(),
        )
        last: QWidget = self.search  # the parts are new: they would come last of all
        for part in self.kinds.parts():
            QWidget.setTabOrder(last, part)
            last = part
        QWidget.setTabOrder(last, self.states)

    def _filter(self) -> None:
        self._vm.rows.filter(
            kind=self.kinds.value(), group=self.states.value(), text=self.search.text()
        )
        self.changed.emit()

    def show_all(self) -> None:
        """Without a filter."""
        self.search.clear()
        self.kinds.set_value("")
        self.states.set_value("")
        self._filter()
