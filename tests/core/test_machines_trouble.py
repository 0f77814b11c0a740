"""What goes wrong with a machine while an agent works in it: said where it happens, the session is
kept, and one step leads on. Real engine, real conversation; the engine is never stopped: it is seen
through a socket of our own that is cut."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.errors import WorkspaceError
from desktop_app.core.events import Event, RunFinished, ToolFinished, ToolStarted
from desktop_app.core.models.scripted import Call, Say, ScriptedModel
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.workspaces.docker.discovery import Endpoint
from desktop_app.core.workspaces.docker.engine import told
from desktop_app.core.workspaces.docker.spec import DockerSpec
from tests.helpers.docker import base_image, engine_or_skip, remove_leftovers
from tests.helpers.sessions import collect, kinds, of
from tests.helpers.wire import Wire, wired

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the engine's socket is of POSIX")
LONG = [Call("Bash", {"command": "echo begun > begun.txt; sleep 300"})]
AGAIN = [Call("Bash", {"command": "cat begun.txt"})]


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    engine = engine_or_skip()
    await engine.close()
    async with wired(engine.endpoint.url) as made:
        yield made


@pytest.fixture
async def service(
    tmp_path: Path, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Slipway]:
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    made = await Slipway.open(paths(tmp_path / "home"))
    made.places.engines._look = lambda _chosen: [Endpoint(wire.url, "chosen")]
    said = [LONG, [Say("It did not go well.")], AGAIN, [Say("There it is.")]]
    model = ScriptedModel(said, titles=[[Say("A title")]])
    made.models.add(model.info, lambda: model)
    made.default_model = model.info.id
    yield made
    ids = [row.id for row in await made.db.workspaces()]
    assert await made.close() == []
    for workspace_id in ids:
        await asyncio.to_thread(remove_leftovers, workspace_id)


async def talk(service: Slipway, workspace_id: str) -> SessionConversation:
    key = await service.new_session(workspace_id)
    conversation = await service.conversation(key)
    assert isinstance(conversation, SessionConversation)
    await conversation.set_mode("bypass")
    return conversation


async def until(there: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not there():
            await asyncio.sleep(0.02)


async def broken_off(
    service: Slipway, conversation: SessionConversation, workspace_id: str, harm: Callable[[], None]
) -> list[Event]:
    """A turn whose command has begun when ``harm`` is done; its events."""
    events: list[Event] = []

    async def turn() -> None:
        async for event in conversation.send("Begin"):
            events.append(event)

    going = asyncio.ensure_future(turn())
    await until(lambda: of(events, ToolStarted))
    workspace = await service.machines.of(workspace_id)
    assert workspace is not None

    async def begun() -> bool:
        try:
            return bool((await workspace.remote.stat_many(["begun.txt"]))[0])
        except WorkspaceError:
            return False

    async with asyncio.timeout(60):
        while not await begun():
            await asyncio.sleep(0.02)
    await asyncio.to_thread(harm)
    async with asyncio.timeout(100):
        await going
    return events


def result(events: list[Event]) -> str:
    (finished,) = of(events, ToolFinished)
    assert finished.state in ("error", "interrupted")
    return json.dumps(finished.result.model_dump()["output"])


async def test_docker_engine_that_stops_in_the_middle_of_a_turn_costs_the_call_alone(
    service: Slipway, wire: Wire
) -> None:
    info = await service.machines.create("box", DockerSpec(base_image=base_image(), network=False))
    conversation = await talk(service, info.id)
    loop = asyncio.get_running_loop()
    events = await broken_off(
        service, conversation, info.id, lambda: loop.call_soon_threadsafe(wire.leave)
    )
    assert "cannot be reached" in result(events)
    assert of(events, RunFinished), kinds(events)
    shown = await service.refresh_workspace(info.id)
    assert (shown.state, shown.params["code"]) == ("error", "docker.not_running"), "said where"
    await wire.join()  # the engine is back: the next turn is the way on
    await service.places.engines.forget()
    events = await collect(conversation.send("Go on"))
    assert '"begun' in json.dumps(of(events, ToolFinished)[0].result.model_dump()["output"])
    assert (await service.refresh_workspace(info.id)).state == "ready"
    history = (await conversation.history(limit=100)).entries
    assert len(history) >= 4, "both turns are in the session"


async def test_docker_container_killed_in_the_middle_of_a_turn_costs_the_call_alone(
    service: Slipway,
) -> None:
    info = await service.machines.create("box", DockerSpec(base_image=base_image(), network=False))
    conversation = await talk(service, info.id)

    def kill() -> None:
        workspace = service.manager.cached(info.id)
        name = getattr(workspace, "machine").name  # noqa: B009
        subprocess.run(["docker", "kill", name], capture_output=True, check=True, timeout=60)

    events = await broken_off(service, conversation, info.id, kill)
    assert "cannot be reached" in result(events)
    assert of(events, RunFinished), kinds(events)
    events = await collect(conversation.send("Go on"))  # brings it up again
    assert '"begun' in json.dumps(of(events, ToolFinished)[0].result.model_dump()["output"])


async def test_docker_mounted_folder_that_is_deleted_while_it_runs_is_told(
    service: Slipway, tmp_path: Path
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    spec = DockerSpec(base_image=base_image(), network=False, mount=str(folder))
    info = await service.machines.create("box", spec)
    await service.machines.do(info.id, "start")
    workspace = await service.machines.of(info.id)
    assert workspace is not None
    await workspace.get_backend().write("a.txt", b"kept")
    await asyncio.to_thread(shutil.rmtree, folder)
    # The container still has the deleted directory in its hands: nothing could be written that
    # anybody would find again.
    with pytest.raises(WorkspaceError) as raised:
        await workspace.get_backend().write("b.txt", b"lost")
    assert raised.value.code == "file.missing"
    await service.machines.do(info.id, "stop")
    with pytest.raises(WorkspaceError) as raised:
        await service.machines.do(info.id, "start")
    assert (raised.value.code, raised.value.params["path"]) == ("docker.mount", str(folder))
    folder.mkdir()
    assert (await service.machines.do(info.id, "start")).state == "ready", "put back: one step"


async def test_docker_port_that_is_taken_is_told() -> None:
    engine = engine_or_skip()
    client = await engine.client()
    taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = str(taken.sockets[0].getsockname()[1])
    name = f"test-{secrets.token_hex(6)}"
    config = {
        "Image": base_image(),
        "Labels": {"slipway.workspace": name},
        "Cmd": ["sleep", "60"],
        "ExposedPorts": {"5600/tcp": {}},
        "HostConfig": {"PortBindings": {"5600/tcp": [{"HostIp": "127.0.0.1", "HostPort": port}]}},
    }
    try:
        made = await client.containers.create(config, name=f"slipway-{name}")
        with pytest.raises(Exception) as raised:
            await made.start()
        error = told(raised.value, engine)
        assert (error.code, error.retryable) == ("docker.port", True)
    finally:
        taken.close()
        await engine.close()
        await asyncio.to_thread(remove_leftovers, name)
