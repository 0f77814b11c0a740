"""The models dialog over the real library, a real file and a local server."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit

from desktop_app.core.agents import Agents
from desktop_app.core.errors import SettingsError
from desktop_app.core.models.base import Price
from desktop_app.core.models.definitions import Definitions, ModelDefinition
from desktop_app.core.models.discovery import Found
from desktop_app.core.models.library import ModelLibrary
from desktop_app.core.models.network import Network
from desktop_app.core.models.process import ModelsProcess
from desktop_app.core.models.provider import Connections
from desktop_app.core.models.registry import Models
from desktop_app.core.secrets import Secrets
from desktop_app.core.sessions.appdb import AppDb
from desktop_app.core.sessions.base import SessionKey
from desktop_app.ui import i18n
from desktop_app.ui.settings.models_dialog import ModelsDialog
from desktop_app.ui.theme import theme as current
from desktop_app.ui.widgets import ConfirmDialog, Label, Role
from tests.helpers import providers as wire
from tests.helpers.providers import Server

KEY = "sk-test-0123456789abcdef"
HERE = Found("ollama", "http://127.0.0.1:11434/v1", ("llama3",), {})


@pytest.fixture
def library(
    tmp_path: Path, run: Callable[..., Any], models_process: ModelsProcess
) -> Iterator[ModelLibrary]:
    made = ModelLibrary(
        tmp_path / "models.json",
        Models(),
        secrets=Secrets(lambda: None),
        connections=Connections(Network(stall=5.0), models_process),
        find=lambda: [HERE],
    )
    run(made.load())
    yield made
    run(made.close())


@pytest.fixture
def dialog(qtbot: Any, library: ModelLibrary) -> ModelsDialog:
    made = ModelsDialog(None, library)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: made.items.rowCount() == 1)
    return made


def write(dialog: ModelsDialog, **fields: str) -> None:
    form = dialog.form
    for name, text in fields.items():
        edit = getattr(form, name).edit
        edit.setText(text)
        edit.textEdited.emit(text)


def choose(dialog: ModelsDialog, provider: str) -> None:
    control = dialog.form.provider
    control.set_value(provider)
    control.chosen.emit(provider)


def names(dialog: ModelsDialog) -> list[str]:
    return [dialog.items.item(n).text() for n in range(dialog.items.rowCount())]


def test_a_model_is_added_tried_made_default_and_removed(
    qtbot: Any, dialog: ModelsDialog, library: ModelLibrary, tmp_path: Path
) -> None:
    chosen: list[str] = []
    dialog.defaultChosen.connect(chosen.append)
    with Server(wire.chat("Hello there.")) as server:
        choose(dialog, "compatible")
        write(dialog, address=f"{server.url}/v1", model="m1", name="Mine", key=KEY)
        qtbot.mouseClick(dialog.attempt, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: "Hello there." in dialog.told.text(), timeout=20_000)
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert library.models == [], "trying keeps nothing"
    qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "Saved" in dialog.told.text())
    assert "lasts until the program ends" in dialog.told.text()
    assert names(dialog) == ["Mine", "llama3"]
    assert dialog.form.key.text() == "", "a key is never shown again"
    assert KEY not in (tmp_path / "models.json").read_text()
    assert chosen == ["compatible:m1"], "the first one is used at once"
    assert "New sessions begin with Mine." in dialog.told.text()
    assert not dialog.first.isEnabled()
    assert dialog.items.item(0).data(Role.BADGE)[0] == "Default"
    qtbot.mouseClick(dialog.remove, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: _question() is not None)
    question = _question()
    assert question is not None
    assert names(dialog) == ["Mine", "llama3"], "nothing goes before it was confirmed"
    question.accept()
    qtbot.waitUntil(lambda: names(dialog) == ["llama3"])
    assert chosen == ["compatible:m1", ""]
    assert Definitions.load(tmp_path / "models.json").models == []


def test_a_service_has_one_key_and_the_dialog_says_so(
    qtbot: Any, dialog: ModelsDialog, library: ModelLibrary
) -> None:
    address = "http://127.0.0.1:9/v1"
    for n, key in ((1, KEY), (2, KEY[::-1])):
        qtbot.mouseClick(dialog.add, Qt.MouseButton.LeftButton)
        choose(dialog, "compatible")
        write(dialog, model=f"m{n}", name=f"Model {n}", address=address)
        if n == 2:
            qtbot.waitUntil(lambda: dialog.form.key_note.text().startswith("A key is known"))
        write(dialog, key=key)
        qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda n=n: len(library.models) == n and "Saved" in dialog.told.text())
    assert "also that of Model 1" in dialog.told.text()


def _question() -> ConfirmDialog | None:
    shown = (w for w in QApplication.topLevelWidgets() if isinstance(w, ConfirmDialog))
    return next((w for w in shown if w.isVisible()), None)


def test_its_buttons_are_within_reach_on_a_low_screen(
    qtbot: Any, library: ModelLibrary, theme: Any
) -> None:
    theme.set_scale(200)
    dialog = ModelsDialog(None, library)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.height() <= dialog.room().height())
    assert dialog.save.mapTo(dialog, dialog.save.rect().bottomLeft()).y() < dialog.height()
    assert dialog.form.images.visibleRegion().isEmpty()
    dialog.form.fallback.setFocus()
    qtbot.keyClick(dialog.form.fallback, Qt.Key.Key_Tab)
    qtbot.waitUntil(lambda: not dialog.form.images.visibleRegion().isEmpty())


def test_what_was_typed_outlives_a_look_at_another_model(
    qtbot: Any, dialog: ModelsDialog, library: ModelLibrary, run: Any
) -> None:
    choose(dialog, "compatible")
    write(dialog, address="http://127.0.0.1:9/v1", model="m1", name="Mine")
    qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: names(dialog) == ["Mine", "llama3"])
    qtbot.mouseClick(dialog.add, Qt.MouseButton.LeftButton)
    choose(dialog, "anthropic")
    write(dialog, model="half a na", key=KEY)
    dialog.view.setCurrentIndex(dialog.items.index(0, 0))
    assert dialog.form.model.text() == "m1"
    qtbot.mouseClick(dialog.add, Qt.MouseButton.LeftButton)
    assert dialog.form.provider.value() == "anthropic"
    assert (dialog.form.model.text(), dialog.form.key.text()) == ("half a na", KEY)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: _question() is not None)
    question = _question()
    assert question is not None
    assert "a new model" in question.findChildren(Label)[1].text()
    question.reject()
    qtbot.waitUntil(lambda: _question() is None)
    assert dialog.isVisible()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: _question() is not None)
    question = _question()
    assert question is not None
    question.accept()
    qtbot.waitUntil(lambda: not dialog.isVisible())
    assert [m.name for m in library.models] == ["Mine"]


def test_nothing_is_asked_where_nothing_was_changed(qtbot: Any, dialog: ModelsDialog) -> None:
    choose(dialog, "compatible")
    write(dialog, address="http://127.0.0.1:9/v1", model="m1", name="Mine")
    qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: names(dialog) == ["Mine", "llama3"])
    write(dialog, name="Other")
    write(dialog, name="Mine")
    dialog.view.setCurrentIndex(dialog.items.index(1, 0))
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_the_catalogue_fills_window_and_price_and_a_persons_number_stays(
    qtbot: Any, dialog: ModelsDialog, library: ModelLibrary
) -> None:
    form = dialog.form
    write(dialog, model="gpt-5")
    form.model.edit.editingFinished.emit()
    qtbot.waitUntil(lambda: form.window_size.text() == "400000", timeout=10_000)
    assert form.window_note.text() == "from the catalogue"
    assert (form.price_in.text(), form.price_out.text()) == ("1.25", "10")
    one = form.definition()
    assert one is not None
    assert (one.window_source, one.price) == ("catalogue", Price(1.25, 10.0, 0.125))
    write(dialog, window_size="100000", model="gpt-5-mini")
    form.window_size.edit.textEdited.emit("100000")
    form.model.edit.editingFinished.emit()
    qtbot.waitUntil(lambda: form.price_in.text() == "0.25", timeout=10_000)
    one = form.definition()
    assert one is not None
    assert (one.window, one.window_source) == (100_000, "user")


def test_the_longest_answer_is_the_usual_one_or_a_person_s(
    qtbot: Any, dialog: ModelsDialog, library: ModelLibrary
) -> None:
    form = dialog.form
    choose(dialog, "compatible")
    write(dialog, address="http://127.0.0.1:9/v1", model="m1", window_size="32768")
    form.window_size.edit.textEdited.emit("32768")
    assert form.longest.edit.placeholderText() == "8192"
    one = form.definition()
    assert one is not None
    assert one.max_output == 8192
    for wrong in ("much", "32768", "0"):
        write(dialog, longest=wrong)
        assert form.definition() is None
        assert form.longest.edit.property("invalid")
    write(dialog, longest="2,000")
    qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "Saved" in dialog.told.text())
    assert library.models[0].max_output == 2000
    assert form.longest.text() == "2000", "what was set is shown again"


def test_the_scheme_may_be_left_out(qtbot: Any, dialog: ModelsDialog) -> None:
    with Server(wire.json_answer({"data": [{"id": "alpha"}]})) as server:
        choose(dialog, "compatible")
        write(dialog, address=f"127.0.0.1:{server.port}/v1")
        qtbot.mouseClick(dialog.form.list, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: dialog.told.text() == "1 model", timeout=20_000)
    assert dialog.form.address.text() == f"{server.url}/v1", "it is seen what was made of it"


def test_the_focus_stays_where_a_person_works(qtbot: Any, dialog: ModelsDialog) -> None:
    dialog._default = "compatible:other"
    with Server(wire.chat("Hello.")) as server:
        choose(dialog, "compatible")
        write(dialog, address=f"{server.url}/v1", model="m1")
        dialog.attempt.setFocus()
        qtbot.keyClick(dialog.attempt, Qt.Key.Key_Space)
        qtbot.waitUntil(lambda: "Hello." in dialog.told.text(), timeout=20_000)
    assert dialog.focusWidget() is dialog.attempt
    qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "Saved" in dialog.told.text())
    dialog.first.setFocus()
    qtbot.keyClick(dialog.first, Qt.Key.Key_Space)
    assert not dialog.first.isEnabled()
    assert dialog.focusWidget() is dialog.view, "not on the next button that there happens to be"


def test_what_is_asked_anew_at_once_leaves_nothing_behind(
    qtbot: Any, dialog: ModelsDialog, recwarn: pytest.WarningsRecorder
) -> None:
    for name in ("gpt-4", "gpt-5"):
        write(dialog, model=name)
        dialog.form.modelChosen.emit("openai", name)
    qtbot.waitUntil(lambda: dialog.form.window_size.text() == "400000", timeout=10_000)
    gc.collect()
    assert [str(w.message) for w in recwarn if "never awaited" in str(w.message)] == []


def test_what_will_not_do_is_said_at_its_field(qtbot: Any, dialog: ModelsDialog) -> None:
    choose(dialog, "compatible")
    write(dialog, window_size="lots", price_in="x")
    qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    form = dialog.form
    qtbot.waitUntil(lambda: bool(form.price_in.edit.property("invalid")))
    for field in (form.address, form.model, form.window_size, form.price_in):
        assert field.edit.property("invalid"), field
    assert form.key.edit.echoMode() == QLineEdit.EchoMode.Password


def test_a_refused_key_is_told_in_words(qtbot: Any, dialog: ModelsDialog) -> None:
    with Server(wire.openai_error(401, "no", "invalid_api_key")) as server:
        choose(dialog, "openai_chat")
        write(dialog, address=f"{server.url}/v1", model="m", key=KEY)
        qtbot.mouseClick(dialog.attempt, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: "key was not accepted" in dialog.told.text(), timeout=20_000)
    assert KEY not in dialog.told.text()
    assert dialog.attempt.isEnabled()


def test_the_providers_list_is_offered(qtbot: Any, dialog: ModelsDialog) -> None:
    listed = {"data": [{"id": "alpha", "max_model_len": 65_536}, {"id": "beta"}]}
    with Server(wire.json_answer(listed)) as server:
        choose(dialog, "compatible")
        write(dialog, address=f"{server.url}/v1")
        qtbot.mouseClick(dialog.form.list, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: dialog.told.text() == "2 models", timeout=20_000)
    completer = dialog.form.model.edit.completer()
    assert completer.model().rowCount() == 2
    completer.popup().hide()
    write(dialog, model="alpha")
    dialog.form.model.edit.editingFinished.emit()
    qtbot.waitUntil(lambda: dialog.form.window_size.text() == "65536", timeout=10_000)
    assert dialog.form.window_note.text() == "from the provider's list"


def test_servers_on_this_computer_are_offered_and_can_be_left_alone(
    qtbot: Any, dialog: ModelsDialog, library: ModelLibrary
) -> None:
    assert "127.0.0.1:11434" in dialog.items.item(0).data(Role.DETAIL)
    dialog.view.setCurrentIndex(dialog.items.index(0, 0))
    assert (dialog.form.provider.value(), dialog.form.model.text()) == ("ollama", "llama3")
    qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: [m.id for m in library.models] == ["ollama:llama3"])
    qtbot.waitUntil(lambda: names(dialog) == ["llama3"])
    dialog.discover.setChecked(False)
    dialog.reject()  # what saves goes on
    qtbot.waitUntil(lambda: Definitions.load(library.file.path).discover is False)


def test_a_switch_that_cannot_be_saved_goes_back_and_says_why(
    qtbot: Any, dialog: ModelsDialog, library: ModelLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_file: Definitions) -> None:
        raise SettingsError("settings.unwritable", path="models.json", reason="no space left")

    with monkeypatch.context() as full:
        full.setattr(Definitions, "save", fail)
        dialog.discover.setChecked(False)
        qtbot.waitUntil(lambda: "no space left" in dialog.told.text())
        assert dialog.discover.isChecked()
        assert names(dialog) == ["llama3"]
        qtbot.waitUntil(lambda: not len(dialog._tasks))
    dialog.discover.setChecked(False)
    dialog.discover.setChecked(True)
    dialog.discover.setChecked(False)
    qtbot.waitUntil(lambda: names(dialog) == [])
    assert not dialog.discover.isChecked()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_both_languages_and_looks(
    qtbot: Any, library: ModelLibrary, run: Any, shot: Any, theme: Any, language: str, scheme: str
) -> None:
    one = ModelDefinition("", "anthropic", "claude-sonnet-5-5", "Sonnet", window=1_000_000)
    run(library.put(one, KEY))
    dialog = ModelsDialog(None, library, "anthropic:claude-sonnet-5-5")
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.items.rowCount() == 2)
    before = dialog.save.text()
    i18n.set_language(language)
    current().set_scheme(scheme)
    assert (dialog.save.text() != before) == (language == "zh_CN")
    assert names(dialog) == ["Sonnet", "llama3"]
    write(dialog, name="Being written")
    dialog.discover.setChecked(False)
    qtbot.waitUntil(lambda: names(dialog) == ["Sonnet"])
    assert dialog.form.name.text() == "Being written", "a list that changes leaves the fields alone"
    dialog.discover.setChecked(True)
    qtbot.waitUntil(lambda: names(dialog) == ["Sonnet", "llama3"])
    qtbot.waitUntil(lambda: bool(dialog.form.key_note.text()))
    key, other = dialog.form.key.edit, dialog.form.name.edit
    qtbot.waitUntil(lambda: key.height() == other.height())  # a note that wraps cuts nothing off
    shot(dialog, f"models-{scheme}-{language}")


def test_a_key_may_be_the_name_of_a_variable(
    qtbot: Any,
    library: ModelLibrary,
    dialog: ModelsDialog,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SLIPWAY_TEST_KEY", KEY)
    with Server(wire.chat("Hello there.")) as server:
        choose(dialog, "compatible")
        write(dialog, address=f"{server.url}/v1", model="m1", key="${SLIPWAY_TEST_KEY}")
        qtbot.mouseClick(dialog.attempt, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: "Hello there." in dialog.told.text(), timeout=90_000)
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    qtbot.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    note = dialog.form.key_note
    qtbot.waitUntil(
        lambda: note.text() == "Taken from the variable SLIPWAY_TEST_KEY.", timeout=60_000
    )
    assert "no keyring" not in dialog.told.text()
    assert KEY not in "".join(p.read_text() for p in tmp_path.iterdir() if p.is_file())
    monkeypatch.delenv("SLIPWAY_TEST_KEY")
    dialog.view.setCurrentIndex(dialog.items.index(1, 0))
    dialog.view.setCurrentIndex(dialog.items.index(0, 0))
    missing = "To be taken from the variable SLIPWAY_TEST_KEY, which is not set."
    qtbot.waitUntil(lambda: note.text() == missing, timeout=60_000)


async def _agents(folder: Path) -> tuple[AppDb, Agents]:
    db = await AppDb.open(folder / "app.db")
    agents = Agents(db)
    await agents.load([SessionKey("me", "default", "s1"), SessionKey("me", "analyst", "s2")])
    return db, agents


def test_a_model_is_an_agents_own(
    qtbot: Any, library: ModelLibrary, run: Callable[..., Any], tmp_path: Path
) -> None:
    db, agents = run(_agents(tmp_path))
    for name in ("one", "two"):
        run(library.put(ModelDefinition("", "openai", name, name.title())))
    dialog = ModelsDialog(None, library, "openai:one", agents)
    qtbot.addWidget(dialog)
    dialog.show()
    chosen: list[str] = []
    dialog.defaultChosen.connect(chosen.append)

    def menu() -> list[Any]:
        dialog.menu.aboutToShow.emit()
        return [a for a in dialog.menu.actions() if not a.isSeparator()]

    def detail(row: int) -> str:
        return dialog.items.item(row).data(Role.DETAIL)

    dialog._select("openai:two")
    every, analyst = menu()
    assert (every.isChecked(), analyst.text(), analyst.isChecked()) == (False, "analyst", False)
    analyst.trigger()
    qtbot.waitUntil(lambda: agents.model_of("analyst") == "openai:two")
    qtbot.waitUntil(lambda: detail(1) == "OpenAI · analyst")
    assert [a.isChecked() for a in menu()] == [False, True]
    menu()[1].trigger()
    qtbot.waitUntil(lambda: agents.model_of("analyst") == "")
    qtbot.waitUntil(lambda: detail(1) == "OpenAI")
    menu()[0].trigger()
    assert chosen == ["openai:two"]
    assert [a.isChecked() for a in menu()] == [True, False]
    dialog.close()
    run(db.close())
