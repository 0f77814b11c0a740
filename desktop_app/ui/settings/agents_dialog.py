"""The agents: who they are, made, changed, copied and removed by the person."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from desktop_app.core.agents import DEFAULT_AGENT, AgentEntry, Agents
from desktop_app.core.errors import SlipwayError
from desktop_app.core.tasks import Tasks
from desktop_app.ui.bridge import confirm, confirm_unsaved
from desktop_app.ui.errors import describe_error
from desktop_app.ui.i18n import sentences, tr
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Button, Choice, Field, Label, Role, RowList
from desktop_app.ui.widgets.base import Text, follow
from desktop_app.ui.widgets.dialogs import Dialog

_ID = int(Qt.ItemDataRole.UserRole) + 1


@dataclass(frozen=True, slots=True)
class _Draft:
    """What the fields hold of one agent."""

    name: str
    instructions: str
    model: str
    mode: str

    @classmethod
    def of(cls, one: AgentEntry) -> _Draft:
        return cls(one.name, one.instructions, one.model, one.mode)


class AgentsDialog(Dialog):
    """``changed``: the list is another one now. ``models`` and ``modes`` are what can be chosen, by
    id with their words. What was typed and not saved stays while the dialog is open, whichever
    agent is looked at, and closing it asks."""

    changed = Signal()
    _built = False

    def __init__(
        self,
        parent: QWidget | None,
        agents: Agents,
        models: Sequence[tuple[str, str]],
        modes: Sequence[tuple[str, Text]],
    ) -> None:
        super().__init__(parent, lambda: tr("Agents"), width=820, tall=True)
        self._agents = agents
        self._tasks = Tasks(lambda _name, error: self._show_error(error))
        self._drafts: dict[str, _Draft] = {}  # by agent; "" is one that is new
        self._current = DEFAULT_AGENT
        self._filling = False
        self._models, self._modes = list(models), list(modes)
        self._build()
        self._built = True
        self.retranslate()
        self._fill(DEFAULT_AGENT)

    # -- building --------------------------------------------------------------------------------

    def _build(self) -> None:
        row = QHBoxLayout()
        follow(row, setSpacing=16)
        left = QVBoxLayout()
        follow(left, setSpacing=8)
        self.items = QStandardItemModel(self)
        self.view = RowList(self.items)
        follow(self.view, setFixedWidth=230)
        self.view.selectionModel().currentChanged.connect(lambda now, _old: self._chose(now))
        left.addWidget(self.view, 1)
        self.add = Button(lambda: tr("New agent"), glyph="plus")
        self.add.clicked.connect(lambda: self._new())
        self.copy = Button(lambda: tr("Duplicate"), variant="ghost", glyph="copy")
        self.copy.clicked.connect(lambda: self._duplicate())
        below = QHBoxLayout()
        below.addWidget(self.add)
        below.addWidget(self.copy)
        below.addStretch(1)
        left.addLayout(below)
        row.addLayout(left)
        row.addLayout(self._form(), 1)
        self.body.addLayout(row, 1)
        self.remove = Button(lambda: tr("Remove"), variant="danger")
        self.add_button(self.remove, run=lambda: self._work(self._remove()))
        self.add_button(Button(lambda: tr("Close")), run=self.reject)
        self.save = Button(lambda: tr("Save"), variant="primary")
        self.add_button(self.save, run=lambda: self._work(self._save()))

    def _form(self) -> QVBoxLayout:
        px = theme().px
        column = QVBoxLayout()
        follow(column, setSpacing=6)
        self.name = Field(lambda: tr("Name"), placeholder=lambda: tr("Code reviewer"))
        self.instructions = QPlainTextEdit()
        self.instructions.setTabChangesFocus(True)
        self.model = Choice(lambda: tr("Model"))
        self.mode = Choice(lambda: tr("Permissions"))
        pairs: list[tuple[Text, QWidget]] = [
            (lambda: tr("Name"), self.name),
            (lambda: tr("Instructions, added to the built-in ones"), self.instructions),
            (lambda: tr("Model that its sessions begin with"), self.model),
            (lambda: tr("Permissions that its sessions begin with"), self.mode),
        ]
        for words, widget in pairs:
            label = Label(words, role="small", tone="muted")
            label.setBuddy(widget)
            column.addWidget(label)
            column.addWidget(widget, 1 if widget is self.instructions else 0)
            column.addSpacing(px(4))
        self.told = Label("", role="small", tone="muted", wrap=True)
        follow(self.told, setMinimumHeight=36)
        self.told.setAlignment(Qt.AlignmentFlag.AlignTop)
        column.addWidget(self.told)
        self.name.edit.textChanged.connect(lambda _text: self._edited())
        self.instructions.textChanged.connect(self._edited)
        self.model.chosen.connect(lambda _id: self._edited())
        self.mode.chosen.connect(lambda _id: self._edited())
        return column

    def sizeHint(self) -> QSize:
        return QSize(theme().px(820), theme().px(560)).boundedTo(self.room())

    def retranslate(self) -> None:
        super().retranslate()
        if self._built:
            self.view.setAccessibleName(tr("Agents"))
            self.instructions.setAccessibleName(tr("Instructions, added to the built-in ones"))
            self.instructions.setPlaceholderText(
                tr("What it is for, how it works and writes, what it must not do.")
            )

    # -- what is shown ---------------------------------------------------------------------------

    def _entries(self) -> list[AgentEntry]:
        return [self._agents.get(DEFAULT_AGENT), *self._agents.others()]

    def _detail(self, one: AgentEntry) -> str:
        if one.id == DEFAULT_AGENT:
            return tr("Built in")
        if one.id in self._drafts:
            return tr("Not saved yet")
        if not one.made:
            return tr("Known from sessions")
        return dict(self._models).get(one.model, "") or tr("The model for all")

    def _fill(self, chosen: str) -> None:
        """The list anew, with one of it chosen."""
        self._filling = True
        self.items.clear()
        entries = self._entries()
        if "" in self._drafts:
            entries.append(AgentEntry("", self._drafts[""].name or tr("New agent")))
        at = 0
        for place, one in enumerate(entries):
            item = QStandardItem(tr("Assistant") if one.id == DEFAULT_AGENT else one.name)
            item.setData(one.id, _ID)
            item.setData("bot", Role.ICON)
            item.setData(self._detail(one), Role.DETAIL)
            self.items.appendRow(item)
            at = place if one.id == chosen else at
        self.view.setCurrentIndex(self.items.index(at, 0))
        self._filling = False
        self._show(str(self.items.item(at).data(_ID)))

    def _chose(self, index: Any) -> None:
        if not self._filling and index.isValid():
            self._show(str(index.data(_ID)))

    def _kept(self, agent_id: str) -> _Draft:
        if not agent_id:
            return _Draft("", "", "", "")
        return _Draft.of(self._agents.get(agent_id))

    def _show(self, agent_id: str) -> None:
        self._filling, self._current = True, agent_id
        draft = self._drafts.get(agent_id) or self._kept(agent_id)
        builtin = agent_id == DEFAULT_AGENT
        self.name.edit.setText(tr("Assistant") if builtin else draft.name)
        self.instructions.setPlainText(draft.instructions)
        known = dict(self._models)
        gone = [(draft.model, draft.model)] if draft.model and draft.model not in known else []
        models: list[tuple[str, Text]] = [("", lambda: tr("The model for all"))]
        self.model.set_choices([*models, *self._models, *gone], draft.model)
        usual: list[tuple[str, Text]] = [("", lambda: tr("As usual"))]
        self.mode.set_choices([*usual, *self._modes], draft.mode)
        for widget in (self.name, self.instructions, self.model, self.mode):
            widget.setEnabled(not builtin)
        self.copy.setEnabled(bool(agent_id))
        made = bool(agent_id) and self._agents.get(agent_id).made
        self.remove.setEnabled(made or not agent_id)
        self.name.set_error("")
        self._filling = False
        self._say()

    def _say(self) -> None:
        """When a change takes effect; what the built-in one is."""
        self.save.setEnabled(self._current in self._drafts)
        self.told.set_tone("muted")
        if self._current == DEFAULT_AGENT:
            self.told.set_source(
                lambda: tr("It answers where no other agent was chosen. Its model is that for all.")
            )
        else:
            self.told.set_source(
                lambda: tr(
                    "Changes are for new sessions. Sessions that were begun go on with the name "
                    "and instructions they began with."
                )
            )

    def _edited(self) -> None:
        if self._filling or self._current == DEFAULT_AGENT:
            return
        draft = _Draft(
            self.name.text(),
            self.instructions.toPlainText(),
            self.model.value(),
            self.mode.value(),
        )
        if self._current and draft == self._kept(self._current):
            self._drafts.pop(self._current, None)
        else:
            self._drafts[self._current] = draft
        item = self.items.item(self.view.currentIndex().row())
        if item is not None:
            item.setText(draft.name.strip() or tr("New agent"))
            entry = self._agents.get(self._current) if self._current else AgentEntry("", "")
            item.setData(self._detail(entry), Role.DETAIL)
        self.name.set_error("")
        self._say()

    # -- acts ------------------------------------------------------------------------------------

    def _new(self, draft: _Draft | None = None) -> None:
        if draft is not None or "" not in self._drafts:
            self._drafts[""] = draft or _Draft("", "", "", "")
        self._fill("")
        self.name.edit.setFocus()
        self.name.edit.selectAll()

    def _duplicate(self) -> None:
        """A new one with what this one has; nothing is kept before it is saved."""
        draft = self._drafts.get(self._current) or self._kept(self._current)
        name = tr("Copy of {name}", name=draft.name)
        self._new(_Draft(name, draft.instructions, draft.model, draft.mode))

    async def _save(self) -> None:
        agent_id = self._current
        draft = self._drafts.get(agent_id)
        if draft is None:
            return
        if agent_id:
            one = await self._agents.edit(
                agent_id,
                name=draft.name,
                instructions=draft.instructions,
                model=draft.model,
                mode=draft.mode,
            )
        else:
            one = await self._agents.make(
                draft.name, instructions=draft.instructions, model=draft.model, mode=draft.mode
            )
        self._drafts.pop(agent_id, None)
        self.changed.emit()
        self._fill(one.id)

    async def _remove(self) -> None:
        agent_id = self._current
        if agent_id:
            one = self._agents.get(agent_id)
            if not await confirm(
                self,
                title=tr("Remove the agent {name}?", name=one.name),
                text=tr("Its instructions are gone for new sessions."),
                action=tr("Remove"),
                danger=True,
                kept=[tr("Its sessions, which go on as they began")],
                lost=[tr("Its name, instructions, model and permissions here")],
            ):
                return
            await self._agents.remove(agent_id)
        self._drafts.pop(agent_id, None)
        self.changed.emit()
        self._fill(DEFAULT_AGENT)

    def _work(self, coro: Coroutine[Any, Any, None]) -> None:
        self._tasks.replace(self._guarded(coro), name="agents")

    async def _guarded(self, coro: Coroutine[Any, Any, None]) -> None:
        try:
            await coro
        except SlipwayError as error:
            self._show_error(error)

    def _show_error(self, error: BaseException) -> None:
        words = describe_error(error)
        said = sentences(words.reason, words.fix) or words.title
        if isinstance(error, SlipwayError) and error.code in ("agent.name", "agent.taken"):
            self.name.set_error(said)
            self.name.edit.setFocus()
        else:
            self.told.set_tone("danger")
            self.told.set_source(said)

    def reject(self) -> None:
        """What was not saved is given up only when the person says so."""
        if self._drafts:
            self._tasks.replace(self._ask(), name="close")
        else:
            super().reject()

    async def _ask(self) -> None:
        names = [draft.name.strip() or tr("New agent") for draft in self._drafts.values()]
        if await confirm_unsaved(self, names):
            self._drafts.clear()
            super().reject()

    async def close_tasks(self) -> None:
        await self._tasks.close()
