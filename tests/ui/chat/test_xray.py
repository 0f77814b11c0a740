"""The X-ray of the context: everything in it adds up, each tile has its words and its actions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from desktop_app.core.context.types import Breakdown, Item
from desktop_app.ui import i18n
from desktop_app.ui.chat.inspector.context_panel import ContextPanel
from desktop_app.ui.chat.inspector.xray import Xray
from desktop_app.ui.chat.inspector.xray_nodes import SHOWN, tiles, tree
from desktop_app.ui.chat.inspector.xray_words import node_name
from desktop_app.ui.chat.item_words import item_name
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.tools.entries import SkillEntry
from desktop_app.ui.transcript.model import TranscriptModel
from desktop_app.ui.widgets.tiles import REST
from tests.helpers.conversation import FakeConversation, breakdown, item
from tests.ui.chat.gallery import items as gallery_items


def exact(items: list[Item], **fields: Any) -> Breakdown:
    """A breakdown whose parts are the sums of ``items``."""
    found = breakdown(1000, items=items, rest=(), **fields)
    parts = dict.fromkeys(found.parts, 0)
    for one in items:
        parts[one.category] += one.tokens
    total = sum(parts.values())
    return replace(found, parts=parts, total=total, upper=total)


def test_the_tree_adds_up_to_what_is_used() -> None:
    found = breakdown(86_100, items=gallery_items())
    root = tree(found)
    assert root.tokens == found.total
    assert {n.key: n.tokens for n in root.children} == found.parts
    for node in [root, *root.walk()]:
        assert not node.children or node.tokens == sum(c.tokens for c in node.children)
        assert 0 <= node.estimated <= node.tokens


def test_the_whole_window_adds_reserve_and_what_is_free() -> None:
    found = breakdown(86_100, items=gallery_items())
    used = tiles(tree(found), found, whole=False)
    whole = tiles(tree(found), found, whole=True)
    assert sum(t.weight for t in used) == 86_100
    assert sum(t.weight for t in whole) == 200_000
    assert {t.group for t in whole} - {t.group for t in used} == {"reserve", "free"}


def test_tools_of_servers_are_one_tile_a_server() -> None:
    root = tree(breakdown(86_100, items=gallery_items()))
    servers = root.find(("mcp",))
    assert servers is not None
    assert [node_name(n) for n in servers.children][:2] == ["sqlite", "fetch"]
    sqlite = root.find(("mcp", "group:mcp:sqlite"))
    assert sqlite is not None
    assert [node_name(n) for n in sqlite.children] == ["query", "tables"]


def test_ten_thousand_things_are_bounded() -> None:
    many = [item("result", f"Read {i}.txt", 1 + i % 90, f"op{i}") for i in range(10_000)]
    root = tree(exact(many, measured=0))
    results = root.find(("result",))
    assert results is not None
    assert len(results.children) == SHOWN + 1
    assert results.tokens == sum(i.tokens for i in many)
    rest = results.find((REST,))
    assert rest is not None
    assert rest.count == 10_000 - SHOWN


def test_items_are_called_as_people_know_them() -> None:
    cases = [
        (item("assistant", "**18 files**\n\n- `a`", 1, "x"), "18 files"),
        (item("result", "Glob **/*", 1, "x"), "Find files **/*"),
        (item("result", "mcp__sqlite__query", 1, "x"), "query · sqlite"),
        (item("assistant", "mcp__sqlite__query select 1", 1, "x"), "query · sqlite select 1"),
        (item("tools", "Glob", 1, "x"), "Glob"),
        (item("mcp", "sqlite: query", 1, "x"), "query"),
        (item("system", "instructions", 1, "x"), "Instructions"),
        (item("thinking", "", 1, "x"), "Thinking"),
        (item("user", "## Do it", 1, "x"), "Do it"),
    ]
    assert [item_name(i) for i, _ in cases] == [name for _, name in cases]


@pytest.fixture
def xray(qtbot: QtBot) -> Xray:
    made = Xray()
    qtbot.addWidget(made)
    made.resize(290, 500)
    made.show()
    made.set_breakdown(breakdown(86_100, items=gallery_items()))
    return made


def test_the_chosen_tile_says_what_it_is(xray: Xray) -> None:
    assert xray.card.isHidden()
    xray.map.choose("result", "op1")
    assert not xray.card.isHidden()
    assert xray.name.text() == "Read data/sales/2025-09.csv"
    assert xray.detail.text() == "Tool results · 12.3k · 14% of what is used · measured"
    xray.map.choose("result", "g")
    assert xray.detail.text().endswith("estimated")
    i18n.set_language("zh_CN")
    assert "估算" in xray.detail.text()
    i18n.set_language("en")


def test_a_group_opens_and_closes_by_keyboard(xray: Xray, qtbot: QtBot) -> None:
    xray.map.setFocus(Qt.FocusReason.TabFocusReason)
    assert xray.map.choose("mcp", "group:mcp:sqlite")
    qtbot.keyClick(xray.map, Qt.Key.Key_Return)
    assert xray.place.text() == "sqlite"
    assert xray.map.accessibleName() == "Context map: sqlite"
    assert [t.data() for t in map(xray.map.tiles.index, range(2))] == [
        "sqlite: query",
        "sqlite: tables",
    ]
    qtbot.keyClick(xray.map, Qt.Key.Key_Backspace)
    assert xray.back.isHidden()
    assert xray.map.tiles.rowCount() > 10


def test_what_vanishes_while_it_is_open_leads_back(xray: Xray) -> None:
    xray.map.choose("mcp", "group:mcp:sqlite")
    tile = xray.map.current()
    assert tile is not None
    xray.enter(xray.node(tile))
    without = [i for i in gallery_items() if i.category != "mcp"]
    xray.set_breakdown(breakdown(86_100, items=without))
    assert xray.place.text() == ""
    assert xray.map.tiles.rowCount() > 0


class Servers:
    """What the X-ray asks of the MCP servers' manager; a server process is not needed here."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def set_enabled(self, name: str, on: bool) -> None:
        self.asked.append((name, on))


@pytest.fixture
def panel(qtbot: QtBot, run: Any) -> Any:
    conversation = FakeConversation()
    conversation.measure = breakdown(86_100, items=gallery_items())
    vm = ChatViewModel(TranscriptModel())
    made = ContextPanel()
    qtbot.addWidget(made)
    made.resize(320, 900)
    made.show()
    vm.open(conversation)  # type: ignore[arg-type]
    servers = Servers()
    made.bind(vm, ChatSources(mcp=servers))  # type: ignore[arg-type]
    made.servers = servers
    qtbot.waitUntil(lambda: made.xray.map.tiles.rowCount() > 0)
    yield made
    made.bind(None, ChatSources())
    run(made.xray.acts.close_tasks())
    run(vm.close())


def test_a_server_is_switched_off_from_its_tile(panel: Any, qtbot: QtBot) -> None:
    panel.xray.map.choose("mcp", "group:mcp:sqlite")
    (off, look) = panel.xray.buttons
    assert (off.text(), look.text()) == ("Switch the server off", "Look inside")
    off.click()
    qtbot.waitUntil(lambda: panel.servers.asked == [("sqlite", False)])


def test_a_tool_and_a_skill_are_switched_off_from_their_tiles(
    qtbot: QtBot, run: Any, panel: Any
) -> None:
    done: list[Any] = []
    changed: list[bool] = []
    panel.xray.acts.toolsChanged.connect(lambda: changed.append(True))

    async def skills() -> list[SkillEntry]:
        return [SkillEntry("report", "Writes reports.", 40, folder="report-style")]

    async def set_skill(folder: str, on: bool) -> None:
        done.append((folder, on))

    async def set_tool(name: str, on: bool) -> None:
        done.append((name, on))

    vm = panel.xray.acts._vm
    sources = ChatSources(skills=skills, set_skill=set_skill, set_tool=set_tool)
    panel.xray.acts.bind(vm, sources)
    listed = Item("skills", "report", 900, "skill:report", True, "skill:report")
    panel.xray.set_breakdown(breakdown(items=[listed, item("tools", "Bash", 1900, "Bash")]))
    assert panel.xray.map.choose("skills", "skill:report")
    assert panel.xray.buttons[0].text() == "Unload skill"
    panel.xray.buttons[0].click()
    qtbot.waitUntil(lambda: len(changed) == 1)
    assert panel.xray.map.choose("tools", "Bash")
    assert panel.xray.buttons[0].text() == "Disable tool"
    panel.xray.buttons[0].click()
    qtbot.waitUntil(lambda: len(changed) == 2)
    assert done == [("report-style", False), ("Bash", False)]
    assert "recount" in vm.conversation.calls


def test_what_is_no_row_of_the_chat_cannot_be_shown_there(panel: Any) -> None:
    panel.xray.map.choose("result", "op1")
    show = next(b for b in panel.xray.buttons if b.text() == "Show in chat")
    assert not show.isEnabled()
    assert "not a part" in show.toolTip()


def test_the_map_follows_the_session_without_a_jump(panel: Any, qtbot: QtBot) -> None:
    xray = panel.xray
    xray.map.choose("result", "op1")
    vm = xray.acts._vm
    more = [*gallery_items(), item("result", "Grep y", 900, "new", measured=False)]
    vm.breakdown = breakdown(87_000, items=more)
    vm.contextChanged.emit()
    qtbot.waitUntil(lambda: xray.map.choose("result", "new"))
    xray.map.choose("result", "op1")
    assert xray.name.text() == "Read data/sales/2025-09.csv"
