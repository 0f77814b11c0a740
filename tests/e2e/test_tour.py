"""The tour in containers and sandboxes, as ``make tour`` plays it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from desktop_app.tour.plan import IN_DOCKER, IN_E2B
from tests.helpers.docker import base_image, engine_or_skip
from tests.helpers.e2b_cloud import why_not
from tests.helpers.whole_tour import run


def played(out: Path, part: str) -> dict[str, Any]:
    assert run(["--out", str(out), "--only", part], wanted=(part,)) == 0
    return json.loads((out / "report.json").read_text())


def complete(report: dict[str, Any], steps: dict[str, str]) -> None:
    assert report["steps"] == list(steps)
    assert report["left_out"] == {}
    taken = {name.rpartition("-")[0] for name in report["pictures"]}
    assert len(taken) >= len(steps), "a picture of every step"
    assert not [name for name in report["pictures"] if name.startswith("failed")]


@pytest.mark.timeout(280)
def test_tour_in_a_docker_container(tmp_path: Path) -> None:
    engine_or_skip()
    base_image()
    complete(played(tmp_path / "out", "docker"), IN_DOCKER)


@pytest.mark.timeout(200)
def test_tour_in_an_e2b_sandbox(tmp_path: Path) -> None:
    if why := why_not():
        pytest.skip(f"no sandbox can be made here: {why}")
    complete(played(tmp_path / "out", "e2b"), IN_E2B)


def test_tour_says_which_part_it_leaves_out(tmp_path: Path, capfd: Any) -> None:
    """Without an address no sandbox is made, and nobody is asked for a key."""
    assert run(["--out", str(tmp_path / "out"), "--only", "e2b"], wanted=()) == 0
    assert "left out: the part in a sandbox: no address was given" in capfd.readouterr().out
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert (report["steps"], list(report["left_out"])) == ([], ["e2b"])
