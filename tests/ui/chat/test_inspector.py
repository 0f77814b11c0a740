"""The inspector's lists: files through a backend, tools, skills, compactions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QFileDialog
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from desktop_app.core.context.figures import CallCount, drift_of
from desktop_app.core.context.types import Item
from desktop_app.core.errors import SettingsError, WorkspaceError
from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.ui import i18n
from desktop_app.ui.chat.gauges import (
    drift_detail,
    drift_words,
    estimated_words,
    forecast_basis,
    forecast_words,
    full_words,
    most_words,
    offer_share,
    usage_of,
)
from desktop_app.ui.chat.inspector.context_panel import ContextPanel
from desktop_app.ui.chat.inspector.context_parts import legend
from desktop_app.ui.chat.inspector.files_panel import FilesPanel
from desktop_app.ui.chat.inspector.tools_panel import ToolsPanel
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.summary_text import summary_html
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.files.model import FilesModel
from desktop_app.ui.files.preview import preview_text
from desktop_app.ui.theme import theme
from desktop_app.ui.tools.entries import SkillEntry, ToolEntry, tool_entries
from desktop_app.ui.transcript.model import TranscriptModel
from desktop_app.ui.widgets.buttons import Button
from desktop_app.ui.widgets.rows import Role
from tests.helpers.conversation import FakeConversation, breakdown


@pytest.fixture
def backend(run: Any, tmp_path: Path) -> Any:
    for name in ("b.txt", "A.md", "src/deep/x.py", "src/y.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"words of {name}\n")
    made = LocalBackend(str(tmp_path))
    run(made.start())
    yield made
    run(made.close())


def names(model: FilesModel, parent: QModelIndex | None = None) -> list[str]:
    at = parent or QModelIndex()
    return [model.index(r, 0, at).data() for r in range(model.rowCount(at))]


@pytest.fixture
def files(qtbot: QtBot, run: Any, backend: LocalBackend) -> Any:
    model = FilesModel()
    model.set_backend(backend)
    model.fetchMore(QModelIndex())
    qtbot.waitUntil(lambda: model.rowCount() == 3)
    yield model
    run(model.close_tasks())


def test_folders_come_first_and_are_read_when_opened(
    qtbot: QtBot, files: FilesModel, qtmodeltester: ModelTester
) -> None:
    assert names(files) == ["src", "A.md", "b.txt"]
    src = files.index(0, 0)
    assert files.hasChildren(src)
    assert files.rowCount(src) == 0
    files.fetchMore(src)
    qtbot.waitUntil(lambda: files.rowCount(src) == 2)
    assert names(files, src) == ["deep", "y.py"]
    qtmodeltester.check(files)


def test_refresh_brings_what_changed_and_keeps_the_rest(
    qtbot: QtBot, files: FilesModel, tmp_path: Path, qtmodeltester: ModelTester
) -> None:
    qtmodeltester.check(files)
    src = files.index(0, 0)
    files.fetchMore(src)
    qtbot.waitUntil(lambda: files.rowCount(src) == 2)
    (tmp_path / "b.txt").unlink()
    (tmp_path / "aa.txt").write_text("new")
    (tmp_path / "src" / "z.py").write_text("new")
    files.refresh()
    qtbot.waitUntil(lambda: names(files) == ["src", "A.md", "aa.txt"])
    qtbot.waitUntil(lambda: names(files, files.index(0, 0)) == ["deep", "y.py", "z.py"])


def test_what_the_agent_changed_is_marked_also_on_a_closed_folder(
    files: FilesModel, tmp_path: Path
) -> None:
    files.set_touched({f"{tmp_path}/A.md": "Edit", "src/y.py": "Write"})
    badges = [files.index(r, 0).data(Role.BADGE) for r in range(3)]
    assert [b and b[0] for b in badges] == ["changed", "changed", None]


def test_thirty_thousand_files_in_one_folder(qtbot: QtBot, run: Any, backend: LocalBackend) -> None:
    info = run(backend.stat(f"{backend.cwd}/b.txt"))

    class Many:
        cwd = "/many"

        async def scandir(self, path: str) -> AsyncIterator[list[Any]]:
            from dataclasses import replace

            for start in range(0, 30_000, 1000):
                yield [replace(info, name=f"f{n:05}") for n in range(start, start + 1000)]

    model = FilesModel()
    many: Any = Many()
    model.set_backend(many)
    model.fetchMore(QModelIndex())
    qtbot.waitUntil(lambda: model.rowCount() == 30_000)
    assert model.index(29_999, 0).data() == "f29999"
    run(model.close_tasks())


def test_a_folder_that_cannot_be_read_says_why(qtbot: QtBot, run: Any) -> None:
    class Denied:
        cwd = "/denied"

        async def scandir(self, path: str) -> AsyncIterator[list[Any]]:
            raise WorkspaceError("file.denied", path=path)
            yield []

    panel = FilesPanel()
    qtbot.addWidget(panel)
    denied: Any = Denied()
    panel.bind(None, ChatSources(backend=denied))
    panel.model.fetchMore(QModelIndex())
    qtbot.waitUntil(lambda: not panel._empty.isHidden())
    assert "/denied" in panel._empty.text.text()
    run(panel.close_tasks())


def test_previews(qtbot: QtBot, run: Any, backend: LocalBackend, tmp_path: Path) -> None:
    (tmp_path / "z.bin").write_bytes(b"\0\1\2")
    (tmp_path / "zz.txt").write_text("")
    panel = FilesPanel()
    qtbot.addWidget(panel)
    panel.show()
    panel.bind(None, ChatSources(backend=backend))
    panel.model.fetchMore(QModelIndex())
    qtbot.waitUntil(lambda: panel.model.rowCount() == 5)
    panel.tree.setCurrentIndex(panel.model.index(1, 0))
    qtbot.waitUntil(lambda: panel.text.toPlainText() == "words of A.md")
    panel.tree.setCurrentIndex(panel.model.index(3, 0))
    qtbot.waitUntil(lambda: panel.browser.note.text() == "A binary file of 3 B")
    panel.tree.setCurrentIndex(panel.model.index(4, 0))
    qtbot.waitUntil(lambda: panel.browser.note.text() == "An empty file")
    run(panel.close_tasks())


def test_a_preview_is_bounded_and_shows_what_hides() -> None:
    text = preview_text(b"x" * 60_000, 500_000_000)
    assert text is not None
    assert len(text) < 5000
    assert "500 MB more" in text or "499.9 MB more" in text
    assert preview_text("a\u202eb".encode(), 5) == "a⟨U+202E⟩b"
    assert preview_text("\ufeffa\r\nb".encode(), 6) == "a\nb"
    assert preview_text("词".encode("utf-16"), 4) == "词"


# -- context --------------------------------------------------------------------------------


def test_the_legend_adds_up_to_the_window() -> None:
    found = breakdown(86_100)
    rows = legend(found)
    assert sum(n for _, n in rows) == 200_000
    assert [name for name, _ in rows][-2:] == ["reserve", "free"]
    usage = usage_of(found)
    assert (usage.total, usage.estimated) == (86_100, 1200)
    assert usage.alert < usage.danger < usage.window


def test_sentences_about_the_context() -> None:
    assert forecast_words(breakdown(turns_left=7.2)) == (
        "About 7 turns until compaction is offered"
    )
    assert forecast_words(breakdown(turns_left=0.6)) == "About 1 turn until compaction is offered"
    assert forecast_words(breakdown(turns_left=None)) == ""
    over = breakdown(140_000, turns_left=0)
    assert forecast_words(over) == ("At most 74%, over the mark at 58% where compaction is offered")
    full = breakdown(190_000)
    assert forecast_words(full).endswith("over the mark at 76%: compacted before the next call")
    assert forecast_words(full, by_itself=False).endswith("over the second mark at 76%")
    history = tuple(CallCount(1000, n, 1300, 200_000, "m", 0) for n in (900, 950, 1310))
    measured = breakdown(history=history, drift=drift_of(history), turns_left=7.2)
    assert drift_words(measured) == "Estimates were 5% too high over the last 3 calls"
    assert drift_detail(measured).splitlines()[0] == "900 estimated, 1.0k by the provider"
    assert drift_words(breakdown()) == drift_detail(breakdown()) == ""
    assert forecast_basis(measured).startswith("From the last 4 turns, which brought 9.0k")
    assert estimated_words(breakdown()) == "+1.2k estimated since the last call"
    assert estimated_words(breakdown(measured=86_100)) == "Measured by the provider"
    assert estimated_words(breakdown(measured=0)) == "Estimated; measured at the next call"


def test_what_is_shown_and_what_decides_agree() -> None:
    """A mark that only the upper estimate passed is told with that estimate, and every share is
    one of the window, as in the gauge."""
    close = breakdown(110_000, upper=121_000)  # the mark is at 0.65 of 180,000
    usage = usage_of(close)
    assert usage.total < usage.alert <= usage.most == close.upper
    assert usage.tone == "warning"
    assert full_words(close) == ("The context is 55% full, at most 60%: over the mark at 58%.")
    assert offer_share(close) == "58%", "where the tick stands"
    assert most_words(close) == "at most 121k tokens"
    assert full_words(breakdown(140_000)) == "The context is 70% full, over the mark at 58%."
    assert full_words(breakdown(20_000)) == "The context is 10% full."
    assert most_words(breakdown(20_000, upper=20_001)) == "", "nothing is said of nothing"


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_no_sentence_of_the_context_panel_pushes_figures_out_of_sight(
    qtbot: QtBot, run: Any, language: str
) -> None:
    i18n.set_language(language)
    conversation = FakeConversation()
    conversation.measure = breakdown(110_000, upper=121_000, measured=0)
    vm = ChatViewModel(TranscriptModel())
    vm.open(conversation)  # type: ignore[arg-type]
    panel = ContextPanel()
    qtbot.addWidget(panel)
    panel.bind(vm, ChatSources())
    qtbot.waitUntil(lambda: vm.breakdown is not None and bool(panel.share.text()))
    assert "121k" in panel.estimated.text()
    held = panel._scroll.widget().minimumSizeHint().width()
    assert held <= theme().size("inspector-min")
    panel.bind(None, ChatSources())
    run(vm.close())


# -- tools ----------------------------------------------------------------------------------


def test_tools_and_skills_with_what_they_cost(qtbot: QtBot, run: Any) -> None:
    switched: list[tuple[str, bool]] = []

    async def tools() -> list[ToolEntry]:
        return [ToolEntry("Bash", "Run a command. More.", 1900), ToolEntry("Read", "Read.", 60)]

    async def skills() -> list[SkillEntry]:
        problem = ("skill.no_description", {"name": "bad"})
        on = not switched or switched[-1][1]
        return [
            SkillEntry("good", "Does it.", 140, folder="good", enabled=on),
            SkillEntry("bad", "", 10, problem, folder="bad"),
        ]

    async def set_skill(folder: str, on: bool) -> None:
        switched.append((folder, on))

    panel = ToolsPanel()
    qtbot.addWidget(panel)
    panel.bind(ChatSources(tools=tools, skills=skills, set_skill=set_skill))
    qtbot.waitUntil(lambda: panel.tools.model.rowCount() == 2)
    assert panel.total.text() == "2.1k tokens in every request, estimated"
    assert panel.tools.model.item(1).text() == "Read"
    assert panel.tools.model.item(0).data(Role.DETAIL) == "Run a command."
    panel.show_part("skills")
    listed = panel.skills.model
    assert listed.item(1).data(Role.TIME) == "not loaded"
    assert "description" in listed.item(1).toolTip()
    panel.skills.view.setCurrentIndex(listed.index(1, 0))
    assert panel.skills.switch.isHidden()
    assert "cannot know" in panel.skills.notes.text()
    panel.skills.view.setCurrentIndex(listed.index(0, 0))
    panel.skills.switch.click()
    qtbot.waitUntil(lambda: listed.item(0).data(Role.TIME) == "off")
    assert switched == [("good", False)]
    assert not panel.skills.switch.isChecked()  # still shown, and off
    assert panel.total.text() == "2.0k tokens in every request, estimated"
    run(panel.close_tasks())


def test_a_skill_is_added_from_the_empty_list_and_from_the_full_one(
    qtbot: QtBot, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: list[SkillEntry] = []

    async def skills() -> list[SkillEntry]:
        return list(there)

    async def add(folder: Path) -> None:
        if folder.name == "bare":
            raise SettingsError("skill.no_file", name="bare")
        there.append(SkillEntry(folder.name, "Does it.", 10, folder=folder.name))

    panel = ToolsPanel()
    qtbot.addWidget(panel)
    panel.show()
    panel.bind(ChatSources(skills=skills, add_skill=add))
    panel.show_part("skills")
    asked: list[QFileDialog] = []
    monkeypatch.setattr(QFileDialog, "open", lambda self: asked.append(self))
    panel.skills.empty.findChildren(Button)[0].click()
    assert asked[0].fileMode() == QFileDialog.FileMode.Directory
    panel.add_skill("/x/bare")
    qtbot.waitUntil(panel.skills.error.isVisible)
    assert "SKILL.md" in panel.skills.error.text()
    asked[0].fileSelected.emit("/x/pdf")
    qtbot.waitUntil(lambda: panel.skills.model.rowCount() == 1)
    assert panel.skills.error.isHidden()
    assert panel.skills.name.text() == "pdf", "the new one is chosen"
    assert panel.skills.more is not None
    panel.skills.more.click()
    assert len(asked) == 2
    run(panel.close_tasks())


def test_a_built_in_tool_is_switched_off_and_on(qtbot: QtBot, run: Any) -> None:
    off: set[str] = set()

    async def tools() -> list[ToolEntry]:
        return [ToolEntry("Bash", "Run a command.", 1900), ToolEntry("Read", "Read.", 60)]

    async def set_tool(name: str, on: bool) -> None:
        off.discard(name) if on else off.add(name)

    panel = ToolsPanel()
    qtbot.addWidget(panel)
    panel.bind(ChatSources(tools=tools, set_tool=set_tool, tools_off=lambda: off))
    qtbot.waitUntil(lambda: panel.tools.model.rowCount() == 2)
    panel.tools.view.setCurrentIndex(panel.tools.model.index(0, 0))
    panel.tools.switch.click()
    qtbot.waitUntil(lambda: panel.tools.model.item(0).data(Role.TIME) == "off")
    assert off == {"Bash"}
    assert panel.total.text() == "60 tokens in every request, estimated"
    panel.tools.switch.click()
    qtbot.waitUntil(lambda: panel.tools.model.item(0).data(Role.TIME) == "1.9k")
    assert not off
    run(panel.close_tasks())


def test_the_lists_are_as_they_are_now(qtbot: QtBot, run: Any) -> None:
    """A skill that came, a group that the agent switched on: seen without another session."""
    there: list[SkillEntry] = []

    async def skills() -> list[SkillEntry]:
        return list(there)

    panel = ToolsPanel()
    qtbot.addWidget(panel)
    panel.show()
    panel.bind(ChatSources(skills=skills))
    panel.show_part("skills")
    there.append(SkillEntry("new", "Does it.", 140, folder="new"))
    panel.note_change()
    qtbot.waitUntil(lambda: panel.skills.model.rowCount() == 1)
    assert panel.total.text() == "140 tokens in every request, estimated"
    there.append(SkillEntry("newer", "Does it.", 60, folder="newer"))
    panel.show_part("skills")
    qtbot.waitUntil(lambda: panel.total.text() == "200 tokens in every request, estimated")
    run(panel.close_tasks())


def test_the_figures_are_those_of_the_context_tab(qtbot: QtBot, run: Any) -> None:
    async def tools() -> list[ToolEntry]:
        return [ToolEntry("Bash", "Run a command.", 1900), ToolEntry("Read", "Read.", 60)]

    async def skills() -> list[SkillEntry]:
        return [SkillEntry("good", "Does it.", 14, folder="good")]

    def one(category: Any, tokens: int, ref: str) -> Item:
        return Item(category, ref, tokens, ref, True, category)

    used = [
        one("tools", 2_000, "Bash"),
        one("tools", 70, "Read"),
        one("tools", 300, "reset_tools"),
        one("skills", 20, "skill:good"),
        one("user", 500, "m1"),
    ]
    off: set[str] = set()
    panel = ToolsPanel()
    qtbot.addWidget(panel)
    sources = ChatSources(tools=tools, skills=skills, tools_off=lambda: off)
    panel.bind(sources, lambda: breakdown(2_890, items=used, rest=()))
    qtbot.waitUntil(lambda: panel.tools.model.rowCount() == 3)
    listed = [panel.tools.model.item(n) for n in range(3)]
    assert [i.text() for i in listed] == ["Bash", "Read", "reset_tools"]
    assert [i.data(Role.TIME) for i in listed] == ["2.0k", "70", "300"]
    panel.tools.view.setCurrentIndex(panel.tools.model.index(2, 0))
    assert panel.tools.switch.isHidden(), "it comes and goes by itself"
    assert panel.skills.model.item(0).data(Role.TIME) == "20"
    assert panel.total.text() == "2.4k tokens in every request, measured"
    off.add("Bash")  # what was switched since then is taken off, and that is an estimate
    panel.refresh()
    qtbot.waitUntil(lambda: panel.total.text() == "390 tokens in every request, estimated")
    run(panel.close_tasks())


def test_entries_of_real_tools() -> None:
    from desktop_app.core.tools.registry import builtin_tools

    entries = tool_entries(builtin_tools(), lambda text: len(text) // 4)
    assert {"Bash", "Read", "Write", "AskUser"} <= {e.name for e in entries}
    assert all(e.tokens > 10 and e.description and not e.group for e in entries)


def test_a_summary_is_read_without_its_tags_and_with_nothing_hidden() -> None:
    document = QTextDocument()
    document.setHtml(
        summary_html("<pinned>\n# Task\nFind <b>it</b> & \u202eback\n</pinned>\n- a **bold** point")
    )
    assert document.toPlainText().replace("\xa0", " ") == (
        "Task\nFind <b>it</b> & ⟨U+202E⟩back\n• a bold point"
    )


def test_what_a_person_wrote_keeps_its_signs_and_what_was_found_is_laid_out() -> None:
    document = QTextDocument()
    document.setHtml(
        summary_html("<pinned>\n# Task\nuse `x**2` **now**\n</pinned>\n\n<history>\nA record.\n\n"
                     "# Found\n- **18 files** in `sales`, not `**`\n</history>")
    )  # fmt: skip
    assert document.toPlainText().replace("\xa0", " ") == (
        "Task\nuse `x**2` **now**\nA record.\nFound\n• 18 files in sales, not **"
    )
    block = document.findBlockByNumber(2)
    assert block.text() == "A record."
    assert block.blockFormat().topMargin() > document.findBlockByNumber(1).blockFormat().topMargin()
