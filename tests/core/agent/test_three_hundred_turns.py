"""A session of 300 turns with the built-in model: what matters is still there at the end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from desktop_app.core import events as ev
from desktop_app.core.models.guide import GUIDE, GuideModel
from desktop_app.core.sessions.base import NewRecord
from desktop_app.core.state import Task
from tests.helpers.sessions import Bench, collect, of

TURNS = 300
TASK = "Please keep the reading list in list.txt in order, 国庆 included."
RULES = ("Never delete list.txt.", "从现在起不要改动 数据.csv。")
PENDING = "compare the two editions of book 7"


async def test_task_rules_and_pending_items_outlive_five_compactions(tmp_path: Path) -> None:
    lines = (f"book {n}: a title of some length, bought in {1950 + n}\n" for n in range(36))
    (tmp_path / "list.txt").write_text("".join(lines))
    b = Bench(tmp_path, GuideModel(pace=0, info=replace(GUIDE, window=16_384, max_output=2_048)))
    c = await b.open()
    await collect(c.send(f"{TASK} {RULES[0]} {RULES[1]}"))
    tasks = [Task(id="1", subject=PENDING).model_dump()]
    await c.log.append(NewRecord("tasks", {"tasks": tasks}))
    ends: list[str] = []
    for n in range(TURNS - 1):
        events = await collect(c.send(f"read list.txt ({n})"))
        ends += [f"{e.reason} {e.code}" for e in of(events, ev.RunFinished)]
        breakdown = await c.breakdown()
        assert breakdown.upper <= breakdown.limits.usable
    assert set(ends) == {"completed None"}
    done = await c.compactions()
    assert len(done) >= 5
    assert {d.trigger for d in done} <= {"danger", "oversize"}
    assert all(d.after < d.before for d in done)
    said = "\n".join(block.text for m in c.engine.prompt().messages for block in m.content
                     if block.type == "text")  # fmt: skip
    for words in (TASK, *RULES, PENDING):
        assert words in said
    await c.close()
    again = await b.open()
    assert again.state.model_dump() == c.state.model_dump()
    await again.close()
    await b.close()
