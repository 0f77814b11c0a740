"""Servers over HTTPS: the certificate that a person trusts for one host, and no other; the proxy
and the certificates of the network settings."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from desktop_app.core.mcp.connection import Connection, Limits
from desktop_app.core.mcp.spec import ServerSpec
from desktop_app.core.models.network import DIRECT, Network, Route
from desktop_app.core.models.pinned import mark_of
from desktop_app.core.models.provider import Connections
from desktop_app.core.models.trusted import Trusted
from tests.helpers.mcp import QUICK, Bench, call, free_port, serving, until
from tests.helpers.proxies import HOST, Proxy, certificate


@asynccontextmanager
async def tls_before(port: int, context: ssl.SSLContext) -> AsyncIterator[tuple[int, list[bytes]]]:
    """A port that speaks TLS before a plain one; what came through it, decrypted."""
    came: list[bytes] = []

    async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, keep: bool) -> None:
        with suppress(OSError, ssl.SSLError):
            while data := await source.read(65536):
                if keep:
                    came.append(data)
                sink.write(data)
                await sink.drain()
        sink.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, ssl.SSLError):
            inner, out = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(pump(reader, out, True), pump(inner, writer, False))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1], came
    finally:
        server.close()


def connect(
    mcp: Bench, url: str, network: Network, way: str = "streamable_http", **headers: str
) -> Connection:
    connections = Connections(network)
    seen = mcp.seen.setdefault(url, [])
    spec = ServerSpec("far", way, url=url, headers={"X-Key": "a-key-of-the-tests", **headers})
    made = Connection(spec, mcp.runner, "/", seen.append, QUICK, route=connections.route)
    mcp.connections.append(made)
    made.start()
    return made


async def settled(connection: Connection) -> Connection:
    await until(lambda: connection.status.state in ("ok", "failed"), 60)
    return connection


@pytest.mark.parametrize("way", ["streamable_http", "sse"])
async def test_one_certificate_is_trusted_for_one_host(
    mcp: Bench, tmp_path: Path, way: str
) -> None:
    path, tls = certificate(tmp_path, "localhost")
    port = free_port()
    kind, at = ("sse", "/sse") if way == "sse" else ("http", "/mcp")
    async with serving(kind, port), tls_before(port, tls) as (secure, came):
        url = f"https://127.0.0.1:{secure}{at}"
        refused = (await settled(connect(mcp, url, Network(DIRECT), way))).status
        assert (refused.state, refused.code) == ("failed", "mcp.certificate")
        states = [status.state for status in mcp.seen[url]]
        assert "waiting" not in states, "it is not tried again and again"
        assert came == [], "no header was sent"
        seen = refused.params["seen"]
        mark = mark_of(ssl.PEM_cert_to_DER_cert(path.read_text()))
        assert (seen["at"], seen["mark"]) == (f"127.0.0.1:{secure}", mark)
        good = Network(DIRECT, trusted=(Trusted(seen["at"], mark),))
        up = await settled(connect(mcp, url, good, way))
        assert up.status.state == "ok", up.status
        assert (await call(up, "add", a=2, b=3)).text == "5"
        async with tls_before(port, tls) as (other, came):
            url = f"https://127.0.0.1:{other}{at}"
            elsewhere = (await settled(connect(mcp, url, good, way))).status
            assert elsewhere.code == "mcp.certificate", "another host is another matter"
            assert came == []
        for one in mcp.connections:
            await one.stop()


async def test_another_certificate_of_that_host_is_told(mcp: Bench, tmp_path: Path) -> None:
    _, tls = certificate(tmp_path, "localhost")
    port = free_port()
    async with tls_before(port, tls) as (secure, came):
        former = Trusted(f"127.0.0.1:{secure}", ":".join(["AB"] * 32))
        url = f"https://127.0.0.1:{secure}/mcp"
        changed = (await settled(connect(mcp, url, Network(DIRECT, trusted=(former,))))).status
        assert (changed.state, changed.code) == ("failed", "mcp.certificate_changed")
        assert changed.params["seen"]["mark"] != former.mark
        assert came == [], "nothing was sent"


async def test_a_companys_own_certificates_count_here_too(mcp: Bench, tmp_path: Path) -> None:
    path, tls = certificate(tmp_path, "localhost")
    port = free_port()
    async with serving("http", port), tls_before(port, tls) as (secure, _):
        network = Network(DIRECT, ca_file=str(path))
        up = await settled(connect(mcp, f"https://127.0.0.1:{secure}/mcp", network))
        assert up.status.state == "ok", up.status
        await up.stop()


async def test_what_the_system_trusts_is_trusted_here_too(
    mcp: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, tls = certificate(tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    port = free_port()
    async with serving("http", port), tls_before(port, tls) as (secure, _):
        up = await settled(connect(mcp, f"https://127.0.0.1:{secure}/mcp", Network(DIRECT)))
        assert up.status.state == "ok", up.status
        await up.stop()


async def test_a_certificate_that_is_over_is_told_once_and_not_tried_again(
    mcp: Bench, tmp_path: Path
) -> None:
    path, tls = certificate(tmp_path, "localhost", days=-2)
    port = free_port()
    async with serving("http", port), tls_before(port, tls) as (secure, came):
        network = Network(DIRECT, ca_file=str(path))
        url = f"https://127.0.0.1:{secure}/mcp"
        status = (await settled(connect(mcp, url, network))).status
        assert (status.state, status.code) == ("failed", "mcp.certificate")
        assert "expired" in status.params["detail"]
        assert "waiting" not in [s.state for s in mcp.seen[url]]
        assert came == []


async def test_the_proxy_of_the_settings_is_used_and_named_when_it_refuses(mcp: Bench) -> None:
    port = free_port()
    async with serving("http", port):
        with Proxy(port) as proxy:
            network = Network(f"http://127.0.0.1:{proxy.port}")
            far = f"http://{HOST}/mcp"  # the server takes itself alone for its host
            up = await settled(connect(mcp, far, network, Host=f"127.0.0.1:{port}"))
            assert up.status.state == "ok", up.status
            assert set(proxy.asked) == {HOST}
            await up.stop()
    with Proxy(port, user="me:secret") as proxy:
        network = Network(f"http://127.0.0.1:{proxy.port}")
        refused = (await settled(connect(mcp, "https://far.example/mcp", network))).status
        assert refused.code == "mcp.proxy"
        assert refused.params["proxy"] == f"127.0.0.1:{proxy.port}"


async def test_a_way_that_cannot_be_told_is_a_failure_like_any_other(mcp: Bench) -> None:
    """A variable of the environment may hold what is no address."""
    told: list[str] = []

    async def route(address: str) -> Route:
        told.append(address)
        if len(told) < 3:
            raise ValueError("Invalid IPv6 URL")
        return Route()

    port = free_port()
    spec = ServerSpec("far", "streamable_http", url=f"http://127.0.0.1:{port}/mcp")
    limits = Limits(start=20.0, pauses=(0.01,), wait=20.0)
    made = Connection(spec, mcp.runner, "/", lambda _: None, limits, route=route)
    mcp.connections.append(made)
    made.start()
    failed = (await settled(made)).status
    assert (failed.code, failed.params["detail"]) == ("mcp.failed", "Invalid IPv6 URL")
    async with serving("http", port):
        assert (await call(made, "add", a=2, b=3)).text == "5"  # tried again, as ever
        await made.stop()
