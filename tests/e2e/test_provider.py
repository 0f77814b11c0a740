"""A model of one's own in the real window: added, chosen, talked to, and what it cost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop_app.core.models.definitions import ModelDefinition
from desktop_app.ui.chat.items import NoticeItem
from desktop_app.ui.settings.certificate_dialog import CertificateDialog
from desktop_app.ui.settings.dialog import SettingsDialog
from desktop_app.ui.settings.key_choice import KeyChoiceDialog
from desktop_app.ui.settings.keys_dialog import KeysDialog
from desktop_app.ui.settings.models_dialog import ModelsDialog
from desktop_app.ui.settings.network_dialog import OWN, NetworkDialog
from desktop_app.ui.settings.passphrase import PassphraseDialog
from desktop_app.ui.transcript.rows import NoticeRow
from tests.helpers import providers as wire
from tests.helpers.program import Driver
from tests.helpers.providers import Server
from tests.helpers.proxies import certificate

KEY = "sk-test-0123456789abcdef"


def until_the_program_ends(driver: Driver) -> None:
    """Without a keyring a person chooses: here that nothing is kept."""
    choice = driver.dialog(KeyChoiceDialog)
    choice.session.setChecked(True)
    QTest.mouseClick(choice.go, Qt.MouseButton.LeftButton)


def test_a_model_is_added_and_answers_in_the_chat(
    driver: Driver, folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    answer = wire.chat("The harbour opens in May.", usage=(1000, 100, 0))
    with Server(answer, wire.chat("Harbour")) as server:
        driver.start()
        driver.open_folder(folder)
        driver.window.chat.composer.model.manageWanted.emit()
        dialog = driver.dialog(ModelsDialog)
        driver.service.library._find = list
        form = dialog.form
        form.provider.set_value("compatible")
        form.provider.chosen.emit("compatible")
        fields = {
            form.address: f"{server.url}/v1",
            form.model: "m1",
            form.name: "Mine",
            form.key: KEY,
            form.price_in: "1",
            form.price_out: "10",
        }
        for field, text in fields.items():
            field.edit.setText(text)
        QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
        until_the_program_ends(driver)
        driver.until(lambda: driver.service.library.models)
        # The first one is used at once, also in a session in which nothing was said yet.
        driver.until(lambda: driver.service.default_model == "compatible:m1")
        composer = driver.window.chat.composer
        driver.until(lambda: composer.model.text() == "Mine")
        dialog.accept()
        driver.ask("When does the harbour open?", 30_000)
        driver.until_idle(30_000)
        assert "The harbour opens in May." in driver.said()
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
        status = driver.window.chat_status
        driver.until(lambda: status.spent.text() == "$0.002")
        driver.stop()
    for path in home.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


def test_a_program_with_a_model_is_ready_before_it_is_asked(
    driver: Driver, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The models process is there soon after the window, and gone with the program. Without a
    model of one's own there is none."""
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    driver.start()
    process = driver.service.library.connections.process
    driver.run(asyncio.wait_for(driver.service.warm_models(), 5))
    assert process.pid is None, "the Guide needs none"
    one = ModelDefinition("", "compatible", "m", "M", address="http://127.0.0.1:9/v1")
    kept, _ = driver.run(driver.service.library.put(one))
    driver.service.default_model = kept.id
    driver.program._warm.start(0)
    driver.until(lambda: process.pid is not None, 10_000)
    driver.stop()
    assert process.pid is None


def test_a_proxy_that_was_chosen_is_in_force_and_kept(
    driver: Driver, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    driver.start()
    driver.window.chat.composer.model.manageWanted.emit()
    models = driver.dialog(ModelsDialog)
    QTest.mouseClick(models.network, Qt.MouseButton.LeftButton)
    dialog = driver.dialog(NetworkDialog)
    dialog.proxy.set_value(OWN)
    dialog.proxy.chosen.emit(OWN)
    dialog.address.edit.setText("socks5h://me@p.example:1080")
    dialog.password.edit.setText("a word")
    dialog.without.edit.setText("intranet.example")
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    until_the_program_ends(driver)
    library = driver.service.library
    driver.until(lambda: "lasts until the program ends" in models.told.text())
    assert driver.run(library.secrets.get("proxy me@p.example:1080")) == "a word"
    assert library.connections.network.proxy == "socks5h://me@p.example:1080"
    models.reject()
    driver.stop()
    kept = json.loads((home / "config" / "settings.json").read_text())
    assert kept["proxy"] == "socks5h://me@p.example:1080"
    driver.start()
    network = driver.service.library.connections.network
    assert (network.proxy, network.no_proxy) == (kept["proxy"], "intranet.example")
    driver.stop()
    for path in home.rglob("*"):
        assert not path.is_file() or b"a word" not in path.read_bytes(), path


def test_a_certificate_is_trusted_for_its_host_and_not_any_more(
    driver: Driver, folder: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    _, tls = certificate(tmp_path, "localhost")
    answers = (wire.chat("Safe and sound."), wire.chat("A title"))
    with Server(*answers, tls=tls) as server:
        driver.start()
        library = driver.service.library
        library._find = list
        address = f"https://localhost:{server.port}/v1"
        one, _ = driver.run(
            library.put(ModelDefinition("", "compatible", "m", "M", address=address)), 20_000
        )
        driver.service.default_model = one.id
        driver.open_folder(folder)
        driver.ask("Are we there?", 60_000)
        assert driver.cards() == ["model.certificate"]
        assert not server.asked
        card = next(i for i in driver.vm.items() if isinstance(i, NoticeItem))
        driver.window.chat.row_action(card.id, "trust_certificate")
        dialog = driver.dialog(CertificateDialog)
        assert dialog.one.at == f"localhost:{server.port}"
        QTest.mouseClick(dialog.go, Qt.MouseButton.LeftButton)
        driver.until(lambda: "Safe and sound." in driver.said(), 60_000)
        driver.until_idle(60_000)
        kept = json.loads((home / "config" / "settings.json").read_text())
        assert kept["trusted_certificates"][dialog.one.at]["sha256"] == dialog.one.mark

        driver.window.chat.composer.model.manageWanted.emit()
        models = driver.dialog(ModelsDialog)
        QTest.mouseClick(models.network, Qt.MouseButton.LeftButton)
        network = driver.dialog(NetworkDialog)
        network.trusted[dialog.one.at].removed.emit(dialog.one.at)
        QTest.mouseClick(network.save, Qt.MouseButton.LeftButton)
        assert library.connections.network.trusted == ()
        models._select(one.id)
        QTest.mouseClick(models.attempt, Qt.MouseButton.LeftButton)
        driver.until(lambda: models.trust.isVisible(), 60_000)
        assert "SHA-256" in models.told.text()
        server.answers[:] = [wire.chat("Here.")]
        QTest.mouseClick(models.trust, Qt.MouseButton.LeftButton)
        QTest.mouseClick(driver.dialog(CertificateDialog).go, Qt.MouseButton.LeftButton)
        driver.until(lambda: "Here." in models.told.text(), 60_000)
        assert not models.trust.isVisible()
        models.reject()
        driver.stop()


def test_a_card_leads_to_what_would_help(
    driver: Driver, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trying again alone would fail again: the key is entered there, another model chosen here."""
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    with Server(
        wire.openai_error(401, "Incorrect API key provided", "invalid_api_key"),
        wire.openai_error(429, "You exceeded your current quota", "insufficient_quota"),
        wire.chat("In May."),
        wire.chat("Harbour"),
    ) as server:
        driver.start()
        one = ModelDefinition("", "compatible", "m", "Mine", address=f"{server.url}/v1")
        kept, _ = driver.run(driver.service.library.put(one))
        driver.service.library._find = list
        driver.service.default_model = kept.id
        driver.open_folder(folder)

        def card() -> NoticeRow:
            item = next(i for i in reversed(driver.vm.items()) if isinstance(i, NoticeItem))
            row = driver.vm.rows.get(item.id)
            assert isinstance(row, NoticeRow)
            return row

        driver.ask("When does it open?", 60_000)
        assert [a.id for a in card().actions] == ["manage_models", "retry"]
        driver.window.chat.row_action(card().id, "manage_models")
        driver.dialog(ModelsDialog).reject()
        driver.window.chat.row_action(card().id, "retry")
        driver.until(lambda: "model.quota" in driver.cards(), 60_000)
        driver.until_idle()
        assert [a.id for a in card().actions] == ["choose_model", "retry"]
        driver.window.chat.row_action(card().id, "choose_model")
        menu = driver.window.chat.composer.model._menu
        driver.until(menu.isVisible)
        assert "Mine" in menu.actions()[0].text() + menu.actions()[1].text()
        menu.close()
        driver.window.chat.row_action(card().id, "retry")
        driver.until(lambda: "In May." in driver.said(), 60_000)
        driver.until_idle()


def test_a_key_in_the_persons_own_file_opens_once_and_the_turn_goes_on(
    driver: Driver, folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a keyring: the key goes into a file, the next run asks for its passphrase when a
    message is sent, "not now" leaves a card with the way on, and the disk has nothing in clear."""
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    words = "heron in the reeds"
    with Server(wire.chat("The harbour opens in May."), wire.chat("Harbour")) as server:
        driver.start()
        driver.service.library._find = list
        one = ModelDefinition("", "compatible", "m1", "Mine", address=f"{server.url}/v1")
        saving = driver.service._tasks.start(driver.service.library.put(one, KEY), name="save")
        choice = driver.dialog(KeyChoiceDialog)
        choice.fields.first.edit.setText(words)
        choice.fields.again.edit.setText(words)
        QTest.mouseClick(choice.go, Qt.MouseButton.LeftButton)
        driver.until(saving.done)
        kept, place = saving.result()
        assert place == "file"
        driver.window.settingChosen.emit("model", kept.id)
        driver.stop()

        driver.start()
        driver.open_folder(folder)
        assert not [w for w in driver.app.topLevelWidgets() if isinstance(w, PassphraseDialog)]
        driver.type("When does the harbour open?")
        driver.dialog(PassphraseDialog).reject()
        driver.until(lambda: driver.cards() == ["model.keys_locked"])
        driver.until_idle()
        assert not server.asked
        rows = driver.window.chat.vm.rows
        card = rows.row(rows.rowCount() - 1)
        assert [a.id for a in card.actions] == ["unlock_keys", "retry"]
        driver.window.chat.row_action(card.id, "unlock_keys")
        question = driver.dialog(PassphraseDialog)
        question.fields.first.edit.setText(words)
        QTest.mouseClick(question.go, Qt.MouseButton.LeftButton)
        driver.until(lambda: "The harbour opens in May." in driver.said())
        driver.until_idle()
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert driver.cards() == []
        driver.stop()
    for path in home.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert KEY.encode() not in data, path
            assert words.encode() not in data, path


def test_where_keys_are_kept_is_seen_from_the_menu_and_the_settings(
    driver: Driver, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    driver.start()
    driver.window.commands.run("view.keys")
    dialog = driver.dialog(KeysDialog)
    driver.until(lambda: "no keyring here" in dialog.place.text())
    QTest.mouseClick(dialog.make, Qt.MouseButton.LeftButton)
    question = driver.dialog(PassphraseDialog)
    for field in question.fields.fields:
        field.edit.setText("heron in the reeds")
    QTest.mouseClick(question.go, Qt.MouseButton.LeftButton)
    driver.until(lambda: "unlocked" in dialog.place.text())
    assert (home / "data" / "keys.json").exists()
    dialog.accept()
    driver.window.commands.run("view.settings")
    settings = driver.dialog(SettingsDialog)
    QTest.mouseClick(settings.keys, Qt.MouseButton.LeftButton)
    again = driver.dialog(KeysDialog)
    driver.until(lambda: again.lock.isVisible())
    again.accept()
    settings.accept()
    driver.stop()
