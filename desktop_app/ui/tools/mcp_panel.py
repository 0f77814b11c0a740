"""The MCP servers of a session or a workspace: how each is, its tools, adding and removing."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable

from PySide6.QtCore import QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from desktop_app.core.errors import SlipwayError
from desktop_app.core.mcp.manager import McpManager
from desktop_app.core.mcp.oauth import SignIn
from desktop_app.core.mcp.server import ServerView, ToolView
from desktop_app.core.mcp.tools import usable_schema
from desktop_app.core.tasks import Tasks
from desktop_app.ui.bridge import confirm, show
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import sentences, tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets.base import Live, follow
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.card import Act, EmptyState
from desktop_app.ui.widgets.labels import Label

from .add_server import AddServerDialog
from .costs import Costs
from .server_card import ServerCard
from .source import ServerSource

log = logging.getLogger(__name__)
QUIET_MS = 60  # changes that come together are shown together
MADE, DRAWN = 2, 8  # cards made and drawn anew (2.4 and 0.4 ms) before the loop gets its turn


class McpPanel(Live, QWidget):
    """``changed`` when the servers or what they cost moved; ``servers`` and ``tokens`` then say."""

    changed = Signal()
    trustWanted = Signal(str, dict, object)  # of a certificate: error, and what to do then

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sources = ServerSource()
        self._unlisten: Callable[[], None] | None = None
        self.costs: Callable[[], Costs] = Costs
        self._counted: dict[str, tuple[object, int]] = {}
        self._tasks = Tasks(self._failed)
        self._added = ""
        self.servers: list[ServerView] = []
        self.cards: list[ServerCard] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(QUIET_MS)
        self._timer.timeout.connect(self.refresh)
        self._more = QTimer(self)
        self._more.setSingleShot(True)
        self._more.timeout.connect(self._fill)
        self.error = Label("", role="small", tone="danger", wrap=True, select=True)
        self.note = Label("", role="small", tone="muted", wrap=True)
        self.add_button = Button(lambda: tr("Add server…"), glyph="plus", small=True)
        self.add_button.clicked.connect(self.add)
        act = Act("add", lambda: tr("Add server…"), glyph="plus")
        self.empty = EmptyState("plug", lambda: tr("No MCP servers"), self._why_empty, [act])
        self.empty.action.connect(lambda _: self.add())
        inside = QWidget()
        inside.setProperty("ground", "bg")
        self._column = QVBoxLayout(inside)
        follow(self._column, setContentsMargins=(12, 4, 12, 12), setSpacing=8)
        self._column.addWidget(self.error)
        self._column.addWidget(self.note)
        self._column.addWidget(self.add_button)
        self._column.addStretch(1)
        self.area = QScrollArea()
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setWidget(inside)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.area, 1)
        column.addWidget(self.empty, 1)
        self._fill()

    def _why_empty(self) -> str:
        if self._sources.starts:
            return tr("A server gives the agent further tools. It starts as soon as it is added.")
        return tr("A server gives the agent further tools. It starts with the next message.")

    @property
    def manager(self) -> McpManager | None:
        return self._sources.mcp

    def bind(self, sources: ServerSource) -> None:
        """Show another session's servers."""
        if self._unlisten is not None:
            self._unlisten()
            self._unlisten = None
        self._sources, self.servers, self._added = sources, [], ""
        self.error.set_source("")
        self.empty.text.retranslate()
        if sources.mcp is not None:
            self._unlisten = sources.mcp.listen(self._timer.start)
        self._fill()
        self.refresh()

    def refresh(self) -> None:
        """Ask for the servers again."""
        if self.manager is not None:
            self._tasks.replace(self._load(self.manager), name="servers")

    async def _load(self, manager: McpManager) -> None:
        servers = await manager.servers()
        if manager is self.manager:
            self.servers = servers
            self._fill()
            self.changed.emit()

    def tokens(self, tool: ToolView) -> int:
        """What a tool costs in every request, or would when it was in it (then estimated)."""
        if (used := self.costs().tool(tool.name)) is not None:
            return used
        known = self._counted.get(tool.name)
        if known is not None and known[0] is tool.remote:
            return known[1]
        schema = {
            "name": tool.name,
            "description": tool.remote.description,
            "parameters": usable_schema(tool.remote.schema),
        }
        count = self._sources.count or (lambda text: len(text) // 4)
        n = count(json.dumps(schema, ensure_ascii=False))
        self._counted[tool.name] = (tool.remote, n)
        return n

    def retranslate(self) -> None:
        if hasattr(self, "area"):
            self._fill()

    def _fill(self) -> None:
        some = bool(self.servers)
        self.area.setVisible(some)
        self.empty.setVisible(not some)
        self.error.setVisible(bool(self.error.text()))
        off = [g.name for g in self._sources.groups() if not g.active]
        self.note.set_source(
            tr("There are many tools: the agent switches servers on when it needs them.")
            if off
            else ""
        )
        self.note.setVisible(bool(off))
        while len(self.cards) > len(self.servers):
            self.cards.pop().deleteLater()
        for _ in self.servers[len(self.cards) :][:MADE]:
            card = ServerCard(self.tokens)
            card.enabled.connect(lambda name, on: self._do(lambda m: m.set_enabled(name, on)))
            card.toolEnabled.connect(
                lambda name, tool, on: self._do(lambda m: m.set_tool_enabled(name, tool, on))
            )
            card.restart.connect(self._restart)
            card.remove.connect(self._remove)
            card.signIn.connect(self._sign_in)
            card.trust.connect(self._trust)
            card.cancelSignIn.connect(lambda name: self._call(lambda m: m.cancel_sign_in(name)))
            card.split.connect(lambda name: self._do(lambda m: m.split_command(name)))
            card.signOut.connect(lambda name: self._do(lambda m: m.sign_out(name)))
            self.cards.append(card)
            self._column.insertWidget(len(self.cards) + 1, card)
        live, trusted = self._sources.writable, self._sources.trusted
        self.add_button.setEnabled(live)
        more, drawn = len(self.cards) < len(self.servers), 0
        for card, view in zip(self.cards, self.servers, strict=False):
            if drawn == DRAWN:
                more = True
                break
            drawn += card.show_view(view, trusted=trusted, live=live)
        if more:
            self._more.start()
        if self._added:
            QTimer.singleShot(0, self, self._reveal)

    def _reveal(self) -> None:
        """Bring the server that was just added into view, until it is known how it is."""
        for card, view in zip(self.cards, self.servers, strict=False):
            if view.name == self._added:
                self.area.ensureWidgetVisible(card, 0, theme().px(8))
                if view.status.state not in ("off", "starting") or not self._sources.starts:
                    self._added = ""
                return

    # -- what a person does -------------------------------------------------------------------

    def _do(self, change: Callable[[McpManager], Awaitable[None]]) -> None:
        if self.manager is not None:
            self._tasks.start(self._changing(self.manager, change), name="change servers")

    async def _changing(
        self, manager: McpManager, change: Callable[[McpManager], Awaitable[None]]
    ) -> None:
        try:
            await change(manager)
            self.error.set_source("")
            await self._sources.after()
        except SlipwayError as error:
            words = describe(error.code, error.params)
            self.error.set_source(sentences(words.title, words.reason, words.fix))
        await self._load(manager)

    def _call(self, change: Callable[[McpManager], None]) -> None:
        if self.manager is not None:
            try:
                change(self.manager)
            except KeyError:  # it went away between two looks
                self.refresh()

    def _restart(self, name: str) -> None:
        self._call(lambda m: m.restart(name))

    def _trust(self, name: str) -> None:
        for view in self.servers:
            if view.name == name:
                status = view.status
                self.trustWanted.emit(status.code, status.params, lambda: self._restart(name))

    def _sign_in(self, name: str) -> None:
        how = SignIn(self._browse, tr("You are signed in. You can close this page."))
        self._call(lambda m: m.sign_in(name, how))

    async def _browse(self, url: str) -> None:
        """The person pressed "Sign in": the page of the server's own choice is opened for it."""
        QDesktopServices.openUrl(QUrl(url))

    def _remove(self, name: str) -> None:
        self._tasks.start(self._ask_remove(name), name="remove server")

    async def _ask_remove(self, name: str) -> None:
        sure = await confirm(
            self.window(),
            title=tr("Remove the server “{name}”?", name=name),
            text=tr("Its entry, with its variables and headers, is taken out of .mcp."),
            action=tr("Remove"),
            danger=True,
        )
        if sure:
            self._do(lambda m: m.remove(name))

    def add(self) -> None:
        """Ask what to add, and add it."""
        if self.manager is not None and self._sources.writable:
            self._tasks.start(self._ask(self.manager), name="add server")

    async def _ask(self, manager: McpManager) -> None:
        names = [view.name for view in self.servers]
        sources = self._sources
        dialog = AddServerDialog(self.window(), names, scopes=sources.scopes, inside=sources.inside)
        accepted = await show(dialog, keep=True)
        server, scope = dialog.server(), dialog.scope()
        dialog.deleteLater()
        if accepted:
            self._added = server.name

            async def add(manager: McpManager) -> None:
                await manager.add(server, scope)
                if self._sources.starts:
                    await manager.start()

            await self._changing(manager, add)

    def _failed(self, name: str, error: BaseException) -> None:
        log.error("inspector task %s failed", name, exc_info=error)

    async def close_tasks(self) -> None:
        if self._unlisten is not None:
            self._unlisten()
            self._unlisten = None
        self._timer.stop()
        self._more.stop()
        await self._tasks.close()
