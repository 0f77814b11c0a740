"""Nothing of ours holds the loop for longer than a frame, however much there is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from desktop_app.core.catalog import SessionSummary, WorkspaceSummary
from desktop_app.core.messages import Msg
from desktop_app.core.models.scripted import SCRIPTED, Say, ScriptedModel
from desktop_app.core.sessions.base import NewRecord, SessionKey
from tests.helpers.program import Driver
from tests.helpers.turns import TurnWatch

TEXT = "The harbour of **{n}** has `{n}` berths.\n\n- north\n- south, 港口 {n}\n"
WIDE = replace(SCRIPTED, window=10_000_000)


def turn(n: int) -> Iterator[NewRecord]:
    reply = f"r{n}"
    msg = Msg.user(f"What about harbour {n}?").model_dump()
    yield NewRecord("user.message", {"reply_id": reply, "msg": msg})
    block = {"type": "text", "id": f"b{n}", "text": TEXT.format(n=n)}
    body = {"reply_id": reply, "blocks": [block], "finish": "stop", "ops": [], "model": "scripted"}
    yield NewRecord("assistant.message", body)
    yield NewRecord("turn.finished", {"reply_id": reply, "reason": "completed", "params": {}})


async def fill(service: Any, key: SessionKey, turns: int) -> None:
    """Give a closed session a past of ``turns`` questions and answers."""
    journal = await service.store.open(key)
    for start in range(0, turns, 250):
        records = [r for n in range(start, min(turns, start + 250)) for r in turn(n)]
        await journal.append(records)
    await journal.close()


def long_session(driver: Driver, folder: Path, turns: int) -> SessionKey:
    model = ScriptedModel([[Say("There ", "are ", "many.")]], info=WIDE, forever=True)
    driver.start(model).open_folder(folder)
    first = driver.window.desk.current
    driver.new_session()
    driver.run(driver.window.desk.drop(first))
    driver.run(fill(driver.service, first, turns), 60_000)
    return first


def held(watch: TurnWatch) -> str:
    longest = [f"{h.ms:.1f} ms {h.name}" for h in watch.slowest()[:6]]
    return f"longest turn {watch.longest_turn:.1f} ms; " + "; ".join(longest)


@pytest.mark.parametrize("turns", [500, 5_000])
def test_a_long_session_opens_scrolls_and_answers(driver: Driver, folder: Path, turns: int) -> None:
    key = long_session(driver, folder, turns)
    with TurnWatch() as watch:
        driver.open_session(key)
        driver.until(lambda: driver.vm.breakdown is not None, 30_000)
        view = driver.window.chat.view
        bar = view.verticalScrollBar()
        for _ in range(3):
            seen = view.rows.rowCount()
            bar.setValue(bar.minimum())
            driver.until(lambda n=seen: view.rows.rowCount() > n)
        bar.setValue(bar.maximum())
        QTest.keyClicks(driver.window.chat.composer.edit, "and now?")
        QTest.keyClick(driver.window.chat.composer.edit, Qt.Key.Key_Return)
        driver.until(lambda: driver.vm.busy)
        driver.until_idle(60_000)
    print(held(watch))
    assert driver.said().endswith("There are many.")
    assert watch.over == 0, held(watch)


def test_a_thousand_workspaces_are_listed(driver: Driver, folder: Path) -> None:
    driver.start(ScriptedModel([])).open_folder(folder)
    (one,) = driver.window.workspaces.workspaces
    many = [_like(one, n) for n in range(1_000)]

    async def listed() -> list[WorkspaceSummary]:
        return many

    driver.service.list_workspaces = listed
    with TurnWatch() as watch:
        driver.window.workspaces.refresh()
        driver.until(lambda: driver.window.pane.tree.model().rowCount() >= 1_000)
        driver.window.pane.tree.scrollToBottom()
        QTest.qWait(50)
        many[3] = _like(one, 5_000)
        driver.window.workspaces.refresh()
        driver.until(lambda: driver.workspace("Place 5000") is not None)
        driver.window.workspaces.filter("Place 77")
        QTest.qWait(50)
        driver.window.workspaces.filter("")
    print(held(watch))
    assert watch.over == 0, held(watch)


def _like(one: WorkspaceSummary, n: int) -> WorkspaceSummary:
    info = replace(one.info, id=f"w{n}", name=f"Place {n}", folder=f"/places/{n}")
    sessions = tuple(
        SessionSummary(SessionKey("local", "default", f"{n}-{m}"), info.id, f"Talk {m}", n + m)
        for m in range(10)
    )
    return WorkspaceSummary(info, sessions)
