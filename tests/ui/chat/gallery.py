"""``python -m tests.ui.chat.gallery OUT``: pictures of the chat with rich content.

Light and dark, English and Chinese, at the scale of ``QT_SCALE_FACTOR`` (run it twice for 1 and 2).
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QDeadlineTimer, QEventLoop, Qt
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from desktop_app.core import events as ev
from desktop_app.core.agent.base import Attachment
from desktop_app.core.ids import now_us, set_factories
from desktop_app.core.models.base import ModelInfo
from desktop_app.core.tools.background import Command, Ending
from desktop_app.core.workspaces.local import LocalBackend
from desktop_app.ui import i18n
from desktop_app.ui.chat.inspector import Inspector
from desktop_app.ui.chat.page import ChatPage
from desktop_app.ui.chat.rows_from import Voice
from desktop_app.ui.chat.sources import ChatSources
from desktop_app.ui.chat.status import ChatStatus
from desktop_app.ui.chat.view_model import ChatViewModel
from desktop_app.ui.loop import AppEventLoop
from desktop_app.ui.theme import install
from desktop_app.ui.tools.entries import SkillEntry, ToolEntry
from desktop_app.ui.transcript.model import TranscriptModel
from desktop_app.ui.widgets.card import Line
from tests.helpers.conversation import (
    FakeConversation,
    Gate,
    Park,
    Step,
    approval,
    breakdown,
    call,
    compaction,
    item,
    model_call,
    result,
    text,
    thinking,
)

GLM = ModelInfo("glm-4.6", "glm-4.6", 200_000, 16_000, efforts=True)
GUIDE = ModelInfo("guide", "Guide", 32_000, 4_000, offline=True, is_ai=False)
DIFF = """--- a/scripts/report.py
+++ b/scripts/report.py
@@ -41,4 +41,5 @@
 def write(table, out):
-    table.to_markdown(out, 120)
+    table.drop(columns=["customer"])  # no names
+    table.to_markdown(out, 100)
     return out
"""
WORDS: dict[str, dict[str, str]] = {
    "en": {
        "title": "Quarterly returns report",
        "ask": "Find the regions where returns grew faster than sales in Q3 and write a report to "
        "`reports/`. Do not change the files in `data/sales`, and keep customer names out of it.",
        "say": "Three regions stand out: **North**, **Harbour** and **Lakeside**. Growth is "
        "measured on the cleaned table:\n\n```python scripts/report.py\n"
        "def growth(df: pd.DataFrame, col: str) -> pd.Series:\n"
        "    # quarter over quarter, per region\n"
        '    q = df.groupby(["region", "quarter"])[col].sum()\n'
        '    return q.unstack().pct_change(axis=1)["2025Q3"].round(3)\n```\n\n',
        "go": "Harbour is the clearest case: returns rose 18.4% while sales rose 3.1%. I am "
        "writing the report now, without ",
        "next": "Also compare with the second quarter, same three regions",
        "agent": "Analyst",
        "question": "Which quarters should the report compare?",
        "a": "Q3 with Q2",
        "b": "Q3 with Q3 of last year",
        "why": "Shows the trend within this year",
    },
    "zh_CN": {
        "title": "季度退货报告",
        "ask": "请读取 `data/sales` 里的所有 CSV，找出第三季度退货增长快于销售增长的大区，"
        "把报告写到 `reports/`。不要改动原始文件，报告里不要出现客户姓名。",
        "say": "有三个大区需要关注：**华北**、**沿海**和**湖区**。增长率在清洗后的表上计算：\n\n"
        "```python scripts/report.py\n"
        "def growth(df: pd.DataFrame, col: str) -> pd.Series:\n"
        "    # 按大区计算环比\n"
        '    q = df.groupby(["region", "quarter"])[col].sum()\n'
        '    return q.unstack().pct_change(axis=1)["2025Q3"].round(3)\n```\n\n',
        "go": "沿海最明显：退货增长 18.4%，而销售只增长 3.1%。正在写报告，其中不包含",
        "next": "再和第二季度做个对比，还是这三个大区",
        "agent": "分析员",
        "question": "报告要比较哪些季度？",
        "a": "第三季度与第二季度",
        "b": "与去年第三季度",
        "why": "显示今年内的趋势",
    },
}


def items() -> list[Any]:
    """What fills the window of the reference picture, thing by thing."""
    return [
        item("system", "system", 2_400, "system"),
        item("system", "instructions", 800, "system"),
        item("tools", "Bash", 1_900, "Bash"),
        item("tools", "Read", 820, "Read"),
        item("tools", "Edit", 640, "Edit"),
        item("mcp", "sqlite: query", 4_900, "mcp__sqlite__query"),
        item("mcp", "sqlite: tables", 3_000, "mcp__sqlite__tables"),
        item("mcp", "fetch: fetch", 2_900, "mcp__fetch__fetch"),
        item("skills", "skills", 2_100, "skills"),
        item("ledger", "pinned", 3_100, "pinned-1"),
        item("ledger", "summary", 5_100, "summary-1"),
        item("user", "Find the regions where returns grew", 1_200, "u1"),
        item("assistant", "Three regions stand out …", 5_600, "r1"),
        item("assistant", "Bash python scripts/load.py", 2_000, "op2"),
        item("thinking", "The regions first, then growth", 6_700, "r1"),
        item("result", "Read data/sales/2025-09.csv", 12_300, "op1"),
        item("result", "Bash python scripts/load.py data/sales", 8_000, "op2"),
        item("result", "Grep returns", 5_400, "g", measured=False),
        item("result", "Read data/sales/2025-08.csv", 2_200, "op0"),
        item("images", "chart-q2.png", 4_800, "img"),
    ]


def work(w: dict[str, str]) -> list[Step]:
    """The turn of the reference picture, up to the approval."""
    command = "python scripts/report.py --out reports/returns-q3.md"
    load = "python scripts/load.py data/sales"
    asked = approval(
        "op3",
        "Bash",
        {"command": command},
        reasons=(("shell.unlisted", {"program": "python"}),),
        rule={"tool_name": "Bash", "rule_content": "python scripts/*.py", "behavior": "allow"},
        rule_matches=(3, 41),
    )
    return [
        ev.RunStarted("r1"),
        *model_call(
            "r1",
            thinking("r1", "th", "The regions first, then growth of both series."),
            call("r1", "op1", "Read", {"file_path": "data/sales/2025-09.csv"}),
            call("r1", "op2", "Bash", {"command": load}),
        ),
        *result(
            "r1", "op1", "Read", "1\tdate,region\n",
            lines={"from": 1, "to": 400, "total": 48_212},
        ),
        *result(
            "r1", "op2", "Bash", "loaded 14 files\n" * 3, exit=0, seconds=3.8,
            offloaded=".slipway/sessions/s1/tool_result-op2.txt", whole_bytes=1_900_000,
        ),
        ev.ContextChanged(breakdown(turns_left=7.2, items=items())),
        ev.ModelCallStarted("r1", "glm-4.6", 86_100, 2),
        *text("r1", "t1", w["say"])[:-1],
        ev.TextDelta("r1", "t1", w["go"]),
        *call("r1", "op3", "Bash", {"command": command})[-1:],
        ev.ApprovalRequested("r1", asked),
        ev.Saved(40, 1_764_419_764_000_000),
        Park(),
        *result("r1", "op3", "Bash", "wrote reports/returns-q3.md", exit=0, seconds=2.1),
        ev.RunFinished("r1", "completed"),
    ]  # fmt: skip


def edits(w: dict[str, str]) -> list[Step]:
    """Tools of all kinds, an approval with a diff."""
    args = {"file_path": "scripts/report.py", "old_string": "120", "new_string": "100"}
    asked = approval(
        "e5", "Edit", args,
        preview={"path": "scripts/report.py", "diff": DIFF, "new": False},
        reasons=(("file.write", {"path": "scripts/report.py"}),),
        rule={"tool_name": "Edit", "rule_content": "scripts/report.py"},
    )  # fmt: skip
    second = approval(
        "e6", "Bash", {"command": "rm -rf build\u202e/gpj.exe"},
        reasons=(("shell.dangerous", {"command": "rm -rf"}),),
    )  # fmt: skip
    return [
        ev.RunStarted("r2"),
        *model_call(
            "r2",
            call("r2", "e1", "Grep", {"pattern": "returns", "path": "data"}),
            call("r2", "e2", "Glob", {"pattern": "**/*.csv"}),
            call("r2", "e3", "Write", {"file_path": "notes.md", "content": "a\nb\n"}),
            call("r2", "e4", "Bash", {"command": "npm test"}),
        ),
        *result("r2", "e1", "Grep", "data/a.csv:3: returns", matches=12, files=3),
        *result("r2", "e2", "Glob", "data/a.csv", matches=14),
        *result("r2", "e3", "Write", "Created notes.md", added=2, removed=0, diff="@@\n+a\n+b\n"),
        *result("r2", "e4", "Bash", "npm: not found", state="error", exit=127, seconds=0.1),
        *model_call("r2", text("r2", "t2", w["say"][:60])),
        ev.ApprovalRequested("r2", asked),
        ev.ApprovalRequested("r2", second),
        Park(),
    ]


def questions(w: dict[str, str]) -> list[Step]:
    asked = [
        {
            "question": w["question"],
            "header": "Quarters",
            "options": [{"label": w["a"], "description": w["why"]}, {"label": w["b"]}],
        }
    ]
    return [
        ev.RunStarted("r3"),
        *model_call("r3", call("r3", "q1", "AskUser", {"questions": asked})),
        ev.QuestionAsked("r3", "q1", asked),
        Park(),
    ]


class Stage:
    """Page, inspector and status line as the window will put them."""

    def __init__(self, language: str, folder: Path) -> None:
        self.folder = folder
        self.words = WORDS[language]
        self.window = QWidget()
        self.page = ChatPage()
        self.inspector = Inspector()
        self.status = ChatStatus()
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.page, 1)
        row.addWidget(Line(vertical=True))
        row.addWidget(self.inspector)
        column = QVBoxLayout(self.window)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row, 1)
        column.addWidget(Line())
        column.addWidget(self.status)
        self.inspector.setFixedWidth(320)
        self.window.resize(1136, 866)

    def sources(self) -> ChatSources:
        async def tools() -> list[ToolEntry]:
            return [
                ToolEntry("Bash", "Run a shell command in the working directory.", 1900),
                ToolEntry("Read", "Read a text file, an image or a PDF.", 820),
                ToolEntry("query", "Run a query on the sales database.", 410, "sqlite"),
            ]

        async def skills() -> list[SkillEntry]:
            return [
                SkillEntry("report-style", "How reports are laid out here.", 40),
                SkillEntry("broken", "", 0, ("skill.no_description", {"name": "broken"})),
            ]

        return ChatSources(
            workspace_name="field-sales",
            backend=LocalBackend(str(self.folder)),
            agent=self.words["agent"],
            models=lambda: [GLM, GUIDE],
            current_model=lambda: GLM,
            count=lambda t: max(1, len(t) // 4),
            tools=tools,
            skills=skills,
        )


def turn(done: Callable[[], bool], ms: int = 4000) -> None:
    deadline = QDeadlineTimer(ms)
    loop = QEventLoop()
    while not done() and not deadline.hasExpired():
        loop.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 10)
    assert done(), "the stage did not come about"


def settle(ms: int = 700) -> None:
    deadline = QDeadlineTimer(ms)
    loop = QEventLoop()
    while not deadline.hasExpired():
        loop.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 10)


def view_model(conversation: FakeConversation, agent: str) -> ChatViewModel:
    vm = ChatViewModel(TranscriptModel(), Voice(agent=agent, count_tokens=lambda _: 2100))
    vm.open(conversation)  # type: ignore[arg-type]
    return vm


def past(conversation: FakeConversation) -> None:
    """History before the picture's turn: a compaction."""
    from dataclasses import asdict

    made = compaction(1)
    conversation.made.append(made)
    conversation.record("compaction", asdict(made))


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    app = QApplication.instance() or QApplication(sys.argv)
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    app.setCursorFlashTime(0)
    loop = AppEventLoop(app, already_running=True)
    asyncio._set_running_loop(loop)
    theme = install(app, "light")
    theme.reduced_motion = True
    seconds = iter(range(0, 10_000_000))
    set_factories(clock=lambda: 1_764_419_640.0 + next(seconds) / 10)
    folder = Path(tempfile.mkdtemp())
    make_folder(folder)
    scale = os.environ.get("QT_SCALE_FACTOR", "1")
    for scheme, language in (
        ("light", "en"),
        ("dark", "en"),
        ("light", "zh_CN"),
        ("dark", "zh_CN"),
    ):
        theme.set_scheme(scheme)  # type: ignore[arg-type]
        i18n.set_language(language)
        shoot(out, f"{scheme}-{language[:2]}-{scale}x", language, folder)
    i18n.set_language("en")


def make_folder(folder: Path) -> None:
    for name in (
        "data/sales/2025-09.csv",
        "reports/old.md",
        "scripts/report.py",
        "README.md",
        "notes.txt",
        "logo.bin",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\0\1" if name.endswith("bin") else b"# Field sales\n\nSome words.\n")


def shoot(out: Path, name: str, language: str, folder: Path) -> None:
    stage = Stage(language, folder)
    w = stage.words
    stage.window.show()

    def show(
        steps: list[Step] | None,
        label: str,
        *,
        tab: str = "context",
        before: bool = True,
        draft: str = "",
        then: Callable[[ChatViewModel], None] | None = None,
    ) -> None:
        conversation = FakeConversation([steps] if steps else [], title=w["title"] if steps else "")
        if before:
            past(conversation)
        vm = view_model(conversation, w["agent"])
        turn(lambda: vm.breakdown is not None)
        stage.page.bind(vm, stage.sources())
        stage.inspector.bind(vm, stage.sources())
        stage.status.bind(vm, stage.sources())
        stage.inspector.show_tab(tab)
        if steps:
            vm.send(w["ask"])
            gates = [step for step in steps if isinstance(step, Gate)]
            turn(lambda: vm.activity != "running" or any(g.reached.is_set() for g in gates))
        if then is not None:
            then(vm)
        if tab == "files":
            settle(200)
            tree = stage.inspector.files.tree
            vm.touched["README.md"] = "Write"
            stage.inspector.files.model.set_touched(vm.touched)
            tree.expand(tree.model().index(0, 0))
            settle(200)
            tree.setCurrentIndex(tree.model().index(4, 0))
        if draft:
            stage.page.composer.set_content(draft, [])
            stage.page.composer.edit.setFocus(Qt.FocusReason.OtherFocusReason)
        settle()
        stage.window.grab().save(str(out / f"{name}-{label}.png"))
        task = loop_of().create_task(vm.close())
        turn(task.done)
        stage.page.drop(vm)
        vm.deleteLater()

    show(work(w), "approval", draft=w["next"])

    def queue(vm: ChatViewModel) -> None:
        vm.queue(w["next"])
        file = Attachment("chart-q2.png", "image/png", path="reports/chart-q2.png")
        stage.page.composer.set_content("", [file])
        stage.page.inspectorRequested.emit("compactions")

    show(edits(w), "diff", tab="compactions", then=queue)
    show(questions(w), "question", tab="tools")
    streaming: list[Step] = [*work(w)[:-7], Gate()]
    show(streaming, "streaming", tab="files", then=lambda vm: vm._offer(True))
    failed: list[Step] = [
        ev.RunStarted("r1"),
        ev.RunFinished("r1", "error", "model.rate_limited", {"model": "glm-4.6"}),
    ]
    show(failed, "error")
    show([*work(w)[:-7], Gate()], "background", then=in_background)
    show(None, "empty", before=False)
    stage.window.close()
    stage.window.deleteLater()


def in_background(vm: ChatViewModel) -> None:
    """Commands that run, and some that ended."""
    conversation = vm.conversation
    assert isinstance(conversation, FakeConversation)
    lines: list[tuple[str, Ending | None]] = [
        ("npm run dev -- --port 3000", None),
        ("python -m pytest tests/integration -x --timeout 600", Ending("exit", 1, 48.0)),
        ("docker compose up", Ending("lost")),
    ]
    for n, (line, ended) in enumerate(lines, 1):
        command = Command(f"bg{n}", f"o{n}", line, now_us() - 80_000_000, ended=ended)
        conversation.begin(command)
        vm._command_changed(command)
    vm.commandsChanged.emit()


def loop_of() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/shots/chat"))
