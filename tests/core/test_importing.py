"""What could be taken into the list: workspaces of AgentScope below a folder, rescue copies."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.importing import below, copies
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.sessions.appdb import WorkspaceRow

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Slipway]:
    made = await Slipway.open(paths(tmp_path / "home"))
    yield made
    assert await made.close(30) == []


def listing(root: Path) -> list[str]:
    return sorted(str(one) for one in root.rglob("*"))


async def test_workspaces_of_agentscope_are_found_below_a_folder_and_nothing_is_written(
    service: Slipway, tmp_path: Path
) -> None:
    root = tmp_path / "workspaces"
    for name in ("gen-a-2.0.4", "gen-c-2.0.11"):
        shutil.copytree(SAMPLES / name, root / name)
    (root / "somebody's pictures").mkdir()
    (root / "notes.txt").write_text("no folder")
    before = listing(root)
    found = await below(service, str(root))
    assert [one.name for one in found] == ["gen-a-2.0.4", "gen-c-2.0.11"]
    assert not any(one.known for one in found)
    assert all(one.sessions for one in found)
    assert listing(root) == before
    info = await service.add_folder(found[1].folder, trusted=False)
    assert not info.trusted
    assert [one.known for one in await below(service, str(root))] == [False, True]
    (itself,) = await below(service, str(root / "gen-a-2.0.4"))
    assert itself.name == "gen-a-2.0.4", "one workspace of theirs is taken for what it is"
    assert await below(service, str(tmp_path / "home")) == []
    with pytest.raises(WorkspaceError) as raised:
        await below(service, str(tmp_path / "nowhere"))
    assert raised.value.code in ("workspace.unreadable", "workspace.missing")


async def test_rescue_copies_are_listed_newest_first_under_the_names_they_had(
    service: Slipway, tmp_path: Path
) -> None:
    assert await copies(service) == []
    await service.db.put_workspace(WorkspaceRow("w1", "night run", "e2b", None))
    top = tmp_path / "home" / "data" / "rescued"
    for kept in ("w1/2026-11-29 10.00.00", "w1/2026-11-30 10.00.00", "gone/2026-11-28 09.00.00"):
        (top / kept / "sessions").mkdir(parents=True)
    (top / "w1" / ".slipway-0123456789abcdef.part").mkdir()
    found = await copies(service)
    assert [(one.name, one.when[:10]) for one in found] == [
        ("night run", "2026-11-30"),
        ("night run", "2026-11-29"),
        ("gone", "2026-11-28"),
    ]
    await service.add_folder(found[0].folder, trusted=False, name="Copy of night run")
    assert [one.known for one in await copies(service)] == [True, False, False]
