"""A container workspace that the real AgentScope 2.0.11 made, found and read here."""

from __future__ import annotations

import asyncio
import secrets
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import aiodocker
import pytest

from desktop_app.core.neighbours import Neighbour
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from tests.helpers.docker import base_image, engine_or_skip
from tests.interop.conftest import PEER

pytestmark = pytest.mark.interop
SCRIPT = Path(__file__).with_name("peer_docker.py")


@pytest.fixture
async def workspace_id() -> AsyncIterator[str]:
    await engine_or_skip().close()
    made = f"peer{secrets.token_hex(8)}"
    yield made
    remove = ["docker", "rm", "-f", f"as_ws_{made}"]
    await asyncio.to_thread(subprocess.run, remove, capture_output=True, check=False)


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Slipway]:
    made = await Slipway.open(paths(tmp_path / "home"))
    yield made
    assert await made.close() == []


async def by_agentscope(workspace_id: str, *folder: Path) -> str:
    libraries = str(Path(aiodocker.__file__).parents[1])
    line = [PEER, SCRIPT, base_image(), libraries, workspace_id, *folder]
    done = await asyncio.to_thread(
        subprocess.run, [str(one) for one in line], capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()[-1]


async def found(service: Slipway, workspace_id: str) -> Neighbour:
    (one,) = [one for one in await service.machines.neighbours() if one.id == workspace_id]
    return one


async def test_docker_workspace_of_agentscope_is_found_read_and_survives_being_made_again(
    service: Slipway, workspace_id: str, tmp_path: Path
) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    place = await by_agentscope(workspace_id, folder)
    assert place == "/workspace/sessions/s1/context.jsonl"
    one = await found(service, workspace_id)
    assert (one.machine, one.folder) == (f"as_ws_{workspace_id}", str(folder))
    info = await service.machines.add_neighbour(one)
    assert (info.state, info.params["code"]) == ("readonly", "workspace.theirs")
    assert (info.root, info.foreign) == ("/workspace", True)
    workspace = await service.machines.of(info.id)
    assert workspace is not None
    history = await workspace.read_context("s1")
    assert "from AgentScope 你好" in history.messages[0].model_dump_json()
    first = workspace.machine.started_us
    # AgentScope opens the same id again: it replaces its container, and the folder stays.
    await by_agentscope(workspace_id, folder)
    await service.refresh_workspace(info.id)
    assert workspace.machine.started_us > first
    assert len((await workspace.read_context("s1")).messages) == 2
