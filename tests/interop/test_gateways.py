"""Both ends of the gateway's protocol with AgentScope 2.0.11: its client on our gateway, our client
on its gateway, real MCP servers behind each."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.gateway.bundle import program
from desktop_app.core.gateway.client import GatewayClient, GatewayError
from desktop_app.core.workspaces.remote.backend import RemoteBackend
from tests.helpers.far_end import far_backend
from tests.helpers.mcp import entry
from tests.interop.conftest import PEER

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(os.name == "nt", reason="the gateway runs on POSIX"),
]
HERE = Path(__file__).parent
TOKEN = "a-token"


def ended(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(20)
    if process.stdout is not None:
        process.stdout.close()


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[int]:
    """Our gateway, as the one file that is sent into a machine; its port."""
    file = tmp_path / "gateway.py"
    file.write_text(program(), encoding="ascii")
    line = [sys.executable, str(file), "--port", "0", "--auth-token", TOKEN]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, cwd=tmp_path)
    assert process.stdout is not None
    word, number = process.stdout.readline().split()
    assert word == b"port"
    yield int(number)
    ended(process)


def test_their_client_on_our_gateway(ours: int) -> None:
    spec = json.dumps(entry("plain", "plain.py"))
    done = subprocess.run(
        [PEER, HERE / "peer_gateway.py", str(ours), TOKEN, spec],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["health"] is True
    assert "invalid gateway token" in seen["refused"]
    assert "already exists for agent='a b' session='s/1'" in seen["twice"]
    assert "connect failed" in seen["broken"]
    assert (seen["listed"], seen["elsewhere"]) == (["plain"], [])
    assert ["add", True] in seen["tools"]
    add, failed, picture = seen["add"], seen["fail"], seen["picture"]
    assert (add["name"], add["read_only"], add["state"]) == ("mcp__plain__add", True, "running")
    assert add["content"][0]["text"] == "5"
    assert failed["state"] == "error"
    assert picture["content"][0]["source"]["media_type"] == "image/png"
    assert seen["large"] == 5_000_000
    assert seen["nope"][0] == 404
    assert "Tool 'nope' not found in MCP server 'plain'" in seen["nope"][1]
    assert "Streamable HTTP" in seen["headers"]
    assert seen["left"] == []
    assert "not found" in seen["gone"]


class Loopback:
    """``Way``: through a machine's far end to a port of its own loopback."""

    def __init__(self, backend: RemoteBackend, port: int) -> None:
        self.backend, self.port = backend, port

    async def http(
        self, method: str, path: str, **options: Any
    ) -> AsyncGenerator[tuple[int, dict[str, str]] | bytes]:
        async for part in self.backend.http(self.port, method, path, **options):
            yield part


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
async def theirs(tmp_path: Path) -> AsyncIterator[GatewayClient]:
    """A client of ours on their gateway."""
    port = free_port()
    module = "agentscope.workspace._mcp_gateway._mcp_gateway_app"
    log = (tmp_path / "gateway.log").open("wb")
    line = [PEER, "-m", module, "--port", str(port), "--auth-token", TOKEN]
    process = subprocess.Popen(line, stdout=log, stderr=log, cwd=tmp_path)
    backend = far_backend(tmp_path)
    client = GatewayClient(Loopback(backend, port), TOKEN, "a", "s")
    async with asyncio.timeout(90):
        while True:
            assert process.poll() is None, (tmp_path / "gateway.log").read_text()
            try:
                await client.health()
                break
            except WorkspaceError:  # it does not listen yet
                await asyncio.sleep(0.1)
    yield client
    await backend.close()
    ended(process)
    log.close()


async def test_our_client_on_their_gateway(theirs: GatewayClient, tmp_path: Path) -> None:
    declared = entry("plain", "plain.py")
    await theirs.add(declared)
    with pytest.raises(GatewayError) as raised:
        await theirs.add(declared)
    assert raised.value.status == 409
    assert [s["name"] for s in await theirs.servers()] == ["plain"]
    tools = {tool["name"]: tool for tool in await theirs.tools("plain")}
    assert tools["add"]["inputSchema"]["required"] == ["a", "b"]  # they write input_schema
    assert tools["add"]["annotations"]["readOnlyHint"] is True
    done = await theirs.call("plain", "add", {"a": 2, "b": 3}, seconds=30)
    assert (done.chunk["state"], done.chunk["content"][0]["text"]) == ("running", "5")
    failed = await theirs.call("plain", "fail", {"why": "because"}, seconds=30)
    assert failed.chunk["state"] == "error"
    with pytest.raises(GatewayError) as raised:
        await theirs.call("plain", "nope", {}, seconds=30)
    assert raised.value.status == 404
    with pytest.raises(GatewayError) as raised:
        await theirs.set_headers("plain", {"X": "y"})
    assert raised.value.status == 400
    with pytest.raises(GatewayError) as raised:
        await theirs.call("plain", "hang", {}, seconds=0.2 - 30)  # less than the margin we add
    assert raised.value.status == 504
    await theirs.remove("plain")
    assert await theirs.servers() == []
    with pytest.raises(GatewayError) as raised:
        await theirs.tools("plain")
    assert raised.value.status == 404


async def test_their_gateway_refuses_a_wrong_token(theirs: GatewayClient) -> None:
    stranger = GatewayClient(theirs._way, "wrong")
    with pytest.raises(GatewayError) as raised:
        await stranger.servers()
    assert (raised.value.status, raised.value.detail) == (401, "invalid gateway token")
