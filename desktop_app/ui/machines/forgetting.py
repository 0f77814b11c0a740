"""Before a workspace with a machine leaves the list: what of it stays and where, and the offer to
remove the machine too, after a rescue copy."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QWidget

from desktop_app.core.machines import Loss
from desktop_app.ui.bridge import show
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import ConfirmDialog, figures
from desktop_app.ui.widgets.dialogs import Option


async def ask_forget(
    parent: QWidget | None, *, name: str, kind: str, loss: Loss, kept: list[str]
) -> tuple[bool, bool]:
    """Whether to forget, and whether to remove the machine too. ``kept`` stays in either case."""
    there = bool(loss.machine) and loss.status not in ("absent", "failed")
    dialog = ConfirmDialog(
        parent,
        title=tr("Forget {name}?", name=name),
        text="\n".join(
            [tr("The workspace leaves this list. Nothing is deleted."), *_where(kind, loss)]
        ),
        action=tr("Forget"),
        kept=[_machine(kind, loss), *kept] if loss.status != "absent" else kept,
        option=_removal(kind, loss, kept) if there and not loss.theirs else None,
    )
    sure = await show(dialog, keep=True) == QDialog.DialogCode.Accepted
    remove = dialog.option_chosen
    dialog.deleteLater()
    return sure, sure and remove


def _where(kind: str, loss: Loss) -> list[str]:
    """What becomes of the machine; nothing without one."""
    if loss.status == "absent":
        return []
    if loss.status == "failed":
        return [tr("Its machine cannot be asked now: whatever there is stays as it is.")]
    if loss.theirs:
        return [tr("The machine stays as it is, and AgentScope goes on using it.")]
    if kind == "e2b":
        return [
            tr(
                "The sandbox stays in your E2B account; Slipway then lists it as one without a "
                "workspace."
            )
        ]
    return [
        tr(
            "The container stays at the engine and takes its room there until somebody removes "
            "it, which Slipway can then no longer do."
        )
    ]


def _machine(kind: str, loss: Loss) -> str:
    """What is left behind, by its name at the engine."""
    name, size = loss.machine, figures.size(loss.bytes) if loss.bytes else ""
    if not name or loss.status == "failed":
        return tr("Its machine, if there is one, with the files that are only in it")
    if loss.theirs:
        return tr("{machine} with all files in it", machine=name)
    if kind == "e2b" and size:
        return tr("The sandbox {machine}, paused, with {size} on its disk", machine=name, size=size)
    if kind == "e2b":
        return tr("The sandbox {machine}, paused, with its disk as it is", machine=name)
    if size:
        return tr(
            "The container {machine}, stopped, with {size} of files that are only in it",
            machine=name,
            size=size,
        )
    if loss.nothing:
        return tr("The container {machine}, stopped; no file is only in it", machine=name)
    return tr("The container {machine}, stopped, with the files that are only in it", machine=name)


def _removal(kind: str, loss: Loss, kept: list[str]) -> Option:
    sandbox = kind == "e2b"
    machine = (
        tr("The sandbox {machine}", machine=loss.machine)
        if sandbox
        else tr("The container {machine}", machine=loss.machine)
    )
    return Option(
        tr("Delete the sandbox too, after a rescue copy")
        if sandbox
        else tr("Delete the container too, after a rescue copy"),
        tr(
            "The workspace leaves this list. A rescue copy is made first; when it fails, nothing "
            "is deleted and the workspace stays."
        ),
        tr("Forget and delete"),
        [machine, *_files(loss)],
        [tr("A new rescue copy of its sessions, data and skills, in Slipway's own folder"), *kept],
    )


def _files(loss: Loss) -> list[str]:
    if loss.nothing:
        return []
    if loss.bytes is None:
        return [tr("All other files that are only in it")]
    return [tr("All other files that are only in it, of {size}", size=figures.size(loss.bytes))]
