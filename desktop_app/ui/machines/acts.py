"""Before something is done that cannot be undone: exactly what goes, exactly what stays."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QDialog, QWidget

from desktop_app.core.machines import Loss
from desktop_app.core.overview_row import OverviewRow
from desktop_app.ui.bridge import show
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets import ConfirmDialog, figures


def kept_of(row: OverviewRow, loss: Loss) -> list[str]:
    kept: list[str] = []
    if row.sessions:
        kept.append(
            trn(
                "{n} session with its history, in Slipway's own folder",
                "{n} sessions with their history, in Slipway's own folder",
                row.sessions,
            )
        )
    if loss.kept:
        kept.append(tr("The folder {path} with all its files", path=loss.kept))
    if loss.rescued:
        day, _, time = Path(loss.rescued).name.partition(" ")
        when = f"{day} {time[:5].replace('.', ':')}"
        kept.append(tr("The rescue copy of {when}", when=when))
    return kept


def _lost(loss: Loss) -> list[str]:
    if loss.bytes is None:
        return [tr("All files that are only in it; how much that is cannot be asked now")]
    if loss.bytes == 0:
        return []
    return [tr("{size} of files that are only in it", size=figures.size(loss.bytes))]


async def confirm_remove(parent: QWidget | None, row: OverviewRow, loss: Loss) -> bool:
    """Remove the machine, and the workspace from the list."""
    machine = tr("sandbox") if row.kind == "e2b" else tr("container")
    dialog = ConfirmDialog(
        parent,
        title=tr("Delete the {machine} {name}?", machine=machine, name=row.name),
        text=tr("It is removed and cannot be brought back."),
        action=tr("Delete the {machine}", machine=machine),
        danger=True,
        kept=kept_of(row, loss),
        lost=[*_lost(loss), tr("Programs that run in it")] if row.up else _lost(loss),
    )
    return await show(dialog) == QDialog.DialogCode.Accepted


async def confirm_rebuild(parent: QWidget | None, row: OverviewRow, loss: Loss) -> bool:
    """A new machine in place of the old one."""
    dialog = ConfirmDialog(
        parent,
        title=tr("Rebuild {name}?", name=row.name),
        text=tr("The old machine is removed and a new one is made, as the settings say now."),
        action=tr("Rebuild"),
        danger=not loss.nothing,
        kept=kept_of(row, loss),
        lost=_lost(loss),
    )
    return await show(dialog) == QDialog.DialogCode.Accepted


async def confirm_forget(parent: QWidget | None, row: OverviewRow) -> bool:
    """A folder out of the list, nothing deleted."""
    dialog = ConfirmDialog(
        parent,
        title=tr("Forget {name}?", name=row.name),
        text=tr("The workspace leaves this list. Nothing is deleted."),
        action=tr("Forget"),
        kept=[tr("The folder and all files in it"), *kept_of(row, Loss(None))],
    )
    return await show(dialog) == QDialog.DialogCode.Accepted
