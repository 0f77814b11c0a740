"""The whole program on a home of its own, driven as a person would: window, service, journals."""

from __future__ import annotations

import faulthandler
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from desktop_app.app import Program
from desktop_app.core import log as core_log
from desktop_app.core.catalog import SessionSummary, WorkspaceSummary
from desktop_app.core.models.scripted import ScriptedModel
from desktop_app.core.sessions.base import SessionKey
from desktop_app.ui.chat.items import NoticeItem, TextItem, ToolItem, UserItem
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.widgets import ConfirmDialog, Role

Run = Callable[..., Any]
Wait = Callable[..., None]


class Driver:
    """One run of the program after another on the same home. ``start`` and ``stop`` as often as a
    test wants; a ``ScriptedModel`` handed in answers instead of the Guide."""

    def __init__(self, app: QApplication, run: Run, until: Wait) -> None:
        self.app = app
        self.run = run
        self._until = until
        self.program: Program
        self.alive = False
        self._hooks = (sys.excepthook, threading.excepthook)

    def until(self, done: Callable[[], Any], ms: int = 40_000) -> None:
        """Turn the loop until ``done()`` is true."""
        self._until(lambda: bool(done()), timeout=ms)

    # -- the program --------------------------------------------------------------------------

    def start(
        self, model: ScriptedModel | None = None, *, show: bool = True, settled: bool = True
    ) -> Driver:
        self.program = Program(self.app)
        self.run(self.program.open(), 15_000)
        self.alive = True
        if model is not None:
            self.service.models.add(model.info, lambda: model)
            self.service.default_model = model.info.id
        if show:
            self.window.resize(1440, 900)
        if settled:
            self.until(lambda: self.window.workspaces.listed)
        return self

    def stop(self) -> None:
        """Close the window as a person does, and see that everything ended in order."""
        self.window.close()
        if not self.program.closing.is_set():  # it asks, where that stops work
            self.dialog().accept()
            self.until(self.program.closing.is_set)
        self.run(self.program.close(), 20_000)
        self.put_away()

    def put_away(self) -> None:
        self.alive = False
        sys.excepthook, threading.excepthook = self._hooks
        core_log.stop()
        faulthandler.enable(sys.__stderr__)

    @property
    def window(self) -> Any:
        return self.program.window

    @property
    def service(self) -> Any:
        return self.program.service

    @property
    def vm(self) -> ChatViewModel:
        assert self.window.chat.vm is not None, "no session is shown"
        return self.window.chat.vm

    # -- workspaces and sessions ----------------------------------------------------------------

    def open_folder(self, folder: Path) -> None:
        """Open a folder, up to the session that comes with it."""
        before = self.window.desk.current
        self.window.workspaces.open_folder(str(folder))
        self.until(lambda: self.window.desk.current not in (None, before))
        self.until_shown()

    def until_shown(self) -> None:
        desk, chat = self.window.desk, self.window.chat

        def shown() -> bool:
            talk = chat.vm.conversation if chat.vm is not None else None
            return talk is not None and talk.key == desk.current and chat.vm.ready

        self.until(shown)
        self.until(lambda: self.session(desk.current) is not None)

    def open_session(self, key: SessionKey) -> None:
        self.window.open_session(key)
        self.until_shown()

    def new_session(self) -> SessionKey:
        before = self.window.desk.current
        self.window.new_session()
        self.until(lambda: self.window.desk.current != before)
        self.until_shown()
        return self.window.desk.current

    def workspace(self, name: str) -> WorkspaceSummary | None:
        return next((w for w in self.window.workspaces.workspaces if w.info.name == name), None)

    def session(self, key: SessionKey) -> SessionSummary | None:
        for ws in self.window.workspaces.workspaces:
            for session in ws.sessions:
                if session.key == key:
                    return session
        return None

    def state(self, key: SessionKey) -> str:
        """The state that the tree shows of a session; "" when it is not listed."""
        session = self.session(key)
        return session.state if session is not None else ""

    def tree(self) -> list[tuple[str, str]]:
        """What the tree shows: title and note of every row, sessions indented."""
        model = self.window.pane.tree.model()
        rows: list[tuple[str, str]] = []

        def walk(parent: QModelIndex, indent: str) -> None:
            for row in range(model.rowCount(parent)):
                index = model.index(row, 0, parent)
                title = model.data(index, Qt.ItemDataRole.DisplayRole)
                rows.append((indent + title, model.data(index, Role.TIME)))
                walk(index, indent + "  ")

        walk(QModelIndex(), "")
        return rows

    def note(self, title: str) -> str | None:
        return next((note for name, note in self.tree() if name.strip() == title), None)

    # -- talking --------------------------------------------------------------------------------

    def type(self, text: str) -> None:
        """Write into the composer and press Enter."""
        edit = self.window.chat.composer.edit
        edit.setFocus()
        edit.insertPlainText(text)
        QTest.keyClick(edit, Qt.Key.Key_Return)

    def ask(self, text: str, ms: int = 15_000) -> None:
        """Say something and wait until the turn is over or waits for the person."""
        self.type(text)
        self.until(lambda: self.vm.busy)
        self.until(lambda: self.vm.activity != "running", ms)

    def key(self, key: Qt.Key) -> None:
        """Press a key of the approval card, after the moment in which it takes none."""
        card = self.window.chat.approval
        self.until(lambda: card.isVisible() and card._shown.elapsed() >= card._grace)
        QTest.keyClick(card, key)

    def until_idle(self, ms: int = 60_000) -> None:
        self.until(lambda: not self.vm.busy, ms)

    def said(self) -> str:
        return "\n".join(i.text for i in self.vm.items() if isinstance(i, TextItem))

    def asked(self) -> list[str]:
        return [i.text for i in self.vm.items() if isinstance(i, UserItem)]

    def tools(self) -> list[ToolItem]:
        return [i for i in self.vm.items() if isinstance(i, ToolItem)]

    def cards(self) -> list[str]:
        """Codes of the notices in the transcript."""
        return [i.code for i in self.vm.items() if isinstance(i, NoticeItem)]

    def toasts(self) -> list[str]:
        return [str(t.label.text() or t.text) for t in self.window.toasts.toasts()]

    def why_disabled(self) -> str:
        composer = self.window.chat.composer
        return "" if composer.edit.isEnabled() else composer.why.text()

    def dialog(self, kind: type[QWidget] = ConfirmDialog) -> Any:
        """The dialog that is open now."""
        found: list[QWidget] = []

        def there() -> bool:
            found[:] = [w for w in self.app.topLevelWidgets() if type(w) is kind and w.isVisible()]
            return bool(found)

        self.until(there)
        return found[0]
