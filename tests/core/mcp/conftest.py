"""One runner a test; whatever a server left behind is a failure."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from desktop_app.core.mcp.runner import Runner
from tests.helpers.mcp import Bench


@pytest_asyncio.fixture
async def mcp() -> AsyncIterator[Bench]:
    bench = Bench(Runner())
    yield bench
    await bench.close()
