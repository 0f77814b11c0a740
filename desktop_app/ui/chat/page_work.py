"""What the page does that takes time or asks first: examples, export, links; ``offloads``."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from desktop_app.core.agent.request_shapes import Answered
from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.backend import Backend
from desktop_app.ui.bridge import confirm, show
from desktop_app.ui.i18n import tr

from .export import export_text, file_name
from .foreign import visible
from .page_offloads import PageOffloads
from .sources import example_prompts

if TYPE_CHECKING:
    from .page import ChatPage

_NAMES = 200  # entries of the folder that examples are drawn from
log = logging.getLogger(__name__)


class PageWork:
    """Owns the page's ``tasks``."""

    def __init__(self, page: ChatPage) -> None:
        self._page = page
        self.tasks = Tasks(self._failed)
        self.offloads = PageOffloads(page, self.tasks)

    def _failed(self, name: str, error: BaseException) -> None:
        log.error("chat page task %s failed", name, exc_info=error)
        self._page.notified.emit("danger", tr("Something went wrong"), str(error)[:300])

    async def close(self) -> None:
        await self.tasks.close()

    # -- examples ---------------------------------------------------------------------------

    def suggest_examples(self) -> None:
        """Three prompts that fit the folder, for a session with nothing in it."""
        self._page.empty.set_examples(example_prompts([]))
        backend = self._page.sources.backend
        if backend is not None:
            self.tasks.replace(self._suggest(backend), name="examples")

    async def _suggest(self, backend: Backend) -> None:
        names: list[str] = []
        try:
            async for batch in backend.scandir(backend.cwd):
                names += [f"{i.name}/" if i.kind == "dir" else i.name for i in batch]
                if len(names) >= _NAMES:
                    break
        except SlipwayError:
            return  # the folder says elsewhere why it cannot be read
        names.sort(key=str.casefold)
        if self._page.sources.backend is backend:
            self._page.empty.set_examples(example_prompts(names))

    # -- links ------------------------------------------------------------------------------

    def open_link(self, url: str) -> None:
        """Ask, showing the whole address, then open it."""
        self.tasks.start(self._open_link(url), name="link")

    async def _open_link(self, url: str) -> None:
        target = QUrl(url)
        if target.scheme() not in ("http", "https", "mailto"):
            return
        shown, marks = visible(url)
        text = tr("This opens outside of the program:\n{url}", url=shown)
        if marks:
            text += "\n" + tr("It contains characters that cannot be seen; they are marked.")
        if await confirm(self._page, title=tr("Open this link?"), text=text, action=tr("Open")):
            QDesktopServices.openUrl(target)

    def answer_request(self, request_id: str, answer: Answered) -> None:
        """Hand on what a person answered a server."""
        if self._page.vm is not None:
            self._page.vm.answer_request(request_id, answer)
            self._page.after_answer()

    def visit(self, url: str) -> None:
        """Open an address that a person has just agreed to, with it before their eyes."""
        target = QUrl(url)
        if target.scheme() in ("http", "https"):
            QDesktopServices.openUrl(target)

    # -- export -----------------------------------------------------------------------------

    def export(self) -> None:
        """Write the session as Markdown, after saying what the file holds."""
        self.tasks.replace(self._export(), name="export")

    async def _export(self) -> None:
        vm = self._page.vm
        if vm is None or vm.conversation is None:
            return
        go = await confirm(
            self._page,
            title=tr("Export this session"),
            text=tr(
                "The file holds everything that was said and done here, also passwords or keys "
                "that were pasted into the chat. Look through it before you hand it on."
            ),
            action=tr("Choose a file…"),
        )
        if not go:
            return
        dialog = QFileDialog(self._page, tr("Export as Markdown"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("md")
        dialog.setNameFilter("Markdown (*.md)")
        dialog.selectFile(file_name(vm.title))
        try:
            if not await show(dialog, keep=True) or not dialog.selectedFiles():
                return
            path = dialog.selectedFiles()[0]
        finally:
            dialog.deleteLater()
        await self.export_to(path)

    async def export_to(self, path: str) -> None:
        """Write the session to ``path``."""
        vm = self._page.vm
        if vm is None or vm.conversation is None:
            return
        try:
            text = await export_text(vm.conversation, vm.voice)
            await asyncio.to_thread(Path(path).write_text, text, "utf-8")
        except OSError as error:
            reason = error.strerror or str(error)
            self._page.notified.emit("danger", tr("The file could not be written"), reason)
        except SlipwayError as error:
            self._page.failed(error.code, error.params)
        else:
            self._page.notified.emit("success", tr("Exported"), path)
