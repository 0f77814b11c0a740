"""The page's part of the window's status line: totals."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from desktop_app.core.overview_row import OverviewRow, spent
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets import ElidedLabel, Glyph, Label, Line, figures
from desktop_app.ui.widgets.base import Live, follow

from .columns import UNREACHABLE

_NAMED = 2  # engines that are named; others are counted


class MachinesStatus(Live, QWidget):
    """``show_rows`` counts anew. ``month`` is what sandboxes cost in this month, in US dollars."""

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        follow(row, setContentsMargins=(12, 0, 12, 0), setSpacing=8)
        self._rows: Sequence[OverviewRow] = ()
        self._month = 0.0
        self.count, self.running = self._label(), self._label()
        self.engines = ElidedLabel("", role="caption", tone="muted")
        self.sign, self.trouble = Glyph("triangle-alert", "danger", 12), self._label()
        self.offloaded, self.cost = self._label(), self._label()
        self._lines = [Line(vertical=True) for _ in range(4)]
        row.addWidget(self.count)
        row.addWidget(self._lines[0])
        row.addWidget(self.running)
        row.addWidget(self._lines[1])
        row.addWidget(self.engines)
        row.addWidget(self._lines[2])
        row.addWidget(self.sign)
        row.addWidget(self.trouble)
        row.addStretch(1)
        row.addWidget(self.offloaded)
        row.addWidget(self._lines[3])
        row.addWidget(self.cost)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_rows(())

    def _label(self) -> Label:
        return Label("", role="caption", tone="muted")

    def retranslate(self) -> None:
        self.show_rows(self._rows, self._month)

    def show_rows(self, rows: Sequence[OverviewRow], month: float = 0.0) -> None:
        self._rows, self._month = rows, month
        self.count.set_source(trn("{n} workspace", "{n} workspaces", len(rows)))
        up = sum(row.up and row.kind != "local" for row in rows)
        self.running.set_source(trn("{n} machine runs", "{n} machines run", up))
        self._show_engines(rows)
        known = [row.offloaded for row in rows if row.offloaded is not None]
        self.offloaded.set_source(tr("Offloaded {size}", size=figures.size(sum(known))))
        part = len(known) < len(rows)  # those that never were in sight were not counted
        self.offloaded.setToolTip(
            tr("Counted in {n} of {all} workspaces", n=len(known), all=len(rows)) if part else ""
        )
        self.offloaded.setVisible(bool(known))
        self._show_cost(spent(rows), month)

    def _show_engines(self, rows: Sequence[OverviewRow]) -> None:
        """Docker engines that answer, and how many do not."""
        silent = {
            (row.kind, row.params.get("engine"))
            for row in rows
            if row.state == "error" and row.params.get("code") in UNREACHABLE
        }
        answering = {
            row.engine for row in rows if row.kind == "docker" and row.state != "error"
        } - {""}
        named = sorted(answering)
        more = len(named) - _NAMED
        shown = ", ".join(named[:_NAMED]) + (f" +{more}" if more > 0 else "")
        self.engines.set_source(shown)
        self.engines.setVisible(bool(named))
        self._lines[1].setVisible(bool(named))
        self.trouble.set_source(
            trn("{n} engine not reachable", "{n} engines not reachable", len(silent))
        )
        for part in (self.trouble, self.sign, self._lines[2]):
            part.setVisible(bool(silent))

    def _show_cost(self, total: float, month: float) -> None:
        amount = f"~${month:.2f}" if month >= 0.005 or not month else "<$0.01"
        self.cost.set_source(tr("Cost this month {sum}, estimated", sum=amount))
        self.cost.setToolTip(
            tr(
                "What sandboxes cost, from the prices you set; ~${sum} in all. What models cost is "
                "shown in each session.",
                sum=f"{total:.2f}",
            )
        )
        shown = month > 0 or total > 0
        self.cost.setVisible(shown)
        self._lines[3].setVisible(shown and not self.offloaded.isHidden())
