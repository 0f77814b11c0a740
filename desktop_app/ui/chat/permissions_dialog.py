"""The session's permissions: its mode in plain words, and its rules, to add, change and remove."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from desktop_app.core.state import Mode, Rule
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.badge import Badge
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.buttons import Button, IconButton
from desktop_app.ui.widgets.card import Card, Glyph
from desktop_app.ui.widgets.dialogs import Dialog
from desktop_app.ui.widgets.labels import ElidedLabel, Label
from desktop_app.ui.widgets.toggles import Radio

from . import permissions_words as words
from . import tool_words
from .composer_choices import MODES, mode_name
from .foreign import visible
from .permissions_editor import Count, RuleEditor

BEHAVIORS = ("deny", "ask", "allow")


class ModeRow(QWidget):
    """One mode: its name to choose, its meaning below."""

    def __init__(self, mode: Mode, group: QWidget) -> None:
        super().__init__(group)
        self.radio = Radio(lambda: mode_name(mode))
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=1)
        column.addWidget(self.radio)
        meaning = Label(lambda: words.mode_meaning(mode), role="small", tone="muted", wrap=True)
        follow(meaning, setContentsMargins=(23, 0, 0, 0))
        column.addWidget(meaning)
        self.radio.setAccessibleDescription(words.mode_meaning(mode))


class RuleRow(QWidget):
    """One rule: tool, pattern, where it comes from, change, remove."""

    def __init__(self, rule: Rule, *, writable: bool) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(10, 4, 4, 4), setSpacing=8)
        tool = ElidedLabel(
            lambda: tool_words.title(rule.tool_name),
            role="small",
            tone="muted",
            mode=Qt.TextElideMode.ElideMiddle,
        )
        follow(tool, setFixedWidth=112)
        shown, _ = visible(words.content_words(rule))
        role = "mono-small" if rule.rule_content else "small"
        self.content = Label(
            shown if rule.rule_content else lambda: words.content_words(rule),
            role=role,
            wrap=True,
            select=True,
        )
        self.source = Badge(lambda: words.source_words(rule.source))
        self.change = IconButton("pencil", lambda: tr("Change this rule"), small=True)
        self.remove = IconButton("trash-2", lambda: tr("Remove this rule"), small=True)
        row.addWidget(tool, 0)
        row.addWidget(self.content, 1)
        for widget in (self.source, self.change, self.remove):
            row.addWidget(widget, 0)
        for button in (self.change, self.remove):
            button.setEnabled(writable)
        self.setAccessibleName(
            f"{tool_words.title(rule.tool_name)}: {self.content.text()}, {rule.source}"
        )


class PermissionsDialog(Dialog):
    """What the session may do. It changes nothing itself: ``modeChosen(mode)``, ``added(rule)``,
    ``removed(rule)``, ``replaced(old, new)`` say what a person wants; ``set_state`` shows what is.
    ``count(rule)`` tells (would have allowed, of) over the session's past calls."""

    modeChosen = Signal(str)
    added = Signal(dict)
    removed = Signal(dict)
    replaced = Signal(dict, dict)

    def __init__(
        self,
        parent: QWidget | None,
        *,
        tools: Sequence[str] = (),
        count: Count | None = None,
        writable: bool = True,
    ) -> None:
        super().__init__(parent, lambda: tr("Permissions of this session"), width=640, gap=10)
        self._writable = writable
        self._rules: list[Rule] = []
        self._mode: Mode = "default"
        self._changing: Rule | None = None
        self.rows: list[RuleRow] = []
        self._build_modes()
        self._build_rules()
        self.editor = RuleEditor(tools, count)
        self.editor.saved.connect(self._saved)
        self.editor.cancelled.connect(self._end_edit)
        self.body.addWidget(self.editor)
        self.add = Button(lambda: tr("Add a rule"), glyph="plus")
        self.add.clicked.connect(self._begin_add)
        self.add.setEnabled(writable)
        self.aside(self.add)
        close = Button(lambda: tr("Close"), variant="primary")
        self.add_button(close, run=self.accept, default=True)
        self._end_edit()
        self.set_state("default", [])

    # -- building ---------------------------------------------------------------------------

    def _build_modes(self) -> None:
        holder = QWidget()
        column = QVBoxLayout(holder)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
        self.modes: dict[Mode, Radio] = {}
        radios: list[Radio] = []
        for mode in MODES:
            row = ModeRow(mode, holder)
            column.addWidget(row)
            self.modes[mode] = row.radio
            radios.append(row.radio)
            row.radio.setEnabled(self._writable)
            # they have no parent in common that would make them exclude each other
            row.radio.setAutoExclusive(False)
            row.radio.clicked.connect(self._chooser(mode))
        self.warning = Card(fill="sunken")
        line = QHBoxLayout()
        follow(line, setSpacing=8)
        line.addWidget(Glyph("triangle-alert", "warning", 16), 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(Label(words.bypass_warning, role="small", wrap=True), 1)
        self.warning.body.addLayout(line)
        column.addWidget(self.warning)
        self.body.addWidget(holder)

    def _build_rules(self) -> None:
        self.body.addSpacing(theme().px(4))
        self.body.addWidget(Label(lambda: tr("Rules"), role="semibold"))
        self.body.addWidget(
            Label(
                lambda: tr(
                    "A refusal comes before a question, a question before an allowance. What is "
                    "dangerous or private is asked whatever the rules say."
                ),
                role="small",
                tone="muted",
                wrap=True,
            )
        )
        self._list = QWidget()
        self._column = QVBoxLayout(self._list)
        follow(self._column, setContentsMargins=(0, 0, 0, 0), setSpacing=2)
        self.area = QScrollArea()
        self.area.setWidget(self._list)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        follow(self.area, setMinimumHeight=150)
        self.area.setAccessibleName(tr("Rules"))
        frame = Card(fill="bg")
        follow(frame.body, setContentsMargins=(2, 2, 2, 2))
        frame.body.addWidget(self.area)
        self.body.addWidget(frame, 1)

    # -- showing ----------------------------------------------------------------------------

    def set_state(self, mode: Mode, rules: Sequence[Rule]) -> None:
        """Show what the session's mode and rules are now."""
        self._mode = mode
        self._rules = list(rules)
        for name, radio in self.modes.items():
            radio.setChecked(name == mode)
        self.warning.setVisible(mode == "bypass")
        self._show_rules()

    def _show_rules(self) -> None:
        while (item := self._column.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        self.rows = []
        for behavior in BEHAVIORS:
            mine = [rule for rule in self._rules if rule.behavior == behavior]
            if mine:
                self._add_group(behavior, mine)
        if not self._rules:
            empty = Label(
                lambda: tr("There are no rules yet. “Always” under a question adds one."),
                tone="faint",
                wrap=True,
            )
            self._column.addWidget(empty)
        self._column.addStretch(1)

    def _add_group(self, behavior: str, rules: list[Rule]) -> None:
        head = Label(lambda: words.behavior_heading(behavior), role="caption-strong", tone="muted")
        follow(head, setContentsMargins=(10, 6, 0, 2))
        self._column.addWidget(head)
        for rule in rules:
            row = RuleRow(rule, writable=self._writable)
            row.change.clicked.connect(lambda _=False, r=rule: self._begin_change(r))
            row.remove.clicked.connect(lambda _=False, r=rule: self._remove(r))
            self.rows.append(row)
            self._column.addWidget(row)

    # -- what a person does -----------------------------------------------------------------

    def _chooser(self, mode: Mode) -> Callable[[], None]:
        return lambda: self._choose(mode)

    def _choose(self, mode: Mode) -> None:
        for name, radio in self.modes.items():
            radio.setChecked(name == mode)
        self.warning.setVisible(mode == "bypass")
        if mode != self._mode:
            self._mode = mode
            self.modeChosen.emit(mode)

    def _remove(self, rule: Rule) -> None:
        if self._changing is rule:
            self._end_edit()
        self.removed.emit(rule.model_dump())

    def _begin_add(self) -> None:
        self._changing = None
        self._edit(self.editor.begin)

    def _begin_change(self, rule: Rule) -> None:
        self._changing = rule
        self._edit(lambda: self.editor.begin(rule))

    def _edit(self, begin: Callable[[], Any]) -> None:
        begin()
        self.editor.show()
        self.add.setEnabled(False)
        self.editor.setFocus()

    def _saved(self, rule: dict[str, Any]) -> None:
        old = self._changing
        self._end_edit()
        if old is None:
            self.added.emit(rule)
        elif old.model_dump() != rule:
            self.replaced.emit(old.model_dump(), rule)

    def _end_edit(self) -> None:
        self._changing = None
        self.editor.hide()
        self.add.setEnabled(self._writable)
