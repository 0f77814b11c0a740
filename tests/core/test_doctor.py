"""What a new workspace needs on this computer, as the doctor finds it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from desktop_app.core.doctor import Doctor
from desktop_app.core.paths import paths
from desktop_app.core.places import Places
from desktop_app.core.secrets import Secrets
from desktop_app.core.workspaces.docker.discovery import Endpoint
from desktop_app.core.workspaces.docker.engines import Engines
from tests.helpers.docker import engine_or_skip
from tests.helpers.e2b_cloud import cloud_or_skip


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.fixture
async def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Places]:
    monkeypatch.delenv("E2B_API_KEY", raising=False)
    made = Places(paths(tmp_path / "home"), Secrets(lambda: None), list[Any])
    yield made
    await made.close()


async def test_without_a_docker_engine_every_try_is_told(places: Places, tmp_path: Path) -> None:
    nowhere = [
        Endpoint(f"unix://{tmp_path}/a.sock", "env", missing=True),
        Endpoint(f"unix://{tmp_path}/b.sock", "colima", missing=True),
    ]
    places.engines = Engines(look=lambda _chosen: nowhere)
    found = await Doctor(places, tmp_path).docker()
    assert [one.what for one in found] == ["engine", "other", "other", "disk"]
    assert found[0].verdict == "bad"
    assert found[0].error is not None
    assert found[0].error.code == "docker.not_running"
    assert [one.params["how"] for one in found[1:3]] == ["env", "colima"]


async def test_a_docker_engine_that_answers_comes_first(places: Places, tmp_path: Path) -> None:
    engine = engine_or_skip()
    missing = Endpoint(f"unix://{tmp_path}/a.sock", "env", missing=True)
    places.engines = Engines(look=lambda _chosen: [missing, engine.endpoint])
    found = await Doctor(places, tmp_path).docker()
    assert [(one.what, one.verdict) for one in found[:2]] == [
        ("engine", "good"),
        ("other", "warning"),
    ]
    assert found[0].params["version"]
    assert found[-1].params["free"] > 0
    await engine.close()


async def test_a_full_disk_is_a_warning(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(100, 99, 1))
    (disk,) = await Doctor(places, tmp_path).folder()
    assert (disk.verdict, disk.params["free"]) == ("warning", 1)


async def test_an_e2b_key_is_missing_then_typed_then_kept(places: Places, tmp_path: Path) -> None:
    doctor = Doctor(places, tmp_path)
    with cloud_or_skip() as cloud:
        places.e2b.api_url = places.e2b.sandbox_url = cloud.url
        (missing,) = await doctor.e2b()
        assert (missing.verdict, missing.params["place"]) == ("bad", "session")
        wrong = await doctor.e2b("e2b_" + "f" * 40)
        assert wrong[1].error is not None
        assert wrong[1].error.code == "e2b.key"
        typed = await doctor.e2b(cloud_key := await cloud.key())
        assert [one.verdict for one in typed] == ["good", "good"]
        assert await places.key_kept() == ("", "session"), "looking keeps nothing"
        assert await places.keep_key(cloud_key) == "session"
        kept = await doctor.e2b()
        assert kept[0].params["kept"] == "session"
        assert kept[1].params == {"sandboxes": 0}
        await places.keep_key("")
        assert await places.key_kept() == ("", "session")


async def test_an_e2b_that_does_not_answer_is_told(places: Places, tmp_path: Path) -> None:
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    places.e2b.api_url = f"http://127.0.0.1:{port}"
    found = await Doctor(places, tmp_path).e2b("e2b_" + "0" * 40)
    assert found[1].error is not None
    assert found[1].error.code == "e2b.unreachable"
    server.close()
    await server.wait_closed()
