"""The twelve intents, in both languages, with the real tools over a real folder."""

from __future__ import annotations

import pytest

from desktop_app.core.models.guide import GuideModel
from tests.helpers.models import Folder, play

# request, tools used in order, what the answer holds
LOOKING = [
    ("list the files in notes", ["Glob"], ["**2 files**", "`notes/meeting.md`"]),
    ("列出 data 里的 csv 文件", ["Glob"], ["**2 个文件**", "`data/march.csv`"]),
    ("where is the contract?", ["Glob"], ["I found it: `contract.txt`"]),
    ("合同在哪里？", ["Glob", "Glob"], ["没有名字像"]),
    ("会议记录在哪", ["Glob"], ["找到了：`notes/会议记录.md`"]),
    ("find the fiel contarct.txt", ["Glob", "Glob"], ["`contract.txt`"]),
    (
        'search for "late fee"',
        ["Grep"],
        ["**3 lines in 2 files**", "line 2: A **late fee** applies"],
    ),
    ("搜索“滞纳金”", ["Grep"], ["**1 行**", "第 3 行: **滞纳金**从五月开始。"]),
    ("search for unicorns", ["Grep"], ["`unicorns` is in none of the files"]),
    ("read contract.txt", ["Glob", "Read"], ["```text", "Liability is limited."]),
    ("show lines 2 to 3 of contract.txt", ["Glob", "Read"], ["lines 2 to 3", "A late fee applies"]),
    (
        "显示 march.csv 的前 2 行",
        ["Glob", "Read"],
        ["| day | city | amount |", "| 1 | Lyon | 10 |"],
    ),
    ("last 2 lines of contract.txt", ["Glob", "Read", "Read"], ["lines 3 to 4", "ends in 2026"]),
    ("notes 里有几个文件", ["Glob"], ["**2 个文件**"]),
    (
        "summarise meeting.md and 会议记录.md",
        ["Glob", "Glob", "Read", "Read"],
        ["滞纳金", "late fee"],
    ),
    ("is there anything about liability in the notes folder?", ["Grep"], ["in none of the files"]),
    ("thanks!", [], ["You are welcome."]),
    ("write me a poem", [], ["What shall I write"]),
    ("读会议记录", ["Glob", "Read"], ["> 滞纳金从五月开始。"]),
    ("how many csv files are there?", ["Glob"], ["**3 files**"]),
    ("一共有几个文件", ["Glob"], ["**8 个文件**"]),
    ("how many rows does april.csv have", ["Glob", "Grep"], ["**4 rows**", "5 lines in all"]),
    ("统计 march.csv 的行数", ["Glob", "Grep"], ["**3 行数据**"]),
    ("how many words are in contract.txt", ["Glob", "Bash"], ["**21 words**", "4 lines"]),
    ("how many times does liability appear", ["Grep"], ["**2 times** in 2 lines"]),
    ("“预算”出现了几次", ["Grep"], ["**1 次**"]),
    (
        "compare march.csv and april.csv",
        ["Glob", "Glob", "Read", "Read"],
        ["**1 line** only in the first, **2 lines** only in the second", "-2,Paris,20"],
    ),
    (
        "比较 march.csv 和 april.csv",
        ["Glob", "Glob", "Read", "Read"],
        ["只在前者的 **1 行**", "+4,Nice,5"],
    ),
    (
        "compare march.csv with data/march.csv",
        ["Glob", "Read"],
        ["**identical**"],
    ),
    (
        "summarise meeting.md",
        ["Glob", "Read"],
        ["We agreed on a late fee of 2 %. _(line 3)_", "Sections: Meeting · Next"],
    ),
    ("总结会议记录", ["Glob", "Read"], ["滞纳金从五月开始。 _(第 3 行)_"]),
    ("summarise april.csv", ["Glob", "Read"], ["4 rows, 3 columns", "5 to 30, mean 17.50"]),
    ("what can you do?", [], ["Guide · offline, no AI", "12 kinds"]),
    ("你是谁", [], ["Guide · 离线，非 AI"]),
    ("tell me a joke", [], ["I am rules, not AI", "`list the files`"]),
    ("讲个笑话", [], ["我是规则，不是 AI"]),
    ("delete contract.txt", [], ["I never delete files"]),
    ("删除 contract.txt", [], ["我从不删除文件"]),
]


@pytest.mark.parametrize(("text", "tools", "parts"), LOOKING, ids=[row[0] for row in LOOKING])
async def test_what_is_asked_is_found_and_told(
    text: str, tools: list[str], parts: list[str], guide: GuideModel, folder: Folder
):
    before = folder.files()
    played = await play(guide, text, folder)
    assert played.names() == tools
    for part in parts:
        assert part in played.text
    assert folder.files() == before
    assert [name for name, _ in folder.asked] == [], "looking asks for nothing"


@pytest.mark.parametrize(
    ("text", "file", "content"),
    [
        ("create a note todo.md with buy milk", "todo.md", "buy milk\n"),
        ("把“你好”写入 greeting.txt", "greeting.txt", "你好\n"),
        ("记个笔记：钥匙在抽屉里", "笔记.md", "钥匙在抽屉里\n"),
        ("make a note: buy milk; then call Bob", "note.md", "buy milk; then call Bob\n"),
        ('write "deep" to new/folder/deep.txt', "new/folder/deep.txt", "deep\n"),
        ("create a file empty.txt", "empty.txt", ""),
        ("create a file plan.md", "plan.md", "# Plan\n"),
    ],
)
async def test_a_file_is_written_as_said(
    text: str, file: str, content: str, guide: GuideModel, folder: Folder
):
    played = await play(guide, text, folder)
    assert played.names() == ["Glob", "Write"]
    assert [name for name, _ in folder.asked] == ["Write"]
    assert (folder.root / file).read_text("utf-8") == content
    assert f"`{file}`" in played.text


async def test_a_report_is_gathered_from_the_files(guide: GuideModel, folder: Folder):
    played = await play(guide, "write a report about late fee to report.md", folder)
    assert played.names() == ["Glob", "Grep", "Write"]
    text = (folder.root / "report.md").read_text("utf-8")
    assert text.startswith("# About late fee\n")
    assert "`contract.txt`" in text
    assert "line 2: A **late fee** applies after 30 days." in text


async def test_adding_to_a_file_keeps_what_is_there(guide: GuideModel, folder: Folder):
    played = await play(guide, 'add the line "- call Bob" to notes/meeting.md', folder)
    assert played.names() == ["Glob", "Read", "Write"]
    text = (folder.root / "notes/meeting.md").read_text("utf-8")
    assert text.endswith("- the late fee starts in May\n- call Bob\n")
    assert "Added it to `notes/meeting.md`" in played.text


async def test_an_existing_file_is_not_replaced_without_asking(guide: GuideModel, folder: Folder):
    folder.answers = ["Leave it"]
    before = (folder.root / "contract.txt").read_text("utf-8")
    played = await play(guide, 'write "x" to contract.txt', folder)
    assert played.names() == ["Glob", "AskUser"]
    assert (folder.root / "contract.txt").read_text("utf-8") == before
    assert "I left `contract.txt` as it is." in played.text
    folder.answers = ["替换"]
    await play(guide, "把“x”写入 contract.txt", folder)
    assert (folder.root / "contract.txt").read_text("utf-8") == "x\n"


async def test_text_for_a_file_is_taken_word_for_word(guide: GuideModel, folder: Folder):
    said = "Ｆｕｌｌ－width，`code` and “quotes”\n  indented: 100 %"
    await play(guide, f"create a file exact.txt with the text: {said}", folder)
    assert (folder.root / "exact.txt").read_text("utf-8") == said + "\n"


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("rename contract.txt to deal.txt", "contract.txt", "deal.txt"),
        ("把 meeting.md 改名为 周会.md", "notes/meeting.md", "notes/周会.md"),
        (
            'rename contract.txt to "it\'s $HOME; rm -rf.txt"',
            "contract.txt",
            "it's $HOME; rm -rf.txt",
        ),
    ],
)
async def test_rename_is_one_command_that_is_asked_for(
    text: str, old: str, new: str, guide: GuideModel, folder: Folder
):
    before = (folder.root / old).read_text("utf-8")
    played = await play(guide, text, folder)
    assert [name for name, _ in folder.asked] == ["Bash"]
    assert (folder.root / new).read_text("utf-8") == before
    assert old not in folder.files()
    assert f"`{new}`" in played.text


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("move contract.txt to inbox", "inbox/contract.txt"),
        ("把 contract.txt 移到 合同 文件夹", "合同/contract.txt"),
        ("move all images into a folder called pictures", "pictures/scan-2026-04-02.png"),
        ("make a folder called archive", "archive"),
        ("新建一个文件夹叫 归档", "归档"),
    ],
)
async def test_files_move_and_folders_are_made_when_allowed(
    text: str, there: str, guide: GuideModel, folder: Folder
):
    await play(guide, text, folder)
    assert [name for name, _ in folder.asked] == ["Bash"]
    assert (folder.root / there).exists()


async def test_rename_never_replaces_a_file(guide: GuideModel, folder: Folder):
    before = folder.files()
    played = await play(guide, "rename march.csv to april.csv", folder)
    assert "exists already" in played.text
    assert folder.asked == []
    assert folder.files() == before


async def test_all_files_of_a_kind_are_renamed(guide: GuideModel, folder: Folder):
    played = await play(guide, "rename all .txt files to .md", folder)
    assert "contract.md" in folder.files()
    assert "inbox/2026-03-offer.md" in folder.files()
    assert "Renamed 2 files." in played.text
    assert "| `contract.txt` | `contract.md` |" in played.said[-1], "the plan is shown first"


@pytest.mark.parametrize(
    ("text", "there"),
    [
        (
            "organise inbox by type",
            {"inbox/documents/2026-03-offer.txt", "inbox/data/2026-04-list.csv"},
        ),
        (
            "把 inbox 里的东西按类型分类",
            {"inbox/文档/2026-03-offer.txt", "inbox/图片/scan-2026-04-02.png"},
        ),
        ("sort the files in inbox by date", {"inbox/2026-04/scan-2026-04-02.png"}),
        ("把 inbox 里的文件按月份归类", {"inbox/2026-03/2026-03-offer.txt"}),
    ],
)
async def test_loose_files_are_sorted_after_asking(
    text: str, there: set[str], guide: GuideModel, folder: Folder
):
    count = len(folder.files())
    played = await play(guide, text, folder)
    assert [name for name, _ in folder.asked] == ["Bash"]
    assert there <= set(folder.files())
    assert len(folder.files()) == count, "nothing is lost"
    assert "3" in played.text
    again = await play(guide, text, folder)
    assert "Bash" not in again.names(), "nothing left to sort"


async def test_files_without_a_date_go_by_their_last_change(guide: GuideModel, folder: Folder):
    import os

    os.utime(folder.root / "contract.txt", (1_700_000_000, 1_700_000_000))  # November 2023
    await play(guide, "sort files into folders by date", folder)
    assert "2023-11/contract.txt" in folder.files()


PLANS = [
    (
        "list the files, then read notes/meeting.md and write a summary to summary.md",
        "summary.md",
        "We agreed on a late fee of 2 %.",
        3,
    ),
    ("列出文件，然后读取 会议记录.md，再把总结写到 总结.md", "总结.md", "滞纳金从五月开始。", 3),
    (
        "find all csv files and count their rows, then write the numbers to n.md",
        "n.md",
        "**8 in all.**",
        3,
    ),
    ('1. search for "late fee" 2. write what you find to found.md', "found.md", "contract.txt", 2),
    ("总结会议记录，然后存成 短.md", "短.md", "预算是四千欧元。", 2),
]


@pytest.mark.parametrize(("text", "file", "part", "steps"), PLANS, ids=[row[0] for row in PLANS])
async def test_several_steps_with_a_task_list(
    text: str, file: str, part: str, steps: int, guide: GuideModel, folder: Folder
):
    played = await play(guide, text, folder)
    assert part in (folder.root / file).read_text("utf-8")
    tasks = folder.context.tasks
    assert [t.state for t in tasks] == ["completed"] * steps
    assert played.names()[:steps] == ["TaskCreate"] * steps
    for number in range(1, steps + 1):
        assert f"### {number}. " in played.text
