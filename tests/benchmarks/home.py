"""A data folder as a person has it after some weeks: workspaces, sessions, one long conversation.

Made through the program's own core, so that what is opened is what the program wrote.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from desktop_app.core.models.registry import GUIDE
from desktop_app.core.models.scripted import Call, Say, ScriptedModel, Turn
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.sessions.base import SessionKey

WORKSPACES = 6
SESSIONS = 8
TURNS = 120

ANSWER = """The report has **three** parts; `regions.csv` names the figures.

- North: 1,204 returns, mostly *late deliveries*
- South: 310 returns

```python
def total(rows: list[dict[str, int]]) -> int:
    return sum(row["returns"] for row in rows)
```

结论:北区的退货多数与物流有关,建议先看 `logistics.md`。
"""


def prepare(home: Path) -> SessionKey:
    """Fill ``home`` (a SLIPWAY_HOME); the session that the program will open by itself."""
    return asyncio.run(_prepare(home))


async def _prepare(home: Path) -> SessionKey:
    service = await Slipway.open(paths(home))
    model = ScriptedModel(list(_turns()), info=replace(GUIDE, window=10_000_000))
    service.models.add(model.info, lambda: model)
    last: SessionKey | None = None
    for n in range(WORKSPACES):
        folder = home / "folders" / f"project-{n}"
        folder.mkdir(parents=True)
        for m in range(20):
            (folder / f"notes-{m}.md").write_text(f"# Notes {m}\n\n" + "words and words\n" * 40)
        info = await service.add_folder(str(folder), trusted=True)
        for m in range(SESSIONS):
            last = await service.new_session(info.id)
            await service.rename_session(last, f"Question {m} about project {n}")
            if (n, m) != (WORKSPACES - 1, SESSIONS - 1):
                await service.close_conversation(last)
    assert last is not None
    await _talk(service, last)
    await service.close()
    _remember(home, last)
    return last


def _turns() -> Iterator[Turn]:
    for n in range(TURNS):
        yield [Say(f"Looking at part {n}."), Call("Read", {"file_path": f"notes-{n % 20}.md"})]
        yield [Say(ANSWER)]


async def _talk(service: Slipway, key: SessionKey) -> None:
    conversation = await service.conversation(key)
    for n in range(TURNS):
        async with aclosing(conversation.send(f"What about the returns of week {n}?")) as run:
            async for _event in run:
                pass


def _remember(home: Path, key: SessionKey) -> None:
    """As the window remembers which session was open."""
    from PySide6.QtCore import QSettings

    state = home / "state"
    state.mkdir(parents=True, exist_ok=True)
    shape = QSettings(str(state / "window.ini"), QSettings.Format.IniFormat)
    shape.setValue("session", [key.user_id, key.agent_id, key.session_id])
    shape.sync()
