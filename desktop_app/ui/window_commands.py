"""The window's commands: what menus, shortcuts and the palette offer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from desktop_app.ui.commands import SEPARATOR, Command
from desktop_app.ui.i18n import tr
from desktop_app.ui.palette.model import Entry
from desktop_app.ui.widgets.base import Text

if TYPE_CHECKING:
    from .window import MainWindow

PALETTE_KEY = "Ctrl+K"
EVERYTHING_KEY = "Ctrl+Shift+F"
SHOWN_SESSIONS = 50  # of each workspace, in the palette


def register(window: MainWindow) -> None:
    """Register every command of ``window`` and fill its menus."""
    window.commands.add(*_workspace(window), *_session(window), *_view(window), *_help(window))
    window.commands.menu_bar(
        window.top.menus,
        [
            (
                lambda: tr("File"),
                ["workspace.new", "workspace.open", "workspace.demo", SEPARATOR, "window.quit"],
            ),
            (
                lambda: tr("Session"),
                [
                    "session.new",
                    "session.new_with",
                    "session.rename",
                    "session.trash",
                    SEPARATOR,
                    "session.find",
                    "view.everything",
                    "session.export",
                    "session.permissions",
                    "session.commands",
                    "session.offloads",
                    SEPARATOR,
                    "session.compact",
                    "session.retry",
                    "session.stop",
                    SEPARATOR,
                    "view.trash",
                ],
            ),
            (
                lambda: tr("View"),
                [
                    "view.chat",
                    "view.machines",
                    SEPARATOR,
                    "view.sidebar",
                    "view.inspector",
                    "view.composer",
                    SEPARATOR,
                    "view.palette",
                    "view.models",
                    "view.keys",
                    "view.agents",
                    "view.settings",
                ],
            ),
            (
                lambda: tr("Help"),
                ["help.start", "help.keys", "help.offloads", SEPARATOR, "help.logs", "help.about"],
            ),
        ],
    )
    window.palette_box.add_source(lambda: tr("Sessions"), lambda _query: _sessions(window))


def _workspace(w: MainWindow) -> list[Command]:
    group = lambda: tr("Workspace")  # noqa: E731
    c, pane = Command, w.pane
    new = c("workspace.new", lambda: tr("New workspace…"), w.dialogs.new_workspace, "Ctrl+Shift+N")
    folder = c("workspace.open", lambda: tr("Open a folder…"), pane.folders.choose_folder, "Ctrl+O")
    demo = c("workspace.demo", lambda: tr("Try the demo"), w.workspaces.open_demo)
    leave = c("window.quit", lambda: tr("Quit"), w.close, "Ctrl+Q")
    return [
        replace(new, icon="plus", group=group),
        replace(folder, icon="folder-open", group=group),
        replace(demo, icon="sparkles", group=group),
        replace(leave, icon="log-out", group=group),
    ]


Row = tuple[str, Text, Callable[[], object], str | None, str, Callable[[], bool]]


def _session(w: MainWindow) -> list[Command]:
    rows = [*_of_session(w), *_of_context(w), *_of_run(w)]
    return [
        Command(f"session.{name}", title, run, key, icon, lambda: tr("Session"), when)
        for name, title, run, key, icon, when in rows
    ]


def _of_session(w: MainWindow) -> list[Row]:
    """A session as a whole, and what was said in it."""
    here = lambda: w.pane.workspace_at_hand() is not None  # noqa: E731
    own = lambda: w.chat.vm is not None and w.chat.vm.writable  # noqa: E731
    some = lambda: w.chat.vm is not None and bool(w.chat.vm.commands)  # noqa: E731
    shown, rules = w.shows_session, lambda: tr("Permissions and rules…")
    work, with_agent = w.chat.work, w.dialogs.choose_agent
    return [
        ("new", lambda: tr("New session"), w.new_session, "Ctrl+N", "message-square-plus", here),
        ("new_with", lambda: tr("New session with…"), with_agent, None, "bot", here),
        ("rename", lambda: tr("Rename session"), w.rename_at_hand, "F2", "pencil", own),
        ("trash", lambda: tr("Move session to trash"), w.shown.trash, None, "trash-2", own),
        ("find", lambda: tr("Find in this session"), w.chat.open_find, "Ctrl+F", "search", shown),
        ("export", lambda: tr("Export as Markdown…"), work.export, None, "download", shown),
        ("permissions", rules, w.chat.permissions.open, None, "list-checks", shown),
        (
            "commands",
            lambda: tr("Background commands"),
            w.chat.commands.recall,
            None,
            "terminal",
            some,
        ),
    ]


def _of_context(w: MainWindow) -> list[Row]:
    """What fills its window, and what left that."""
    shown, still = w.shows_session, w.rests
    modes, by_itself = w.dialogs.compaction_modes, lambda: tr("What compaction does by itself…")
    look, preview = w.chat.compaction.preview, lambda: tr("Preview a compaction…")
    left, offloads = w.chat.work.offloads.open, lambda: tr("Offloads of this session…")
    return [
        ("preview_compaction", preview, look, "Ctrl+Shift+K", "fold-vertical", shown),
        ("offloads", offloads, left, None, "archive", shown),
        ("compaction_modes", by_itself, modes, None, "sliders-horizontal", shown),
        ("compact", lambda: tr("Compact now"), w.chat.compact, None, "fold-vertical", still),
    ]


def _of_run(w: MainWindow) -> list[Row]:
    """The turn under way, or the one that could go on."""
    stop, retry = lambda: w.with_vm("stop"), lambda: w.with_vm("retry")
    return [
        ("stop", lambda: tr("Stop the agent"), stop, "Ctrl+.", "square", w.running),
        ("retry", lambda: tr("Go on"), retry, None, "rotate-cw", w.rests),
    ]


def _view(w: MainWindow) -> list[Command]:
    group = lambda: tr("View")  # noqa: E731
    shown = lambda: w.chat.vm is not None  # noqa: E731
    palette = lambda: tr("Command palette")  # noqa: E731
    focus = w.chat.composer.setFocus
    c, opened = Command, w.palette_box.open
    return [
        c("view.palette", palette, opened, PALETTE_KEY, "command", group, hidden=True),
        c("view.palette2", palette, opened, "Ctrl+Shift+P", "command", group, hidden=True),
        c(
            "view.inspector",
            lambda: tr("Inspector"),
            w.areas.toggle_inspector,
            "Ctrl+I",
            "panel-right",
            group,
            shown,
            lambda: w.inspector.isVisible(),
        ),
        c(
            "view.sidebar",
            lambda: tr("Workspaces list"),
            w.areas.toggle_pane,
            "Ctrl+B",
            "panel-left",
            group,
            None,
            lambda: w.pane.isVisible(),
        ),
        c("view.chat", lambda: tr("Chat"), w.show_chat, "Ctrl+1", "message-square", group),
        c("view.machines", lambda: tr("Workspaces"), w.show_machines, "Ctrl+2", "boxes", group),
        c("view.composer", lambda: tr("Write a message"), focus, "Ctrl+L", "pencil", group, shown),
        c(
            "view.everything",
            lambda: tr("Find in everything"),
            w.dialogs.find_everywhere,
            EVERYTHING_KEY,
            "text-search",
            group,
        ),
        c("view.trash", lambda: tr("Trash…"), w.dialogs.open_trash, None, "trash-2", group),
        *_set_up(w),
    ]


def _set_up(w: MainWindow) -> list[Command]:
    """At the end of the same menu: what is set once."""
    group = lambda: tr("View")  # noqa: E731
    c = Command
    return [
        c(
            "view.settings",
            lambda: tr("Settings…"),
            w.settingsWanted.emit,
            "Ctrl+,",
            "settings",
            group,
        ),
        c(
            "view.models",
            lambda: tr("Manage models…"),
            w.modelsWanted.emit,
            None,
            "cpu",
            group,
        ),
        c(
            "view.keys",
            lambda: tr("Where keys are kept…"),
            w.keysWanted.emit,
            None,
            "key-round",
            group,
        ),
        c("view.agents", lambda: tr("Agents…"), w.dialogs.open_agents, None, "bot", group),
    ]


def _help(w: MainWindow) -> list[Command]:
    c, d = Command, w.dialogs
    group = lambda: tr("Help")  # noqa: E731
    return [
        c("help.start", lambda: tr("First steps"), w.show_welcome, None, "compass", group),
        c("help.keys", lambda: tr("Keyboard shortcuts"), d.open_keys, "F1", "keyboard", group),
        c(
            "help.offloads",
            lambda: tr("Offloads in a store of your own"),
            lambda: d.open_help("offloader"),
            None,
            "archive",
            group,
        ),
        c("help.logs", lambda: tr("Show the logs"), d.show_logs, None, "scroll-text", group),
        c("help.about", lambda: tr("About Slipway"), d.open_about, None, "info", group),
    ]


def _sessions(w: MainWindow) -> list[Entry]:
    found: list[Entry] = []
    for ws in w.workspaces.workspaces:
        for s in ws.sessions[:SHOWN_SESSIONS]:
            run = lambda key=s.key: w.open_session(key)  # noqa: E731
            title = s.title or tr("New session")
            found.append(Entry(s.key.session_id, title, run, ws.info.name, "message-square"))
    return found
