"""Conversations whose window fills: each turn reads a page of about 1,500 words and answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.errors import ModelError
from desktop_app.core.models.base import ModelRequest
from desktop_app.core.models.scripted import SCRIPTED, Call, Delay, Fail, Say, ScriptedModel
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from tests.helpers.sessions import Bench, collect, of

RULE = "Never delete page.txt."


def long_session(
    tmp_path: Path, turns: int, *, fail_summary: bool = False, window: int = 32_768
) -> Bench:
    """A bench with a model that reads page.txt in every turn; "slowly" makes it take its time."""
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "page.txt").write_text("".join(f"word{i} and more text here\n" for i in range(900)))

    def play(request: ModelRequest) -> list[Any]:
        if request.purpose == "summary":
            if fail_summary:
                return [Fail(ModelError("model.unreachable"))]
            return [Say("# Goal\nread the page\n# Done\nread it many times")]
        if request.purpose == "title":
            return [Say("Reading")]
        last = request.messages[-1]
        if last.tool_results():
            return [Say("Read it. " + "filler words " * 40)]
        slowly = [Delay(0.05)] if "slowly" in last.text() else []
        return [*slowly, Call("Read", {"file_path": "page.txt"})]

    model = ScriptedModel([play] * (turns * 4 + 20), info=replace(SCRIPTED, window=window))
    return Bench(folder, model, store=SqliteJournalStore(tmp_path / "journals"))


async def fill(conversation: SessionConversation, turns: int) -> list[ev.Event]:
    """So many turns, or until one compacts."""
    events: list[ev.Event] = []
    for n in range(turns):
        events += await collect(conversation.send(f"Read the page, time {n}. {RULE}"))
        if of(events, ev.CompactionFinished):
            break
    return events
