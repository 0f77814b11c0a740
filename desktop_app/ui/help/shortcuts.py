"""The list of keys: every command that has one, and the keys of the places they belong to."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from desktop_app.ui.commands import Commands
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import Button, KeyHint, Label, SearchField
from desktop_app.ui.widgets.base import follow, say
from desktop_app.ui.widgets.dialogs import Dialog

Group = tuple[str, list[tuple[str, list[str]]]]
"""A title, and (what it does, its keys) below it."""


def fixed_groups() -> list[Group]:
    """Keys that belong to a place and not to a command."""
    return [
        (
            tr("While you write"),
            [
                (tr("Send, or queue while the agent works"), ["Return"]),
                (tr("New line"), ["Shift+Return"]),
                (tr("Name a file of the workspace"), ["@"]),
                (tr("Edit the queued message"), ["Up"]),
                (tr("Stop the agent"), ["Esc"]),
                (tr("Answer an approval by keys"), ["F6"]),
            ],
        ),
        (
            tr("When the agent waits for your approval"),
            [
                (tr("Allow once"), ["Y"]),
                (tr("Always allow this"), ["A"]),
                (tr("Edit before it runs"), ["E"]),
                (tr("Deny"), ["N"]),
            ],
        ),
        (
            tr("In the conversation"),
            [
                (tr("From row to row"), ["Up", "Down"]),
                (tr("To the buttons of a row"), ["Left", "Right"]),
                (tr("Open or close a row"), ["Return"]),
                (tr("To the newest message"), ["End"]),
                (tr("Next hit"), ["F3"]),
                (tr("Previous hit"), ["Shift+F3"]),
            ],
        ),
        (
            tr("In the list of workspaces"),
            [
                (tr("Move to trash, or forget"), ["Del"]),
            ],
        ),
    ]


def command_groups(commands: Commands) -> list[Group]:
    """Commands with a key, in their groups, in the order in which they were registered."""
    groups: dict[str, list[tuple[str, list[str]]]] = {}
    rows: dict[tuple[str, str], list[str]] = {}
    for command in commands:
        key = commands.key(command.id)
        if not key:
            continue
        group, title = say(command.group), say(command.title).rstrip("…")
        keys = rows.get((group, title))
        if keys is None:
            keys = rows[group, title] = []
            groups.setdefault(group, []).append((title, keys))
        keys.append(key)
    return list(groups.items())


class ShortcutsDialog(Dialog):
    """All keys, with a field that filters them."""

    def __init__(self, parent: QWidget | None, commands: Commands) -> None:
        super().__init__(parent, lambda: tr("Keyboard shortcuts"), width=560)
        self._groups = [*command_groups(commands), *fixed_groups()]
        self.search = SearchField(lambda: tr("Filter"))
        self.search.searched.connect(self.filter)
        self.body.addWidget(self.search)
        area = QScrollArea()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        follow(area, setFixedHeight=440)
        self._holder = QWidget()
        self._holder.setProperty("ground", "surface")
        self._column = QVBoxLayout(self._holder)
        follow(self._column, setContentsMargins=(0, 0, 12, 0), setSpacing=2)
        self._rows: list[tuple[QWidget, str, Label]] = []
        self._heads: list[Label] = []
        for title, rows in self._groups:
            self._add(title, rows)
        self.nothing = Label(lambda: tr("Nothing found"), tone="faint")
        self.nothing.hide()
        self._column.addWidget(self.nothing)
        self._column.addStretch(1)
        area.setWidget(self._holder)
        self.body.addWidget(area)
        self.add_button(
            Button(lambda: tr("Close"), variant="primary"), run=self.accept, default=True
        )
        self.search.setFocus()

    def _add(self, title: str, rows: Sequence[tuple[str, list[str]]]) -> None:
        head = Label(title, role="small-semibold", tone="muted")
        follow(head, setContentsMargins=(0, 10 if self._heads else 0, 0, 2))
        self._column.addWidget(head)
        self._heads.append(head)
        for words, keys in rows:
            holder = QWidget()
            line = QHBoxLayout(holder)
            follow(line, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
            line.addWidget(Label(words), 1)
            for key in keys:
                line.addWidget(KeyHint(key))
            follow(holder, setFixedHeight=24)
            self._column.addWidget(holder)
            spoken = " ".join(keys).replace("Return", "Enter")
            self._rows.append((holder, f"{words} {spoken}".casefold(), head))

    def filter(self, text: str) -> None:
        """Show only what has every word of ``text``, in its words or its keys."""
        words = text.casefold().split()
        shown: set[int] = set()
        for holder, searched, head in self._rows:
            fits = all(word in searched for word in words)
            holder.setVisible(fits)
            if fits:
                shown.add(id(head))
        for head in self._heads:
            head.setVisible(id(head) in shown)
        self.nothing.setVisible(not shown)
