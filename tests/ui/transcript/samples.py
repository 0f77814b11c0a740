"""Rows for tests, the gallery and the benchmark."""

from __future__ import annotations

import random

from desktop_app.ui.transcript.rows import (
    Action,
    CompactionRow,
    HeaderRow,
    MarkdownRow,
    NoticeRow,
    Row,
    ToolRow,
    UserRow,
)

EN = (
    "The workspace mounts the folder read-only, then overlays a writable layer so that every tool "
    "call can be **rolled back**. When the agent edits `pyproject.toml` the watcher resolves the "
    "dependencies anew, and the result is streamed to the panel as "
    "[structured events](https://example.com/docs) rather than raw text."
)
ZH = (
    "工作区以只读方式挂载文件夹，再叠加一层可写层，因此每次工具调用都可以**回滚**。当代理修改 "
    "`pyproject.toml` 时，监视器会重新解析依赖，"
    "并把结果作为结构化事件流式发送到面板，而不是原始文本。"
)
PY = """def growth(df: pd.DataFrame, col: str) -> pd.Series:
    # quarter over quarter, per region
    q = df.groupby(["region", "quarter"])[col].sum()
    return q.unstack().pct_change(axis=1)["2025Q3"].round(3)"""
TABLE = (
    "| Region | Returns | Sales | Change |\n|---|---:|---:|---:|\n"
    "| Harbour | 18.4% | 3.1% | **+15.3** |\n| Lakeside | 9.7% | 4.0% | +5.7 |\n"
    "| North | 7.2% | 5.9% | +1.3 |\n"
)
LIST = (
    "1. Read `AGENTS.md` and list the rules.\n2. Run the tests with **pytest -q**.\n"
    "   - keep the difference small\n   - no new dependencies\n3. Write the report.\n"
)
QUOTE = "> Never swallow `CancelledError`: raise it again after cleaning up.\n"
DIFF = """--- a/scripts/report.py
+++ b/scripts/report.py
@@ -41,3 +41,5 @@
 def write(table, out):
-    table.to_markdown(out)
+    public = table.drop(columns=["customer"])
+    if out.exists():
+        raise FileExistsError(out)
"""


def english() -> list[Row]:
    """One of everything."""
    return [
        CompactionRow(
            "c1",
            "Compacted 162k to 39k tokens",
            "12:31 · 8 s · $0.03 · 61 messages offloaded · task, 5 constraints and 3 pending "
            "items kept",
            0.81,
            0.195,
            (Action("view", "View"), Action("undo", "Undo", "undo-2")),
        ),
        UserRow(
            "u1",
            "12:33",
            "Find the regions where returns grew faster than sales in Q3 and write a report to "
            "`reports/`. Do not change the files in `data/sales`, and keep customer names out of "
            "it.",
            ("2025-09.csv", "notes.md"),
            "2 constraints pinned",
        ),
        HeaderRow(
            "h1",
            "Analyst",
            "glm-4.6",
            "12:34",
            "The person wants growth per region. I have to read the sales first.\n\nThen compare.",
            "Thought for 6 s",
        ),
        ToolRow(
            "t1",
            "Read",
            "file-text",
            "data/sales/2025-09.csv",
            "success",
            "lines 1–400 of 48,212",
        ),
        ToolRow(
            "t2",
            "Shell",
            "terminal",
            "python scripts/load.py data/sales",
            "success",
            "exit 0 · 3.8 s",
            arguments='{\n  "command": "python scripts/load.py data/sales",\n  "timeout": 120\n}',
            output="\n".join(f"reading {n} of 14 files" for n in range(1, 15)) + "\ndone in 3.8 s",
            offload="1.9 MB offloaded, 2.1k tokens kept",
            actions=(Action("open", "Open"),),
            expanded=True,
        ),
        ToolRow(
            "t3", "Edit", "file-pen", "scripts/report.py", "success", "+3 −1", diff=DIFF,
            expanded=True,
        ),
        ToolRow(
            "t4", "Fetch", "plug", "example.com/rates", "error", "timed out, 30 s",
            output="connect to example.com:443: timed out after 30 s", expanded=True,
        ),
        ToolRow("t5", "Grep", "search", "returns", "running", "12 s"),
        ToolRow("t6", "Write", "file-pen", "reports/returns-q3.md", "waiting"),
        MarkdownRow(
            "m1",
            "Three regions stand out: **North**, **Harbour** and **Lakeside**. Growth is measured "
            "on the cleaned table:\n\n```python scripts/report.py\n" + PY + "\n```\n\n"
            "## What was found\n\n" + TABLE + "\n" + EN + "\n\n" + LIST + "\n" + QUOTE
            + "\n- [x] cleaned\n- [ ] published\n\n---\n\n"
            "See ~~old~~ *new* figures and https://example.com/a?b=c. ![chart](chart.png) 🙂",
        ),
        UserRow("u2", "12:36", "Good. Do the same for Q2."),
        HeaderRow("h2", "Analyst", "glm-4.6", "12:36"),
        MarkdownRow("m2", "Harbour is the clearest case: returns rose 18.4%", stopped=True),
        NoticeRow(
            "n1",
            "danger",
            "The model did not answer",
            "glm-4.6 answered 529, overloaded, three times in 40 s.\n\n"
            "Your message is saved. Nothing was run twice.",
            (
                Action("retry", "Try again", "refresh-cw"),
                Action("other", "Use glm-4.5-air"),
                Action("details", "Details"),
            ),
        ),
        NoticeRow("n2", "info", "Connected again after 12 s."),
        HeaderRow(
            "h3", "Analyst", "glm-4.6", "12:38", "Short thought about `Q2`, and then some more.",
            "Thought for 2 s", expanded=True,
        ),
        MarkdownRow(
            "m3",
            "Harbour is the clearest case: returns rose 18.4% while sales rose 3.1%. I am writing "
            "the report now, without",
            growing=True,
        ),
    ]  # fmt: skip


def chinese() -> list[Row]:
    """The same in Chinese, with some Arabic."""
    return [
        CompactionRow(
            "c1",
            "已将 162k 压缩为 39k 词元",
            "12:31 · 8 秒 · $0.03 · 卸载 61 条消息 · 保留任务、5 条约束和 3 项待办",
            0.81,
            0.195,
            (Action("view", "查看"), Action("undo", "撤销", "undo-2")),
        ),
        UserRow(
            "u1",
            "12:33",
            "请读取 `data/sales` 里的所有 CSV，找出第三季度退货增长快于销售增长的大区，把报告写到 "
            "`reports/`。不要改动原始文件，报告里不要出现客户姓名。",
            badge="已固定 2 条约束",
        ),
        HeaderRow("h1", "分析员", "glm-4.6", "12:34", "先读数据。", "思考了 6 秒"),
        ToolRow(
            "t1", "读取", "file-text", "data/sales/2025-09.csv", "success",
            "第 1–400 行，共 48,212",
        ),
        ToolRow(
            "t2", "命令行", "terminal", "python scripts/load.py data/sales", "success",
            "退出码 0 · 3.8 秒", offload="已卸载 1.9 MB，保留 2.1k 词元",
            actions=(Action("open", "打开"),),
        ),
        MarkdownRow(
            "m1",
            "有三个大区需要关注：**华北**、**沿海**和**湖区**。增长率在清洗后的表上计算：\n\n"
            "```python scripts/report.py\n" + PY.replace(
                "quarter over quarter, per region", "按大区计算环比"
            ) + "\n```\n\n" + ZH + "\n\n1. 读取规则\n2. 运行测试\n   - 保持改动小\n\n"
            "| 大区 | 退货 | 销售 |\n|---|--:|--:|\n| 沿海 | 18.4% | 3.1% |\n"
            "| 湖区 | 9.7% | 4.0% |\n\n"
            "> 引用：不要吞掉异常。\n\n"
            "هذه فقرة عربية مع `code` وكلمة English في الوسط.\n\n- עברית ראשונה\n- שנייה",
        ),
        NoticeRow(
            "n1", "warning", "摘要未被采用",
            "摘要在 4,096 个词元处被截断，并提到一个不存在的文件。\n\n没有任何改动。",
            (Action("a", "不用模型压缩"), Action("b", "提高上限"), Action("c", "查看")),
        ),
        MarkdownRow("m2", "沿海最明显：退货增长 18.4%，而销售只增长 3.1%。正在写报告，其中不包含",
                    growing=True),
    ]  # fmt: skip


class History:
    """A long history that is built row by row, as a ``RowSource``."""

    def __init__(self, count: int, seed: int = 7) -> None:
        rnd = random.Random(seed)
        parts = [EN, ZH, f"```python\n{PY}\n```", TABLE, LIST, QUOTE, "## Step: 检查结果\n\n" + EN]
        self.texts: list[str] = []
        for i in range(count):
            if i % 2 == 0:
                words = rnd.choice([EN[: rnd.randint(40, 180)], ZH[: rnd.randint(15, 80)]])
                self.texts.append(f"{i}: {words}")
            else:
                body = "\n\n".join(rnd.choice(parts) for _ in range(rnd.randint(2, 5)))
                self.texts.append(f"Message {i}.\n\n{body}")
        self.built = 0

    @property
    def count(self) -> int:
        return len(self.texts)

    def row(self, i: int) -> Row:
        self.built += 1
        text = self.texts[i]
        if i % 2 == 0:
            return UserRow(f"s{i}", "12:00", text)
        return MarkdownRow(f"s{i}", text)

    def hint(self, i: int) -> int:
        return len(self.texts[i])
