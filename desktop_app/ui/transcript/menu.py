"""The context menu of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu

from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import icons

if TYPE_CHECKING:
    from .view import TranscriptView


def build(view: TranscriptView, number: int, pos: QPointF) -> QMenu | None:
    """What can be done with the selection, the link, the code and the row at a point."""
    if number < 0:
        return None
    row = view.rows.row(number)
    menu = QMenu(view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    zone, _ = view.mouse.zone_at(pos)
    if zone is not None and zone.kind == "link":
        url = zone.target
        menu.addAction(
            icons.icon("external-link"), tr("Open link"), lambda: view.linkActivated.emit(url)
        )
        menu.addAction(icons.icon("link"), tr("Copy link"), lambda: _put(url))
        menu.addSeparator()
    if view.selection.empty():
        view.setCurrentIndex(view.rows.index(number))
    copy = menu.addAction(icons.icon("copy"), tr("Copy"), lambda: view.copy())
    copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
    menu.addAction(tr("Copy as Markdown"), lambda: view.copy(markdown=True))
    code = view.mouse.code_at(pos)
    if code is not None:
        text = code.text or ""
        menu.addAction(icons.icon("code"), tr("Copy code"), lambda: _put(text))
    every = menu.addAction(tr("Select all"), view.keys.select_all)
    every.setShortcut(QKeySequence(QKeySequence.StandardKey.SelectAll))
    actions = (*getattr(row, "actions", ()), *getattr(row, "more", ()))
    if actions:
        menu.addSeparator()
    for action in actions:
        made = menu.addAction(
            icons.icon(action.icon) if action.icon else icons.icon("circle"),
            action.label,
            _Emit(view, row.id, action.id),
        )
        made.setEnabled(action.enabled)
        made.setIconVisibleInMenu(bool(action.icon))
    return menu


class _Emit:
    def __init__(self, view: TranscriptView, row_id: str, action_id: str) -> None:
        self.view, self.row_id, self.action_id = view, row_id, action_id

    def __call__(self) -> None:
        self.view.actionTriggered.emit(self.row_id, self.action_id)


def _put(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
