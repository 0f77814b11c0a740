"""One registry of everything a person can do: menus, shortcuts, tooltips and the palette are
views of it.

A command is registered once, with words, key and icon; conflicts are found there and then.
``when`` says whether it makes sense now; it is asked when a menu or the palette opens, at
``refresh`` and once more before it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from desktop_app.ui import i18n
from desktop_app.ui.theme import icon, theme
from desktop_app.ui.widgets.base import Text, say
from desktop_app.ui.widgets.keyhint import spoken
from desktop_app.ui.widgets.menu import Menu

_RECENT = 8
SEPARATOR = "-"


class CommandError(Exception):
    """A command that cannot be registered: its id or its key is taken."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something a person can do. ``key`` is a QKeySequence string ("Ctrl+K": Cmd on macOS);
    ``checked`` makes it a switch; ``words`` are further words by which the palette finds it;
    ``hidden`` ones are not in the palette."""

    id: str
    title: Text
    run: Callable[[], object]
    key: str | None = None
    icon: str | None = None
    group: Text = ""
    when: Callable[[], bool] | None = None
    checked: Callable[[], bool] | None = None
    words: Text = ""
    hidden: bool = False

    def enabled(self) -> bool:
        return self.when is None or self.when()


class Commands(QObject):
    """The registry of one window. ``keys`` are the person's own shortcuts by command id; one that
    clashes is left out and listed in ``clashes``."""

    ran = Signal(str)

    def __init__(self, window: QWidget, keys: Mapping[str, str] | None = None) -> None:
        super().__init__(window)
        self._window = window
        self._own = dict(keys or {})
        self._commands: dict[str, Command] = {}
        self._actions: dict[str, QAction] = {}
        self._keys: dict[str, str] = {}
        self.recent: list[str] = []
        self.clashes: list[tuple[str, str, str]] = []
        theme().changed.connect(self._restyle)
        i18n.notifier.changed.connect(self._retranslate)

    # -- registering ------------------------------------------------------------------------

    def add(self, *commands: Command) -> None:
        """Register. Raises CommandError when an id or a built-in key is taken."""
        for command in commands:
            self._add(command)

    def _add(self, command: Command) -> None:
        if command.id in self._commands:
            raise CommandError(f"{command.id} is registered twice")
        key = self._key_for(command)
        action = QAction(self)
        action.setObjectName(command.id)
        action.setCheckable(command.checked is not None)
        if key:
            action.setShortcut(QKeySequence(key))
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
            self._keys[key] = command.id
        action.triggered.connect(lambda _=False, name=command.id: self.run(name))
        self._commands[command.id] = command
        self._actions[command.id] = action
        self._words(command, action)
        if command.icon:
            action.setIcon(icon(command.icon))
        self._window.addAction(action)
        self._state(command, action)

    def _key_for(self, command: Command) -> str:
        own = self._own.get(command.id)
        for wanted, mine in ((own, True), (command.key, False)):
            if wanted is None:
                continue
            key = _normal(wanted)
            owner = self._keys.get(key) if key else None
            if owner is None:
                return key
            if not mine and own is None:
                raise CommandError(f"{key} belongs to {owner}, wanted by {command.id}")
            self.clashes.append((key, owner, command.id))
        return ""

    def remove(self, command_id: str) -> None:
        """Take a command away (a page that closes)."""
        action = self._actions.pop(command_id)
        self._commands.pop(command_id)
        self._keys = {key: name for key, name in self._keys.items() if name != command_id}
        self._window.removeAction(action)
        action.deleteLater()

    # -- asking -----------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    def __getitem__(self, command_id: str) -> Command:
        return self._commands[command_id]

    def __contains__(self, command_id: object) -> bool:
        return command_id in self._commands

    def action(self, command_id: str) -> QAction:
        """The QAction of a command, for tool bars and context menus."""
        return self._actions[command_id]

    def key(self, command_id: str) -> str:
        """The shortcut in force, empty when there is none."""
        return self._actions[command_id].shortcut().toString()

    # -- doing ------------------------------------------------------------------------------

    def run(self, command_id: str) -> bool:
        """Do it, if it makes sense now; whether it was done."""
        command = self._commands[command_id]
        if not command.enabled():
            self._state(command, self._actions[command_id])
            return False
        if not command.hidden:
            self.recent = [command_id, *(n for n in self.recent if n != command_id)][:_RECENT]
        command.run()
        self.refresh()
        self.ran.emit(command_id)
        return True

    def refresh(self) -> None:
        """Ask every ``when`` and ``checked`` anew: something in the window changed."""
        for name, command in self._commands.items():
            self._state(command, self._actions[name])

    def _state(self, command: Command, action: QAction) -> None:
        action.setEnabled(command.enabled())
        if command.checked is not None:
            action.setChecked(command.checked())

    # -- menus ------------------------------------------------------------------------------

    def fill(self, menu: QMenu, ids: Sequence[str]) -> QMenu:
        """Put commands into ``menu`` in this order, ``SEPARATOR`` between groups; their state is
        asked whenever it opens."""
        for name in ids:
            if name == SEPARATOR:
                menu.addSeparator()
            else:
                menu.addAction(self._actions[name])
        menu.aboutToShow.connect(self.refresh)
        return menu

    def menu_bar(self, bar: QMenuBar, menus: Sequence[tuple[Text, Sequence[str]]]) -> None:
        """Fill a menu bar: ``[(title, [id, SEPARATOR, id …]), …]``."""
        for title, ids in menus:
            menu = Menu(title, bar)
            bar.addMenu(menu)
            self.fill(menu, ids)

    # -- following --------------------------------------------------------------------------

    def _words(self, command: Command, action: QAction) -> None:
        title = say(command.title)
        action.setText(title)
        key = action.shortcut().toString()
        plain = title.rstrip("…")
        action.setToolTip(f"{plain}  {spoken(key)}" if key else plain)

    def _retranslate(self) -> None:
        for name, command in self._commands.items():
            self._words(command, self._actions[name])

    def _restyle(self) -> None:
        for name, command in self._commands.items():
            if command.icon:
                self._actions[name].setIcon(icon(command.icon))


def _normal(key: str) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText)
