"""Folders that could be taken into the list, to be chosen among."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from desktop_app.core.importing import Candidate
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Button, Check, ElidedLabel, Label
from desktop_app.ui.widgets.base import Text, follow
from desktop_app.ui.widgets.dialogs import Dialog

_SEEN = 7  # rows before the list scrolls


def detail(one: Candidate) -> str:
    """What is told of one below its name."""
    if one.known:
        return tr("In the list already")
    if one.kind == "copy":
        day, _, time = one.when.partition(" ")
        return tr("Rescue copy of {when}", when=f"{day} {time[:5].replace('.', ':')}")
    if not one.sessions:
        return one.folder
    told = trn("{n} session", "{n} sessions", one.sessions)
    return f"{told} · {one.folder}"


class CandidateRow(QWidget):
    """One folder with its box; one that is in the list already cannot be chosen."""

    def __init__(self, candidate: Candidate, on: bool) -> None:
        super().__init__()
        self.candidate = candidate
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(0, 4, 8, 4), setSpacing=10)
        self.box = Check("")
        self.box.setChecked(on and not candidate.known)
        self.box.setEnabled(not candidate.known)
        self.box.setAccessibleName(f"{candidate.name}, {detail(candidate)}")
        row.addWidget(self.box)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(ElidedLabel(candidate.name, role="strong"))
        middle = Qt.TextElideMode.ElideMiddle
        words.addWidget(
            ElidedLabel(lambda: detail(candidate), role="caption", tone="muted", mode=middle)
        )
        row.addLayout(words, 1)


class ImportDialog(Dialog):
    """``chosen`` are those to be taken in. ``all_on``: all are chosen at first."""

    def __init__(
        self,
        parent: QWidget | None,
        title: Text,
        words: Text,
        candidates: Sequence[Candidate],
        *,
        all_on: bool,
    ) -> None:
        super().__init__(parent, title, width=560)
        px = theme().px
        self.body.addWidget(Label(words, wrap=True))
        self.rows = [CandidateRow(one, all_on) for one in candidates]
        holder = QWidget()
        holder.setProperty("ground", "surface")
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for row in self.rows:
            row.box.toggled.connect(self._count)
            column.addWidget(row)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setWidget(holder)
        tall = sum(row.sizeHint().height() for row in self.rows[:_SEEN])
        area.setMinimumHeight(tall + px(2))
        self.body.addWidget(area, 1)
        self.add_button(Button(lambda: tr("Cancel")), run=self.reject)
        self.go = Button("", variant="primary")
        self.add_button(self.go, run=self.accept, default=True)
        self._count()

    @property
    def chosen(self) -> list[Candidate]:
        return [row.candidate for row in self.rows if row.box.isChecked()]

    def _count(self) -> None:
        n = len(self.chosen)
        self.go.set_source(lambda: trn("Add {n}", "Add {n}", n) if n else tr("Add"))
        self.go.setEnabled(bool(n))
