"""A machine's load as charts (processors, memory, disk), and what happened lately."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.happenings import Happening
from desktop_app.core.overview_row import OverviewRow
from desktop_app.core.workspaces.remote.managed import Usage
from desktop_app.ui.i18n import tr, trn
from desktop_app.ui.widgets import Label, Line, Sparkline, figures
from desktop_app.ui.widgets.base import Text, follow

from .last_events import LastEvents


class Chart(QWidget):
    """A name, the newest figure, the line."""

    def __init__(self, name: Text) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(16, 10, 16, 8), setSpacing=8)
        head = QHBoxLayout()
        self.name = Label(name, tone="muted")
        self.figure = Label("", role="strong")
        head.addWidget(self.name, 1)
        head.addWidget(self.figure)
        column.addLayout(head)
        self.line = Sparkline(name, height=64, grid=True)
        column.addWidget(self.line)
        column.addStretch(1)

    def show_values(
        self, values: Sequence[float], top: float | None, figure: str, span: tuple[str, str]
    ) -> None:
        self.figure.set_source(figure)
        self.line.set_values(values, top, *span)


class OverviewTab(QWidget):
    """``show_row`` with what was measured; a note where nothing is."""

    def __init__(self) -> None:
        super().__init__()
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        outer = QVBoxLayout()
        outer.setContentsMargins(0, 0, 0, 0)
        whole.addLayout(outer, 3)
        whole.addWidget(Line(vertical=True))
        self.events = LastEvents()
        whole.addWidget(self.events, 1)
        self.note = Label("", tone="muted", wrap=True)
        follow(self.note, setContentsMargins=(16, 12, 16, 0))
        outer.addWidget(self.note)
        self.charts = QWidget()
        row = QHBoxLayout(self.charts)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.cpu = Chart(lambda: tr("CPU"))
        self.memory = Chart(lambda: tr("Memory"))
        self.disk = Chart(lambda: tr("Disk"))
        for place, chart in enumerate((self.cpu, self.memory, self.disk)):
            if place:
                row.addWidget(Line(vertical=True))
            row.addWidget(chart, 1)
        outer.addWidget(self.charts, 1)
        self._rest = QWidget()  # below the note, where there are no charts
        outer.addWidget(self._rest, 1)

    def show_row(
        self, row: OverviewRow, points: Sequence[Usage], happened: Sequence[Happening] = ()
    ) -> None:
        self.events.show_happenings(happened)
        shown = row.kind != "local" and row.up
        self.charts.setVisible(shown)
        self._rest.setVisible(not shown)
        self.note.setVisible(not shown or not points)
        if row.kind == "local":
            self.note.set_source(lambda: tr("A folder has no limits of its own to be measured."))
        elif not row.up:
            self.note.set_source(lambda: tr("It is measured while it runs."))
        elif not points:
            self.note.set_source(lambda: tr("The first measurement is on its way."))
        if shown:
            self._draw(row, points)

    def _draw(self, row: OverviewRow, points: Sequence[Usage]) -> None:
        span = (_clock(points[0].at_us), _clock(points[-1].at_us)) if len(points) > 1 else ("", "")
        cpus = row.cpus or 1.0
        cores = f"{cpus:g}"
        self.cpu.name.set_source(
            lambda: tr("CPU, {n} cores", n=cores) if cpus != 1 else tr("CPU, 1 core")
        )
        last = points[-1] if points else None
        share = figures.percent(min(1.0, last.cpu / cpus)) if last else ""
        self.cpu.show_values([p.cpu for p in points], cpus, share, span)
        limit = row.memory_limit or (last.memory_limit if last else 0)
        used = _of(last.memory, limit) if last else ""
        self.memory.show_values([p.memory for p in points], limit or None, used, span)
        disks = [p.disk for p in points if p.disk is not None]
        limit = row.disk_limit
        if disks:
            self.disk.show_values(disks, limit or None, _of(disks[-1], limit), span)
        elif row.disk is not None:  # asked rarely: a figure, no line
            self.disk.show_values([], None, figures.size(row.disk), ("", ""))
        else:
            self.disk.show_values([], None, tr("not told by the engine") if last else "", ("", ""))
        if last is not None and last.processes:
            words = trn("{n} process", "{n} processes", last.processes)
            self.cpu.figure.set_source(f"{share} · {words}")


def _of(used: int, limit: int) -> str:
    if not limit:
        return figures.size(used)
    return tr("{used} of {limit}", used=figures.size(used), limit=figures.size(limit))


def _clock(us: int) -> str:
    return datetime.fromtimestamp(us / 1e6).strftime("%H:%M:%S")
