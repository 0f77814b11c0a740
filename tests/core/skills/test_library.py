"""The skills of a workspace: partitions, clashes, changes, many of them."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop_app.core.errors import SettingsError
from desktop_app.core.skills import Skill, SkillLibrary, SkillSet
from desktop_app.core.workspaces.local import LocalBackend
from tests.helpers.backends import RemoteLikeBackend

SAMPLES = Path(__file__).parents[2] / "data" / "samples"


def add(root: Path, name: str, text: str | None = None, agent: str = "default") -> Path:
    folder = root / "skills" / agent / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(
        text or f"---\nname: {name}\ndescription: About {name}.\n---\nBody of {name}."
    )
    return folder


@pytest.fixture(params=["local", "remote"])
async def library(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SkillLibrary]:
    backend = LocalBackend(tmp_path)
    used = backend if request.param == "local" else RemoteLikeBackend(backend)
    yield SkillLibrary(used, str(tmp_path), "C", str(tmp_path))
    await backend.close()


def names(skills: list[Skill]) -> list[str]:
    return [s.name for s in skills]


async def test_partitions_of_c(library: SkillLibrary, tmp_path: Path) -> None:
    assert await library.list("x") == []
    add(tmp_path, "seeded", agent=".seed")
    add(tmp_path, "mine", agent="agent-1")
    assert names(await library.list("agent-1")) == ["mine"]
    assert names(await library.list("new-agent")) == ["seeded"]
    assert names(await library.list("../agent-1")) == ["seeded"]
    assert (await library.list("agent-1"))[0].dir == "skills/agent-1/mine"


async def test_a_skill_right_in_the_folder_is_for_every_agent(
    library: SkillLibrary, tmp_path: Path
) -> None:
    """Where a person puts it who was told "the workspace's skills folder"."""
    add(tmp_path, "plain", agent="")
    assert names(await library.list("x")) == ["plain"]
    add(tmp_path, "seeded", agent=".seed")
    add(tmp_path, "mine", agent="agent-1")
    add(tmp_path, "plain", "---\nname: plain\ndescription: Own.\n---\n", agent="agent-1")
    (tmp_path / "skills" / "odd").mkdir()
    (tmp_path / "skills" / "odd" / "skill.md").write_text("---\nname: odd\n---\n")
    assert names(await library.list("new-agent")) == ["seeded", "odd", "plain"]
    found = await library.list("agent-1")
    assert names(found) == ["mine", "plain", "odd"], "partitions are none, their own go first"
    assert found[1].description == "Own."
    assert found[2].error == "skill.file_case"
    shutil.rmtree(tmp_path / "skills" / "plain")
    assert names(await library.list("new-agent")) == ["seeded", "odd"]


@pytest.mark.parametrize(
    ("sample", "generation", "agent", "expected"),
    [
        ("gen-a-2.0.4", "A", None, ["web-search"]),
        ("gen-b-2.0.6", "B", "any", ["web-search"]),
        ("gen-c-2.0.11", "C", "agent-42", ["web-search", "数据 分析/报告"]),
        ("gen-c-2.0.11", "C", None, ["web-search"]),
        ("gen-b-migrated-to-c", "C", "A", ["web-search"]),
    ],
)
async def test_samples(sample: str, generation, agent: str | None, expected: list[str]) -> None:
    root = str(SAMPLES / sample)
    library = SkillLibrary(LocalBackend(root), root, generation, root)
    found = await library.set(agent)
    assert [s.name for s in found.usable] == expected
    assert await found.body(expected[-1])


async def test_each_that_cannot_be_loaded_says_why(library: SkillLibrary, tmp_path: Path) -> None:
    base = tmp_path / "skills/default"
    add(tmp_path, "ok")
    add(tmp_path, "broken", "no front matter")
    (base / "empty").mkdir()
    (base / "wrongcase").mkdir()
    (base / "wrongcase/skill.md").write_text("---\n")
    (base / "fifo").mkdir()
    os.mkfifo(base / "fifo/SKILL.md")
    (base / "huge").mkdir()
    with (base / "huge/SKILL.md").open("wb") as file:
        file.truncate(5 << 20)
    (base / "loop").symlink_to("loop")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    shutil.copy(base / "ok/SKILL.md", outside / "SKILL.md")
    (base / "away").symlink_to(outside)
    (base / "inside").symlink_to("ok")
    (base / "notes.txt").write_text("no skill")
    found = {s.path.split("/")[-2]: s for s in await library.list()}
    assert {key: s.error for key, s in found.items()} == {
        "ok": None,
        "inside": None,
        "broken": "skill.no_front_matter",
        "empty": "skill.no_file",
        "wrongcase": "skill.file_case",
        "fifo": "file.special",
        "huge": "skill.too_large",
        "loop": "file.loop",
        "away": "skill.link_outside",
    }
    usable = (await library.set()).usable
    assert sorted(s.name for s in usable) == ["ok", "ok (1)"]
    with pytest.raises(SettingsError) as caught:
        (await library.set()).get("broken")
    assert (caught.value.code, caught.value.params["reason"]) == (
        "skill.not_loaded",
        "skill.no_front_matter",
    )
    with pytest.raises(SettingsError, match=r"skill\.unknown"):
        (await library.set()).get("none")


async def test_changes_are_seen(library: SkillLibrary, tmp_path: Path) -> None:
    folder = add(tmp_path, "a")
    (tmp_path / "skills/default/late").mkdir()  # SKILL.md comes later
    assert [(s.name, s.error) for s in await library.list()] == [
        ("a", None),
        ("late", "skill.no_file"),
    ]
    (folder / "SKILL.md").write_text("---\nname: a2\ndescription: changed\n---\nnew")
    add(tmp_path, "late")
    found = await library.set()
    assert [(s.name, s.description) for s in found.usable] == [
        ("a2", "changed"),
        ("late", "About late."),
    ]
    assert await found.body("a2") == "new"
    shutil.rmtree(folder)
    assert names(await library.list()) == ["late"]
    shutil.rmtree(tmp_path / "skills")
    assert await library.list() == []


async def test_names_clash_and_part_again(library: SkillLibrary, tmp_path: Path) -> None:
    text = "---\nname: same\ndescription: d\n---\n"
    for folder in ("x", "y", "z"):
        add(tmp_path, folder, text)
    assert names(await library.list()) == ["same", "same (1)", "same (2)"]
    shutil.rmtree(tmp_path / "skills/default/x")
    assert names(await library.list()) == ["same", "same (1)"]


async def test_a_thousand_skills_are_cheap_when_nothing_changed(tmp_path: Path) -> None:
    for n in range(1000):
        add(tmp_path, f"skill-{n:04}")
    backend = RemoteLikeBackend(LocalBackend(tmp_path))
    library = SkillLibrary(backend, str(tmp_path), "C", str(tmp_path))
    assert len(await library.list()) == 1000
    backend.calls.clear()
    started = time.perf_counter()
    assert len(await library.list()) == 1000
    seconds = time.perf_counter() - started
    assert backend.calls == ["stat_many", "versions", "versions"]  # not one question per skill
    assert seconds < 0.25
    backend.calls.clear()
    add(tmp_path, "skill-0500", "---\nname: changed\ndescription: d\n---\n")
    assert "changed" in names(await library.list())
    assert backend.calls.count("read_bytes") == 1


def skills(count: int, words: int) -> SkillSet:
    return SkillSet(
        tuple(Skill(f"skill-{n}", "word " * words, f"/s/{n}", f"s/{n}") for n in range(count))
    )


def test_the_prompt_is_bounded_and_names_come_first() -> None:
    assert SkillSet().prompt() == ""
    small = skills(3, 4).prompt()
    assert small.endswith("- skill-2: word word word word")
    medium = skills(100, 200).prompt(8_000)
    assert len(medium) <= 8_000
    assert all(f"- skill-{n}: word" in medium for n in range(100))
    large = skills(1000, 50).prompt(8_000)
    assert len(large) <= 8_000
    assert "- skill-0\n" in large
    assert large.splitlines()[-1].startswith("… and ")
    broken = Skill("bad", "d", "/s", "s", error="skill.no_name")
    assert SkillSet((broken,)).prompt() == ""


async def test_heavy_front_matter_does_not_hold_the_loop(tmp_path: Path) -> None:
    heavy = "metadata:\n" + "".join(f"  k{n}: [a, {{b: c}}]\n" for n in range(600))
    for n in range(5):
        add(tmp_path, f"s{n}", f"---\nname: s{n}\ndescription: d\n{heavy}---\nbody")
    library = SkillLibrary(LocalBackend(tmp_path), str(tmp_path), "C", str(tmp_path))
    longest = 0.0
    task = asyncio.ensure_future(library.list())
    while not task.done():
        started = time.thread_time()
        await asyncio.sleep(0)
        longest = max(longest, time.thread_time() - started)
    assert [s.error for s in task.result()] == [None] * 5
    assert longest < 0.016
