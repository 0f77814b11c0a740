"""What happened to workspaces lately: told from their states, kept beside the log."""

from __future__ import annotations

from pathlib import Path

from desktop_app.core import happenings
from desktop_app.core.happenings import Happenings


def told(made: Happenings, workspace_id: str = "a") -> list[str]:
    return [one.what for one in made.of(workspace_id)]


async def test_states_as_they_settle_are_told_once(tmp_path: Path) -> None:
    made = Happenings(tmp_path / "state" / "happenings.jsonl")
    heard: list[str] = []
    made.listen(heard.append)
    made.saw("a", "stopped", {})
    assert told(made) == [], "how it was found is no event"
    for state in ("starting", "ready", "ready", "paused", "starting", "ready"):
        made.saw("a", state, {})
    made.saw("a", "stopped", {}, elsewhere=True)
    assert told(made) == ["stopped", "resumed", "paused", "started"]
    assert made.of("a")[0].params == {"elsewhere": True}
    made.saw("a", "error", {"code": "docker.not_running"})
    made.saw("a", "stopped", {})
    assert told(made)[0] == "failed", "an engine that answers again stops nothing"
    assert made.of("a")[0].params == {"code": "docker.not_running"}
    assert heard == ["a"] * 5
    await made.close()


async def test_they_are_there_after_a_restart_and_bad_lines_do_no_harm(
    tmp_path: Path, monkeypatch
) -> None:
    path = tmp_path / "happenings.jsonl"
    made = Happenings(path)
    made.add("a", "compacted", before=132_000, after=31_000)
    made.add("b", "rescued", files=3, bytes=10)
    await made.close()
    with path.open("a") as file:
        file.write('{"id": 1}\nnot json\n')
    again = Happenings(path)
    await again.load()
    assert told(again) == ["compacted"]
    assert again.of("b")[0].params == {"files": 3, "bytes": 10}
    monkeypatch.setattr(happenings, "LINES", 30)
    for _ in range(60):
        again.add("a", "started")
    await again.close()
    assert len(path.read_text().splitlines()) <= 90
    last = Happenings(path)
    await last.load()
    assert len(last.of("a")) == happenings.KEPT
    assert told(last, "b") == ["rescued"]
    await last.close()
