"""A rule being written: what happens, for which tool, for which calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout

from desktop_app.core.agent.permissions_check import rule_problem
from desktop_app.core.state import Rule
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets.base import Text, follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.card import Card
from desktop_app.ui.widgets.fields import Choice, Field
from desktop_app.ui.widgets.labels import Label

from . import permissions_words as words
from . import tool_words

Count = Callable[[dict[str, Any]], tuple[int, int]]


class RuleEditor(Card):
    """``saved(rule)`` with a rule that can be; Esc and Cancel leave it."""

    saved = Signal(dict)
    cancelled = Signal()

    def __init__(self, tools: Sequence[str], count: Count | None) -> None:
        super().__init__(fill="sunken")
        self._count = count
        self._tools = list(dict.fromkeys(tools))
        self._source = "session"
        self.behavior = Choice(lambda: tr("What happens"))
        self.tool = Choice(lambda: tr("Tool"))
        self.field = Field(lambda: tr("Pattern"), placeholder=lambda: tr("every call"), role="mono")
        self.hint = Label("", role="caption", tone="faint", wrap=True)
        self.effect = Label("", role="small", tone="muted", wrap=True)
        self.save = Button(lambda: tr("Save"), variant="primary", small=True)
        self.cancel = Button(lambda: tr("Cancel"), small=True)
        self._build()
        self.behavior.chosen.connect(lambda _: self._changed())
        self.tool.chosen.connect(lambda _: self._changed())
        self.field.edit.textChanged.connect(lambda _: self._changed())
        self.field.edit.returnPressed.connect(self._save)
        self.save.clicked.connect(self._save)
        self.cancel.clicked.connect(self.cancelled)
        self.setFocusProxy(self.field)
        self.begin()

    def _build(self) -> None:
        choices = QHBoxLayout()
        follow(choices, setSpacing=8)
        choices.addWidget(self.behavior)
        choices.addWidget(self.tool)
        choices.addStretch(1)
        self.body.addLayout(choices)
        self.body.addWidget(self.field)
        self.body.addWidget(self.hint)
        foot = QHBoxLayout()
        follow(foot, setSpacing=8)
        foot.addWidget(self.effect, 1)
        foot.addWidget(self.cancel, 0, Qt.AlignmentFlag.AlignBottom)
        foot.addWidget(self.save, 0, Qt.AlignmentFlag.AlignBottom)
        self.body.addLayout(foot)

    def begin(self, rule: Rule | None = None) -> None:
        """Write ``rule`` anew, or a new one."""
        behaviors: list[tuple[str, Text]] = [
            (b, lambda b=b: words.behavior_name(b)) for b in ("allow", "ask", "deny")
        ]
        self.behavior.set_choices(behaviors, rule.behavior if rule else "allow")
        names = list(self._tools)
        if rule is not None and rule.tool_name not in names:
            names.append(rule.tool_name)
        tools: list[tuple[str, Text]] = [(n, lambda n=n: tool_words.title(n)) for n in names]
        self.tool.set_choices(tools, rule.tool_name if rule else "Bash")
        # what a person wrote anew is theirs, wherever the rule came from
        self._source = "session"
        content = (rule.rule_content or "") if rule else ""
        self.field.edit.setText("" if content == "*" else content)
        self._changed()

    def rule(self) -> Rule:
        """What is written now."""
        return Rule.model_validate(
            {
                "tool_name": self.tool.value(),
                "rule_content": self.field.text().strip() or None,
                "behavior": self.behavior.value() or "allow",
                "source": self._source,
            }
        )

    def retranslate(self) -> None:
        if hasattr(self, "save"):
            self._changed()

    def _changed(self) -> None:
        rule = self.rule()
        problem = words.problem_words(rule_problem(rule))
        self.field.set_error(problem)
        self.save.setEnabled(not problem)
        self.hint.set_source(words.hint(rule.tool_name))
        self.effect.set_source("" if problem else self._effect(rule))
        wide = rule.behavior == "allow" and not rule.rule_content
        self.effect.set_tone("warning" if wide else "muted")

    def _effect(self, rule: Rule) -> str:
        if rule.behavior == "allow" and not rule.rule_content:
            return words.everything_warning(rule.tool_name)
        if rule.behavior != "allow" or self._count is None:
            return ""
        hits, of = self._count(rule.model_dump())
        if not of:
            return ""
        return trn(
            "Would have allowed {hits} of {n} past call",
            "Would have allowed {hits} of {n} past calls",
            of,
            hits=hits,
        )

    def _save(self) -> None:
        if self.save.isEnabled():
            self.saved.emit(self.rule().model_dump())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()  # the field has saved; the dialog's own button is not meant
        else:
            super().keyPressEvent(event)
