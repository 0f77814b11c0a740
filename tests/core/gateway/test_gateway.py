"""The gateway inside a machine (here a far end on this computer), real MCP servers behind it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from desktop_app.core.errors import ToolFailure, WorkspaceError
from desktop_app.core.gateway.client import GatewayClient, GatewayError, camel
from desktop_app.core.gateway.connection import GatewayConnection, declaration
from desktop_app.core.gateway.machine import GatewayMachine
from desktop_app.core.mcp.connection import Limits, Status
from desktop_app.core.mcp.spec import ServerSpec
from desktop_app.core.tools.base import ToolOutcome
from desktop_app.core.workspaces.remote.backend import RemoteBackend
from tests.helpers.far_end import far_backend
from tests.helpers.mcp import alive, command, until

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the gateway runs on POSIX")
QUICK = Limits(start=20.0, call=20.0, pauses=(0.05, 0.1, 0.2), wait=20.0)


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[RemoteBackend]:
    made = far_backend(tmp_path)
    yield made
    await made.close()


@pytest.fixture
async def machine(backend: RemoteBackend) -> AsyncIterator[GatewayMachine]:
    made = GatewayMachine(backend, python=sys.executable)
    yield made
    await made.close()


@pytest.fixture
async def client(machine: GatewayMachine) -> GatewayClient:
    await machine.ensure()
    return machine.client("a", "s")


def spec(name: str = "plain", file: str = "plain.py", *args: str, **more: Any) -> ServerSpec:
    return ServerSpec(name, "stdio", command(file, *args), **more)


def declared(name: str = "plain") -> dict[str, Any]:
    return declaration(spec(name, env={"GIVEN": "given"}))


def text_of(chunk: dict[str, Any]) -> str:
    return "".join(block.get("text", "") for block in chunk["content"])


# -- the gateway itself --------------------------------------------------------------------------


async def test_gateway_adds_lists_calls_and_removes(client: GatewayClient, tmp_path: Path) -> None:
    assert len(await client.health()) == 16
    await client.add(declared())
    with pytest.raises(GatewayError) as raised:
        await client.add(declared())
    assert raised.value.status == 409
    assert [one["name"] for one in await client.servers()] == ["plain"]
    tools = {tool["name"]: tool for tool in await client.tools("plain")}
    assert tools["add"]["inputSchema"]["required"] == ["a", "b"]  # the wire's own spelling
    assert tools["add"]["annotations"] == {"readOnlyHint": True}
    called = await client.call("plain", "add", {"a": 2, "b": 3}, seconds=20)
    assert text_of(called.chunk) == "5"
    assert (called.chunk["state"], called.chunk["is_last"]) == ("running", True)
    failed = await client.call("plain", "fail", {"why": "no luck"}, seconds=20)
    assert failed.chunk["state"] == "error"
    assert "fail" in text_of(failed.chunk)
    where = await client.call("plain", "where", {}, seconds=20)
    assert text_of(where.chunk).startswith(f"{tmp_path} given ")
    picture = await client.call("plain", "picture", {}, seconds=20)
    assert picture.chunk["content"][0]["source"]["media_type"] == "image/png"
    await client.remove("plain")
    assert await client.servers() == []


async def test_gateway_needs_its_token_and_keeps_sessions_apart(
    machine: GatewayMachine, client: GatewayClient
) -> None:
    await client.add(declared())
    for token in ("", "wrong"):
        with pytest.raises(GatewayError) as raised:
            await GatewayClient(machine, token, "a", "s").servers()
        assert raised.value.status == 401
    assert await machine.client("a", "other").servers() == []
    with pytest.raises(GatewayError) as raised:
        await machine.client("a", "other").tools("plain")
    assert raised.value.status == 404
    lines = [" ".join(p.cmdline()) for p in psutil.Process().children(recursive=True)]
    assert not any(machine._token in line for line in lines)


async def test_gateway_listens_on_the_machines_loopback_alone(
    machine: GatewayMachine, client: GatewayClient
) -> None:
    found = [
        connection.laddr.ip
        for process in psutil.Process().children(recursive=True)
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert found == ["127.0.0.1"]


async def test_gateway_that_cannot_start_a_server_says_why(client: GatewayClient) -> None:
    broken = {"name": "none", "mcp_config": {"type": "stdio_mcp", "command": "no-such-program"}}
    with pytest.raises(GatewayError) as raised:
        await client.add(broken)
    assert raised.value.status == 500
    assert "connect failed" in raised.value.detail
    assert "no-such-program" in raised.value.detail
    for bad in ({}, {"name": ""}, {"name": "x"}, {"name": "x", "mcp_config": {}}):
        with pytest.raises(GatewayError) as raised:
            await client.add(bad)
        assert raised.value.status == 400
    with pytest.raises(GatewayError) as raised:
        await client.call("gone", "add", {}, seconds=5)
    assert raised.value.status == 404


async def test_gateway_passes_progress_on_and_honours_the_calls_own_timeout(
    client: GatewayClient,
) -> None:
    await client.add(declared())
    told: list[tuple[float, float | None, str | None]] = []
    await client.call(
        "plain", "slow", {"steps": 3}, seconds=20, progress=lambda *one: told.append(one)
    )
    assert told == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
    with pytest.raises(GatewayError) as raised:
        await client.call("plain", "hang", {}, seconds=0.3)
    assert raised.value.status == 504
    assert text_of((await client.call("plain", "add", {"a": 1, "b": 1}, seconds=9)).chunk) == "2"


async def test_gateway_cancels_a_call_whose_caller_went_away(client: GatewayClient) -> None:
    await client.add(declaration(spec("rounds", "plain.py")))
    calling = asyncio.ensure_future(client.call("rounds", "slow", {"steps": 1000}, seconds=60))
    await asyncio.sleep(0.3)
    calling.cancel()
    await asyncio.wait([calling])
    status = await client.status("rounds")
    assert status["state"] == "ok"
    assert text_of((await client.call("rounds", "add", {"a": 1, "b": 2}, seconds=9)).chunk) == "3"


async def test_gateway_calls_run_side_by_side(client: GatewayClient) -> None:
    await client.add(declared())
    results = await asyncio.gather(
        *(client.call("plain", "add", {"a": n, "b": 1}, seconds=30) for n in range(100))
    )
    assert [text_of(one.chunk) for one in results] == [str(n + 1) for n in range(100)]


async def test_gateway_takes_five_megabytes(client: GatewayClient) -> None:
    await client.add(declared())
    called = await client.call("plain", "large", {"characters": 5_000_000}, seconds=60)
    assert len(text_of(called.chunk)) == 5_000_000


async def test_gateway_is_not_taken_over_by_files_of_the_workspace(tmp_path: Path) -> None:
    for name in ("json.py", "mcp.py", "uvicorn.py", "sift.py", "server.py"):
        (tmp_path / name).write_text("raise SystemExit('taken over')")
    backend = far_backend(tmp_path)
    machine = GatewayMachine(backend, python=sys.executable)
    await machine.ensure()
    await machine.client().add(declared())
    await machine.close()
    await backend.close()


async def test_gateway_that_cannot_import_says_what_pip_said(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\n[ \"$2\" = pip ] && { echo 'no network here' >&2; }\nexit 1\n")
    python.chmod(0o755)
    backend = far_backend(tmp_path)
    states: list[str] = []
    machine = GatewayMachine(
        backend, python=str(python), on_change=lambda status: states.append(status.state)
    )
    with pytest.raises(WorkspaceError) as raised:
        await machine.ensure()
    assert (raised.value.code, raised.value.params["detail"]) == (
        "gateway.install",
        "no network here",
    )
    assert states == ["installing", "failed"]
    await machine.close()
    await backend.close()


def test_gateway_listings_are_read_in_either_spelling() -> None:
    camelled = {"name": "x", "inputSchema": {}, "annotations": {"readOnlyHint": True}}
    snaked = {"name": "x", "input_schema": {}, "annotations": {"read_only_hint": True}}
    assert camel(snaked) == camel(camelled) == camelled


# -- a server behind it, as the agent's manager has it ---------------------------------------------


class Behind:
    """A connection and every status it told of."""

    def __init__(self, machine: GatewayMachine, one: ServerSpec, limits: Limits = QUICK) -> None:
        self.seen: list[Status] = []
        self.made = GatewayConnection(one, machine, "a", "s", self.seen.append, limits)
        self.made.start()

    async def ok(self) -> None:
        await until(lambda: self.made.status.state == "ok")

    async def call(self, tool: str, told: Callable[[str], None] = str, **args: Any) -> ToolOutcome:
        return await self.made.call(tool, args, images=True, progress=told)


@pytest.fixture
async def behind(machine: GatewayMachine) -> AsyncIterator[Behind]:
    one = Behind(machine, spec(env={"GIVEN": "given"}))
    yield one
    await one.made.stop()


async def test_gateway_server_looks_like_any_other(behind: Behind) -> None:
    await behind.ok()
    tools = {tool.name: tool for tool in behind.made.status.tools}
    assert tools["add"].read_only
    assert not tools["write_note"].read_only
    assert (await behind.call("add", a=2, b=2)).text == "4"
    told: list[str] = []
    assert (await behind.call("slow", told.append, steps=2)).text == "done"
    assert told == ["1/2 step 1", "2/2 step 2"]
    picture = await behind.call("picture")
    assert len(picture.data) == 1
    failed = await behind.call("fail", why="no luck")
    assert failed.state == "error"
    with pytest.raises(ToolFailure) as raised:
        await behind.call("no_such_tool")
    assert raised.value.code == "mcp.refused"


async def test_gateway_server_that_dies_is_started_again(behind: Behind) -> None:
    await behind.ok()
    pid = int((await behind.call("where")).text.split()[-1])
    psutil.Process(pid).kill()
    await until(lambda: any(s.state == "waiting" for s in behind.seen))
    assert int((await behind.call("where")).text.split()[-1]) != pid


async def test_gateway_that_dies_is_started_again_and_told_of_its_servers(
    behind: Behind, machine: GatewayMachine
) -> None:
    await behind.ok()
    server = int((await behind.call("where")).text.split()[-1])
    gateway = psutil.Process(server).parent()
    assert gateway is not None
    gateway.kill()
    await until(lambda: any(s.state == "waiting" for s in behind.seen))
    assert (await behind.call("add", a=1, b=1)).text == "2"
    assert machine.generation == 2
    await until(lambda: not alive(server))


async def test_gateway_whose_registry_is_empty_is_told_anew(
    behind: Behind, machine: GatewayMachine
) -> None:
    await behind.ok()
    await machine.client("a", "s").remove("plain")  # as after a restart that nobody saw
    assert (await behind.call("add", a=3, b=4)).text == "7"


async def test_gateway_call_that_takes_too_long_is_told(machine: GatewayMachine) -> None:
    one = Behind(machine, spec(call_seconds=0.3))
    await one.ok()
    with pytest.raises(ToolFailure) as raised:
        await one.call("hang")
    assert raised.value.code == "mcp.timeout"
    await one.made.stop()


async def test_gateway_server_that_floods_its_standard_error_is_kept_small(
    machine: GatewayMachine,
) -> None:
    script = (
        "import sys,threading\n"
        "def flood():\n"
        "    for _ in range(200): sys.stderr.write('x' * 100_000)\n"
        "threading.Thread(target=flood, daemon=True).start()\n"
        f"exec(open({command('plain.py')[1]!r}).read())\n"
    )
    one = Behind(machine, ServerSpec("loud", "stdio", (sys.executable, "-c", script)))
    await one.ok()
    assert (await one.call("add", a=1, b=2)).text == "3"
    status = await machine.client("a", "s").status("loud")
    assert len(json.dumps(status)) < 100_000
    await one.made.stop()


async def test_gateway_server_ends_when_its_way_makes_an_error_of_the_cancellation(
    behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As E2B's protocol library does: it raises an error of its own in place of CancelledError."""
    watch = GatewayClient.watch

    async def swallowing(client: GatewayClient, name: str) -> AsyncIterator[dict[str, Any]]:
        try:
            async for said in watch(client, name):
                yield said
        except asyncio.CancelledError as error:
            raise WorkspaceError("backend.unreachable", path="") from error

    monkeypatch.setattr(GatewayClient, "watch", swallowing)
    await behind.ok()
    async with asyncio.timeout(30):
        await behind.made.stop()
    assert behind.made.status.state == "stopped"
    assert not any(status.state == "waiting" for status in behind.seen)


async def test_gateway_leaves_no_process(backend: RemoteBackend) -> None:
    machine = GatewayMachine(backend, python=sys.executable)
    one = Behind(machine, spec())
    await one.ok()
    server = int((await one.call("where")).text.split()[-1])
    await machine.close()
    await backend.close()
    await until(lambda: not alive(server))
