"""One runner a test; whatever a server left behind is a failure."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from desktop_app.core.agent import servers
from desktop_app.core.mcp.runner import Runner
from tests.helpers.mcp import Bench


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first turn waits until its servers are up, however busy the machine is."""
    monkeypatch.setattr(servers, "NEW_SECONDS", 60.0)


@pytest_asyncio.fixture
async def mcp() -> AsyncIterator[Bench]:
    bench = Bench(Runner())
    yield bench
    await bench.close()
