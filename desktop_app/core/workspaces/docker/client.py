"""The client library, with answers that are closed however they are left.

Slow to import: ``engine.py`` loads it in a thread at the first use.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiodocker
import aiohttp


class Client(aiodocker.Docker):
    """``aiodocker.Docker`` (0.27) leaves an answer that is not read to its end (a cancelled build,
    a log or figures that nobody follows any more) to the garbage collector. Until then its
    connection stays open and the engine goes on."""

    @asynccontextmanager
    async def _query(self, *args: Any, **options: Any) -> AsyncGenerator[aiohttp.ClientResponse]:
        async with super()._query(*args, **options) as response:
            try:
                yield response
            finally:
                response.close()  # of one that was read its connection was given back already
