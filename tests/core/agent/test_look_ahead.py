"""Small files are looked at while the model's message goes to disk: only where nobody could object,
and never instead of what is there when the call runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from desktop_app.core import events as ev
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.workspaces import local_files
from desktop_app.core.workspaces.local import LocalBackend
from tests.helpers.sessions import Bench, collect, of


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that were looked at ahead."""
    paths: list[str] = []
    real = LocalBackend.look_ahead

    def look_ahead(self: LocalBackend, path: str, **more: Any) -> Any:
        paths.append(Path(path).name)
        return real(self, path, **more)

    monkeypatch.setattr(LocalBackend, "look_ahead", look_ahead)
    return paths


class Step:
    """One step of a session in a folder, then the end."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "folder"
        self.folder.mkdir()

    async def results(self, *calls: Call, **config: Any) -> tuple[list[str], list[Any]]:
        """Texts of the results, and the questions that were asked."""
        model = ScriptedModel([[*calls], [Say("done")]], forever=True)
        bench = Bench(self.folder, model)
        talk = await bench.open(**config)
        events = await collect(talk.send("go"))
        await talk.close()
        await bench.close()
        finished = [e.result.text() for e in of(events, ev.ToolFinished)]
        return finished, of(events, ev.ApprovalRequested)


def read(path: str) -> Call:
    return Call("Read", {"file_path": path})


async def test_reads_of_small_files_inside_are_looked_at_once(
    tmp_path: Path, begun: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Step(tmp_path)
    (step.folder / "a.txt").write_text("alpha\n")
    (step.folder / "b.txt").write_text("beta\n")

    def never(*_: Any) -> Any:
        raise AssertionError("looked at a second time")

    monkeypatch.setattr(local_files, "look", never)
    texts, _ = await step.results(read("a.txt"), read("./b.txt"))
    assert sorted(t.strip() for t in texts) == ["1\talpha", "1\tbeta"]
    assert begun == ["a.txt", "b.txt"]


async def test_what_a_call_before_changed_is_read_as_it_is_then(
    tmp_path: Path, begun: list[str]
) -> None:
    step = Step(tmp_path)
    (step.folder / "a.txt").write_text("alpha\n")
    edit = Call("Edit", {"file_path": "a.txt", "old_string": "alpha", "new_string": "omega"})
    texts, _ = await step.results(read("a.txt"), edit, read("a.txt"), mode="accept_edits")
    assert [t.strip() for t in texts[::2]] == ["1\talpha", "1\tomega"]
    assert begun == ["a.txt"]  # the second comes after a call that does more than read


async def test_secrets_links_and_places_outside_are_asked_for_and_not_opened(
    tmp_path: Path, begun: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Step(tmp_path)
    (tmp_path / "outside.txt").write_text("not yours\n")
    (step.folder / ".env").write_text("KEY=1\n")
    (step.folder / "link").symlink_to(tmp_path)
    opened: list[str] = []
    real = local_files.open_regular

    def noted(path: str, *more: Any) -> int:
        opened.append(path)
        return real(path, *more)

    monkeypatch.setattr(local_files, "open_regular", noted)
    for path in (".env", "link/outside.txt", "../outside.txt", str(tmp_path / "outside.txt")):
        texts, asked = await step.results(read(path))
        assert (texts, len(asked)) == ([], 1), path
    assert begun == ["outside.txt"]  # through the link: its name alone says nothing
    assert not [p for p in opened if p.endswith(("outside.txt", ".env"))]


@pytest.mark.parametrize("behavior", ["deny", "ask"])
@pytest.mark.parametrize("tool", ["Read", "*"])
async def test_nothing_is_looked_at_where_a_rule_could_object(
    tmp_path: Path, begun: list[str], behavior: str, tool: str
) -> None:
    step = Step(tmp_path)
    (step.folder / "a.txt").write_text("alpha\n")
    (step.folder / "b.txt").write_text("beta\n")
    model = ScriptedModel([[read("a.txt"), read("b.txt")], [Say("done")]], forever=True)
    bench = Bench(step.folder, model)
    talk = await bench.open()
    content = "b.txt" if tool == "Read" else None
    rule = {"tool_name": tool, "rule_content": content, "behavior": behavior, "source": "t"}
    await talk.add_rule(rule)
    await collect(talk.send("go"))
    assert begun == []
    await talk.close()
    await bench.close()


async def test_a_file_that_is_large_or_missing_goes_the_usual_way(
    tmp_path: Path, begun: list[str]
) -> None:
    step = Step(tmp_path)
    (step.folder / "large.txt").write_text("a line of some length\n" * 5_000)
    texts, _ = await step.results(read("large.txt"), read("none.txt"))
    missing, large = sorted(texts, key=len)  # they run side by side
    assert "a line of some length" in large
    assert "There is no file or directory 'none.txt'" in missing
    assert begun == ["large.txt", "none.txt"]
