"""Going on from an earlier place in a new session: edit and send again, answer again, branch.

What an agent did to files stays done, so nothing is taken back where it stands: the session that is
there stays whole, and the other way is tried beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop_app.core.agent.base import Branch
from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks

from .items import UserItem
from .vm_shapes import Draft

if TYPE_CHECKING:
    from .page import ChatPage
    from .view_model import ChatViewModel

ACTIONS = ("edit_again", "answer_again", "branch")


class Branches:
    """Of a chat page; ``tasks`` are the page's."""

    def __init__(self, page: ChatPage, tasks: Tasks) -> None:
        self._page, self._tasks = page, tasks
        self._again: Branch | None = None  # what is to be said once its session is there

    def row_action(self, vm: ChatViewModel, row_id: str, action: str) -> bool:
        """Whether ``action`` of a row was one of these."""
        if action not in ACTIONS:
            return False
        if (message := _message_of(vm, row_id)) is None:
            self._page.failed("message.unknown", {})  # the turn is longer than what is loaded
        else:
            self._tasks.replace(self._branch(vm, message, action), name="branch")
        return True

    async def _branch(self, vm: ChatViewModel, message: str, action: str) -> None:
        try:
            made = await vm.branch(message, after=action == "branch")
        except SlipwayError as error:
            self._page.failed(error.code, error.params)
            return
        if action == "edit_again":
            draft = Draft(made.text, list(made.attachments), len(made.text))
            self._page.drafts.put(made.key, draft)
        self._again = made if action == "answer_again" else None
        self._page.sessionRequested.emit(made.key)

    def opened(self, vm: ChatViewModel) -> None:
        """A session was opened: say in it what was to be said again."""
        again = self._again
        if again is not None and vm.conversation is not None and vm.conversation.key == again.key:
            self._again = None
            vm.send(again.text, again.attachments)


def _message_of(vm: ChatViewModel, row_id: str) -> str | None:
    """The message of the person that a row is, or that it answers."""
    found: str | None = None
    for item in vm.items():
        if isinstance(item, UserItem):
            found = item.id.removeprefix("u:")
        if item.id == row_id:
            return found
    return None
