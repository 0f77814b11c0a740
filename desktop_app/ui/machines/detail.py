"""One workspace below the table: its state, what can be done with it, its tabs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from desktop_app.core.happenings import Happening
from desktop_app.core.overview_row import OverviewRow
from desktop_app.core.workspaces.remote.managed import Machine, Progress
from desktop_app.ui.errors import describe
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import icon
from desktop_app.ui.widgets import (
    Act,
    Button,
    ElidedLabel,
    Glyph,
    IconButton,
    Menu,
    NoticeCard,
    ProgressLine,
    StateGlyph,
    TabBar,
    figures,
)
from desktop_app.ui.widgets.base import follow

from .columns import (
    KIND_ICONS,
    NONE,
    SOON_SECONDS,
    cost,
    kind_name,
    runs_on,
    seconds_left,
    state_of,
)
from .facts import Fact, Facts
from .overview_tab import OverviewTab
from .words import stage

UP = ("ready", "readonly")


class Detail(QWidget):
    """``wanted(verb)``: open, start, pause, stop, extend, rescue, rebuild, remove, forget, retry,
    cancel, key, open_anyway, locate; ``tabChosen(tab)`` asks for what a tab shows."""

    wanted = Signal(str)
    tabChosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "bg")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.row: OverviewRow | None = None
        self._machine: Machine | None = None
        self._busy = False
        self._rescued: Happening | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._head())
        facts = QHBoxLayout()
        follow(facts, setContentsMargins=(16, 2, 16, 8), setSpacing=16)
        self.facts = Facts()
        facts.addWidget(self.facts, 1)
        self.rescue = Button(lambda: tr("Rescue copy now"), glyph="life-buoy", small=True)
        self.rescue.clicked.connect(lambda: self.wanted.emit("rescue"))
        facts.addWidget(self.rescue, 0, Qt.AlignmentFlag.AlignBottom)
        column.addLayout(facts)
        self._notice: NoticeCard | None = None
        self._notice_for: tuple[str, str] = ("", "")
        self._middle = QVBoxLayout()
        follow(self._middle, setContentsMargins=(16, 0, 16, 0))
        column.addLayout(self._middle)
        self.progress = ProgressLine()
        follow(self.progress, setContentsMargins=(16, 4, 16, 8))
        self.progress.cancelled.connect(lambda: self.wanted.emit("cancel"))
        column.addWidget(self.progress)
        self.tabs = TabBar()
        self.tabs.changed.connect(self._tab_chosen)
        column.addWidget(self.tabs)
        self.stack = QStackedWidget()
        self.stack.setProperty("ground", "surface")
        follow(self.stack, setMinimumHeight=120)  # not the highest tab's: they scroll
        column.addWidget(self.stack, 1)
        self.overview = OverviewTab()
        self.pages: dict[str, QWidget] = {}
        self._makers: dict[str, Callable[[], QWidget]] = {}
        self.add_tab("overview", lambda: self.overview)

    def _head(self) -> QHBoxLayout:
        head = QHBoxLayout()
        follow(head, setContentsMargins=(16, 8, 12, 4), setSpacing=8)
        self._glyph = Glyph("folder", "muted", 18)
        self.name = ElidedLabel("", role="title")
        self.state = StateGlyph()
        head.addWidget(self._glyph)
        head.addWidget(self.name)
        head.addWidget(self.state)
        head.addStretch(1)
        self.buttons: dict[str, Button] = {}
        words: list[tuple[str, str, Callable[[], str]]] = [
            ("open", "message-square", lambda: tr("Open session")),
            ("start", "play", self._start_word),
            ("pause", "pause", lambda: tr("Pause")),
            ("stop", "square", lambda: tr("Stop")),
            ("extend", "timer", lambda: tr("Extend by 1 h")),
        ]
        for verb, glyph, text in words:
            button = Button(text, glyph=glyph)
            button.clicked.connect(lambda _=False, v=verb: self.wanted.emit(v))
            self.buttons[verb] = button
            head.addWidget(button)
        self.more = IconButton("ellipsis", lambda: tr("More"))
        self.more.clicked.connect(self._menu)
        head.addWidget(self.more)
        return head

    def _start_word(self) -> str:
        state = self.row.state if self.row is not None else ""
        return {"paused": tr("Resume"), "error": tr("Try again")}.get(state, tr("Start"))

    def event(self, event: QEvent) -> bool:
        """Keep the height that wrapped words need at this width: a splitter asks for less."""
        done = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            layout = self.layout()
            if layout is not None:
                self.setMinimumHeight(max(0, layout.totalMinimumHeightForWidth(self.width())))
        return done

    # -- tabs ------------------------------------------------------------------------------------

    def add_tab(self, name: str, make: Callable[[], QWidget]) -> None:
        """A tab's page is made when it is first chosen."""
        self._makers[name] = make

    def _page(self, name: str) -> QWidget:
        if name not in self.pages:
            page = self.pages[name] = self._makers[name]()
            self.stack.addWidget(page)
        return self.pages[name]

    def tab(self) -> str:
        return self.tabs.value() or "overview"

    def set_tabs(self, names: list[str]) -> None:
        """Which tabs this workspace has; the one in view stays if it has it."""
        words = {
            "overview": lambda: tr("Overview"),
            "files": lambda: tr("Files"),
            "logs": lambda: tr("Logs"),
            "mcp": lambda: tr("MCP"),
            "skills": lambda: tr("Skills"),
            "settings": lambda: tr("Settings"),
        }
        if [part.value for part in self.tabs.parts()] == names:
            return
        now = self.tab() if self.tab() in names else "overview"
        self.tabs.set_tabs([(name, words[name]) for name in names], now)
        self._tab_chosen(now)

    def show_tab(self, name: str) -> None:
        self.tabs.set_value(name)
        self._tab_chosen(name)

    def _tab_chosen(self, name: str) -> None:
        self.stack.setCurrentWidget(self._page(name))
        self.tabChosen.emit(name)

    # -- what it shows ---------------------------------------------------------------------------

    def show_row(
        self,
        row: OverviewRow,
        machine: Machine | None,
        *,
        busy: bool,
        rescued: Happening | None = None,
    ) -> None:
        """State, facts and what can be done now; ``rescued`` is its newest rescue copy."""
        self._rescued = rescued
        self.row, self._machine, self._busy = row, machine, busy
        self._glyph.set_glyph(KIND_ICONS.get(row.kind, "box"))
        self.name.set_source(row.name)
        glyph, word = state_of(row)
        self.state.set_state(glyph, word)
        self._allow(row)
        self._show_facts(row, machine)
        self._show_notice(row)
        if not busy:
            self.progress.end()

    def _allow(self, row: OverviewRow) -> None:
        machine, still = row.kind in ("docker", "e2b") and not row.guarded, not self._busy
        up = row.state in UP
        shown = {
            "open": row.state not in ("missing", "unreadable"),
            "start": machine and row.state in ("stopped", "paused"),
            "pause": machine and up,
            "stop": machine and row.kind == "docker" and (up or row.state == "paused"),
            "extend": machine and row.kind == "e2b" and up,
        }
        for verb, button in self.buttons.items():
            button.setVisible(shown[verb])
            button.setEnabled(still or verb == "open")
            button.retranslate()
        self.rescue.setVisible(machine and up)
        self.rescue.setEnabled(still)

    def _show_facts(self, row: OverviewRow, machine: Machine | None) -> None:
        facts: list[Fact] = []
        left = seconds_left(row)
        if left is not None:
            time = figures.duration(left)
            words = tr("{time}, then pauses", time=time) if row.pauses else ""
            soon = left < SOON_SECONDS
            words = words or tr("{time}, then ends", time=time)
            facts.append(Fact(tr("Time left"), words, tone="warning" if soon else "text"))
        if row.kind == "e2b":  # where it runs is its template
            facts.append(Fact(tr("Template"), runs_on(row), 2))
        elif row.kind == "docker":
            facts.append(Fact(tr("Runs on"), runs_on(row), 1))
        if machine is not None and machine.image and row.kind == "docker":
            facts.append(Fact(tr("Container image"), machine.image, 9))
        if machine is not None and machine.name:
            name = tr("Sandbox") if row.kind == "e2b" else tr("Container")
            facts.append(Fact(name, machine.name, 8))
        if row.started_us:
            facts.append(Fact(tr("Started"), _when(row.started_us), 5))
        if row.folder:
            facts.append(Fact(tr("Folder"), row.folder))
        elif row.kind == "docker":
            facts.append(Fact(tr("Folder"), tr("none: files live in the container"), 1))
        facts.append(Fact(tr("Sessions"), figures.count(row.sessions), 4))
        if row.offloaded is not None:
            facts.append(Fact(tr("Offloaded"), figures.size(row.offloaded), 6))
        if self._rescued is not None:
            size = figures.size(int(self._rescued.params.get("bytes") or 0))
            at = _when(self._rescued.at_us)
            facts.append(Fact(tr("Rescue copy"), tr("{time}, {size}", time=at, size=size), 3))
        if cost(row) != NONE:
            facts.append(Fact(tr("Cost, estimated from a price you set"), cost(row), 7))
        self.facts.show_facts(facts)

    def _show_notice(self, row: OverviewRow) -> None:
        """Why it cannot be used, and the way on."""
        code = str(row.params.get("code", "")) if row.state == "error" else ""
        if row.state in ("missing", "unreadable"):
            code = f"workspace.{row.state}"
        if row.params.get("code") in ("workspace.theirs_gone", "workspace.machine_gone"):
            code = str(row.params["code"])
        elif row.guarded and not code:
            code = "workspace.theirs"
        elif row.volatile and not code:
            code = "workspace.volatile"
        mark = (row.id if code else "", code)
        if mark == self._notice_for:
            return
        self._notice_for = mark
        if self._notice is not None:
            self._middle.removeWidget(self._notice)
            self._notice.hide()
            self._notice.deleteLater()
            self._notice = None
        if code:
            params = {"path": row.folder, "machine": row.name, **row.params}
            acts = [Act("retry", lambda: tr("Try again"), "refresh-cw")]
            tone = "danger"
            if code in ("workspace.missing", "workspace.unreadable"):
                acts.append(Act("locate", lambda: tr("Say where it is…"), "search"))
            if code == "workspace.theirs":
                acts, tone = [Act("open_anyway", lambda: tr("Open anyway"))], "info"
            elif code == "workspace.machine_gone":
                acts, tone = [Act("start", lambda: tr("Start"), "play")], "warning"
            elif code == "workspace.volatile":
                acts = [Act("rescue", lambda: tr("Rescue copy"), "life-buoy")]
                tone = "warning"
            if code in ("e2b.no_key", "e2b.key"):
                acts = [Act("key", lambda: tr("Enter the key…"), "key-round"), *acts]
            self._notice = NoticeCard(
                tone,
                lambda: describe(code, params).title,
                lambda: describe(code, params).reason,
                lambda: describe(code, params).fix,
                acts,
            )
            self._notice.action.connect(self.wanted.emit)
            self._middle.addWidget(self._notice)

    def show_progress(self, progress: Progress) -> None:
        """Where a start or rebuild is."""
        self.progress.begin(lambda: stage(progress), progress.text[:120])
        if progress.steps:
            self.progress.set_share((progress.step - 1) / progress.steps, progress.text[:120])

    def _menu(self) -> None:
        if self.row is None:
            return
        menu = Menu(parent=self)
        self.fill_menu(menu)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height() + 2)))

    def fill_menu(self, menu: Menu) -> None:
        """What a person can do with it, all of it."""
        for verb, button in self.buttons.items():
            if not button.isHidden():
                action = menu.addAction(
                    icon(button.glyph or "circle"), button.text(), self._asks(verb)
                )
                action.setEnabled(button.isEnabled())
        if self.row is None:
            return
        menu.addSeparator()
        if self.row.kind in ("docker", "e2b"):
            copy = menu.addAction(icon("life-buoy"), tr("Rescue copy"), self._asks("rescue"))
            copy.setToolTip(tr("Sessions, data and skills are copied onto this computer"))
            copy.setEnabled(not self._busy)
        if self.row.kind in ("docker", "e2b") and not self.row.theirs:
            again = menu.addAction(icon("refresh-cw"), tr("Rebuild…"), self._asks("rebuild"))
            again.setEnabled(not self._busy)
        menu.addAction(icon("x"), tr("Forget…"), self._asks("forget"))
        if self.row.kind in ("docker", "e2b") and not self.row.guarded:
            kind = (
                tr("Delete the sandbox…") if self.row.kind == "e2b" else tr("Delete the container…")
            )
            gone = menu.addAction(icon("trash-2"), kind, self._asks("remove"))
            gone.setProperty("danger", True)
            gone.setEnabled(not self._busy)

    def _asks(self, verb: str) -> Callable[[], None]:
        return lambda: self.wanted.emit(verb)

    def describe_kind(self) -> str:
        return kind_name(self.row.kind) if self.row is not None else ""


def _when(us: int) -> str:
    at = datetime.fromtimestamp(us / 1e6)
    if at.date() == datetime.now().date():
        return tr("today {time}", time=at.strftime("%H:%M"))
    return at.strftime("%Y-%m-%d %H:%M")
