"""Tasks, questions, skills."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.errors import ToolFailure
from desktop_app.core.skills import SkillSet
from desktop_app.core.skills.skill import Skill
from desktop_app.core.state import TasksContext
from desktop_app.core.tools.ask_user import AskUser
from desktop_app.core.tools.base import ToolContext
from desktop_app.core.tools.skill import SkillTool
from desktop_app.core.tools.tasks import TaskCreate, TaskGet, TaskList, TaskUpdate


async def test_a_task_from_its_making_to_its_end(ctx: ToolContext) -> None:
    assert (await TaskList().run({}, ctx)).text == "The task list is empty."
    for subject in ("one", "two", "three"):
        await TaskCreate().run({"subject": subject, "description": f"do {subject}"}, ctx)
    assert [t.id for t in ctx.tasks] == ["1", "2", "3"]
    await TaskUpdate().run({"id": 2, "status": "in_progress", "add_blocked_by": ["1"]}, ctx)
    assert (ctx.tasks[1].state, ctx.tasks[1].blocked_by, ctx.tasks[0].blocks) == (
        "in_progress", ["1"], ["2"],
    )  # fmt: skip
    assert (await TaskGet().run({"id": "#2"}, ctx)).text.splitlines() == [
        "#2 in_progress: two (blocked by 1)", "do two",
    ]  # fmt: skip
    await TaskUpdate().run({"id": "1", "status": "deleted"}, ctx)
    assert ctx.tasks[0].blocked_by == []
    await TaskCreate().run({"subject": "four"}, ctx)
    assert [t.id for t in ctx.tasks] == ["2", "3", "4"]
    state = TasksContext(tasks=ctx.tasks).model_dump()
    assert set(state["tasks"][0]) == {
        "id", "subject", "description", "metadata", "created_at", "state", "owner", "blocks",
        "blocked_by",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"id": "9"}, "task.unknown"),
        ({"id": "1", "add_blocks": ["9"], "subject": "changed"}, "task.unknown"),
        ({"id": "1", "add_blocks": ["1"]}, "task.cycle"),
        ({"id": "1", "status": "done"}, "tool.bad_arguments"),
    ],
)
async def test_wrong_updates_change_nothing(
    ctx: ToolContext, args: dict[str, Any], code: str
) -> None:
    await TaskCreate().run({"subject": "one"}, ctx)
    before = [t.model_dump() for t in ctx.tasks]
    with pytest.raises(ToolFailure) as caught:
        await TaskUpdate().run(args, ctx)
    assert caught.value.code == code
    assert [t.model_dump() for t in ctx.tasks] == before


QUESTIONS: dict[str, Any] = {
    "questions": [
        {
            "question": "Which?",
            "header": "Choice",
            "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}],
        },
        {
            "question": "And?",
            "header": "More",
            "multi_select": True,
            "options": [{"label": "X", "description": "x"}, {"label": "Y", "description": "y"}],
        },
    ]
}


def test_questions_and_answers() -> None:
    tool = AskUser()
    tool.validate(QUESTIONS)
    out = tool.result(
        QUESTIONS,
        {"answers": [{"question": "And?", "selected": ["Y", "X"]},
                     {"question": "Which?", "selected": [], "other": "neither"}]},
    )  # fmt: skip
    assert out.text == "Which? -> (in their own words) neither\nAnd? -> X; Y"
    assert out.metadata["answers"] == [
        {"question": "Which?", "selected": [], "other": "neither"},
        {"question": "And?", "selected": ["X", "Y"]},
    ]


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [{"question": "Other?", "selected": ["A"]}],
        [{"question": "Which?", "selected": ["C"]}],
        [{"question": "Which?", "selected": ["A", "B"]}],
    ],
)
def test_answers_that_do_not_fit(answers: list[dict[str, Any]]) -> None:
    with pytest.raises(ToolFailure, match=r"tool\.bad_answer"):
        AskUser().result(QUESTIONS, {"answers": answers})


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [QUESTIONS["questions"][0]] * 2,
        [{**QUESTIONS["questions"][0], "options": [{"label": "A", "description": ""}]}],
        [{**QUESTIONS["questions"][0], "options": [{"label": "A", "description": ""}] * 2}],
        [{"question": "?", "header": "h"}],
        "what?",
    ],
)
def test_arguments_that_make_no_question(questions: Any) -> None:
    with pytest.raises(ToolFailure, match=r"tool\.bad_arguments"):
        AskUser().validate({"questions": questions})


async def test_skill(ctx: ToolContext, folder: Path) -> None:
    with pytest.raises(ToolFailure, match=r"skill\.unknown"):
        await SkillTool().run({"skill": "pdf"}, ctx)
    file = folder / "skills" / "pdf" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: pdf\ndescription: d\n---\n# How\nDo it.\n")
    good = Skill("pdf", "d", str(file), "skills/pdf")
    broken = Skill("old", "", "x", "skills/old", error="skill.no_description")
    ctx.skills = SkillSet((good, broken), ctx.backend)
    out = await SkillTool().run({"skill": "pdf"}, ctx)
    assert "skills/pdf" in out.text
    assert out.text.rstrip().endswith("# How\nDo it.")
    with pytest.raises(ToolFailure) as caught:
        await SkillTool().run({"skill": "pdff"}, ctx)
    assert "Similar: pdf" in caught.value.message
    with pytest.raises(ToolFailure, match=r"skill\.not_loaded"):
        await SkillTool().run({"skill": "old"}, ctx)
