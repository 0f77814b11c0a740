"""A look into a whole result that was kept outside of the context."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_app.core.errors import SlipwayError
from desktop_app.core.workspaces.backend import Backend
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.dialogs import Dialog
from desktop_app.ui.widgets.labels import ElidedLabel, Label
from desktop_app.ui.widgets.texts import MonoText

from . import figures
from .foreign import ForeignBox, visible

PAGE_BYTES = 256 << 10
_LONG = 4000


def cut_lines(text: str) -> str:
    """``text`` with very long lines broken, so that laying it out stays quick."""
    return "\n".join(
        line[at : at + _LONG]
        for line in text.splitlines()
        for at in range(0, max(1, len(line)), _LONG)
    )


class OffloadDialog(Dialog):
    """Shows a file of the workspace page by page (256 KiB each); never more than a page is held."""

    def __init__(
        self, parent: QWidget | None, path: str, full: str, backend: Backend, *, local: bool
    ) -> None:
        super().__init__(parent, lambda: tr("Whole result"), width=760)
        self._backend, self._full = backend, full
        self.offset = 0
        self.total = 0
        self.body.addWidget(ElidedLabel(path, role="mono", tone="muted"))
        self.text = MonoText(margin=10)
        self.text.setReadOnly(True)
        self.text.setProperty("bare", True)
        self.text.setAccessibleName(tr("Whole result"))
        frame = ForeignBox(self.text)
        frame.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        follow(frame, setMinimumHeight=380)
        self.body.addWidget(frame, 1)
        self.where = Label("", role="caption", tone="faint")
        self.body.addWidget(self.where)
        self.back = Button(lambda: tr("Back"), glyph="chevron-left")
        self.more = Button(lambda: tr("Further"), glyph="chevron-right")
        self.aside(self.more)
        self.aside(self.back)
        if local:
            external = Button(lambda: tr("Open"), glyph="external-link")
            self.add_button(
                external, run=lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(full))
            )
        self.add_button(
            Button(lambda: tr("Close"), variant="primary"), run=self.accept, default=True
        )
        self.back.setEnabled(False)
        self.more.setEnabled(False)

    async def load(self, offset: int = 0) -> None:
        """Show the page that begins at byte ``offset``."""
        try:
            if not self.total:
                self.total = (await self._backend.stat(self._full)).size
            data = b""
            async for piece in self._backend.read(self._full, offset=offset, length=PAGE_BYTES):
                data += piece
        except SlipwayError as error:
            words = describe(error.code, error.params)
            self.text.setPlainText("\n".join((words.title, words.reason, words.fix)))
            return
        self.offset = offset
        text = data.decode("utf-8", "replace").replace("\t", "    ")
        self.text.setPlainText(cut_lines(visible(text)[0]))
        end = offset + len(data)
        self.where.set_source(
            tr(
                "{first}–{last} of {total}",
                first=figures.size(offset),
                last=figures.size(end),
                total=figures.size(self.total),
            )
        )
        self.back.setEnabled(offset > 0)
        self.more.setEnabled(end < self.total)
