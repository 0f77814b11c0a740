"""Rescue copies that are made by themselves: the real SDK against a cloud on this computer."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_app.core import rescuing
from desktop_app.core.catalog import RescueTold
from desktop_app.core.ids import now_us
from desktop_app.core.messages import Msg
from desktop_app.core.paths import paths
from desktop_app.core.rescuing import Rescuer
from desktop_app.core.service import Slipway
from desktop_app.core.workspaces.e2b.spec import E2BSpec
from desktop_app.core.workspaces.e2b.workspace import E2BWorkspace
from tests.helpers.e2b_cloud import Box, Cloud, cloud_or_skip


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with cloud_or_skip() as made:
        yield made


@pytest.fixture
async def service(
    tmp_path: Path, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Slipway]:
    monkeypatch.setattr(rescuing, "LOOK_SECONDS", 0.05)
    made = await Slipway.open(paths(tmp_path / "home"))
    account = made.places.e2b
    account.api_url = account.sandbox_url = cloud.url
    account._key = cloud.key
    yield made
    assert await made.close() == []


async def ending(service: Slipway, cloud: Cloud, left: float, **spec: object) -> E2BWorkspace:
    """A sandbox with a session in it whose lease is over in ``left`` seconds. Its keeper sleeps."""
    whole = replace(E2BSpec(timeout=86_400, auto_pause=False), **spec)
    info = await service.machines.create("in the cloud", whole)
    workspace = await service.machines.of(info.id)
    assert isinstance(workspace, E2BWorkspace)
    await workspace.offload_context("s1", [Msg.user("to be kept")])
    (box,) = cloud.boxes.values()
    box.ends = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=left)
    await workspace.refresh()
    return workspace


def heard(service: Slipway) -> list[RescueTold]:
    told: list[RescueTold] = []
    service.listen(lambda event: told.append(event) if isinstance(event, RescueTold) else None)
    return told


async def until(there: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not there():
            await asyncio.sleep(0.02)


async def test_e2b_sandbox_that_ends_with_its_files_is_copied_before(
    service: Slipway, cloud: Cloud
) -> None:
    told = heard(service)
    workspace = await ending(service, cloud, 200)
    (box,) = cloud.boxes.values()
    ends = box.ends
    await until(lambda: told)
    (one,) = told
    assert (one.error, one.name, one.files >= 1) == (None, "in the cloud", True)
    copy = Path(one.folder) / "sessions/s1/context.jsonl"
    assert "to be kept" in copy.read_text()
    assert box.ends == ends, "the copy is no use of it that would cost another lease"
    assert not workspace.remote.used_since(asyncio.get_running_loop().time() - 0.01)
    await asyncio.sleep(0.3)
    assert len(told) == 1, "once for a lease"
    assert len(list(Path(one.folder).parent.iterdir())) == 1
    await service.machines.extend(workspace.info.id, 150)  # another end: what is new is kept too
    await until(lambda: len(told) == 2)


@pytest.mark.parametrize(
    ("spec", "left"),
    [({"auto_pause": True}, 100), ({"rescue": False}, 100), ({}, 4000)],
    ids=["paused then", "switched off", "not yet"],
)
async def test_e2b_sandbox_is_not_copied_where_nothing_is_lost_or_wanted(
    service: Slipway, cloud: Cloud, spec: dict[str, object], left: float
) -> None:
    told = heard(service)
    workspace = await ending(service, cloud, left, **spec)
    lists = cloud.counts["list"]
    rescuer = Rescuer(service, service.machines.rescue)
    rescuer.look()
    assert not rescuer._going
    await asyncio.sleep(0.3)
    assert (told, cloud.counts["list"]) == ([], lists), "and nobody is asked for it"
    await service.machines.do(workspace.info.id, "remove")


async def test_e2b_sandbox_whose_lease_cannot_be_extended_is_copied(
    service: Slipway, cloud: Cloud
) -> None:
    told = heard(service)
    workspace = await ending(service, cloud, 200, auto_pause=True)
    cloud.failing["timeout"] = [429]
    workspace.spec = replace(workspace.spec, timeout=1)
    workspace._keeping.replace(workspace._keep(), name="extend a sandbox that is used")
    while not workspace.ends_for_good:
        await workspace.remote.stat(".")  # it is used
        await asyncio.sleep(0.05)
    workspace.spec = replace(workspace.spec, timeout=86_400)
    await until(lambda: told)
    assert told[0].error is None


async def test_e2b_copy_that_fails_is_told_and_the_next_lease_tries_again(
    service: Slipway, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = heard(service)
    fails: list[str] = []

    async def failing(self: object, workspace_id: str, tell: object = None) -> object:
        from desktop_app.core.errors import WorkspaceError

        fails.append(workspace_id)
        raise WorkspaceError("disk.full", retryable=True, path="/home/me/copies")

    monkeypatch.setattr(type(service.machines), "_rescue", failing)
    workspace = await ending(service, cloud, 200)
    await until(lambda: told)
    assert len(fails) == rescuing.TRIES
    error = told[0].error
    assert error is not None
    assert (error.code, error.params["name"]) == ("workspace.rescue_failed", "in the cloud")
    assert workspace.info.state == "ready", "it goes on"


async def test_e2b_two_who_ask_get_one_copy(service: Slipway, cloud: Cloud) -> None:
    workspace = await ending(service, cloud, 4000)
    one = workspace.info.id
    first, second = await asyncio.gather(service.machines.rescue(one), service.machines.rescue(one))
    assert first == second
    assert len(list(first[0].parent.iterdir())) == 1


async def test_e2b_clock_that_differs_by_hours_does_not_mislead_the_countdown(
    service: Slipway, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Box, "clock", dt.timedelta(hours=5))
    info = await service.machines.create("in the cloud", E2BSpec(timeout=3600))
    await service.machines.do(info.id, "start")
    workspace = await service.machines.of(info.id)
    assert workspace is not None
    left = (workspace.machine.ends_us - now_us()) / 1e6
    assert 3400 < left <= 3610
    assert abs(workspace.machine.started_us - now_us()) < 120e6
    await service.machines.extend(info.id, 600)
    left = (workspace.machine.ends_us - now_us()) / 1e6
    assert 3400 < left <= 3610 or 500 < left <= 610
