"""What the Guide says of itself."""

from __future__ import annotations

from .text import Lang

_EN = """\
I am **Guide · offline, no AI**: a set of rules that reads what you ask and uses the same tools \
that an AI model would. I do not understand language; I recognise these {n} kinds of request, in \
English and Chinese:

| Ask for | For example |
| --- | --- |
| a list | “list the csv files in data” |
| a file by name | “where is the contract?” |
| words in files | “search for "late fee" in the notes” |
| reading | “show lines 1 to 20 of README.md” |
| counting | “how many rows does march.csv have?” |
| comparing | “compare a.md and b.md” |
| a summary (sentences taken from the text) | “summarise notes.md” |
| writing | “write a report about refunds to report.md” |
| renaming | “rename draft.md to final.md” |
| sorting into folders | “organise this folder by type” |
| several steps | “list the files, then summarise notes.md and save it to brief.md” |
| this help | “what can you do?” |

Nothing is written, renamed or moved before you allow it. For free conversation, choose an AI \
model in the settings."""

_ZH = """\
我是 **Guide · 离线，非 AI**：一组规则，按你的话去使用工具，和 AI 模型用的是同样的工具。\
我并不真正理解语言，只认得下面 {n} 类请求，中文英文都可以：

| 想要 | 例如 |
| --- | --- |
| 列出文件 | “列出 data 目录下的 csv 文件” |
| 按名字找文件 | “合同在哪里？” |
| 搜索内容 | “在笔记里搜索“滞纳金”” |
| 读取 | “显示 README.md 第 1 到 20 行” |
| 统计 | “三月.csv 有多少行？” |
| 比较 | “比较 a.md 和 b.md” |
| 总结（摘取原文句子） | “总结 notes.md” |
| 写文件 | “写一份关于退款的报告到 report.md” |
| 改名 | “把 draft.md 改名为 final.md” |
| 整理 | “按类型整理这个文件夹” |
| 分步完成 | “列出文件，然后总结 notes.md 并保存到 brief.md” |
| 看说明 | “你能做什么？” |

写入、改名、移动之前都会先征得你的同意。想自由对话，请在设置里选择一个 AI 模型。"""

_LOST_EN = """\
I am rules, not AI, and found nothing in this that I know how to do. Try for example:

- `list the files`
- `search for "{query}"`
- `summarise {file}`

Ask “what can you do?” for everything I know."""

_LOST_ZH = """\
我是规则，不是 AI，没能从这句话里认出我会做的事。可以试试：

- `列出文件`
- `搜索“{query}”`
- `总结 {file}`

问“你能做什么？”可以看到我会的全部。"""


_KEEPS = {
    "en": "I never delete files. You can delete them yourself in your file manager.\n\n",
    "zh": "我从不删除文件。需要的话，请在文件管理器里自行删除。\n\n",
}


def introduce(lang: Lang) -> str:
    """Who the Guide is and all it can do."""
    return (_ZH if lang == "zh" else _EN).format(n=12)


def lost(lang: Lang, query: str, file: str, *, delete: bool = False) -> str:
    """The plain answer to what the rules do not know; examples use the person's own words.
    ``delete``: it was asked to delete something."""
    return (_KEEPS[lang] if delete else "") + (_LOST_ZH if lang == "zh" else _LOST_EN).format(
        query=query, file=file
    )
