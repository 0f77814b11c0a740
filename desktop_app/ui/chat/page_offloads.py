"""The page's part about what a session offloaded: the list, and a look into one file."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtGui import QImage, QPixmap

from desktop_app.core.agent.offloads import Offload
from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.backend import Backend
from desktop_app.core.workspaces.elsewhere import SCHEME
from desktop_app.ui.bridge import show

from .offload_dialog import PAGE_BYTES, OffloadDialog
from .offloads_dialog import OffloadsDialog, readable

if TYPE_CHECKING:
    from .page import ChatPage


class PageOffloads:
    """Works in the page's ``tasks``; one dialog at a time."""

    def __init__(self, page: ChatPage, tasks: Tasks) -> None:
        self._page = page
        self._tasks = tasks

    def open(self, path: str = "") -> None:
        """All offloads of the session; the one that the agent knows as ``path`` is chosen."""
        self._tasks.replace(self._open(path), name="offloads")

    async def _open(self, path: str) -> None:
        vm = self._page.vm
        if vm is None or (conversation := vm.conversation) is None:
            return
        try:
            found = await conversation.offloads()
        except SlipwayError as error:
            self._page.failed(error.code, error.params)
            return
        name = next((kept.name for kept in found if path and path.endswith(kept.name)), "")

        async def read(kept: Offload) -> None:
            try:
                data = await conversation.offload_content(kept.id)
            except SlipwayError as error:
                dialog.show_error(error.code, error.params)
                return
            if kept.kind == "data":
                image = await asyncio.to_thread(QImage.fromData, data)
                if not image.isNull():
                    dialog.show_content("", QPixmap.fromImage(image))
                    return
            dialog.show_content(await asyncio.to_thread(readable, kept, data))

        def chosen(_name: str) -> None:
            if dialog.kept is not None:
                self._tasks.replace(read(dialog.kept), name="offload")

        dialog = OffloadsDialog(self._page, found, name)
        dialog.chosen.connect(chosen)
        chosen("")
        await show(dialog)
        self._tasks.cancel("offload")

    def look(self, path: str) -> None:
        """Look into the whole result that the agent knows as ``path``: its file where that can be
        read, else what the session itself keeps of it."""
        backend = self._page.sources.backend
        if backend is None or path.startswith(SCHEME):
            self.open(path)
        else:
            self._tasks.replace(self._look(backend, path), name="whole")

    async def _look(self, backend: Backend, path: str) -> None:
        full = path if path.startswith("/") else f"{backend.cwd.rstrip('/')}/{path}"
        try:
            await backend.stat(full)
        except SlipwayError:  # not delivered yet, moved, or its machine is gone
            self.open(path)
            return
        dialog = OffloadDialog(self._page, path, full, backend, local=self._page.sources.local)

        def turn(by: int) -> None:
            page = max(0, dialog.offset + by * PAGE_BYTES)
            self._tasks.replace(dialog.load(page), name="page")

        dialog.back.clicked.connect(lambda: turn(-1))
        dialog.more.clicked.connect(lambda: turn(1))
        self._tasks.replace(dialog.load(), name="page")
        await show(dialog)
        self._tasks.cancel("page")
