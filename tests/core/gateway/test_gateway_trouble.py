"""Servers behind a gateway that misbehave: written by hand, line by line (``raw.py``)."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop_app.core.errors import ToolFailure
from desktop_app.core.gateway.machine import GatewayMachine
from tests.core.gateway.test_gateway import Behind, spec
from tests.helpers.far_end import far_backend

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
