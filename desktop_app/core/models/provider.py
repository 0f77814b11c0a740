"""A provider's model behind the ChatModel protocol.

The call runs on the worker's thread (``worker.py``): request, SDK, stream. Its parts cross to the
program's loop in batches. pydantic-ai and the SDKs are imported there at first use.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from desktop_app.core.errors import ModelError
from desktop_app.core.log import hide

from .base import Finish, ModelEvent, ModelInfo, ModelRequest
from .definitions import ModelDefinition
from .worker import Pipe, Worker

if TYPE_CHECKING:
    from .services import Services

logger = logging.getLogger(__name__)
KeyOf = Callable[[ModelDefinition], Awaitable[str]]


def mapped(error: Exception, one: ModelDefinition, *, begun: bool) -> ModelError:
    """``error`` as ours, and in the log. Only in the worker's thread."""
    from .wire_errors import to_model_error

    found = to_model_error(error, one.name, one.base, begun=begun)
    logger.info("a call of %s failed: %s", one.id, found, exc_info=error)
    return found


class Connections:
    """The worker and the services that live in its thread; one for the program."""

    def __init__(self, stall: float | None = None) -> None:
        self.worker = Worker()
        self.worker.at_end.append(self._close)
        self._stall = stall
        self._services: Services | None = None

    def services(self) -> Services:
        """Only in the worker's thread: the import takes seconds."""
        if self._services is None:
            from .services import Services

            self._services = Services() if self._stall is None else Services(self._stall)
        return self._services

    async def list_models(self, one: ModelDefinition, key: str) -> list[tuple[str, int | None]]:
        """The provider's own list: names, and windows where it says them. Raises ModelError."""

        async def work() -> list[tuple[str, int | None]] | ModelError:
            try:
                return await self.services().list_models(one, key)
            except Exception as error:  # noqa: BLE001 - whatever the SDKs raise becomes ours
                return mapped(error, one, begun=False)

        answer = await self.worker.call(work())
        if isinstance(answer, ModelError):
            raise answer
        return answer

    async def _close(self) -> None:
        services, self._services = self._services, None
        if services is not None:
            await services.close()

    async def close(self) -> None:
        """Cancel calls, let go of connections, end the thread."""
        await self.worker.close()


class ProviderModel:
    """One definition. Raises ModelError; codes are those of ``wire_errors``, and ``model.no_key``
    when its key is not known (any more)."""

    def __init__(self, definition: ModelDefinition, connections: Connections, key: KeyOf) -> None:
        self.definition = definition
        self._connections = connections
        self._key = key
        self._info = definition.info()

    @property
    def info(self) -> ModelInfo:
        return self._info

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """One call; closing the iterator cancels it, wherever it stands."""
        key = await self._key(self.definition)
        if self.definition.needs_key and not key:
            raise ModelError("model.no_key", model=self._info.name)
        hide(key)
        worker = self._connections.worker
        pipe = Pipe(worker.loop)
        call = worker.start(self._call(request, key, pipe))
        try:
            async with aclosing(cast(Any, pipe.parts())) as parts:
                async for part in parts:
                    yield part
            error = await asyncio.wrap_future(call)
        finally:
            call.cancel()
        if error is not None:
            raise error

    async def _call(self, request: ModelRequest, key: str, pipe: Pipe) -> ModelError | None:
        """In the worker's thread. The error is given, not raised: who reads may be gone."""
        one = self.definition
        begun = False
        try:
            services = self._connections.services()
            async with aclosing(cast(Any, services.stream(one, key, request))) as parts:
                async for part in parts:
                    begun = begun or not isinstance(part, Finish)
                    await pipe.put(part)
        except Exception as error:  # noqa: BLE001 - as above
            return mapped(error, one, begun=begun)
        finally:
            pipe.finish()
        return None
