"""Where keys are kept: seen, and changed."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.errors import SecretsError
from desktop_app.core.secrets import Secrets
from desktop_app.core.secrets.keyfile import State
from desktop_app.core.tasks import Tasks
from desktop_app.ui.bridge import confirm, show
from desktop_app.ui.errors import describe_error
from desktop_app.ui.i18n import sentences, tr, trn
from desktop_app.ui.widgets import Button, Label
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.dialogs import Dialog, FactRow

from .key_questions import KeyQuestions
from .passphrase import Kind, PassphraseDialog


class KeysDialog(Dialog):
    """What a person can do with the key file; ``asks`` tells of one that was put aside."""

    def __init__(
        self, parent: QWidget | None, secrets: Secrets, asks: KeyQuestions | None = None
    ) -> None:
        super().__init__(parent, lambda: tr("Keys"), width=560, tall=True)
        self._secrets, self._asks = secrets, asks
        self._tasks = Tasks(lambda _name, error: self._failed(error))
        self.state: State = "none"
        self.place = Label("", wrap=True)
        self.body.addWidget(FactRow(lambda: tr("Kept in"), self.place))
        self.file = Label("", role="mono-small", tone="muted", wrap=True, select=True)
        self.file_row = FactRow(lambda: tr("Key file"), self.file)
        self.body.addWidget(self.file_row)
        self.body.addWidget(self._acts())
        self.told = Label("", role="small", tone="muted", wrap=True)
        self.body.addWidget(self.told)
        close = Button(lambda: tr("Close"), variant="primary")
        self.add_button(close, run=self.accept, default=True)
        close.setFocus()
        self._work(self._look())

    def _acts(self) -> QWidget:
        self.make = Button(lambda: tr("Make a key file…"), glyph="file-key")
        self.unlock = Button(lambda: tr("Unlock…"), glyph="lock-open")
        self.lock = Button(lambda: tr("Lock now"), glyph="lock")
        self.change = Button(lambda: tr("Change the passphrase…"))
        self.move_ = Button(lambda: tr("Move into the keyring"))
        self.forget = Button(lambda: tr("Forget the file…"), variant="danger")
        for button, run in (
            (self.make, lambda: self._work(self._ask("make"))),
            (self.unlock, lambda: self._work(self._ask("unlock"))),
            (self.lock, lambda: self._work(self._lock())),
            (self.change, lambda: self._work(self._ask("change"))),
            (self.move_, lambda: self._work(self._move())),
            (self.forget, lambda: self._work(self._forget())),
        ):
            button.clicked.connect(run)
            button.setVisible(False)
        holder = QWidget()
        rows = QVBoxLayout(holder)
        follow(rows, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
        for some in ((self.make, self.unlock, self.lock, self.change), (self.move_, self.forget)):
            row = QHBoxLayout()
            follow(row, setSpacing=8)
            for button in some:
                row.addWidget(button)
            row.addStretch(1)
            rows.addLayout(row)
        return holder

    def retranslate(self) -> None:
        super().retranslate()
        if hasattr(self, "told"):
            self._work(self._look())

    # -- what there is -------------------------------------------------------------------------

    def _work(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.replace(work, name="keys")

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, SecretsError) and self.isVisible():
            words = describe_error(error)
            self._say(sentences(words.title, words.reason, words.fix), "danger")

    def _say(self, words: str, tone: Any = "muted") -> None:
        self.told.set_tone(tone)
        self.told.set_source(words)
        self.fit_later()

    async def _look(self) -> None:
        """Show how it is now."""
        secrets = self._secrets
        self.state = state = await secrets.file_state()
        count, ring = await secrets.file_count(), await secrets.keyring.there()
        problem = await secrets.file_problem()
        whole = state in ("open", "locked")
        held = trn("{n} key", "{n} keys", count)
        self.file.set_source(f"{secrets.file_path}\n{held}" if whole else str(secrets.file_path))
        self.file_row.setVisible(state != "none")
        self.make.setVisible(state in ("none", "damaged"))
        self.unlock.setVisible(state == "locked")
        self.lock.setVisible(state == "open")
        self.change.setVisible(whole)
        self.move_.setVisible(state == "open" and ring)
        self.forget.setVisible(whole)
        self.place.set_source(lambda: _where(state, ring))
        if problem is not None:
            self._failed(problem)
        else:
            self._say(_advice(state, ring))

    # -- acts ----------------------------------------------------------------------------------

    async def _ask(self, kind: Kind) -> None:
        await show(PassphraseDialog(self, kind, self._secrets))
        if self._asks is not None:
            self._asks.tell_put_aside()
        await self._look()

    async def _lock(self) -> None:
        await self._secrets.lock_file()
        await self._look()

    async def _move(self) -> None:
        if await self._secrets.file_to_keyring():
            await self._look()
        else:
            await self._look()
            self._say(tr("The keyring did not take all of them. The file stays."), "warning")

    async def _forget(self) -> None:
        count = await self._secrets.file_count()
        sure = await confirm(
            self,
            title=tr("Forget the key file?"),
            text=tr("It is deleted with its backup. Nobody can bring back what was in it."),
            action=tr("Forget it"),
            danger=True,
            lost=[trn("{n} key", "{n} keys", count)],
            kept=[tr("Models, servers and workspaces"), tr("Keys in the system's keyring")],
        )
        if sure:
            await self._secrets.forget_file()
        await self._look()


def _where(state: State, ring: bool) -> str:
    match state:
        case "open":
            return tr("Your key file, unlocked until the program ends")
        case "locked":
            return tr("Your key file, which is locked")
        case _ if ring:
            return tr("The system's keyring")
        case _:
            return tr("Nowhere: they last until the program ends. There is no keyring here.")


def _advice(state: State, ring: bool) -> str:
    if state == "none" and ring:
        return tr("A key file is for who wants keys apart from the system's keyring.")
    if state == "none":
        return tr("A key file keeps them, encrypted with a passphrase of yours.")
    if state == "locked":
        return tr("You are asked for the passphrase when a key is needed.")
    return tr("New keys go into it. Other programs cannot read it.")
