"""kill -9 before every operation on the disk of an accepted compaction, its undo, one done again, a
result offloaded by hand, their delivery to the workspace, and a draft in the background.

Opened again, the session stands before the change or after it, never between; what had been
acknowledged stands; nothing that left the context is missing in the workspace; and it goes on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.journals import REPO, end

pytestmark = pytest.mark.crash


def lives(root: Path, what: str, most: int) -> list[dict[str, Any]]:
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.change_child", str(root), what, str(most)],
        cwd=REPO,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    out, err = child.communicate(timeout=100)
    end(child)
    assert child.returncode == 0, err[-2000:]
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("what", ["accept", "undo", "again", "offload", "draft"])
def test_before_or_after_and_nothing_lost(tmp_path: Path, what: str) -> None:
    found = lives(tmp_path, what, 24)
    assert len(found) > 3, "hardly ever killed"
    *killed, whole = found
    assert (whole["died"], whole["code"]) == (0, 0)
    before, after = whole["said"]["before"], whole["said"]["after"]
    assert before != after
    states: set[str] = set()
    for life in found:
        at = f"killed before operation {life['died']}"
        assert life["ended"] == 0, at
        assert life["replays"], at
        assert life["lost"] == [], at
        assert life["broken"] == [], at
        assert life["goes_on"] == "completed", at
        if what == "draft":  # a turn, and notes that nobody has accepted yet
            assert life["found"][: len(before)] == before, at
            continue
        assert life["found"] in (before, after), at
        states.add("after" if life["found"] == after else "before")
        if "after" in life["said"]:
            assert life["found"] == after, f"acknowledged and gone, {at}"
    assert what == "draft" or states == {"before", "after"}
    assert all(life["code"] == -9 for life in killed)
