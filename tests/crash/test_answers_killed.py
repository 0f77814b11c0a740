"""kill -9 while a person answers: confirms in part, edits, answers a question, stops, gives up.

The program is killed again and again, each time a few operations on the disk further, and a new one
goes on. What was answered is never asked again, nothing runs twice or against the answer, and the
reply ends as it would have without a kill.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from desktop_app.core.agent.fold import Folder
from desktop_app.core.sessions.sqlite import SqliteJournalStore
from desktop_app.core.state import AgentState
from tests.helpers.journals import REPO, end
from tests.helpers.sessions import KEY

pytestmark = pytest.mark.crash

# What the world holds at the end; a call that was killed in its middle may be missing, never twice.
WANTED = {
    "part": {"yes", "edited", "yes2"},
    "answer": {"yes"},
    "external": {"yes"},
    "interrupt": {"yes"},
    "stop": {"long"},
    "limit": {"yes"},
}
REASON = {"interrupt": "interrupted", "stop": "interrupted", "limit": "exceed_max_iters"}


def turn(root: Path, scenario: str, at: int) -> tuple[list[str], int]:
    """One life of the program: what it said, how it ended."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.answer_child", str(root), scenario, str(at)],
        cwd=REPO,
        stdout=subprocess.PIPE,
        text=True,
    )
    said = child.communicate(timeout=60)[0].splitlines()
    end(child)
    return said, child.returncode


async def state_of(root: Path) -> AgentState:
    journal = await SqliteJournalStore(root / "journals").open(KEY, write=False)
    assert await journal.verify() is None
    folder = Folder(KEY.session_id)
    folder.replay(await journal.read())
    await journal.close()
    return folder.now.state


@pytest.mark.parametrize("scenario", list(WANTED))
async def test_what_was_answered_stays_answered(tmp_path: Path, scenario: str) -> None:
    (tmp_path / "folder").mkdir()
    rng = random.Random(scenario)
    decided: set[str] = set()
    ended, lives = "", 0
    while not ended:
        said, code = turn(tmp_path, scenario, rng.randrange(30, 60) if lives < 6 else 100_000)
        lives += 1
        assert lives < 8
        assert code in (0, -signal.SIGKILL), said
        for line in said:
            word, _, rest = line.partition(" ")
            if word == "waits":
                assert rest not in decided, "asked again"
            elif word == "decided":
                decided.add(rest)
            elif word == "ended":
                ended = rest
    assert lives > 1, "never killed"
    assert ended == REASON.get(scenario, "completed")
    world = (tmp_path / "world").read_text().splitlines()
    assert len({line.split()[0] for line in world}) == len(world), "one call ran twice"
    texts = [line.split(" ", 1)[1] for line in world]
    assert set(texts) <= WANTED[scenario], "something ran against the answer"
    state = await state_of(tmp_path)
    results = [r for m in state.context for r in m.tool_results()]
    calls = [c for m in state.context for c in m.content if c.type == "tool_call"]
    assert [r.id for r in results] == [c.id for c in calls], "each call has its one result"
    by_input = {c.input: r for c, r in zip(calls, results, strict=True)}
    if scenario == "part":
        assert by_input['{"text": "no"}'].state == "denied"
        assert '{"text": "edited"}' in by_input
    if scenario == "answer":
        assert "B" in results[0].text()
    if scenario == "external":
        assert results[0].text() == "B it is"
