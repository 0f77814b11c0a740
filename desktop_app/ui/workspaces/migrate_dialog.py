"""A workspace of an older layout is moved to the newer one: what changes, what is kept, how far."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.core.workspaces.mcp_file import Pair
from desktop_app.core.workspaces.migrate import Plan, Progress
from desktop_app.ui.errors import describe_error
from desktop_app.ui.i18n import sentences, tr, trn
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Button, Card, Check, Dialog, Field, Label, ProgressBar, figures
from desktop_app.ui.widgets.base import follow

SHOWN = 200  # sessions that can be chosen; a service with more gives servers in its own window


Work = Callable[[Sequence[Pair], Progress], Coroutine[Any, Any, str]]


class Stopped(Exception):
    """The person cancelled while the copy was made; nothing was changed."""


class MigrateDialog(Dialog):
    """``pairs()`` is who gets the MCP servers, by agent and session. ``work`` does it; the dialog
    stays until it is done, fails or is cancelled."""

    def __init__(
        self, parent: QWidget | None, *, name: str, plan: Plan, work: Work, tasks: Tasks
    ) -> None:
        super().__init__(parent, lambda: tr("Move to the newer layout"), width=560)
        self._plan, self._work, self._tasks = plan, work, tasks
        self._stop = threading.Event()
        self._running = False
        heading = Label(tr("Move {name} to the newer layout?", name=name), role="title", wrap=True)
        self.body.addWidget(heading)
        self.body.addWidget(
            Label(
                tr(
                    "AgentScope 2.0.7 and newer keeps skills for each agent and MCP servers for "
                    "each session. Older versions can no longer use the folder afterwards."
                ),
                wrap=True,
            )
        )
        self.body.addWidget(self._changes())
        self.boxes: list[Check] = []
        self.agent = Field(lambda: tr("Agent id in AgentScope"))
        self.agent.edit.setPlaceholderText(tr("Agent id in AgentScope"))
        if plan.servers and plan.sessions:
            self.body.addWidget(self._sessions())
        self.line = ProgressBar()
        self.line.hide()
        self.body.addWidget(self.line)
        self.problem = Label("", tone="danger", wrap=True)
        self.problem.hide()
        self.body.addWidget(self.problem)
        self.cancel = Button(lambda: tr("Cancel"))
        self.go = Button(lambda: tr("Back up and move"), variant="primary")
        self.add_button(self.cancel, run=self.reject, default=True)
        self.add_button(self.go, run=self._begin)
        self.cancel.setFocus(Qt.FocusReason.TabFocusReason)

    def _changes(self) -> QWidget:
        plan, card = self._plan, Card(fill="sunken")
        copy = tr("A complete copy is made first ({size}):", size=figures.size(plan.bytes))
        card.body.addWidget(Label(copy, role="small", tone="muted", wrap=True))
        card.body.addWidget(Label(plan.backup, role="mono", wrap=True, select=True))
        card.body.addWidget(
            Label(tr("A text in it says how to go back."), role="small", tone="muted", wrap=True)
        )
        what = [
            trn(
                "{n} skill moves into the template that each agent gets a copy of.",
                "{n} skills move into the template that each agent gets a copy of.",
                len(plan.skills),
            ),
            trn(
                "{n} MCP server is declared for Slipway's sessions, or for those chosen below.",
                "{n} MCP servers are declared for Slipway's sessions, or for those chosen below.",
                len(plan.servers),
            ),
            tr("Messages, results and images stay as they are."),
        ]
        for line in what:
            card.body.addWidget(Label(line, wrap=True))
        return card

    def _sessions(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        follow(column, setContentsMargins=(0, 0, 0, 0), setSpacing=6)
        column.addWidget(
            Label(lambda: tr("Sessions of AgentScope that get the servers"), tone="muted")
        )
        column.addWidget(self.agent)
        inner = QWidget()
        rows = QVBoxLayout(inner)
        rows.setContentsMargins(0, 0, 0, 0)
        for session_id in self._plan.sessions[:SHOWN]:
            box = Check(session_id.replace("&", "&&"))
            box.setEnabled(False)
            self.boxes.append(box)
            rows.addWidget(box)
        rows.addStretch(1)
        area = QScrollArea()
        area.setWidget(inner)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        inner.setAutoFillBackground(False)
        area.viewport().setAutoFillBackground(False)
        area.setFixedHeight(min(theme().px(140), inner.sizeHint().height() + theme().px(4)))
        column.addWidget(area)
        self.agent.edit.textChanged.connect(self._agent_named)
        return holder

    def _agent_named(self, text: str) -> None:
        for box in self.boxes:
            box.setEnabled(bool(text.strip()))

    def pairs(self) -> list[Pair]:
        agent = self.agent.text().strip()
        if not agent:
            return []
        chosen = zip(self._plan.sessions, self.boxes, strict=False)
        return [(agent, session_id) for session_id, box in chosen if box.isChecked()]

    # -- doing it ---------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._running = True
        self._stop.clear()
        self.problem.hide()
        self.line.set_share(0.0)
        self.line.show()
        self.go.setEnabled(False)
        self._tasks.start(self._do(), name="move a workspace to the newer layout")

    async def _do(self) -> None:
        loop, shown = asyncio.get_running_loop(), -1

        def progress(done: int, total: int) -> None:  # in a thread
            nonlocal shown
            if self._stop.is_set():
                raise Stopped
            percent = done * 100 // max(1, total)
            if percent != shown:
                shown = percent
                loop.call_soon_threadsafe(self.line.set_share, percent / 100)

        try:
            await self._work(self.pairs(), progress)
        except Stopped:
            self._running = False
            super().reject()
        except SlipwayError as error:
            words = describe_error(error)
            self.problem.set_source(sentences(words.reason, words.fix))
            self.problem.show()
            self._fit()
        else:
            self._running = False
            self.accept()
        finally:
            self._running = False
            self.line.hide()
            self.go.setEnabled(True)

    def _fit(self) -> None:
        """Take the height that what is said needs."""
        if (layout := self.layout()) is not None:
            self.resize(self.width(), layout.totalHeightForWidth(self.width()))

    def reject(self) -> None:
        """While the copy is made this ends it; what was decided is brought to its end."""
        if self._running:
            self._stop.set()
        else:
            super().reject()
