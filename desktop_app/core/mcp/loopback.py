"""Where the browser comes back to after a person signed in: one address of this computer, open only
meanwhile (RFC 8252, 7.3). Runs on the runner's loop."""

from __future__ import annotations

import asyncio
import html
from contextlib import suppress
from urllib.parse import parse_qsl, urlsplit

REQUEST_BYTES = 16_384  # of what a browser may send to the loopback address


class SignInNeeded(Exception):
    """The kept tokens are refused, or there are none; only the person can go on."""


class Loopback:
    """``http://127.0.0.1:<port>/callback`` for one answer of the browser."""

    def __init__(self, said: str) -> None:
        self._said = said
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        self.url = ""

    async def open(self, port: int = 0) -> None:
        """Listen; on ``port`` when it is free, for a registration that names it."""
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
        except OSError:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        bound = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{bound}/callback"

    @property
    def answer(self) -> asyncio.Future[dict[str, str]]:
        """The parameters that the browser brought."""
        return self._answer

    def give_up(self) -> None:
        if not self._answer.done():
            self._answer.set_exception(SignInNeeded())

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        self._answer.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(
            OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError
        ):
            async with asyncio.timeout(10):
                head = await reader.readuntil(b"\r\n\r\n")
            words = head[:REQUEST_BYTES].split(b"\r\n", 1)[0].decode("latin-1").split(" ")
            target = urlsplit(words[1]) if len(words) == 3 else urlsplit("")
            found = words[0] == "GET" and target.path == "/callback"
            body = f"<!doctype html><meta charset=utf-8><p>{html.escape(self._said)}</p>"
            data = body.encode() if found else b""
            writer.write(
                f"HTTP/1.1 {'200 OK' if found else '404 Not Found'}\r\n"
                f"Content-Type: text/html; charset=utf-8\r\nContent-Length: {len(data)}\r\n"
                "Cache-Control: no-store\r\nConnection: close\r\n\r\n".encode()
                + data
            )
            await writer.drain()
            if found and not self._answer.done():
                self._answer.set_result(dict(parse_qsl(target.query)))
        writer.close()
