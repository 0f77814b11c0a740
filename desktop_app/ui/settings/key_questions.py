"""What the person is asked about keys while they work: one question at a time, whoever waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtWidgets import QApplication, QDialog, QWidget

from desktop_app.core.errors import SecretsError, SlipwayError
from desktop_app.core.secrets import Secrets
from desktop_app.core.tasks import Tasks
from desktop_app.ui.bridge import show

Ask = Callable[[], Coroutine[Any, Any, bool]]


class KeyQuestions:
    """Answers ``Asks`` with dialogs over ``window``, or over what lies over it. Asked on any loop;
    the dialogs are on the one that it was made on. ``tell`` shows an error."""

    def __init__(
        self, secrets: Secrets, window: QWidget, tell: Callable[[SlipwayError], object]
    ) -> None:
        self._secrets, self._window, self._tell = secrets, window, tell
        self._home = asyncio.get_running_loop()
        self._asking: dict[str, asyncio.Task[bool]] = {}
        self._tasks = Tasks(lambda _name, error: self._failed(error))
        self._told = secrets.put_aside

    def start(self) -> None:
        """Say at once when the key file cannot be used."""
        self._tasks.start(self._look(), name="look at the key file")

    async def _look(self) -> bool:
        if (problem := await self._secrets.file_problem()) is not None:
            self._tell(problem)
        return True

    async def unlock(self) -> bool:
        return await self._here("unlock", self._ask_unlock)

    async def choose(self) -> bool:
        return await self._here("choose", self._ask_choose)

    async def close(self) -> None:
        await self._tasks.close()

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, SlipwayError):
            self._tell(error)

    async def _here(self, name: str, ask: Ask) -> bool:
        if asyncio.get_running_loop() is self._home:
            return await self._once(name, ask)
        asked = asyncio.run_coroutine_threadsafe(self._once(name, ask), self._home)
        return await asyncio.wrap_future(asked)

    async def _once(self, name: str, ask: Ask) -> bool:
        """The answer to a question that may be under way already."""
        task = self._asking.get(name)
        if task is None or task.done():
            task = self._asking[name] = self._tasks.start(ask(), name=name)
        await asyncio.wait([task])
        return not task.cancelled() and task.exception() is None and task.result()

    async def _ask_unlock(self) -> bool:
        from .passphrase import PassphraseDialog

        return await self._shown(PassphraseDialog(self._over(), "unlock", self._secrets))

    async def _ask_choose(self) -> bool:
        from .key_choice import KeyChoiceDialog

        silent = await self._secrets.keyring.there()
        return await self._shown(KeyChoiceDialog(self._over(), self._secrets, silent=silent))

    async def _shown(self, dialog: QDialog) -> bool:
        await show(dialog)
        self.tell_put_aside()
        return await self._secrets.file_state() == "open"

    def _over(self) -> QWidget:
        return QApplication.activeModalWidget() or self._window

    def tell_put_aside(self) -> None:
        """Say once where a damaged file was put."""
        if (kept := self._secrets.put_aside) not in (None, self._told):
            self._told = kept
            self._tell(SecretsError("secrets.restored", path=str(kept)))
