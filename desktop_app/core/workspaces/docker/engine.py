"""A Docker engine and the client to it.

The client library takes a while to load, which happens in a thread at the first use.
"""

from __future__ import annotations

import asyncio
import errno
from importlib import import_module
from typing import Any

from desktop_app.core.errors import WorkspaceError

from .discovery import Endpoint

PING_SECONDS = 3.0
CONNECT_SECONDS = 5.0


class Engine:
    """The engine at ``endpoint``; one client for everything, made at the first use."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._client: Any = None
        self._making = asyncio.Lock()

    async def client(self) -> Any:
        """``client.Client``. WorkspaceError ``docker.endpoint`` when the address is none."""
        async with self._making:
            if self._client is None:
                await asyncio.to_thread(import_module, f"{__package__}.client")
                self._client = await self._make()
            return self._client

    async def _make(self) -> Any:
        import aiohttp

        from .client import Client

        where = self.endpoint
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
        context = await asyncio.to_thread(where.tls_context)
        try:
            return Client(url=where.url, ssl_context=context, timeout=timeout)
        except Exception as error:
            raise WorkspaceError("docker.endpoint", engine=where.url, detail=str(error)) from error

    async def ping(self) -> dict[str, Any]:
        """What the engine says it is, within ``PING_SECONDS``. WorkspaceError ``docker.denied``,
        ``docker.not_running``, ``docker.silent``, ``docker.failed``."""
        try:
            async with asyncio.timeout(PING_SECONDS):
                client = await self.client()
                found: dict[str, Any] = await client.version()
                return found
        except TimeoutError:
            raise WorkspaceError(
                "docker.silent", retryable=True, engine=self.endpoint.url, seconds=PING_SECONDS
            ) from None
        except WorkspaceError:
            raise
        except Exception as error:
            raise told(error, self) from error

    async def close(self) -> None:
        async with self._making:
            client, self._client = self._client, None
        if client is not None:
            await client.close()


def told(error: BaseException, engine: Engine) -> WorkspaceError:
    """An error of the client in words of ours. Codes: ``docker.denied`` (the socket is not for this
    user), ``docker.not_running``, ``docker.port``, ``docker.no_image``, ``docker.gone`` (no such
    container), ``docker.paused``, ``docker.failed``; ``disk.full``."""
    if isinstance(error, WorkspaceError):
        return error
    where = engine.endpoint.url
    status, text = getattr(error, "status", 0), str(getattr(error, "message", error))
    numbers = {getattr(one, "errno", None) for one in _chain(error)}
    if numbers & {errno.EACCES, errno.EPERM}:
        return WorkspaceError("docker.denied", engine=where)
    unreachable = ("ClientConnector", "ServerDisconnected", "ClientOS", "ConnectionReset")
    gone = numbers & {errno.ENOENT, errno.ECONNREFUSED, errno.ECONNRESET, errno.EPIPE}
    if gone or type(error).__name__.startswith(unreachable) or "Cannot connect" in text:
        return WorkspaceError("docker.not_running", retryable=True, engine=where)
    if "port is already allocated" in text or "address already in use" in text:
        return WorkspaceError("docker.port", retryable=True, detail=text[:500])
    if "no space left on device" in text:
        return WorkspaceError("disk.full", retryable=True, path=where)
    if status == 404 and "image" in text.lower():
        return WorkspaceError("docker.no_image", detail=text[:500])
    if status == 404:
        return WorkspaceError("docker.gone", detail=text[:500])
    if status == 409 and "paused" in text:
        return WorkspaceError("docker.paused", retryable=True)
    return WorkspaceError(
        "docker.failed", retryable=status >= 500, status=status, detail=text[:500]
    )


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = getattr(error, "os_error", None) or error.__cause__ or error.__context__
    return found
