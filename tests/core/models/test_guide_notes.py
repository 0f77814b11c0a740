"""The structured summary and the title: by extraction, within their allowance."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from desktop_app.core.messages import Msg, TextBlock
from desktop_app.core.models.base import Finish, ModelRequest, TextPart
from desktop_app.core.models.guide import GuideModel
from desktop_app.core.models.guide.summary import summarise, title
from desktop_app.core.models.guide.text import count_tokens
from tests.helpers.models import Folder, play

EN = ["Goal", "Constraints", "Done", "Files", "Findings", "Open", "Next"]
ZH = ["目标", "约束", "已完成", "文件", "发现", "未决", "下一步"]


def made(kind: str, text: str) -> Msg:
    meta = {"slipway": {"kind": kind}}
    return Msg(name="slipway", role="user", content=[TextBlock(text=text)], metadata=meta)


def sections(text: str) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("## "):
            out[line[3:]] = []
        elif line.startswith("- "):
            out[list(out)[-1]].append(line[2:])
    return out


async def ask(guide: GuideModel, messages: list[Msg], purpose: str, allowance: int) -> str:
    request = ModelRequest("", messages, purpose=purpose, max_output=allowance)
    async with aclosing(guide.stream(request)) as stream:
        parts = [p async for p in stream]
    assert isinstance(parts[-1], Finish)
    assert parts[-1].reason == "stop", "notes that are cut are worth nothing"
    return "".join(p.text for p in parts if isinstance(p, TextPart))


async def conversation(guide: GuideModel, folder: Folder, *texts: str) -> list[Msg]:
    messages: list[Msg] = []
    for text in texts:
        messages = (await play(guide, text, folder, before=messages)).messages
    return messages


async def test_notes_hold_what_was_asked_done_found_and_left(guide: GuideModel, folder: Folder):
    folder.refuse = {"Bash"}
    messages = await conversation(
        guide,
        folder,
        "List the files. Never touch contract.txt.",
        "create a note todo.md with buy milk",
        "how many rows does march.csv have",
        "rename march.csv to m.csv",
    )
    notes = sections(await ask(guide, [*messages, made("hint", "Write notes.")], "summary", 1500))
    assert list(notes) == EN
    assert notes["Goal"][0] == "List the files. Never touch contract.txt."
    assert notes["Constraints"] == ["Never touch contract.txt."]
    assert "Wrote `todo.md`" in notes["Done"]
    assert "`todo.md` (written)" in notes["Files"]
    assert any("**3 rows** of data" in line for line in notes["Findings"])
    assert any("mv -n -- data/march.csv data/m.csv" in line for line in notes["Open"])
    assert all("Write notes." not in line for lines in notes.values() for line in lines)


async def test_notes_speak_the_persons_language(guide: GuideModel, folder: Folder):
    messages = await conversation(guide, folder, "列出文件，不要改动合同")
    notes = sections(await ask(guide, messages, "summary", 1500))
    assert list(notes) == ZH
    assert notes["约束"] == ["列出文件，不要改动合同"]


async def test_a_turn_under_way_is_what_comes_next(guide: GuideModel, folder: Folder):
    messages = await conversation(
        guide, folder, "count the files", "compare march.csv and april.csv"
    )
    asked = max(n for n, m in enumerate(messages) if m.role == "user" and m.text())
    notes = sections(summarise(messages[: asked + 3], 1500))
    assert notes["Next"] == ["Go on with: compare march.csv and april.csv"]
    assert any(line.startswith("Not answered yet") for line in notes["Open"])


async def test_notes_of_notes_keep_the_first_goal_and_constraints(
    guide: GuideModel, folder: Folder
):
    first = await conversation(guide, folder, "List the files. Never touch contract.txt.")
    text = summarise(first, 1500)
    later = await conversation(guide, folder, "read contract.txt")
    notes = sections(summarise([made("summary", text), *later], 1500))
    assert notes["Goal"] == ["List the files. Never touch contract.txt.", "read contract.txt"]
    assert notes["Constraints"] == ["Never touch contract.txt."]
    assert "Looked for files `**/*`: 8 found" in notes["Done"]


@pytest.mark.parametrize("allowance", [200, 400, 1000])
async def test_notes_fit_their_allowance_and_keep_the_task(
    allowance: int, guide: GuideModel, folder: Folder
):
    texts = [f'search for "word {n}" in the files' for n in range(60)]
    messages = await conversation(guide, folder, "Summarise meeting.md first", *texts)
    text = await ask(guide, messages, "summary", allowance)
    assert count_tokens(text) <= allowance
    assert sections(text)["Goal"][0] == "Summarise meeting.md first"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Could you please list the files?", "List the files"),
        ("请帮我总结一下会议记录吧。", "总结一下会议记录"),
        ("hi", "Hi"),
        (
            "compare the framework agreement with the service terms and write the differences down",
            "Compare the framework agreement with…",
        ),
        ("", ""),
    ],
)
async def test_a_title_is_short_and_in_the_persons_words(text: str, expected: str):
    assert title([Msg.user(text)]) == expected
    assert len(expected) <= 40


async def test_the_title_comes_through_the_model(guide: GuideModel):
    assert await ask(guide, [Msg.user("please find the budget")], "title", 60) == "Find the budget"
