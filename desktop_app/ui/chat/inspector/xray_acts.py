"""What can be done about a tile of the X-ray: which actions it has, and doing them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal

from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets.base import Text

from .xray_nodes import Node


@dataclass(frozen=True, slots=True)
class TileAct:
    """``why`` is not empty when it cannot be done now, and says so."""

    id: str
    glyph: str
    text: Text
    run: Callable[[], object]
    why: str = ""


def _server_off() -> str:
    return tr("Switch the server off")


def _show_tools() -> str:
    return tr("Show tools and skills")


def _tool_off() -> str:
    return tr("Disable tool")


def _skill_off() -> str:
    return tr("Unload skill")


def _offload() -> str:
    return tr("Offload now")


def _drop_image() -> str:
    return tr("Drop image")


def _pin() -> str:
    return tr("Pin")


def _unpin() -> str:
    return tr("Unpin")


def _show() -> str:
    return tr("Show in chat")


class XrayActs(QObject):
    """Knows the session, and what of its context can be changed.

    ``showRequested(ref)``: bring it into view in the chat; ``tabRequested(tab)``: another panel
    of the inspector has what is wanted; ``toolsChanged``: the lists there are old;
    ``failed(code, params)``."""

    showRequested = Signal(str)
    tabRequested = Signal(str)
    toolsChanged = Signal()
    failed = Signal(str, dict)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._vm: ChatViewModel | None = None
        self._sources = ChatSources()
        self._tasks = Tasks(self._crashed)

    def bind(self, vm: ChatViewModel | None, sources: ChatSources) -> None:
        self._vm, self._sources = vm, sources

    def of(self, node: Node) -> list[TileAct]:
        """What can be done about ``node``, the most wanted first."""
        vm = self._vm
        if vm is None:
            return []
        why = "" if vm.writable else tr("This session can only be read")
        made = self._changing(node, vm, why)
        if node.item is not None and node.category not in ("system", "tools", "mcp", "skills"):
            made += self._looking(node.item.ref, vm)
        return made

    def _changing(self, node: Node, vm: ChatViewModel, why: str) -> list[TileAct]:
        category, ref = node.category, node.item.ref if node.item is not None else ""
        server = node.key.partition("group:mcp:")[2]
        group = node.item.group if node.item is not None else ""
        skill = group.partition("skill:")[2]
        if skill and category == "skills":
            return [TileAct("off", "book-x", _skill_off, lambda: self._unload(skill), why)]
        match category:
            case "mcp" if server and self._sources.mcp is not None:
                return [TileAct("off", "plug", _server_off, lambda: self._server_off(server), why)]
            case "mcp" if ref and self._sources.mcp is not None:
                return [TileAct("off", "circle-off", _tool_off, lambda: self._mcp_off(ref), why)]
            case "tools" if ref:
                act = TileAct("off", "circle-off", _tool_off, lambda: self._own_off(ref), why)
                return [act, self._tab("tools", _show_tools)]
            case "skills" | "tools":
                return [self._tab("tools", _show_tools)]
            case "ledger":
                return [self._tab("compactions", lambda: tr("Show compactions"))]
            case "result" | "images" | "user" | "assistant" if ref:
                return self._of_content(category, ref, vm, why)
            case _:
                return []

    def _of_content(self, category: str, ref: str, vm: ChatViewModel, why: str) -> list[TileAct]:
        """A part of the conversation: taken out now, or kept through every compaction."""
        made: list[TileAct] = []
        item = vm.item(vm.row_of(ref) or "")
        pinned = bool(getattr(item, "pin", False))
        busy = why or (tr("The agent is at work; stop it or wait") if vm.busy else "")
        kept = busy or (tr("It is pinned") if pinned else "")
        if category == "result":
            out = partial(vm.offload_now, ref)
            made.append(TileAct("offload", "archive", _offload, out, kept))
        elif category == "images":
            out = partial(vm.drop_image, ref)
            made.append(TileAct("image", "image-off", _drop_image, out, kept))
        text = _unpin if pinned else _pin
        made.append(TileAct("pin", "pin", text, lambda: vm.pin(ref, not pinned), why))
        return made

    def _tab(self, tab: str, text: Text) -> TileAct:
        return TileAct("tab", "panel-right", text, lambda: self.tabRequested.emit(tab))

    def _looking(self, ref: str, vm: ChatViewModel) -> list[TileAct]:
        why = "" if vm.row_of(ref) is not None else tr("This is not a part of the conversation")
        return [TileAct("show", "eye", _show, lambda: self.showRequested.emit(ref), why)]

    # -- doing --------------------------------------------------------------------------------

    def _server_off(self, name: str) -> None:
        if (mcp := self._sources.mcp) is not None:
            self._start(mcp.set_enabled(name, False), "server off")

    def _own_off(self, name: str) -> None:
        self._start(self._sources.set_tool(name, False), "tool off")

    def _mcp_off(self, name: str) -> None:
        if (mcp := self._sources.mcp) is None:
            return

        async def work() -> None:
            for server in await mcp.servers():
                for tool in server.tools:
                    if tool.name == name:
                        await mcp.set_tool_enabled(server.name, tool.remote.name, False)

        self._start(work(), "tool off")

    def _unload(self, name: str) -> None:
        sources, vm = self._sources, self._vm

        async def work() -> None:
            for skill in await sources.skills():
                if skill.name == name:
                    await sources.set_skill(skill.folder, False)
            if vm is not None and vm.conversation is not None:
                await vm.conversation.recount()

        self._start(work(), "skill off")

    def _start(self, work: Awaitable[object], name: str) -> None:
        async def guarded() -> None:
            try:
                await work
            except SlipwayError as error:
                self.failed.emit(error.code, error.params)
            self.toolsChanged.emit()

        self._tasks.start(guarded(), name=name)

    def _crashed(self, name: str, error: BaseException) -> None:
        self.failed.emit("run.crashed", {"error": type(error).__name__, "detail": str(error)[:500]})

    async def close_tasks(self) -> None:
        await self._tasks.close()
