"""How models are reached, as a person sets it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop_app.core.settings.settings import DEFAULTS
from desktop_app.ui import i18n
from desktop_app.ui.settings.network_dialog import OWN, NetworkDialog
from desktop_app.ui.theme import theme as current
from tests.helpers.proxies import certificate


@pytest.fixture
def values() -> dict[str, Any]:
    return dict(DEFAULTS)


def opened(qtbot: Any, values: dict[str, Any]) -> tuple[NetworkDialog, list[Any], list[Any]]:
    dialog = NetworkDialog(None, values.__getitem__)
    qtbot.addWidget(dialog)
    saved: list[Any] = []
    words: list[Any] = []
    dialog.saved.connect(saved.append)
    dialog.passwordTyped.connect(lambda *said: words.append(said))
    dialog.show()
    return dialog, saved, words


def choose(dialog: NetworkDialog, kind: str, address: str = "") -> None:
    dialog.proxy.set_value(kind)
    dialog.proxy.chosen.emit(kind)
    dialog.address.edit.setText(address)


def press(dialog: NetworkDialog) -> None:
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)


def test_what_is_not_touched_stays(qtbot: Any, values: dict[str, Any]) -> None:
    values |= {"proxy": "none", "no_proxy": "a.example", "ca_file": "", "stall_seconds": 77}
    dialog, saved, words = opened(qtbot, values)
    assert not dialog.address_row.isVisible()
    press(dialog)
    names = ("proxy", "no_proxy", "ca_file", "stall_seconds", "trusted_certificates")
    assert saved == [{n: values[n] for n in names}]
    assert words == []


def test_a_proxy_of_one_s_own(qtbot: Any, values: dict[str, Any]) -> None:
    dialog, saved, words = opened(qtbot, values)
    choose(dialog, OWN, "ftp://p")
    assert dialog.address_row.isVisible()
    assert not dialog.password_row.isVisible()
    press(dialog)
    assert saved == []
    assert dialog.isVisible(), "what will not do is said at its field"
    choose(dialog, OWN, "me@p.example:3128")
    assert dialog.password_row.isVisible()
    dialog.password.edit.setText("a word")
    press(dialog)
    assert saved[0]["proxy"] == "http://me@p.example:3128"
    assert words == [("proxy me@p.example:3128", "a word")]
    assert "a word" not in str(saved)
    assert not dialog.isVisible()


def test_a_password_in_the_address_is_not_taken(qtbot: Any, values: dict[str, Any]) -> None:
    dialog, saved, _ = opened(qtbot, values)
    choose(dialog, OWN, "http://me:word@p.example")
    press(dialog)
    assert saved == []


def test_a_file_without_certificates_is_told(
    qtbot: Any, values: dict[str, Any], tmp_path: Path
) -> None:
    dialog, saved, _ = opened(qtbot, values)
    bad = tmp_path / "bad.pem"
    for path, made in ((tmp_path / "none.pem", None), (bad, "no certificate")):
        if made is not None:
            path.write_text(made)
        dialog.ca_file.edit.setText(str(path))
        press(dialog)
        assert saved == []
        assert dialog.ca_file.edit.property("invalid")
    good, _tls = certificate(tmp_path, "localhost")
    dialog.ca_file.edit.setText(str(good))
    press(dialog)
    assert saved[0]["ca_file"] == str(good)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_both_languages_and_looks(
    qtbot: Any, values: dict[str, Any], shot: Any, theme: Any, language: str, scheme: str
) -> None:
    values["proxy"] = "http://me@proxy.example:3128"
    i18n.set_language(language)
    current().set_scheme(scheme)
    dialog, _, _ = opened(qtbot, values)
    shot(dialog, f"network-{scheme}-{language}")
    assert dialog.password_row.isVisible()
