"""What happened to a workspace lately, in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core.happenings import Happening
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import mark, tr, trn
from desktop_app.ui.widgets import ElidedLabel, Label, figures
from desktop_app.ui.widgets.base import Live, follow

SHOWN = 5
_PLAIN = {
    "started": mark("Started up"),
    "resumed": mark("Resumed, disk as it was"),
    "paused": mark("Paused"),
    "stopped": mark("Stopped"),
    "missing": mark("The folder was not found"),
    "unreadable": mark("The folder could not be read"),
    "back": mark("It can be used again"),
    "moved": mark("Its folder is at a new place"),
}
_ELSEWHERE = {
    "paused": mark("Paused, not by Slipway"),
    "stopped": mark("Stopped, not by Slipway"),
}


def words(one: Happening) -> str:
    """A sentence for a happening; of a kind that another version knows, its name."""
    params = one.params
    if params.get("elsewhere") is True and one.what in _ELSEWHERE:
        return tr(_ELSEWHERE[one.what])
    if one.what in _PLAIN:
        return tr(_PLAIN[one.what])
    match one.what:
        case "failed":
            return describe(str(params.get("code", "")), {}).title
        case "rescued":
            size = figures.size(_number(params, "bytes"))
            n = _number(params, "files")
            return trn(
                "Rescue copy, {n} file, {size}", "Rescue copy, {n} files, {size}", n, size=size
            )
        case "extended":
            at = datetime.fromtimestamp(_number(params, "ends_us") / 1e6)
            return tr("Extended until {time}", time=at.strftime("%H:%M"))
        case "compacted":
            before, after = (figures.tokens(_number(params, name)) for name in ("before", "after"))
            return tr("Compacted {before} to {after} tokens, estimated", before=before, after=after)
        case _:
            return one.what


def _number(params: dict[str, Any], name: str) -> int:
    value: Any = params.get(name)
    return int(value) if isinstance(value, int | float) else 0


def when(us: int, now: datetime | None = None) -> str:
    """``12:31`` today, else the day."""
    at = datetime.fromtimestamp(us / 1e6)
    today = (now or datetime.now()).date()
    return at.strftime("%H:%M") if at.date() == today else at.strftime("%m-%d")


class LastEvents(Live, QWidget):
    """``show_happenings``, newest first."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: Sequence[Happening] = ()
        column = QVBoxLayout(self)
        follow(column, setContentsMargins=(16, 10, 16, 8), setSpacing=4)
        column.addWidget(Label(lambda: tr("Last events"), tone="muted"))
        self.none = Label(lambda: tr("Nothing yet"), role="small", tone="faint")
        column.addWidget(self.none)
        self.rows: list[tuple[QWidget, Label, ElidedLabel]] = []
        for _ in range(SHOWN):
            holder = QWidget()
            row = QHBoxLayout(holder)
            follow(row, setContentsMargins=(0, 0, 0, 0), setSpacing=8)
            time, text = Label("", role="small", tone="faint"), ElidedLabel("", role="small")
            follow(time, setMinimumWidth=36)
            row.addWidget(time)
            row.addWidget(text, 1)
            column.addWidget(holder)
            self.rows.append((holder, time, text))
        column.addStretch(1)
        self.show_happenings(())

    def retranslate(self) -> None:
        if self._shown:
            self.show_happenings(self._shown)

    def show_happenings(self, happened: Sequence[Happening]) -> None:
        self._shown = happened
        self.none.setVisible(not happened)
        for place, (holder, time, text) in enumerate(self.rows):
            there = place < len(happened)
            holder.setVisible(there)
            if there:
                time.set_source(when(happened[place].at_us))
                text.set_source(words(happened[place]))
