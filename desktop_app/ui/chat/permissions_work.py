"""Opening the permissions of the session at hand, and carrying out what is changed there."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from desktop_app.core.agent.permissions import Permissions
from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.ui.bridge import show
from desktop_app.ui.i18n import tr

from .items import ToolItem
from .permissions_dialog import PermissionsDialog

if TYPE_CHECKING:
    from .page import ChatPage
    from .view_model import ChatViewModel

# Offered for a rule though the session has not called them yet.
USUAL = ("Bash", "Read", "Write", "Edit", "Grep", "Glob")
log = logging.getLogger(__name__)


class PermissionsWork:
    """Owns the dialog while it is open."""

    def __init__(self, page: ChatPage) -> None:
        self._page = page
        self._tasks = Tasks(self._failed)
        self.dialog: PermissionsDialog | None = None

    def _failed(self, name: str, error: BaseException) -> None:
        log.error("permissions task %s failed", name, exc_info=error)
        self._page.notified.emit("danger", tr("Something went wrong"), str(error)[:300])

    async def close(self) -> None:
        await self._tasks.close()

    def open(self) -> None:
        """Show the session's permissions; nothing happens where no session is open."""
        vm = self._page.vm
        if vm is not None and vm.conversation is not None and self.dialog is None:
            self._tasks.start(self._open(vm), name="permissions")

    async def _open(self, vm: ChatViewModel) -> None:
        past = [
            (item.name, item.args)
            for item in vm.items()
            if isinstance(item, ToolItem) and item.args is not None
        ]
        conversation = vm.conversation
        assert conversation is not None
        rules = Permissions(conversation.permissions, self._page.sources.cwd or "")
        named = [rule.tool_name for rule in rules.rules()] + [name for name, _ in past]
        dialog = PermissionsDialog(
            self._page,
            tools=[*USUAL, *sorted(set(named) - set(USUAL) - {"*", ""})],
            count=lambda rule: rules.matches(rule, past),
            writable=vm.writable,
        )

        def refresh() -> None:
            now = Permissions(conversation.permissions)
            dialog.set_state(conversation.permissions.mode, now.rules())
            vm.modeChanged.emit()

        async def change(*steps: tuple[Callable[[Any], Awaitable[Any]], Any]) -> None:
            try:
                for step, value in steps:
                    await step(value)
            except SlipwayError as error:
                self._page.failed(error.code, error.params)
            refresh()

        def run(*steps: tuple[Callable[[Any], Awaitable[Any]], Any]) -> None:
            self._tasks.start(change(*steps), name="rules")

        set_mode, add, remove = (
            conversation.set_mode,
            conversation.add_rule,
            conversation.remove_rule,
        )
        dialog.modeChosen.connect(lambda mode: run((set_mode, mode)))
        dialog.added.connect(lambda rule: run((add, rule)))
        dialog.removed.connect(lambda rule: run((remove, rule)))
        dialog.replaced.connect(lambda old, new: run((remove, old), (add, new)))
        refresh()
        self.dialog = dialog
        try:
            await show(dialog)
        finally:
            self.dialog = None
