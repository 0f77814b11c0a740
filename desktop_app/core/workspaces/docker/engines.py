"""Which engine is used: the first that answers, and what became of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from desktop_app.core.errors import WorkspaceError

from .discovery import Endpoint, colima_without_docker, find
from .engine import Engine


@dataclass(frozen=True, slots=True)
class Tried:
    """An endpoint that was tried: what answered there (name, version, API) or why nothing did."""

    endpoint: Endpoint
    product: str = ""
    version: str = ""
    api: str = ""
    system: str = ""
    error: WorkspaceError | None = None


class Engines:
    """The engine of this computer. ``chosen`` is an address that the person set; ``look`` lists
    endpoints, best first (slow)."""

    def __init__(
        self, chosen: str = "", look: Callable[[str], list[Endpoint]] | None = None
    ) -> None:
        self._chosen = chosen
        self._look = look or _find
        self._engine: Engine | None = None
        self._all: list[Engine] = []
        self._choosing = asyncio.Lock()

    async def engine(self) -> Engine:
        """The engine to use; looked for again while none answered. WorkspaceError ``docker.none``
        when there is no endpoint, else the error of the first that was named or found."""
        async with self._choosing:
            if self._engine is None:
                tried = await self._try(first_only=True)
                if self._engine is None:
                    raise self._why(tried)
            return self._engine

    def _why(self, tried: list[Tried]) -> WorkspaceError:
        for one in tried:
            if one.error is not None:
                return one.error
        if colima_without_docker():
            return WorkspaceError("docker.colima")
        return WorkspaceError("docker.none", retryable=True)

    async def report(self) -> list[Tried]:
        """Every endpoint with what answers there; the first that answers is the one in use."""
        async with self._choosing:
            return await self._try(first_only=False)

    async def _try(self, *, first_only: bool) -> list[Tried]:
        tried: list[Tried] = []
        for endpoint in await asyncio.to_thread(self._look, self._chosen):
            found = await self._ask(endpoint)
            tried.append(found)
            if found.error is None and first_only:
                break
        return tried

    async def _ask(self, endpoint: Endpoint) -> Tried:
        if endpoint.missing:
            error = WorkspaceError("docker.not_running", retryable=True, engine=endpoint.url)
            return Tried(endpoint, error=error)
        engine = self._engine
        if engine is None or engine.endpoint != endpoint:
            engine = Engine(endpoint)
        try:
            said = await engine.ping()
            if self._engine is None:
                self._engine = engine
                self._all.append(engine)
            return Tried(endpoint, *_words(said))
        except WorkspaceError as error:
            return Tried(endpoint, error=error)
        finally:
            if engine is not self._engine:
                await engine.close()

    async def forget(self) -> None:
        """Look for an engine anew at the next use; handles to the old one stay usable."""
        async with self._choosing:
            self._engine = None

    async def close(self) -> None:
        async with self._choosing:
            self._engine = None
            for engine in self._all:
                await engine.close()
            self._all.clear()


def _find(chosen: str) -> list[Endpoint]:
    return find(chosen=chosen)


def _words(said: dict[str, Any]) -> tuple[str, str, str, str]:
    platform: Any = said.get("Platform") or {}
    parts: list[Any] = said.get("Components") or [{}]
    name = str(platform.get("Name") or parts[0].get("Name") or "Docker")
    system = f"{said.get('Os', '')}/{said.get('Arch', '')}"
    return name, str(said.get("Version", "")), str(said.get("ApiVersion", "")), system
