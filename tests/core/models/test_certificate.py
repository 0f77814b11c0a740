"""What is seen of a certificate, where somebody in between answers oddly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from desktop_app.core.models.certificate import seen_at


@asynccontextmanager
async def answering(said: bytes) -> AsyncIterator[tuple[str, asyncio.Future[bytes]]]:
    """A proxy that answers with ``said``: its address, and what it was asked, told when the other
    side has gone."""
    gone: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        try:
            writer.write(said)
            await writer.drain()
            while await reader.read(65536):
                pass
        except ConnectionError:
            pass
        gone.set_result(asked)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://me:word@127.0.0.1:{server.sockets[0].getsockname()[1]}", gone


@pytest.mark.parametrize("said", [b"x" * 200_000, b"HTTP/1.1 407 No\r\n\r\n", b"\r\n\r\nwhat?"])
async def test_a_proxy_that_lets_nobody_through_shows_nothing_and_is_left(said: bytes) -> None:
    async with answering(said) as (proxy, gone):
        assert await seen_at("https://[2001:db8::1]/v1", proxy) is None
        asked = await asyncio.wait_for(gone, 20)
    assert asked.startswith(b"CONNECT [2001:db8::1]:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic bWU6d29yZA==" in asked
