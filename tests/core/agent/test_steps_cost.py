"""What a step that reads a small file does, and does once. Counted: milliseconds are for the
benchmarks (``bench_loop``), and would not say which of it came back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.agent import engine, log, run
from desktop_app.core.context.accounting import Accounting
from desktop_app.core.context.build import PromptBuilder
from desktop_app.core.crew import Crew
from desktop_app.core.models.base import ModelRequest
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from desktop_app.core.skills import SkillSet
from desktop_app.core.tools import paths
from desktop_app.core.workspaces import local_files
from desktop_app.core.workspaces.local_cached import CachedFiles
from tests.helpers.sessions import Bench, collect

WARM, STEPS = 3, 20  # until the file is in memory; that are counted
ARGUMENTS = '{"file_path": "page.txt"}'


class Counted:
    """Calls while ``on``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: Counter[str] = Counter()
        self.on = False
        self._patch = monkeypatch

    def watch(
        self, holder: Any, name: str, as_: str, when: Callable[..., bool] = lambda *_: True
    ) -> None:
        real = getattr(holder, name)

        def counted(*args: Any, **more: Any) -> Any:
            self.calls[as_] += self.on and when(*args)
            return real(*args, **more)

        self._patch.setattr(holder, name, counted)


async def test_a_step_goes_one_way_to_a_thread_and_asks_for_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    page = folder / "page.txt"
    page.write_text("what is read\n")
    able = CachedFiles()
    local_files.look_plain(str(page), 4096, [str(folder)])
    able.learn(str(page))
    monkeypatch.setattr(run, "DRAFT_SECONDS", 3600.0)  # what comes by the clock is no step's
    monkeypatch.setattr(engine, "LOOK_SECONDS", 3600.0)
    monkeypatch.setattr(log, "HELD_SECONDS", 3600.0)
    monkeypatch.setattr(run, "SHOWN_SECONDS", 3600.0)
    counted = Counted(monkeypatch)
    counted.watch(Crew, "_put", "ways to a thread")
    counted.watch(json, "loads", "arguments parsed", lambda text: text == ARGUMENTS)
    counted.watch(paths, "_placed", "files placed")
    counted.watch(PromptBuilder, "_append", "messages built on")
    counted.watch(Accounting, "_bounds", "prompts estimated")
    counted.watch(CachedFiles, "look", "files looked at")
    counted.watch(local_files, "look_plain", "files looked at in a thread")
    counted.watch(SkillSet, "prompt", "skills listed")
    asked = 0

    def play(_: ModelRequest) -> list[Any]:
        nonlocal asked
        asked += 1
        counted.on = WARM < asked <= WARM + STEPS
        return [Call("Read", ARGUMENTS)] if asked <= WARM + STEPS + 1 else [Say("done")]

    model = ScriptedModel([play], titles=[[Say("t")]], forever=True)
    bench = Bench(
        folder, model, store=SqliteJournalStore(tmp_path / "journals"), max_iterations=asked + 99
    )
    talk = await bench.open()
    await collect(talk.send("read it again and again"))
    assert len(talk.state.context[-1].tool_results()) == WARM + STEPS + 1
    await talk.close()
    await bench.close()
    if able.look(str(page), 4096, [str(folder)]) is None:
        pytest.skip("the file system here does not answer without waiting")
    once = dict.fromkeys(counted.calls, STEPS)
    never = {"files looked at in a thread": 0, "skills listed": 0}
    assert counted.calls == {**once, **never}
