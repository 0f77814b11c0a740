"""Every widget in its states, as pictures: ``python -m tests.ui.widgets.gallery OUT``.

Light and dark, English and Chinese, once and twice the pixels.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QListView,
    QVBoxLayout,
    QWidget,
)

from desktop_app.ui import i18n
from desktop_app.ui.i18n import tr
from desktop_app.ui.theme import install, theme
from desktop_app.ui.widgets import (
    Act,
    Badge,
    Banner,
    Button,
    Card,
    Check,
    Choice,
    ContextGauge,
    ElidedLabel,
    EmptyState,
    Field,
    IconButton,
    KeyHint,
    Label,
    MiniBar,
    NoticeCard,
    ProgressBar,
    ProgressLine,
    Radio,
    RailButton,
    Ring,
    Role,
    RowDelegate,
    SearchField,
    SegmentedControl,
    Sparkline,
    StateGlyph,
    Switch,
    TabBar,
    ToastHost,
    Usage,
)
from desktop_app.ui.widgets.dialogs import ConfirmDialog, TextPrompt, TrustDialog

PARTS = {
    "system": 3200,
    "tools": 6400,
    "mcp": 12800,
    "skills": 2100,
    "ledger": 8200,
    "user": 1900,
    "assistant": 9600,
    "thinking": 6700,
    "result": 30400,
    "images": 4800,
}
USAGE = Usage(200_000, PARTS, 1200, 16_000, 130_000, 170_000)


def scaled(share: float) -> Usage:
    factor = share * 200_000 / USAGE.total
    parts = {name: round(n * factor) for name, n in PARTS.items()}
    return Usage(200_000, parts, round(share * 9000), 16_000, 130_000, 170_000)


class Sheet(QWidget):
    """A column of titled groups."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("ground", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(24, 24, 24, 24)
        self.column.setSpacing(10)

    def group(self, title: str, *rows: list[QWidget] | QWidget) -> None:
        self.column.addSpacing(6)
        self.column.addWidget(Label(title, role="small-semibold", tone="muted"))
        for widgets in rows:
            if isinstance(widgets, QWidget):
                self.column.addWidget(widgets)
                continue
            row = QHBoxLayout()
            row.setSpacing(10)
            for widget in widgets:
                row.addWidget(widget)
            row.addStretch(1)
            self.column.addLayout(row)


def forced(button, state: str):
    button.setProperty("shownState", state)
    return button


def buttons() -> list[list[QWidget]]:
    save, deny = (lambda: tr("Save")), (lambda: tr("Cancel"))
    first = [forced(Button(save, variant="primary"), s) for s in ("rest", "hover", "pressed")]
    first += [forced(Button(deny), s) for s in ("rest", "hover", "pressed")]
    off = Button(save)
    off.setEnabled(False)
    off2 = Button(save, variant="primary", keys="Y")
    off2.setEnabled(False)
    ring, ring2 = Button(deny), Button(save, variant="primary")
    for button in (ring, ring2):
        button.setProperty("ring", True)
    second: list[QWidget] = [forced(Button(deny, variant="ghost"), s) for s in ("rest", "hover")]
    second += [
        Button("Deny", variant="danger", keys="N"),
        Button("Icon", glyph="plus"),
        Button("Small", small=True),
        Button("Allow once", variant="primary", keys="Y"),
        Button("Link", variant="link"),
        forced(Button("Link", variant="link"), "hover"),
        Button("Menu", variant="ghost", glyph="cpu", chevron=True, small=True),
    ]
    icons = [forced(IconButton("search", "Find"), s) for s in ("rest", "hover", "pressed")]
    on = IconButton("search", "Find", checkable=True)
    on.setChecked(True)
    none = IconButton("search", "Find")
    none.setEnabled(False)
    third: list[QWidget] = [*icons, on, none, IconButton("plus", "New", small=True)]
    rails = [forced(RailButton("archive", "Offloads"), s) for s in ("rest", "hover", "pressed")]
    current = RailButton("archive", "Offloads")
    current.setChecked(True)
    waiting = RailButton("archive", "Offloads")
    waiting.set_attention("One approval waits")
    third += [*rails, current, waiting, KeyHint("Ctrl+Shift+F"), KeyHint("Return")]
    return [[*first, ring2, ring, off, off2], second, third]


def toggles() -> list[QWidget]:
    tabs = TabBar()
    tabs.set_tabs([("a", lambda: tr("Context")), ("b", lambda: tr("Files")), ("c", "Tools")])
    tabs.set_count("c", "8")
    tabs.setFixedWidth(260)
    segment = SegmentedControl("View")
    segment.set_choices([("a", "One"), ("b", "Two"), ("c", "Three")], "b")
    look = SegmentedControl("Look", big=True)
    look.set_choices([("l", "", "sun"), ("d", "", "moon"), ("s", "System", "monitor")], "s")
    out: list[QWidget] = [tabs, segment, look]
    for on in (False, True):
        for enabled in (True, False):
            for kind in (Switch, Check):
                toggle = kind(name="x")
                toggle.setChecked(on)
                toggle.setEnabled(enabled)
                out.append(toggle)
    chosen = Radio("Chosen")
    chosen.setChecked(True)
    return [*out, Check("With words"), chosen, Radio("Other")]


def rows(two_line: bool) -> QListView:
    model = QStandardItemModel()
    states = ("none", "running", "busy", "waiting")
    for i, name in enumerate(("Normal", "Selected", "数据清理 and a long name", "Needs you")):
        item = QStandardItem(name)
        item.setData("folder" if two_line else "message-square", Role.ICON)
        item.setData("2 h", Role.TIME)
        item.setData(states[i], Role.STATE)
        item.setData("second line, muted" if two_line else "", Role.DETAIL)
        item.setData(i % 2 == 0, Role.STRONG)
        if i == 1:
            item.setData(("8 tools", "accent", None), Role.BADGE)
        model.appendRow(item)
    view = QListView()
    model.setParent(view)
    view.setModel(model)
    view.setItemDelegate(RowDelegate(view, two_line=two_line))
    view.setCurrentIndex(model.index(1, 0))
    view.setFixedHeight(190 if two_line else 124)
    view.setFrameShape(QFrame.Shape.NoFrame)
    return view


def fields() -> list[QWidget]:
    bad, off, search = Field("Name", text="Invalid"), Field("Off"), SearchField("Filter")
    bad.set_error("This name is taken.")
    off.setEnabled(False)
    off.edit.setText("Disabled")
    full = SearchField("Filter")
    full.setText("comp")
    full.set_count("7 commands")
    choice = Choice("Model")
    choice.set_choices([("a", "Guide · offline"), ("b", "Other")])
    return [search, full, Field("Plain", placeholder="Placeholder"), bad, off, choice]


def gauges() -> list[list[QWidget] | QWidget]:
    bars = []
    for thick in (10, 8, 6):
        gauge = ContextGauge(thick=thick, ground="surface")
        gauge.set_usage(USAGE)
        bars.append(gauge)
    small = ContextGauge(thick=6, width=148, ground="surface")
    small.set_usage(scaled(0.71))
    rings: list[QWidget] = [small]
    for share, side in ((0.43, 18), (0.71, 18), (0.91, 18), (0.43, 28), (0.91, 28)):
        ring = Ring(side=side)
        ring.set_usage(scaled(share))
        rings += [ring, Label(f"{share:.0%}", role="small")]
    line = Sparkline("Tokens", grid=False)
    line.set_values([3, 4, 5, 6, 7, 8, 2, 3, 3.5, 4, 4.5], start="12:00", end="12:40")
    line.setFixedWidth(240)
    for share in (0.2, 0.7, 0.9):
        bar = MiniBar("Load", context=True)
        bar.set_share(share)
        rings.append(bar)
    return [*bars, [*rings, line]]


def cards() -> QWidget:
    holder = QWidget()
    grid = QGridLayout(holder)
    grid.setContentsMargins(0, 0, 0, 0)
    notice = NoticeCard(
        "danger",
        "maps stopped right after its start",
        "The command npx was not found. Exit code 127.",
        "Node is not in the PATH of the login shell.",
        [
            Act("fix", "Install Node", "download"),
            Act("path", "Choose a path"),
            Act("log", "Log", variant="ghost"),
        ],
        log="sh: 1: npx: not found",
    )
    empty = EmptyState(
        "archive",
        "Nothing has left the context",
        "Large results will be kept here.",
        [Act("how", "How it works", "book-open", "normal")],
    )
    grid.addWidget(notice, 0, 0, Qt.AlignmentFlag.AlignTop)
    grid.addWidget(empty, 0, 1)
    plain, chosen = Card(), Card()
    for card in (plain, chosen):
        card.body.addWidget(Label("Docker", role="strong"))
        card.body.addWidget(Label("A container with its own tools.", role="small", tone="muted"))
    chosen.set_chosen(True)
    grid.addWidget(plain, 1, 0)
    grid.addWidget(chosen, 1, 1)
    return holder


def progress() -> list[QWidget]:
    line = ProgressLine()
    line.begin("Reading 9 of 14 files", "12 s")
    line.set_share(0.6, "12 s")
    line.show()
    line._delay.stop()
    return [line, ProgressBar()]


def badges() -> list[list[QWidget]]:
    first: list[QWidget] = [
        Badge("Badge"),
        Badge("8 tools", tone="accent"),
        Badge("Loaded", tone="success", glyph="check"),
        Badge("Cut at #", tone="warning", glyph="triangle-alert"),
        Badge("Dropped", tone="danger", glyph="circle-x"),
        Badge("Pinned", glyph="pin"),
        Badge("固定", tone="info"),
    ]
    names = ("running", "busy", "waiting", "paused", "done", "idle", "warning", "failed")
    return [first, [StateGlyph(name, name.capitalize()) for name in names]]


def sheet() -> Sheet:
    out = Sheet()
    types = ("display", "figure", "heading", "title", "message", "body", "strong", "small")
    out.group(
        "Type", [Label(f"{t} 中文", role=t) for t in types], [Label("mono 0O1lI", role="mono")]
    )
    out.group("Buttons", *buttons())
    out.group("Tabs, segmented, switch, check", toggles())
    all_fields = fields()
    out.group("Fields", all_fields[:3], all_fields[3:])
    out.group("Badges and states", *badges())
    out.group("Rows", rows(False), rows(True))
    out.group("Gauges", *gauges())
    out.group("Progress", *progress())
    out.group("Cards", cards())
    long = ElidedLabel(
        "/home/person/very/long/path/to/a/file.txt", mode=Qt.TextElideMode.ElideMiddle
    )
    long.setFixedWidth(160)
    out.group("Elided", [long], Banner("warning", "nightly-eval pauses in 5 min", "Extend"))
    toasts = QWidget()
    toasts.setFixedHeight(150)
    host = ToastHost(toasts)
    host.show("Session moved to the trash", act=lambda: tr("Undo"), run=lambda: None)
    host.show("nightly-eval pauses in 5 min", "warning", "Extend", lambda: None)
    out.group("Toasts", toasts)
    return out


def dialogs() -> dict[str, QWidget]:
    return {
        "confirm": ConfirmDialog(
            None,
            title="Delete the sandbox nightly-eval?",
            text="It is removed at E2B and cannot be brought back there.",
            action="Delete sandbox",
            danger=True,
            kept=["1 session, kept here", "212 MB offloaded, rescued 12:30"],
            lost=["work/tmp, 4.9 GB, lost", "2 files changed since 12:30"],
        ),
        "prompt": TextPrompt(None, title="Rename session", label="Name", text="Quarterly"),
        "trust": TrustDialog(
            None,
            name="field-sales",
            path="/home/person/field-sales",
            commands=[
                "npx -y @modelcontextprotocol/server-maps --port 1",
                "sh -c 'x\u202e hidden'",
            ],
            notes=["3 skills enter the prompt."],
        ),
    }


def draw(out: Path, scale: str) -> None:
    app = QApplication.instance() or QApplication([])
    for scheme in ("light", "dark"):
        for language in ("en", "zh_CN"):
            i18n.set_language(language)
            install(app, scheme)  # pyright: ignore
            theme().reduced_motion = True
            page = sheet()
            page.resize(980, page.sizeHint().height())
            page.show()
            app.processEvents()
            for button in page.findChildren(Button):
                if button.property("ring"):
                    button.show_ring()
            app.processEvents()
            page.grab().save(str(out / f"sheet-{scheme}-{language}-{scale}.png"))
            page.close()
            for name, dialog in dialogs().items():
                dialog.show()
                app.processEvents()
                dialog.grab().save(str(out / f"{name}-{scheme}-{language}-{scale}.png"))
                dialog.close()


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) > 2:
        draw(out, sys.argv[2])
        return
    for scale in ("1", "2"):  # the factor is read once a process
        env = {**os.environ, "QT_SCALE_FACTOR": scale}
        command = [sys.executable, "-m", "tests.ui.widgets.gallery", str(out), scale]
        subprocess.run(command, env=env, check=True)


if __name__ == "__main__":
    main()
