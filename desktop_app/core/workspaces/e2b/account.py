"""The person's account at E2B: its key, where its control plane is, and the client library.

The library takes a while to load, which happens in a thread at the first use. Its two addresses are
for tests and for a control plane of one's own.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from typing import Any

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.tasks import ending

SECRET = "e2b"
REQUEST_SECONDS = 30.0
CLOCK_SECONDS = 60.0
_SERVER_FAULT = re.compile(r"5\d\d: ")  # so the library (2.63) begins what a status says


class Account:
    """``key`` gives the API key, empty for none; ``api_url`` and ``sandbox_url`` are empty for
    E2B's own."""

    def __init__(
        self, key: Callable[[], Awaitable[str]], *, api_url: str = "", sandbox_url: str = ""
    ) -> None:
        self._key = key
        self.api_url = api_url or os.environ.get("E2B_API_URL", "")
        self.ahead_us = 0  # E2B's clock beside ours, where they differ by more than CLOCK_SECONDS
        self.sandbox_url = sandbox_url or os.environ.get("E2B_SANDBOX_URL", "")

    @property
    def where(self) -> str:
        """What a list shows of where its sandboxes run."""
        return self.api_url or "E2B"

    async def options(self) -> dict[str, Any]:
        """For every call of the library. WorkspaceError ``e2b.no_key``."""
        await asyncio.to_thread(__import__, "e2b")
        key = await self._key() or os.environ.get("E2B_API_KEY", "")
        if not key:
            raise WorkspaceError("e2b.no_key")
        options: dict[str, Any] = {"api_key": key, "request_timeout": REQUEST_SECONDS}
        if self.api_url:
            options["api_url"] = self.api_url
        if self.sandbox_url:
            options["sandbox_url"] = self.sandbox_url
        return options


def told(error: BaseException) -> BaseException:
    """An error of the library in words of ours. Codes: ``e2b.key``, ``e2b.rate``, ``e2b.busy``,
    ``e2b.gone`` (no such sandbox), ``e2b.not_running``, ``e2b.unreachable``, ``e2b.refused``;
    ``disk.full``. The text of E2B's answers holds no key. Its protocol library makes an error of a
    cancellation (``connectrpc``, ``Code.CANCELED``), which is made one again."""
    if ending():
        return asyncio.CancelledError()
    return _told(error)


def _told(error: BaseException) -> WorkspaceError:
    if isinstance(error, WorkspaceError):
        return error
    names = {kind.__name__ for kind in type(error).__mro__}
    detail = str(error)[:500]
    if "AuthenticationException" in names:
        return WorkspaceError("e2b.key", detail=detail)
    if "RateLimitException" in names:
        return WorkspaceError("e2b.rate", retryable=True, detail=detail)
    if "ServiceBusyException" in names or _SERVER_FAULT.match(detail):
        return WorkspaceError("e2b.busy", retryable=True, detail=detail)
    if "SandboxNotFoundException" in names:
        return WorkspaceError("e2b.gone", detail=detail)
    if "SandboxNotRunningException" in names:
        return WorkspaceError("e2b.not_running", retryable=True, detail=detail)
    if "NotEnoughSpaceException" in names:
        return WorkspaceError("disk.full", retryable=True, path=detail)
    network = {"OSError", "TimeoutException", "TransportError", "ConnectError", "ReadError"}
    if names & network or isinstance(error, TimeoutError):
        return WorkspaceError("e2b.unreachable", retryable=True, detail=detail)
    return WorkspaceError("e2b.refused", detail=detail or type(error).__name__)
