"""A certificate that the system does not trust: shown, trusted for one host, removed."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop_app.core.models.trusted import Trusted, trusted_of, with_trusted
from desktop_app.core.settings.settings import DEFAULTS
from desktop_app.ui.chat.ways import ways_of_turn
from desktop_app.ui.errors import describe
from desktop_app.ui.settings.certificate_dialog import CertificateDialog, doubted
from desktop_app.ui.settings.network_dialog import NetworkDialog
from desktop_app.ui.widgets import Label

MARK = ":".join(["AB", "CD"] * 16)
SEEN = {
    "at": "models.example:8443",
    "mark": MARK,
    "subject": "CN=models.example",
    "issuer": "CN=Own authority",
    "begins": "2026-01-02",
    "ends": "2027-01-02",
}


def words(dialog: CertificateDialog) -> str:
    return "\n".join(label.text() for label in dialog.findChildren(Label))


@pytest.mark.parametrize("changed", [False, True])
def test_it_shows_what_a_person_compares(qtbot: QtBot, changed: bool) -> None:
    dialog = CertificateDialog(None, {"seen": SEEN}, changed=changed)
    qtbot.addWidget(dialog)
    dialog.show()
    shown = words(dialog)
    for part in (SEEN["at"], SEEN["subject"], SEEN["issuer"], SEEN["ends"], MARK[:47], MARK[48:]):
        assert part in shown
    assert ("another certificate" in dialog.text.text()) == changed
    assert dialog.cancel.isDefault(), "Enter is the safe choice"
    assert not dialog.go.isDefault()
    kept = with_trusted({}, Trusted("other.example:443", MARK))
    (one, other) = trusted_of(dialog.value(kept))
    assert (one.at, one.mark, one.subject) == (SEEN["at"], MARK, SEEN["subject"])
    assert other.at == "other.example:443"


def test_what_was_not_seen_is_not_offered() -> None:
    for bad in ({}, {"seen": None}, {"seen": {**SEEN, "mark": "AB"}}, {"seen": {**SEEN, "at": ""}}):
        assert doubted(bad) is None
    for code in ("model.certificate", "model.certificate_changed"):
        assert describe(code).action == "trust_certificate"
        assert ways_of_turn(code, {"seen": SEEN}, "retry") == ("retry", "trust_certificate")
        assert ways_of_turn(code, {}, "retry") == ("retry",)
    assert ways_of_turn("model.proxy", {"seen": SEEN}, "retry") == ("retry",)


def test_trusted_ones_are_listed_and_removed(qtbot: QtBot) -> None:
    values: dict[str, Any] = dict(DEFAULTS)
    for at in ("a.example:443", "b.example:8443"):
        kept = with_trusted(values["trusted_certificates"], Trusted(at, MARK, "CN=x", "2026-01-02"))
        values["trusted_certificates"] = kept
    dialog = NetworkDialog(None, values.__getitem__)
    qtbot.addWidget(dialog)
    saved: list[dict[str, Any]] = []
    dialog.saved.connect(saved.append)
    dialog.show()
    assert list(dialog.trusted) == ["a.example:443", "b.example:8443"]
    cross = dialog.trusted["a.example:443"].cross
    assert cross.accessibleName() == "Do not trust a.example:443 any more"
    QTest.mouseClick(cross, Qt.MouseButton.LeftButton)
    assert list(dialog.trusted) == ["b.example:8443"]
    assert dialog.trusted["b.example:8443"].isVisible()
    QTest.mouseClick(dialog.trusted["b.example:8443"].cross, Qt.MouseButton.LeftButton)
    assert not dialog.trusted_row.isVisible()
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    assert saved[0]["trusted_certificates"] == {}
