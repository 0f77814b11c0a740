"""The tour's part in an E2B sandbox: made with a key that is typed, used, paused, copied, removed.

It runs only against an address that was given (``slipway tour --e2b URL``), with the key of the
variable below: nothing of it costs money unasked. The key is kept in a key file that goes with the
tour's own folder.
"""

from __future__ import annotations

import os

from desktop_app.app import Program
from desktop_app.core import events as ev
from desktop_app.core.loopwatch import LoopWatch
from desktop_app.core.models.scripted import Call, Say
from desktop_app.core.workspaces.e2b.spec import E2BSpec
from desktop_app.core.workspaces.e2b.workspace import E2BWorkspace
from desktop_app.ui.machines.columns import seconds_left
from desktop_app.ui.machines.orphans import OrphansDialog
from desktop_app.ui.settings.key_choice import KeyChoiceDialog

from .hands import Hands, TourError
from .machines import (
    allow,
    asked,
    begin,
    chosen,
    file_shown,
    loss,
    new_dialog,
    opened,
    page_of,
    paused_and_back,
    row_of,
)
from .needs import KEY

NAME = "Night shift"
WORDS = "heron in the reeds"  # the passphrase of a key file that goes with the tour
FILE = "squares.txt"
LINE = f"for n in $(seq 1 20000); do echo $n $((n*n)); done | tee {FILE}"
TURNS = [
    [Say("I work it out in the sandbox."), Call("Bash", {"command": LINE})],
    [Say(f"All 20,000 are in `{FILE}`; what did not fit here is kept beside the session.")],
]


async def play(hands: Hands, program: Program, watch: LoopWatch) -> None:
    await begin(hands, program, TURNS)
    workspace = await _made(hands, program)
    await _used(hands, workspace)
    await _looked_after(hands, workspace)
    await _orphan(hands, program, workspace)
    await _copied(hands, workspace)


async def _made(hands: Hands, program: Program) -> E2BWorkspace:
    dialog = await new_dialog(hands, "e2b")
    hands.write(dialog.name.edit, NAME)
    hands.write(dialog.e2b._key.edit, os.environ[KEY])
    hands.write(dialog.e2b.price.edit, "0.10")

    def accepted() -> bool:
        found = {row.finding.what: row.finding for row in dialog.doctor.rows}
        return "account" in found and found["account"].error is None

    await hands.until(accepted, "the account to answer to the key")
    await hands.settle()
    await hands.step("e2b-new", "40-e2b-new", dialog)
    await hands.click(dialog.go)
    choice = await hands.top(KeyChoiceDialog)
    for field in choice.fields.fields:
        hands.write(field.edit, WORDS)
    await hands.settle()
    await hands.step("e2b-key", "40-e2b-key", choice)
    await hands.click(choice.go)
    workspace = await opened(hands, program, NAME, E2BWorkspace)
    kept, _ = await program.service.places.key_kept()
    if kept != "file":
        raise TourError(f"the key is kept in: {kept}")
    await hands.step("e2b-made", "41-e2b-made")
    return workspace


async def _used(hands: Hands, workspace: E2BWorkspace) -> None:
    await asked(hands, f"Write the squares of 1 to 20,000 into {FILE}.")
    await allow(hands)
    await hands.answered()
    data = await workspace.get_backend().read_bytes(FILE)
    if not data.endswith(b"20000 400000000\n") or list(hands.out.rglob(FILE)):
        raise TourError("the file is not in the sandbox alone")
    if not any(f.offloaded for f in hands.of(ev.ToolFinished)):
        raise TourError("the long result was not kept whole")
    kept: list[str] = []

    async def delivered() -> None:
        kept[:] = [entry.path for entry in await workspace.list_offloads()]

    for _ in range(200):
        await delivered()
        if kept:
            break
        await hands.settle()
    if not kept:
        raise TourError("the long result did not reach the sandbox")
    await hands.step("e2b-written", "42-e2b-written")
    hands.heard.clear()
    hands.vm.compact(notes=False)
    await hands.until(lambda: hands.saw(ev.CompactionFinished), "a compaction")
    await hands.until(lambda: not hands.vm.busy, "the window to be ready again")


async def _looked_after(hands: Hands, workspace: E2BWorkspace) -> None:
    page = await page_of(hands, workspace.info.id)
    page.detail.show_tab("overview")
    await hands.until(lambda: row_of(page).memory, "measurements")
    left = seconds_left(row_of(page)) or 0
    await hands.click(page.detail.buttons["extend"])
    await hands.until(
        lambda: (seconds_left(row_of(page)) or 0) > 0 and row_of(page).ends_us > 0, "the time left"
    )
    if not 0 < left <= workspace.spec.timeout:
        raise TourError(f"the time left was told as {left} s")
    await hands.settle()
    await hands.step("e2b-counted", "43-e2b-counted")
    await paused_and_back(hands, page, "e2b-paused", "44-e2b-paused")
    if not (await file_shown(hands, page, FILE)).startswith("1 1\n2 4\n"):
        raise TourError("the disk is not as it was")
    await hands.step("e2b-resumed", "45-e2b-resumed")


async def _orphan(hands: Hands, program: Program, workspace: E2BWorkspace) -> None:
    """Another computer of the same person has a sandbox in the account."""
    account = program.service.places.e2b
    other = E2BWorkspace(E2BSpec(), account, id="of-another-computer", name="Left behind")
    await other.initialize()
    await other.start()
    page = await page_of(hands, workspace.info.id)
    page.vm.look_for_orphans()
    await hands.until(lambda: page.bar.found.review.isVisible(), "the sandbox without an owner")
    await hands.click(page.bar.found.review)
    dialog = await hands.top(OrphansDialog)
    (row,) = dialog.rows
    row.end.click()
    await hands.until(lambda: row.warning.isVisible(), "the warning before it is ended")
    await hands.settle()
    await hands.step("e2b-orphan", "46-e2b-orphan", dialog)
    row.end.click()
    await hands.until(lambda: not page.vm.orphans, "the list to be empty")
    for left in hands.window.findChildren(OrphansDialog):  # with machines of other programs
        left.accept()
    if (await other.refresh()).state == "ready":
        raise TourError("the sandbox without an owner was not ended")
    await other.close()


async def _copied(hands: Hands, workspace: E2BWorkspace) -> None:
    page = await page_of(hands, workspace.info.id)
    copies: list[str] = []
    page.vm.rescued.connect(lambda _name, folder, _files, _size: copies.append(folder))
    chosen(page, "Rescue copy")
    await hands.until(lambda: copies, "the copy")
    await hands.settle()
    await hands.step("e2b-rescued", "47-e2b-rescued")
    told = await loss(hands, page, "Delete the sandbox…", "e2b-loss", "48-e2b-loss")
    if "rescue copy" not in told:
        raise TourError("it was not said that there is a rescue copy")
    window = hands.window
    window.workspaces.open_copy(copies[0], f"Copy of {NAME}")
    await hands.until(
        lambda: window.chat.vm and window.chat.vm.ready and len(hands.vm.items()) > 2,
        "the session of the copy",
    )
    await hands.settle()
    await hands.step("e2b-offline", "49-e2b-offline")
