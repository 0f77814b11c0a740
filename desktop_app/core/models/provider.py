"""A provider's model behind the ChatModel protocol.

The call runs in the models process (``process.py``, ``child.py``): request, SDK, stream. Its parts
cross in batches; the program itself imports no SDK.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from desktop_app.core.errors import ModelError
from desktop_app.core.log import hide

from . import frames
from .base import ModelEvent, ModelInfo, ModelRequest
from .definitions import ModelDefinition
from .network import Network, Route, password_name, with_password
from .process import ModelsProcess
from .providers import Wire

KeyOf = Callable[[ModelDefinition], Awaitable[str]]


class Connections:
    """The way to the providers; one for the program. ``secret`` gives what the keyring has under a
    name, for proxies that want a password. A ``process`` that is handed in is used and left running
    at the end."""

    def __init__(
        self,
        network: Network | None = None,
        process: ModelsProcess | None = None,
        secret: Callable[[str], Awaitable[str]] | None = None,
    ) -> None:
        self.network = network or Network()
        self.process = process or ModelsProcess()
        self.secret = secret
        self._own = process is None

    async def frame(self, one: ModelDefinition, key: str) -> frames.Frame:
        """Whom to ask, as what, and by which way."""
        hide(key)
        route = await self.route(one.base)
        way = {**route.frame(), "stall": self.network.stall}
        return {"definition": frames.definition_out(one), "key": key, "route": way}

    async def route(self, address: str) -> Route:
        """The way to an address, with the password that its proxy wants."""
        route = self.network.route(address)
        if self.secret is not None and (name := password_name(route.proxy)):
            password = await self.secret(name)
            route = replace(route, proxy=with_password(route.proxy, password))
        return route

    async def list_models(self, one: ModelDefinition, key: str) -> list[tuple[str, int | None]]:
        """The provider's own list: names, and windows where it says them. Raises ModelError."""
        answer = await self.process.ask({"do": "list", **await self.frame(one, key)})
        return [(str(name), window) for name, window in cast("list[Any]", answer)]

    async def takes_effort(self, one: ModelDefinition) -> bool:
        """Whether a model takes an effort of thinking, by what its SDK knows; nobody is asked.
        Raises ModelError ``model.process``."""
        return bool(await self.process.ask({"do": "efforts", **await self.frame(one, "")}))

    async def warm(self, wire: Wire) -> None:
        """Start the process and let it import what calls of a format need. Never raises: the call
        itself says what is wrong."""
        try:
            await self.process.ask({"do": "warm", "wire": wire})
        except ModelError:
            pass

    async def close(self) -> None:
        """Cancel calls, let go of connections, end the process."""
        if self._own:
            await self.process.close()


class ProviderModel:
    """One definition. Raises ModelError; codes are those of ``wire_errors``, ``model.no_key`` when
    its key is not known (any more), ``model.process`` when the models process failed."""

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
        head = await self._connections.frame(self.definition, key)
        head["request"] = frames.request_out(request)
        parts = self._connections.process.stream(head, request.messages)
        async with aclosing(cast(Any, parts)) as stream:
            async for part in stream:
                yield part
