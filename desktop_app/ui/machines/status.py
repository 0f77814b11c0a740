"""The page's part of the window's status line: totals."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from desktop_app.core.overview import OverviewRow, spent
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.theme import theme
from desktop_app.ui.widgets import Glyph, Label, Line, figures
from desktop_app.ui.widgets.base import Live

from .columns import UNREACHABLE


class MachinesStatus(Live, QWidget):
    """``show_rows`` counts anew."""

    def __init__(self) -> None:
        super().__init__()
        px = theme().px
        row = QHBoxLayout(self)
        row.setContentsMargins(px(12), 0, px(12), 0)
        row.setSpacing(px(8))
        self._rows: Sequence[OverviewRow] = ()
        self.count, self.running, self.sign, self.trouble, self.offloaded, self.cost = (
            *(self._label(), self._label()),
            Glyph("triangle-alert", "danger", 12),
            *(self._label(), self._label(), self._label()),
        )
        row.addWidget(self.count)
        row.addWidget(Line(vertical=True))
        row.addWidget(self.running)
        row.addWidget(self.sign)
        row.addWidget(self.trouble)
        row.addStretch(1)
        row.addWidget(self.offloaded)
        row.addWidget(self.cost)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_rows(())

    def _label(self) -> Label:
        return Label("", role="caption", tone="muted")

    def retranslate(self) -> None:
        self.show_rows(self._rows)

    def show_rows(self, rows: Sequence[OverviewRow]) -> None:
        self._rows = rows
        self.count.set_source(trn("{n} workspace", "{n} workspaces", len(rows)))
        up = sum(row.up and row.kind != "local" for row in rows)
        self.running.set_source(trn("{n} machine runs", "{n} machines run", up))
        engines = {
            (row.kind, row.params.get("engine"))
            for row in rows
            if row.state == "error" and row.params.get("code") in UNREACHABLE
        }
        self.trouble.set_source(
            trn("{n} engine not reachable", "{n} engines not reachable", len(engines))
        )
        self.trouble.setVisible(bool(engines))
        self.sign.setVisible(bool(engines))
        known = [row.offloaded for row in rows if row.offloaded is not None]
        self.offloaded.set_source(tr("Offloaded {size}", size=figures.size(sum(known))))
        self.offloaded.setVisible(bool(known))
        total = spent(rows)
        self.cost.set_source(tr("Cost in all ~${sum}, estimated", sum=f"{total:.2f}"))
        self.cost.setVisible(total > 0)
