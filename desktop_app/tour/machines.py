"""What the parts of the tour about containers and sandboxes have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAction

from desktop_app.app import Program
from desktop_app.core import events as ev
from desktop_app.core.models.scripted import SCRIPTED, ScriptedModel, TurnSource
from desktop_app.core.overview_row import OverviewRow
from desktop_app.core.workspaces.remote.managed import ManagedWorkspace
from desktop_app.ui.files.model import PathRole
from desktop_app.ui.machines.new_dialog import NewWorkspaceDialog
from desktop_app.ui.machines.page import MachinesPage
from desktop_app.ui.widgets import ConfirmDialog, Menu

from .hands import Hands, TourError

BUILD_SECONDS = 240.0


W = TypeVar("W", bound=ManagedWorkspace)


async def begin(hands: Hands, program: Program, turns: Sequence[TurnSource]) -> None:
    """Who answers from now on: what is asked for here needs commands, which the Guide has not."""
    model = ScriptedModel(
        turns, titles=[[]], info=replace(SCRIPTED, id="tour", name="Script of the tour")
    )
    program.service.models.add(model.info, lambda: model)
    program.service.default_model = model.info.id
    await hands.settle()


async def new_dialog(hands: Hands, kind: str) -> NewWorkspaceDialog:
    """The dialog for a new workspace of a kind, the doctor through."""
    hands.window.dialogs.new_workspace()
    dialog = await hands.top(NewWorkspaceDialog)
    await hands.click(dialog.kinds[kind])  # type: ignore[index]
    await hands.until(lambda: not dialog.doctor.waiting.isVisible(), "what the doctor found")
    return dialog


async def opened(hands: Hands, program: Program, name: str, kind: type[W]) -> W:
    """The workspace of that name and kind, its machine up and a session in it open."""
    window = hands.window

    def shown() -> bool:
        vm = window.chat.vm
        if vm is None or vm.conversation is None or not vm.ready:
            return False
        here = window.pane.workspace_at_hand()
        return here is not None and here.info.name == name and vm.breakdown is not None

    await hands.until(shown, f"a session in {name}", BUILD_SECONDS)
    here = window.pane.workspace_at_hand()
    assert here is not None
    workspace = await program.service.machines.of(here.info.id)
    if workspace is None or not workspace.awake:
        raise TourError(f"the machine of {name} does not run")
    if not isinstance(workspace, kind):
        raise TourError(f"{name} is no {kind.__name__}")
    conversation = hands.vm.conversation
    assert conversation is not None
    conversation.listen(
        lambda event: (
            hands.note(facts={"tool_calls": 1}) if isinstance(event, ev.ToolFinished) else None
        )
    )
    await hands.settle()
    return workspace


async def allow(hands: Hands) -> None:
    """Yes to what is asked, once the card takes keys."""
    card = hands.window.chat.approval
    await hands.until(lambda: card.isVisible() and card.takes_keys, "the approval card")
    hands.press(card, Qt.Key.Key_Y, "y")


async def asked(hands: Hands, text: str) -> None:
    """Say something that leads to a question."""
    await hands.ask(text)
    await hands.until(lambda: hands.saw(ev.ApprovalRequested), "an approval")
    card = hands.window.chat.approval
    await hands.until(lambda: card.isVisible() and card.takes_keys, "the approval card")
    await hands.settle()


async def page_of(hands: Hands, workspace_id: str) -> MachinesPage:
    """The Workspaces page with the detail of one."""
    hands.window.show_machines(workspace_id)
    page = hands.window.machines
    assert page is not None
    await hands.until(lambda: page.vm.row(workspace_id) is not None, "its row")
    page.show_workspace(workspace_id)
    await hands.until(lambda: page.vm_current() == workspace_id, "its detail")
    return page


def row_of(page: MachinesPage) -> OverviewRow:
    row = page.vm.row(page.vm_current())
    if row is None:
        raise TourError("the workspace is not in the table")
    return row


async def state(hands: Hands, page: MachinesPage, wanted: str) -> None:
    """Wait for a state of the row in the table, and for the buttons."""
    await hands.until(
        lambda: row_of(page).state == wanted and not page.vm.busy(page.vm_current()),
        f"the workspace to be {wanted}",
    )
    await hands.settle()


async def paused_and_back(hands: Hands, page: MachinesPage, step: str, picture: str) -> None:
    await hands.click(page.detail.buttons["pause"])
    await state(hands, page, "paused")
    await hands.step(step, picture)
    await hands.click(page.detail.buttons["start"])
    await state(hands, page, "ready")


async def file_shown(hands: Hands, page: MachinesPage, path: str) -> str:
    """Look into a file in the Files tab; its text."""
    page.detail.show_tab("files")
    files = page.tabs.files

    def find() -> QModelIndex | None:
        top = QModelIndex()
        for row in range(files.model.rowCount(top)):
            index = files.model.index(row, 0, top)
            if index.data(PathRole) == path:
                return index
        return None

    await hands.until(lambda: find() is not None, f"{path} in the tree")
    files.tree.setCurrentIndex(find() or QModelIndex())
    await hands.until(lambda: files.text.isVisible() and files.browser.path == path, "its text")
    await hands.settle()
    return files.text.toPlainText()


def chosen(page: MachinesPage, text: str) -> None:
    """Choose an entry of the detail's menu by its words."""
    menu = Menu(parent=page)
    page.detail.fill_menu(menu)
    found: list[QAction] = [action for action in menu.actions() if action.text() == text]
    if len(found) != 1 or not found[0].isEnabled():
        raise TourError(f"the menu has no {text!r}")
    found[0].trigger()
    menu.deleteLater()


async def loss(hands: Hands, page: MachinesPage, entry: str, step: str, picture: str) -> str:
    """Ask for the removal, look at what would be lost, and do it; what was said."""
    chosen(page, entry)
    dialog = await hands.top(ConfirmDialog)
    told = dialog.accessibleDescription()
    if "only in it" not in told or "session" not in told:
        raise TourError(f"it was not said what is lost and what stays: {told!r}")
    await hands.settle()
    await hands.step(step, picture, dialog)
    one = page.vm_current()
    await hands.click(dialog.go)
    await hands.until(lambda: page.vm.row(one) is None, "the row to go")
    await hands.settle()
    return told
