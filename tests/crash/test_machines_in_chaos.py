"""An agent works in a container or sandbox whose gateway, engine, connection and lease fail at
random points: the conversation goes on, nothing is lost, nothing unsafe is done twice, everything
is told as what it is, and in the end nothing of ours is left."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from desktop_app.core.agent.conversation import SessionConversation
from desktop_app.core.gateway.machine import GatewayMachine
from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from desktop_app.core.workspaces.docker.discovery import Endpoint
from desktop_app.core.workspaces.docker.engines import Engines
from desktop_app.core.workspaces.docker.spec import DockerSpec
from desktop_app.core.workspaces.e2b.spec import E2BSpec
from desktop_app.core.workspaces.remote import line
from desktop_app.core.workspaces.remote.managed import ManagedWorkspace
from tests.helpers.chaos import SERVER, Act, Worker, harm, judge, talk
from tests.helpers.docker import base_image, engine_or_skip, remove_leftovers
from tests.helpers.e2b_cloud import Cloud, cloud_or_skip
from tests.helpers.wire import Wire, wired

SECONDS = float(os.environ.get("SLIPWAY_CHAOS_SECONDS", "20"))
CALM_SECONDS = 120.0  # for all to come up again on a busy machine
pytestmark = [pytest.mark.crash, pytest.mark.timeout(SECONDS + 2 * CALM_SECONDS)]
SEED = int(os.environ.get("SLIPWAY_CHAOS_SEED", "1"))


@pytest.fixture
def seed() -> int:
    print(f"again: SLIPWAY_CHAOS_SEED={SEED} SLIPWAY_CHAOS_SECONDS={SECONDS:g}")
    return SEED


@pytest.fixture
async def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Slipway]:
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    monkeypatch.setattr(line, "PING_SECONDS", 0.5)
    monkeypatch.setattr(line, "UNANSWERED", 8)
    before = {p.pid for p in psutil.Process().children(recursive=True)}
    failures: list[str] = []
    made = await Slipway.open(
        paths(tmp_path / "home"), on_error=lambda name, error: failures.append(f"{name}: {error!r}")
    )
    yield made
    assert await made.close() == [], "tasks that would not end"
    assert failures == []
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert [task for task in left if "Slipway" in repr(task) or "desktop_app" in repr(task)] == []
    ours = [p for p in psutil.Process().children(recursive=True) if p.pid not in before]
    assert [p.cmdline() for p in ours if "--models-process" in p.cmdline()] == []


async def opened(
    service: Slipway, workspace_id: str, worker: Worker, python: str
) -> tuple[SessionConversation, ManagedWorkspace]:
    """A conversation in a machine with an MCP server behind its gateway."""
    workspace = await service.machines.of(workspace_id)
    assert workspace is not None
    await workspace.start()
    backend = workspace.get_backend()
    await backend.write("notes.py", SERVER.encode())
    config = {"type": "stdio_mcp", "command": python, "args": ["notes.py"]}
    declared = {"name": "notes", "is_stateful": True, "mcp_config": config}
    document = {"version": 2, "mcps": {"": {"": [declared]}}}
    await backend.write(".slipway/.mcp", json.dumps(document).encode())
    model = ScriptedModel(
        [worker.turn], summaries=[[Say("Nothing new.")]], titles=[[]], forever=True
    )
    service.models.add(model.info, lambda: model)
    service.default_model = model.info.id
    conversation = await service.conversation(await service.new_session(workspace_id))
    assert isinstance(conversation, SessionConversation)
    await conversation.set_mode("bypass")
    assert conversation.mcp is not None
    await conversation.mcp.start()
    await conversation.mcp.settled(60)
    return conversation, workspace


async def played(
    conversation: SessionConversation,
    workspace: ManagedWorkspace,
    worker: Worker,
    rng: random.Random,
    acts: dict[str, Act],
) -> None:
    talking = asyncio.ensure_future(talk(conversation, worker, SECONDS + CALM_SECONDS))
    done = await harm(rng, acts, SECONDS)
    worker.calm = True
    began = time.monotonic()
    try:
        events = await talking
        await workspace.start()
        await judge(conversation, worker, workspace.get_backend(), events)
    finally:
        print("\n".join(done))
        print(f"{len(worker.acked)} of {len(worker.called)} calls done", dict(worker.errors))
        print(f"calm after {time.monotonic() - began:.1f} s")


async def test_docker_agent_works_through_chaos(service: Slipway, seed: int) -> None:
    engine = engine_or_skip()
    await engine.close()
    worker, rng = Worker(random.Random(seed)), random.Random(seed)
    async with wired(engine.endpoint.url) as wire:
        service.places.engines = Engines(look=lambda _chosen: [Endpoint(wire.url, "default")])
        info = await service.machines.create("in a box", DockerSpec(base_image=base_image()))
        try:
            conversation, workspace = await opened(service, info.id, worker, "python3")
            name = workspace.machine.name
            await played(conversation, workspace, worker, rng, docker_acts(name, wire, rng))
            await service.close_conversation(conversation.key)
            await service.manager.close_all()
            state = await docker("inspect", "-f", "{{.State.Running}}", name)
            assert state == "false", "the container is left running"
        finally:
            await asyncio.to_thread(remove_leftovers, info.id)


async def docker(*words: str) -> str:
    """Asked past the wire; a container that is down refuses some of it."""
    asked = subprocess.run, ["docker", *words]
    done = await asyncio.to_thread(*asked, capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


def docker_acts(name: str, wire: Wire, rng: random.Random) -> dict[str, Act]:
    async def act(*words: str) -> None:
        await docker(*words, name)

    async def inside(pattern: str) -> None:
        await docker("exec", name, "sh", "-c", f"pkill -9 -f -- '{pattern}'")

    async def pause_a_while() -> None:
        await act("pause")
        await asyncio.sleep(rng.uniform(0.2, 1.5))
        await act("unpause")

    async def cut() -> None:
        wire.cut()

    async def no_engine() -> None:
        wire.cut(rng.uniform(0.3, 1.5))

    return {
        "kill the gateway": lambda: inside("[i]nstance-nonce"),
        "kill the server": lambda: inside("[n]otes.py"),
        "kill the helper": lambda: inside("^python3 -I -c import"),
        "kill the container": lambda: act("kill"),
        "stop the container": lambda: act("stop", "-t", "0"),
        "pause the container": lambda: act("pause"),
        "pause it a while": pause_a_while,
        "cut the connections": cut,
        "no engine": no_engine,
    }


async def test_e2b_agent_works_through_chaos(service: Slipway, seed: int) -> None:
    worker, rng = Worker(random.Random(seed)), random.Random(seed)
    with cloud_or_skip() as cloud:
        account = service.places.e2b
        account.api_url = account.sandbox_url = cloud.url
        account._key = cloud.key
        info = await service.machines.create("in the cloud", E2BSpec())
        managed = await service.machines.of(info.id)
        assert managed is not None
        made = GatewayMachine(managed.remote, host=managed, python=sys.executable)
        service.machines._gateways[info.id] = made
        conversation, workspace = await opened(service, info.id, worker, sys.executable)
        await played(conversation, workspace, worker, rng, e2b_acts(cloud, rng))
        await service.close_conversation(conversation.key)
        await service.manager.close_all()
        (box,) = cloud.boxes.values()
        assert cloud.counts["create"] == 1, "a second sandbox was made"
        assert box.state == "paused", "the sandbox is left running"


def e2b_acts(cloud: Cloud, rng: random.Random) -> dict[str, Act]:
    def processes(word: str) -> list[psutil.Process]:
        found: list[psutil.Process] = []
        for box in cloud.boxes.values():
            for process in list(box.processes.values()):
                try:
                    tree = psutil.Process(process.real.pid).children(recursive=True)
                    found += [one for one in tree if word in " ".join(one.cmdline())]
                except psutil.NoSuchProcess:
                    continue
        return found

    async def kill(word: str) -> None:
        for process in processes(word):
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue

    async def expire() -> None:
        await asyncio.to_thread(cloud.expire)

    async def lists_fail() -> None:
        cloud.failing["list"] = [rng.choice((500, 502, 429)) for _ in range(rng.randint(1, 4))]

    async def connects_fail() -> None:
        cloud.failing["connect"] = [500] * rng.randint(1, 3)
        await expire()

    async def lost() -> None:
        cloud.failing["list"] = [500, 500]
        await expire()

    return {
        "kill the gateway": lambda: kill("instance-nonce"),
        "kill the server": lambda: kill("notes.py"),
        "kill the helper": lambda: kill("-I -c import"),
        "the lease is over": expire,
        "lists fail": lists_fail,
        "connects fail": connects_fail,
        "the lease is over and lists fail": lost,
    }
