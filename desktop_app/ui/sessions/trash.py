"""The dialog with what is in the trash."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractItemView, QListView, QStackedWidget, QWidget

from desktop_app.core.sessions.base import SessionKey
from desktop_app.core.tasks import Tasks
from desktop_app.ui.bridge import confirm
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets import Button, EmptyState, Label, RowList
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.dialogs import Dialog

from .trash_model import TrashModel


class TrashDialog(Dialog):
    """Restore sessions or remove them for good, after saying what is lost."""

    def __init__(self, parent: QWidget | None, model: TrashModel) -> None:
        super().__init__(parent, lambda: tr("Trash"), width=560)
        self.model = model
        self._tasks = Tasks(lambda _name, error: model.failed.emit(error))
        self._words = Label(
            lambda: tr("Sessions stay here until you remove them for good."),
            tone="muted",
            wrap=True,
        )
        self.body.addWidget(self._words)
        self.list = RowList(model)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.setAccessibleName(tr("Trash"))
        self.empty = EmptyState(
            "trash-2",
            lambda: tr("The trash is empty"),
            lambda: tr("A session that you move to the trash can be taken out again here."),
        )
        self.stack = QStackedWidget()
        for page in (self.list, self.empty):
            self.stack.addWidget(page)
        follow(self.stack, setFixedHeight=280)
        self.body.addWidget(self.stack)
        self.empty_button = Button(lambda: tr("Empty the trash…"), variant="danger")
        self.empty_button.clicked.connect(lambda: self._ask([s.key for s in model.sessions]))
        self.aside(self.empty_button)
        self.remove = Button(lambda: tr("Remove for good…"), variant="danger")
        self.add_button(self.remove, run=lambda: self._ask(self.keys()))
        self.restore = Button(lambda: tr("Restore"), glyph="undo-2")
        self.add_button(self.restore, run=lambda: model.restore(self.keys()))
        self.done_button = Button(lambda: tr("Close"), variant="primary")
        self.add_button(self.done_button, run=self.accept, default=True)
        self.list.selectionModel().selectionChanged.connect(self._changed)
        model.changed.connect(self._loaded)
        self._loaded()
        model.load()

    def keys(self) -> list[SessionKey]:
        """The chosen sessions."""
        rows = sorted(index.row() for index in self.list.selectionModel().selectedRows())
        return [self.model.sessions[row].key for row in rows]

    def _loaded(self) -> None:
        there = bool(self.model.sessions)
        had = self.list.hasFocus() or self.stack.currentWidget() is self.empty
        self.stack.setCurrentWidget(self.list if there else self.empty)
        self.empty_button.setVisible(there)
        self.remove.setVisible(there)
        self.restore.setVisible(there)
        if there:
            self.list.setCurrentIndex(self.model.index(0, 0))
            if had:
                self.list.setFocus()
        else:
            self.done_button.setFocus()
        self._changed()

    def _changed(self, *_: object) -> None:
        chosen = bool(self.list.selectionModel().selectedRows())
        self.remove.setEnabled(chosen)
        self.restore.setEnabled(chosen)

    def _ask(self, keys: list[SessionKey]) -> None:
        if keys:
            self._tasks.replace(self._purge(keys), name="purge")

    async def _purge(self, keys: list[SessionKey]) -> None:
        n = len(keys)
        go = await confirm(
            self,
            title=trn("Remove {n} session for good?", "Remove {n} sessions for good?", n),
            text=tr("This cannot be undone."),
            action=tr("Remove"),
            danger=True,
            lost=[
                tr("What was said and done in it, with its attachments"),
                tr("What was offloaded from it into the workspace"),
            ],
            kept=[tr("The workspace's own files, also those the agent wrote")],
        )
        if go:
            self.model.purge(keys)

    async def close_tasks(self) -> None:
        await self._tasks.close()
        await self.model.close()
