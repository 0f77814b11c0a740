"""The person's models: listed, added, tried, removed; which one new sessions begin with."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.agents import AgentEntry, Agents
from desktop_app.core.errors import ModelError, SlipwayError
from desktop_app.core.models.definitions import ModelDefinition
from desktop_app.core.models.discovery import Found
from desktop_app.core.models.library import ModelLibrary
from desktop_app.core.models.providers import BY_ID, host_of
from desktop_app.core.models.registry import DEFAULT_MODEL
from desktop_app.core.tasks import Tasks
from desktop_app.ui.bridge import confirm, confirm_unsaved
from desktop_app.ui.errors import action_label, describe, describe_error
from desktop_app.ui.i18n import sentences, tr, trn
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Button, Label, Role, RowList, Switch, figures
from desktop_app.ui.widgets.base import follow
from desktop_app.ui.widgets.dialogs import Dialog

from .agents_menu import AgentsMenu
from .key_note import key_note
from .models_form import Entered, ModelForm

_ASKS = ("list", "look up", "try", "discover", "key")
Work = Callable[[], Coroutine[Any, Any, None]]
_DEFINITION = int(Qt.ItemDataRole.UserRole) + 1


class ModelsDialog(Dialog):
    """``defaultChosen(id)``: new sessions begin with this model. ``modelsChanged``: the list is
    another one now. ``networkWanted``: proxies and certificates. ``current`` is the id of the
    default; with more ``agents`` than that one each may have a model of its own."""

    defaultChosen = Signal(str)
    networkWanted = Signal()
    trustWanted = Signal(str, dict)  # of a certificate: the error's code and parameters
    modelsChanged = Signal()
    agentsWanted = Signal()
    keysWanted = Signal()

    def __init__(
        self,
        parent: QWidget | None,
        library: ModelLibrary,
        current: str = "",
        agents: Agents | None = None,
    ) -> None:
        super().__init__(parent, lambda: tr("Models"), width=820, tall=True)
        self.library = library
        self._default = current
        self._agents = agents
        self._tasks = Tasks(self._failed)
        self._doubt: tuple[str, dict[str, Any]] | None = None
        self._note: Callable[[], str] = lambda: ""
        self.form = ModelForm()
        self._build()
        self._closed = self._filling = False
        self._drafts: dict[str, Entered] = {}  # what was changed and not saved, by model
        self._shown, self._as_it_is = "", self.form.entered()
        self._noted = ""  # the service whose key the line below the field is about
        self._found: list[Found] = []
        self.form.listWanted.connect(lambda: self._ask("list", self._list_models))
        self.form.modelChosen.connect(
            lambda p, m: self._ask("look up", lambda: self._look_up(p, m))
        )
        self.form.keysWanted.connect(self.keysWanted.emit)
        self.form.changed.connect(self._service_typed)
        self.finished.connect(self._end)
        self._fill()
        self._select(self.library.models[0].id if self.library.models else "")
        self._problem()
        self._ask("discover", self._discover)

    def _end(self) -> None:
        """What only asks is given up; what saves goes on."""
        self._closed = True
        for name in _ASKS:
            self._tasks.cancel(name)

    # -- building ------------------------------------------------------------------------------

    def _build(self) -> None:
        row = QHBoxLayout()
        follow(row, setSpacing=16)
        row.addLayout(self._list())
        row.addLayout(self._chosen_one(), 1)
        self.body.addLayout(row, 1)
        self._add_foot()

    def _list(self) -> QVBoxLayout:
        """The models, and a new one."""
        left = QVBoxLayout()
        follow(left, setSpacing=8)
        self.items = QStandardItemModel(self)
        self.view = RowList(self.items)
        self.view.setAccessibleName(tr("Models"))
        follow(self.view, setFixedWidth=250)
        self.view.selectionModel().currentChanged.connect(lambda *_: self._selected())
        left.addWidget(self.view, 1)
        self.add = Button(lambda: tr("Add a model"), glyph="plus")
        self.add.clicked.connect(lambda: self._select(""))
        left.addWidget(self.add)
        return left

    def _chosen_one(self) -> QVBoxLayout:
        """Its form, a try, and who uses it."""
        right = QVBoxLayout()
        follow(right, setSpacing=10)
        right.addWidget(self.form)
        line = QHBoxLayout()
        follow(line, setSpacing=8)
        self.attempt = Button(lambda: tr("Try"), glyph="play")
        self.attempt.clicked.connect(lambda: self._ask("try", self._try))
        self.first = Button(lambda: tr("Use for new sessions"), variant="ghost")
        self.first.clicked.connect(self._make_default)
        self.menu = AgentsMenu(self.first)
        self.menu.everybody.connect(self._make_default)
        self.menu.agent.connect(lambda agent, model: self._work(lambda: self._give(agent, model)))
        self.menu.aboutToShow.connect(self._fill_menu)
        self.agents_changed()
        line.addWidget(self.attempt)
        line.addWidget(self.first)
        line.addStretch(1)
        right.addLayout(line)
        self.told = Label("", role="small", tone="muted", wrap=True, select=True)
        follow(self.told, setMinimumHeight=34)
        right.addWidget(self.told)
        self.trust = Button(lambda: action_label("trust_certificate"), glyph="shield-check")
        self.trust.clicked.connect(lambda: self._doubt and self.trustWanted.emit(*self._doubt))
        self.trust.setVisible(False)
        right.addWidget(self.trust)
        right.addStretch(1)
        return right

    def _add_foot(self) -> None:
        self.discover = Switch(lambda: tr("Look for model servers on this computer"))
        self.discover.setChecked(self.library.file.discover)
        self.discover.toggled.connect(lambda on: self._work(lambda: self._set_discover(on)))
        self.network = Button(lambda: tr("Network…"), glyph="globe", variant="ghost")
        self.network.clicked.connect(self.networkWanted.emit)
        if self._agents is not None:
            self.agents = Button(lambda: tr("Agents…"), glyph="bot", variant="ghost")
            self.agents.clicked.connect(self.agentsWanted.emit)
            self.aside(self.agents)
        self.aside(self.network)
        self.aside(self.discover)
        self.remove = Button(lambda: tr("Remove"), variant="danger")
        self.add_button(self.remove, run=lambda: self._work(self._remove))
        self.add_button(Button(lambda: tr("Close")), run=lambda: self._leave(self.accept))
        self.save = Button(lambda: tr("Save"), variant="primary")
        self.add_button(self.save, run=lambda: self._work(self._save), default=True)

    def sizeHint(self) -> QSize:
        return QSize(theme().px(820), theme().px(660)).boundedTo(self.room())

    def retranslate(self) -> None:
        super().retranslate()
        if hasattr(self, "items"):
            self._fill(keep=True)
            self.told.set_source(self._note())

    # -- the list ------------------------------------------------------------------------------

    def _fill(self, *, keep: bool = False, found: list[Found] | None = None) -> None:
        chosen = self.chosen() if keep else None
        self._filling = True  # what is written in the fields stays
        self._found = self._found if found is None else found
        self.items.clear()
        for one in self.library.models:
            names = [BY_ID[one.provider].name]
            names += [a.name for a in self._others() if a.model == one.id]
            self._item(one, " · ".join(names), default=one.id == self._default)
        known = {(m.base, m.model) for m in self.library.models}
        for server in self._found:
            for model in server.models:
                if (server.address, model) not in known:
                    detail = tr("found at {host}", host=host_of(server.address))
                    self._item(_offered(server, model), detail)
        if chosen is not None and chosen.id:
            self._select(chosen.id, quiet=True)
        self._filling = False

    def _item(self, one: ModelDefinition, detail: str, *, default: bool = False) -> None:
        item = QStandardItem(one.name)
        item.setData(one, _DEFINITION)
        item.setData(detail, Role.DETAIL)
        item.setData("cpu" if one.id else "plus", Role.ICON)
        item.setData(f"{one.name}, {detail}", Qt.ItemDataRole.AccessibleTextRole)
        if default:
            item.setData((tr("Default"), "info", None), Role.BADGE)
        self.items.appendRow(item)

    def chosen(self) -> ModelDefinition | None:
        """The definition of the row that is chosen; None while a new one is written."""
        return self.view.currentIndex().data(_DEFINITION)

    def _select(self, model_id: str, *, quiet: bool = False) -> None:
        """Choose a row; an empty id begins a new model."""
        for row in range(self.items.rowCount()):
            index = self.items.index(row, 0)
            if model_id and index.data(_DEFINITION).id == model_id:
                self.view.setCurrentIndex(index)
                return
        self.view.clearSelection()
        self.view.selectionModel().clearCurrentIndex()
        if not quiet:
            self._selected()
            self.form.provider.setFocus()

    def _selected(self) -> None:
        if self._filling:
            return
        self._stow()
        one = self.chosen() or ModelDefinition("", "openai", "", "", images=True)
        others = [(m.id, m.name) for m in self.library.models if m.id != one.id]
        self.form.show_model(one, [*others, ("guide", "Guide")], key_note="")
        self._shown, self._as_it_is = _draft_of(one), self.form.entered()
        if (draft := self._drafts.get(self._shown)) is not None:
            self.form.enter(draft)
        kept = bool(one.id)
        self.remove.setVisible(kept)
        self.first.setVisible(kept)
        self.first.setEnabled(one.id != self._default or bool(self._others()))
        self._say(lambda: "")
        self._noted = one.service
        self._ask("key", lambda: self._note_key(one))

    def _service_typed(self) -> None:
        """Another provider or address: is there a key for it already?"""
        one = self.chosen() or ModelDefinition("", "openai", "", "")
        typed = self.form.typed_service(one)
        if typed is not None and typed.service != self._noted:
            self._noted = typed.service
            self._ask("key", lambda: self._note_key(typed))

    def _stow(self) -> None:
        """Keep what was changed of the model that is shown, until it is saved or given up."""
        entered = self.form.entered()
        if entered == self._as_it_is:
            self._drafts.pop(self._shown, None)
        else:
            self._drafts[self._shown] = entered

    def reject(self) -> None:
        """What was not saved is given up only when the person says so."""
        self._leave(super().reject)

    def _leave(self, close: Callable[[], None]) -> None:
        self._stow()
        if self._drafts:
            self._tasks.replace(self._ask_to_leave(close), name="close")
        else:
            close()

    async def _ask_to_leave(self, close: Callable[[], None]) -> None:
        known = {_draft_of(m): m.name for m in self.library.models}
        names = [known.get(name) or tr("a new model") for name in self._drafts]
        if await confirm_unsaved(self, names):
            self._drafts.clear()
            close()

    async def _note_key(self, one: ModelDefinition) -> None:
        words, params = await key_note(self.library.secrets, one)
        self.form.key_note.set_source(lambda: tr(words, **params))

    # -- acts ----------------------------------------------------------------------------------

    def _work(self, work: Work) -> None:
        """Run an act; what fails is said below the fields."""
        self._tasks.start(self._told(work), name="models")

    def _ask(self, name: str, work: Work) -> None:
        """The same, for what changes nothing: a newer one takes the place of an older, which then
        may never have begun."""
        self._tasks.replace(self._told(work), name=name)

    async def _told(self, work: Work) -> None:
        try:
            await work()
        except SlipwayError as error:
            if not self._closed:
                self._show_error(error)

    def _failed(self, _name: str, error: BaseException) -> None:
        if not self._closed:
            self._show_error(error)

    def _show_error(self, error: BaseException) -> None:
        self._doubt = None
        if isinstance(error, ModelError) and error.params.get("seen"):
            self._doubt = (error.code, error.params)

        def words() -> str:
            said = describe_error(error)
            return sentences(said.title, said.reason, said.fix)

        self._say(words, "danger")
        self.trust.setVisible(self._doubt is not None)

    def keys_changed(self) -> None:
        """Keys may lie elsewhere now."""
        one = self.chosen() or ModelDefinition("", "openai", "", "", images=True)
        self._noted = one.service
        self._ask("key", lambda: self._note_key(one))

    def again(self) -> None:
        """Try the model once more."""
        self._ask("try", self._try)

    def _say(self, words: Callable[[], str], tone: Any = "muted") -> None:
        self._note = words
        self.trust.setVisible(False)
        self.told.set_tone(tone)
        self.told.set_source(words())

    def _problem(self) -> None:
        """A file that could not be read, entries that do not fit: said at once."""
        file = self.library.file
        if (problem := file.problem) is not None:
            words = describe(problem.code, problem.params)
            self._say(lambda: f"{words.title}. {words.reason} {words.fix}", "warning")
        elif file.invalid:
            names = ", ".join(f"{name} ({why})" for name, why in file.invalid)
            self._say(lambda: tr("Left out of the list: {names}", names=names), "warning")

    async def _save(self) -> None:
        one = self.form.definition()
        if one is None:
            return
        first = not self.library.models and self._default in ("", DEFAULT_MODEL)
        others = [
            m.name for m in self.library.models if m.service == one.service and m.id != one.id
        ]
        shared = ", ".join(others) if self.form.key.text().strip() else ""
        kept, place = await self.library.put(one, self.form.key.text().strip())
        if self._closed:
            return
        self._drafts.pop(self._shown, None)
        self._as_it_is = self.form.entered()
        self._fill()
        self._select(kept.id)
        self.modelsChanged.emit()
        if first:
            self._make_default()  # whoever adds the first one means to use it
        also = tr("New sessions begin with {name}.", name=kept.name) if first else ""
        if shared:
            also = tr("Its key is also that of {names}: one for each service.", names=shared)
        if place == "session":
            self._say_session(
                lambda: sentences(tr("Saved. The key lasts until the program ends."), also)
            )
        else:
            self._say(lambda: sentences(tr("Saved."), also), "success")

    def _say_session(self, words: Callable[[], str]) -> None:
        """What is kept for this run only, and why the key file did not take it."""
        trouble = self.library.secrets.trouble

        def said() -> str:
            if trouble is None:
                return words()
            why = describe_error(trouble)
            return sentences(words(), why.reason, why.fix)

        self._say(said, "warning")

    def keep(self, name: str, secret: str) -> None:
        """Put a proxy's password into the keyring."""
        self._work(lambda: self._keep(name, secret))

    async def _keep(self, name: str, secret: str) -> None:
        if await self.library.secrets.put(name, secret) == "session" and not self._closed:
            self._say_session(lambda: tr("The password lasts until the program ends."))

    async def _remove(self) -> None:
        one = self.chosen()
        if one is None or not await confirm(
            self,
            title=tr("Remove the model {name}?", name=one.name),
            text=tr("Sessions that use it ask for another one."),
            action=tr("Remove"),
            danger=True,
            lost=[tr("What is set for it here, and its key if no other model needs it")],
        ):
            return
        await self.library.remove(one.id)
        if self._closed:
            return
        self._drafts.pop(self._shown, None)
        self._as_it_is = self.form.entered()
        self._fill()
        self._select(self.library.models[0].id if self.library.models else "")
        if one.id == self._default:
            self._default = ""
            self.defaultChosen.emit("")
        self.modelsChanged.emit()
        self._say(lambda: tr("“{name}” was removed.", name=one.name))

    async def _try(self) -> None:
        one = self.form.definition()
        if one is None:
            return
        self._say(lambda: tr("Asking “{name}”…", name=one.name or one.model))
        trial = await self.library.try_out(one, self.form.key.text().strip())
        self._say(
            lambda: tr(
                "First word after {first}, whole answer after {seconds}: {answer}",
                first=figures.duration(trial.first),
                seconds=figures.duration(trial.seconds),
                answer=trial.text or tr("(no text)"),
            ),
            "success",
        )

    async def _list_models(self) -> None:
        one = self.form.definition_for_list()
        if one is None:
            return
        self._say(lambda: tr("Asking for the list…"))
        listed = await self.library.list_models(one, self.form.key.text().strip())
        self._say(lambda: trn("{n} model", "{n} models", len(listed)))
        self.form.show_list(listed)

    async def _look_up(self, provider: str, model: str) -> None:
        self.form.show_known(model, await self.library.known(provider, model))

    async def _discover(self) -> None:
        found = await self.library.found()
        if found != self._found:
            self._fill(keep=True, found=found)

    async def _set_discover(self, on: bool) -> None:
        try:
            await self.library.set_discover(on)
        except SlipwayError:
            self.discover.setChecked(self.library.file.discover)
            raise
        if not self._closed:
            self._ask("discover", self._discover)

    def _make_default(self) -> None:
        one = self.chosen()
        if one is not None and one.id:
            self._default = one.id
            self.defaultChosen.emit(one.id)
            self._fill(keep=True)
            if self.first.hasFocus() and not self._others():
                self.view.setFocus()  # not wherever Qt puts it when the button goes
            self.first.setEnabled(bool(self._others()))

    def _others(self) -> list[AgentEntry]:
        return self._agents.others() if self._agents is not None else []

    def agents_changed(self) -> None:
        """There are other agents now."""
        if self._others() and self.first.menu() is None:
            self.first.setMenu(self.menu)

    def _fill_menu(self) -> None:
        one = self.chosen()
        self.menu.show_for(one.id if one is not None else "", self._default, self._others())

    async def _give(self, agent: str, model: str) -> None:
        """Make a model an agent's own, or not any more."""
        if self._agents is not None:
            await self._agents.set_model(agent, model)
            if not self._closed:
                self._fill(keep=True)


def _draft_of(one: ModelDefinition) -> str:
    """By what a draft is known: what is not kept yet has no id."""
    return one.id or f"{one.provider} {one.address} {one.model}"


def _offered(server: Found, model: str) -> ModelDefinition:
    """A definition for a model that was found on this computer."""
    window = server.windows.get(model)
    spec = BY_ID[server.provider]
    address = "" if server.address == spec.address else server.address
    if window is None:
        return ModelDefinition("", server.provider, model, model, address=address)
    return ModelDefinition(
        "", server.provider, model, model, address, window, "provider", min(window // 4, 8_192)
    )
