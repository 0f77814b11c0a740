"""The page's part about commands that run in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.ui.bridge import show

from .command_dialog import CommandDialog
from .commands_bar import CommandsBar

if TYPE_CHECKING:
    from .page import ChatPage


class PageCommands:
    """Owns the bar, and the dialog with a command's output while it is open."""

    def __init__(self, page: ChatPage, tasks: Tasks) -> None:
        self._page = page
        self._tasks = tasks
        self.bar = CommandsBar()
        self.dialog: CommandDialog | None = None
        self.bar.outputWanted.connect(self.open_output)
        self.bar.stopWanted.connect(self._stop)
        self.bar.dismissed.connect(lambda: page.vm and page.vm.dismiss_commands())

    def show(self) -> None:
        """What the view model knows now."""
        vm = self._page.vm
        live = vm is not None and vm.writable
        self.bar.show_commands(vm.commands_shown() if vm is not None else [], live=live)
        if self.dialog is not None and vm is not None:
            command = vm.commands.get(self.dialog.command.id)
            if command is not None:
                self.dialog.show_state(command, live=live)

    def printed(self, command_id: str, text: str) -> None:
        """More output of a command."""
        if self.dialog is not None and self.dialog.command.id == command_id:
            self.dialog.add(text)

    def recall(self) -> None:
        """Show all of the session, also those that were put aside."""
        if self._page.vm is not None:
            self._page.vm.recall_commands()

    def _stop(self, command_id: str) -> None:
        if self._page.vm is not None:
            self._page.vm.stop_command(command_id)

    def open_output(self, command_id: str) -> None:
        """Show what a command printed."""
        self._tasks.replace(self._open_output(command_id), name="command output")

    async def _open_output(self, command_id: str) -> None:
        vm = self._page.vm
        command = vm.commands.get(command_id) if vm is not None else None
        if vm is None or command is None or vm.conversation is None:
            return
        dialog = self.dialog = CommandDialog(self._page, command)
        dialog.stop.clicked.connect(lambda: self._stop(command_id))
        try:
            dialog.show_output(await vm.conversation.command_output(command_id))
        except SlipwayError as error:
            self._page.failed(error.code, error.params)
        self.show()
        try:
            await show(dialog)
        finally:
            self.dialog = None
