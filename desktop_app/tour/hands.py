"""What the tour does with the window: type, press, wait, take a picture."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QWidget

from desktop_app.core import events as ev
from desktop_app.core.loopwatch import LoopWatch
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.theme import theme
from desktop_app.ui.window import MainWindow

PATIENCE = 60.0  # seconds for one step
W = TypeVar("W", bound=QWidget)


class TourError(Exception):
    """A step did not happen in time."""


class Hands:
    """Works the real widgets of one window and keeps notes of what happened."""

    def __init__(self, window: MainWindow, out: Path, part: str, watch: LoopWatch) -> None:
        self.window = window
        self.watch = watch
        self.out = out
        self._notes = out / f"part-{part}.jsonl"
        self._unlisten: Callable[[], None] | None = None
        self._began = time.monotonic()
        self.heard: list[ev.Event] = []
        self.on_event: Callable[[ev.Event], None] = lambda _event: None

    # -- notes and pictures ------------------------------------------------------------------

    def note(self, **what: Any) -> None:
        """Written at once, so that it survives the kill."""
        with self._notes.open("a", encoding="utf-8") as file:
            file.write(json.dumps(what, ensure_ascii=False) + "\n")
            file.flush()

    async def step(self, name: str, picture: str, of: QWidget | None = None) -> None:
        """A step happened: note it and keep a picture of it (or of a dialog), light and dark."""
        await self.picture(picture, of)
        self.note(step=name)
        print(f"tour: {name} ({time.monotonic() - self._began:.1f} s)", flush=True)

    async def picture(self, name: str, of: QWidget | None = None) -> None:
        self.watch.stop()  # grabbing a whole window is the tour's work, not the program's
        shown = theme().scheme
        for scheme in ("dark", "light") if shown == "light" else ("light", "dark"):
            theme().set_scheme(scheme)
            await self.settle()
            (of or self.window).grab().save(str(self.out / f"{name}-{scheme}.png"))
        theme().set_scheme(shown)
        await self.settle()
        self.watch.start()
        await asyncio.sleep(0)  # what comes next is counted from its beginning

    async def settle(self) -> None:
        """Let layouts, batches and repaints finish."""
        for _ in range(6):
            await asyncio.sleep(0.03)

    async def until(
        self, ready: Callable[[], object], what: str, patience: float = PATIENCE
    ) -> None:
        """Wait for a state, never for a time. TourError when it does not come."""
        end = time.monotonic() + patience
        while not ready():
            if time.monotonic() > end:
                raise TourError(f"waited {patience:.0f} s for: {what}")
            await asyncio.sleep(0.02)

    # -- hands ---------------------------------------------------------------------------------

    @property
    def vm(self) -> ChatViewModel:
        vm = self.window.chat.vm
        if vm is None:
            raise TourError("no session is open")
        return vm

    def press(self, widget: QWidget, key: Qt.Key, text: str = "") -> None:
        """A key, pressed and let go."""
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            event = QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, text)
            QApplication.sendEvent(widget, event)

    async def type(self, text: str) -> None:
        """Write into the composer, key by key."""
        edit = self.window.chat.composer.edit
        edit.setFocus()
        for at, char in enumerate(text):
            self.press(edit, Qt.Key.Key_unknown, char)
            if at % 12 == 0:
                await asyncio.sleep(0)

    def write(self, field: QWidget, text: str) -> None:
        """Write into a field of a dialog, key by key, in place of what it has."""
        field.setFocus()
        if isinstance(field, QLineEdit):
            field.selectAll()
        for char in text:
            self.press(field, Qt.Key.Key_unknown, char)

    async def click(self, button: QAbstractButton) -> None:
        """Press a button that can be seen and pressed."""
        await self.until(lambda: button.isVisible() and button.isEnabled(), button.text())
        button.click()

    async def top(self, kind: type[W]) -> W:
        """The dialog of this kind, once it is shown."""
        found: list[W] = []

        def shown() -> bool:
            found[:] = [
                one for one in self.window.findChildren(kind) if one.isVisible() and one.isWindow()
            ]
            return bool(found)

        await self.until(shown, kind.__name__)
        return found[0]

    async def ask(self, text: str) -> None:
        """Write a message, press Enter, wait until the turn has begun."""
        self.heard.clear()
        self.listen()
        await self.type(text)
        self.press(self.window.chat.composer.edit, Qt.Key.Key_Return, "\r")
        await self.until(lambda: self.saw(ev.RunStarted), f"the turn of {text!r}")

    async def answered(self) -> None:
        """Wait for the end of the turn."""
        await self.until(lambda: self.saw(ev.RunFinished), "the end of the turn")
        await self.until(lambda: not self.vm.busy, "the window to be ready again")
        await self.settle()

    def listen(self) -> None:
        """Hear the shown session's events."""
        if self._unlisten is not None:
            self._unlisten()
        conversation = self.vm.conversation
        assert conversation is not None
        self._unlisten = conversation.listen(self._hear)

    def _hear(self, event: ev.Event) -> None:
        self.heard.append(event)
        self.on_event(event)

    def saw(self, *kinds: type) -> bool:
        return any(isinstance(e, kinds) for e in self.heard)

    def of(self, kind: type) -> list[Any]:
        return [e for e in self.heard if isinstance(e, kind)]
