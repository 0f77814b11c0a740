"""The person's models, as the window manages them: add, try, list, remove, keys."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from desktop_app.core.errors import ModelError
from desktop_app.core.messages import Msg, Usage
from desktop_app.core.secrets import Place, Secrets, resolved

from .base import ChatModel, Finish, ModelEvent, ModelRequest, TextPart, ToolSchema
from .catalogue import Known, look_up
from .definitions import Definitions, ModelDefinition
from .discovery import Found, discover
from .efforts import Efforts
from .provider import Connections, ProviderModel
from .providers import Wire
from .registry import Models
from .structured import Refusals, Structured, structured

logger = logging.getLogger(__name__)
TRY_TOKENS = 256  # of the answer to a trial; models that think need some to say anything


@dataclass(frozen=True, slots=True)
class Listed:
    """One model of a provider's own list; ``window`` when the list says it."""

    name: str
    window: int | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """A real call: seconds until the first word and in all, and what was said."""

    first: float
    seconds: float
    text: str
    usage: Usage | None


class ModelLibrary:
    """Keeps ``models.json``, the keys and the registry in step. Safe to use from one loop."""

    def __init__(
        self,
        path: Path,
        registry: Models,
        *,
        secrets: Secrets | None = None,
        connections: Connections | None = None,
        find: Callable[[], list[Found]] = discover,
        learned: Path | None = None,
        efforts: Path | None = None,
    ) -> None:
        self._path = path
        self._registry = registry
        self.secrets = secrets or Secrets()
        self.connections = connections or Connections()
        self.connections.secret = self.secrets.get
        self._find = find
        self._learned = learned  # where it is kept what models refused
        self._efforts_file = efforts
        self.refusals = Refusals()
        self.efforts = Efforts()
        self.file = Definitions(path)
        self._saving = asyncio.Lock()

    async def load(self) -> None:
        """Read the file and register what is in it. Never raises; see ``file.problem``."""
        self.file = await asyncio.to_thread(Definitions.load, self._path)
        self.refusals = await asyncio.to_thread(Refusals, self._learned)
        self.efforts = await asyncio.to_thread(Efforts, self._efforts_file)
        for one in self.file.models:
            self._register(one)

    @property
    def models(self) -> list[ModelDefinition]:
        return list(self.file.models)

    def _register(self, one: ModelDefinition) -> None:
        def make() -> ChatModel:
            return ProviderModel(one, self.connections, self.key_of)

        info = replace(one.info(), efforts=self.efforts.known(one) is True)
        self._registry.add(info, make)

    async def key_of(self, one: ModelDefinition) -> str:
        """The key of a definition's service; empty when there is none. ModelError
        ``model.keyring`` when the keyring does not say, ``model.keys_locked`` when the
        person has not unlocked the file that it lies in, ``model.no_variable`` when the variable
        that it is to be taken from is not set."""
        if key := await self.secrets.get(one.service):
            return key
        if await self.secrets.locked(one.service):
            raise ModelError("model.keys_locked", model=one.name)
        if one.needs_key and self.secrets.silent(one.service):
            raise ModelError("model.keyring", model=one.name)
        if variable := await self.secrets.variable(one.service):
            raise ModelError("model.no_variable", model=one.name, variable=variable)
        return ""

    # -- changing ----------------------------------------------------------------------------

    async def put(
        self, one: ModelDefinition, key: str = ""
    ) -> tuple[ModelDefinition, Place | None]:
        """Add or replace a model, and keep its key when one is given; where the key lies then.
        Raises SettingsError ``settings.unwritable``: nothing is changed when it is of this file,
        and the model is there without its key when it is of the names of variables."""
        async with self._changing():
            kept = self.file.put(one)
        self.refusals.forget(kept.id)
        self._register(kept)
        return kept, await self.secrets.put(kept.service, key) if key else None

    async def remove(self, model_id: str) -> None:
        """Take a model out; its key too, when no other model of that service is left."""
        gone = next((m for m in self.file.models if m.id == model_id), None)
        if gone is None:
            return
        async with self._changing():
            self.file.remove(model_id)
        self._registry.remove(model_id)
        if all(m.service != gone.service for m in self.file.models):
            await self.secrets.remove(gone.service)

    async def set_discover(self, on: bool) -> None:
        """Whether servers on this computer are looked for."""
        async with self._changing():
            self.file.discover = on

    @asynccontextmanager
    async def _changing(self) -> AsyncGenerator[None]:
        """One change of the file at a time, saved at its end. What cannot be saved is undone."""
        async with self._saving:
            before = list(self.file.models), self.file.discover
            try:
                yield
                await asyncio.to_thread(self.file.save)
            except BaseException:
                self.file.models, self.file.discover = before
                raise

    async def learn(self) -> bool:
        """Find out which models take an effort of thinking, those of which it is not known;
        whether the list is another one now. Never raises: the next start asks again."""
        found: list[tuple[ModelDefinition, bool]] = []
        for one in self.models:
            if self.efforts.known(one) is None:
                try:
                    found.append((one, await self.connections.takes_effort(one)))
                except ModelError as error:
                    logger.info("it is not known what %s takes: %s", one.id, error)
        if found:
            await self.efforts.note(found)
        for one, takes in found:
            if takes and one in self.models:
                self._register(one)
        return any(takes for _, takes in found)

    # -- asking ------------------------------------------------------------------------------

    async def known(self, provider: str, model: str) -> Known:
        """What the catalogue says of a model."""
        return await asyncio.to_thread(look_up, provider, model)

    async def found(self) -> list[Found]:
        """Model servers on this computer; none when looking is switched off."""
        return await asyncio.to_thread(self._find) if self.file.discover else []

    async def list_models(self, one: ModelDefinition, key: str = "") -> list[Listed]:
        """The provider's own list. Raises ModelError."""
        key = resolved(key) or await self.key_of(one)
        if one.needs_key and not key:
            raise ModelError("model.no_key", model=one.name)
        return [Listed(*entry) for entry in await self.connections.list_models(one, key)]

    async def try_out(self, one: ModelDefinition, key: str = "") -> Trial:
        """One real, short call. Raises ModelError as any call does. Its times are the provider's:
        what starts with the first call of all has started before."""

        async def own(_definition: ModelDefinition) -> str:
            return resolved(key) or await self.key_of(one)

        request = ModelRequest(
            "Answer in one short sentence.", [Msg.user("Say hello.")], max_output=TRY_TOKENS
        )
        model = ProviderModel(replace(one, fallback=""), self.connections, own)
        await self.connections.warm(one.spec.wire)
        started = time.monotonic()
        first: float | None = None
        said: list[str] = []
        usage: Usage | None = None
        stream: AsyncIterator[ModelEvent] = model.stream(request)
        async with aclosing(cast(Any, stream)) as parts:
            async for part in parts:
                if first is None:
                    first = time.monotonic() - started
                if isinstance(part, TextPart):
                    said.append(part.text)
                elif isinstance(part, Finish):
                    usage = part.usage
        seconds = time.monotonic() - started
        return Trial(first or seconds, seconds, "".join(said).strip(), usage)

    async def structured(
        self, model_id: str, request: ModelRequest, shape: ToolSchema
    ) -> Structured:
        """An answer of a given shape, by the way that the model takes (``structured.py``). Raises
        ModelError."""
        return await structured(self._registry.get(model_id), request, shape, self.refusals)

    async def warm(self, model_ids: Iterable[str]) -> None:
        """Start what calls of these models need, so that the first begins at once. Never raises."""
        wanted = set(model_ids)
        wires: set[Wire] = {m.spec.wire for m in self.file.models if m.id in wanted}
        for wire in wires:
            await self.connections.warm(wire)

    async def close(self) -> None:
        """End calls, let go of connections."""
        await self.connections.close()
