"""Servers behind a gateway that misbehave (written by hand, line by line: ``raw.py``), and a
machine that cannot be reached."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_app.core.errors import ToolFailure, WorkspaceError
from desktop_app.core.gateway.machine import GatewayMachine
from desktop_app.core.workspaces.remote.backend import RemoteBackend
from desktop_app.core.workspaces.remote.channel import Channel
from tests.core.gateway.test_gateway import QUICK, Behind, spec
from tests.helpers.far_end import PipeChannel, far_backend
from tests.helpers.mcp import until

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the gateway runs on POSIX")


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[GatewayMachine]:
    backend = far_backend(tmp_path)
    made = GatewayMachine(backend, python=sys.executable)
    yield made
    await made.close()
    await backend.close()


async def test_gateway_server_that_prints_garbage_is_used_all_the_same(
    machine: GatewayMachine,
) -> None:
    one = Behind(machine, spec("raw", "raw.py", "chatty"))
    await one.ok()
    assert one.made.status.tools
    await one.made.stop()


async def test_gateway_server_that_floods_its_standard_output_is_given_up(
    machine: GatewayMachine,
) -> None:
    other = Behind(machine, spec())
    one = Behind(machine, spec("raw", "raw.py", "loud"))
    await other.ok()
    await until(lambda: any("16 MB" in str(seen.params) for seen in one.seen), 60)
    assert (await other.call("add", a=1, b=1)).text == "2", "others go on"
    await one.made.stop()
    await other.made.stop()


async def test_gateway_server_that_dies_in_a_call_costs_the_call_and_comes_back(
    machine: GatewayMachine, tmp_path: Path
) -> None:
    notes = tmp_path / "notes.txt"
    one = Behind(machine, spec("raw", "raw.py", "plain", str(notes)))
    await one.ok()
    with pytest.raises(ToolFailure) as raised:
        await one.call("die")
    assert raised.value.code.startswith("mcp.")
    await one.ok()
    assert (await one.call("odd")).text.startswith("first")
    starts = [line for line in notes.read_text().splitlines() if line.startswith("start")]
    assert len(starts) >= 2, "started again"
    await one.made.stop()


class Away:
    """A machine on this computer that can be away, and how often it was tried meanwhile."""

    def __init__(self, cwd: Path) -> None:
        self.away = True
        self.tried = 0
        self.backend = RemoteBackend("far", str(cwd), self._connect)

    async def _connect(self) -> Channel:
        if self.away:
            self.tried += 1
            raise WorkspaceError("docker.not_running", retryable=True, engine="here")
        return await asyncio.to_thread(PipeChannel)


@pytest.fixture
async def away(tmp_path: Path) -> AsyncIterator[Away]:
    made = Away(tmp_path)
    yield made
    await made.backend.close()


async def test_gateway_that_gave_up_is_tried_again_for_a_call_which_hears_at_once_when_in_vain(
    away: Away,
) -> None:
    machine = GatewayMachine(away.backend, python=sys.executable)
    one = Behind(machine, spec(), replace(QUICK, wait=3600.0))
    await until(lambda: one.made.status.state == "failed")
    for _ in range(2):
        before = away.tried
        with pytest.raises(ToolFailure) as raised:
            async with asyncio.timeout(60):
                await one.call("add", a=1, b=1)
        assert raised.value.code == "mcp.not_running"
        assert "docker.not_running" in raised.value.message
        assert away.tried > before
    call = asyncio.ensure_future(one.call("add", a=1, b=1))
    before = away.tried
    await until(lambda: away.tried > before)
    away.away = False
    assert (await call).text == "2", "the engine came back while the call waited"
    await one.made.stop()
    await machine.close()


async def test_gateway_whose_start_was_given_up_in_the_middle_is_started_anew(
    tmp_path: Path,
) -> None:
    backend = far_backend(tmp_path)
    machine = GatewayMachine(backend, python=sys.executable)
    starting = asyncio.ensure_future(machine.ensure())
    await until(lambda: machine.status.state == "starting")
    starting.cancel()
    await asyncio.wait([starting])
    assert await machine.ensure() == 1
    await machine.client().health()
    await machine.close()
    await backend.close()
