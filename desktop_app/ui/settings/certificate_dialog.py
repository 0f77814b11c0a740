"""Asking whether one certificate of one host is trusted although the system does not."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.models.trusted import Trusted, trusted_of, with_trusted
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import Button, Label
from desktop_app.ui.widgets.base import Text, follow
from desktop_app.ui.widgets.card import Glyph
from desktop_app.ui.widgets.dialogs import Dialog, FactRow


def doubted(params: Mapping[str, Any]) -> Trusted | None:
    """What could be trusted, by the parameters of the error; None where it was not seen."""
    seen = params.get("seen")
    values = cast("Mapping[str, Any]", seen) if isinstance(seen, Mapping) else {}
    at, mark = str(values.get("at", "")), str(values.get("mark", ""))
    kept = with_trusted({}, Trusted(at, mark, str(values.get("subject", ""))))
    return next(iter(trusted_of(kept)), None) if at else None


class CertificateDialog(Dialog):
    """Shows a certificate; accepted when the person trusts it. ``changed``: another one was
    trusted before. The safe choice has the focus."""

    def __init__(
        self, parent: QWidget | None, params: Mapping[str, Any], *, changed: bool = False
    ) -> None:
        one = doubted(params)
        assert one is not None, "the caller asks only for what was seen"
        super().__init__(parent, lambda: tr("Trust this certificate?"), width=600)
        self.one = one
        seen = cast("Mapping[str, Any]", params["seen"])
        row = QHBoxLayout()
        follow(row, setSpacing=12)
        row.addWidget(Glyph("triangle-alert", "warning", 20), 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        follow(words, setSpacing=6)
        title = lambda: tr("Trust this certificate for “{host}”?", host=one.at)  # noqa: E731
        words.addWidget(Label(title, role="title", wrap=True))
        self.text = Label(_changed if changed else _unknown, wrap=True)
        words.addWidget(self.text)
        row.addLayout(words, 1)
        self.body.addLayout(row)
        self._fact(lambda: tr("Named"), one.subject or "–")
        self._fact(lambda: tr("Issued by"), str(seen.get("issuer") or "–"))
        self._fact(lambda: tr("Valid"), f"{seen.get('begins', '')} – {seen.get('ends', '')}")
        self._fact("SHA-256", in_lines(one.mark), mono=True)
        self.cancel = Button(lambda: tr("Cancel"))
        self.go = Button(lambda: tr("Trust it for this host"), variant="danger")
        self.add_button(self.cancel, run=self.reject, default=True)
        self.add_button(self.go, run=self.accept)
        self.cancel.setFocus(Qt.FocusReason.TabFocusReason)

    def _fact(self, label: Text, text: str, *, mono: bool = False) -> None:
        value = Label(text, role="mono" if mono else "body", wrap=True, select=True)
        self.body.addWidget(FactRow(label, value))

    def value(self, kept: Any) -> dict[str, Any]:
        """The setting with this certificate in it."""
        one = Trusted(self.one.at, self.one.mark, self.one.subject, date.today().isoformat())
        return with_trusted(kept, one)


def in_lines(mark: str) -> str:
    """A fingerprint in two lines that can be compared."""
    return f"{mark[:47]}\n{mark[48:]}"


def _unknown() -> str:
    return tr(
        "This system does not know who issued it, or it does not fit. Compare the SHA-256 with "
        "whoever runs the server: somebody in between would show another one. Trusted is this "
        "certificate alone, for connections to this host alone, until you remove it under "
        "Models, Network."
    )


def _changed() -> str:
    return tr(
        "You trusted another certificate of this host. It may have been renewed, or somebody may "
        "be listening in. Compare the SHA-256 with whoever runs the server. Trusted is then this "
        "certificate in place of the former one, for connections to this host alone."
    )
