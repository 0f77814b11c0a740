"""Clients of the providers, made in the models process and kept there.

Only imported in that process. Certificates are those that the system trusts, and those of the
file that a call's route names; the proxy is the route's, whatever the environment says.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from importlib import import_module
from typing import Any, cast

import httpx2
from pydantic_ai import ModelHTTPError
from pydantic_ai.direct import model_request_stream
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from desktop_app.core.errors import ModelError

from .base import Effort, ModelEvent, ModelRequest, ToolCallPart
from .definitions import ModelDefinition
from .discovery import model_entries, window_of
from .network import STALL_SECONDS
from .providers import Provider, Wire
from .trusting import way_in
from .wire import Mapper, finish, tools

CONNECT_SECONDS = 10.0
NO_KEY = "none"  # the SDKs insist on one; local servers ignore it
Route = Mapping[str, Any]


_NEEDS: dict[Wire, tuple[str, ...]] = {
    "chat": ("openai", "pydantic_ai.models.openai"),
    "responses": ("openai", "pydantic_ai.models.openai"),
    "anthropic": ("anthropic", "pydantic_ai.models.anthropic"),
    "google": ("pydantic_ai.models.google",),
}


def load(wire: Wire) -> None:
    """Import what a format's models need; takes seconds."""
    for name in _NEEDS[wire]:
        import_module(name)


def _mark(route: Route) -> tuple[Any, ...]:
    return tuple(route.get(name) for name in ("proxy", "ca_file", "stall", "pin", "proxy_pin"))


class Services:
    """Models of pydantic-ai by definition, key and route, with their connections. A route is
    ``{"proxy", "ca_file", "stall", "pin", "proxy_pin"}`` (``network.py``; seconds)."""

    def __init__(self) -> None:
        self._models: dict[tuple[Any, ...], Model] = {}
        self._https: dict[tuple[Any, ...], httpx2.AsyncClient] = {}

    def http(self, route: Route) -> httpx2.AsyncClient:
        """The connections of a route. ModelError ``model.ca_file`` when its certificates cannot be
        read."""
        mark = _mark(route)
        if (client := self._https.get(mark)) is None:
            stall = float(route.get("stall") or STALL_SECONDS)
            proxy = str(route.get("proxy") or "")
            client = self._https[mark] = httpx2.AsyncClient(
                timeout=httpx2.Timeout(stall, connect=CONNECT_SECONDS),
                verify=way_in(route, "pin"),
                proxy=httpx2.Proxy(
                    proxy,
                    ssl_context=way_in(route, "proxy_pin") if proxy.startswith("https:") else None,
                )
                if proxy
                else None,
                trust_env=False,
                follow_redirects=True,
            )
        return client

    async def close(self) -> None:
        """Let go of all connections."""
        clients = list(self._https.values())
        self._https.clear()
        self._models.clear()
        for client in clients:
            await client.aclose()

    def model(self, definition: ModelDefinition, key: str, route: Route) -> Model:
        """pydantic-ai's model for a definition; made once for each key and route."""
        mark = (definition.provider, definition.address, definition.model, key, _mark(route))
        if (made := self._models.get(mark)) is None:
            made = self._models[mark] = self._make(definition, key or NO_KEY, route)
        return made

    def _make(self, definition: ModelDefinition, key: str, route: Route) -> Model:
        spec, address = definition.spec, definition.base
        http = self.http(route)
        if spec.wire == "anthropic":
            from anthropic import AsyncAnthropic
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            client = AsyncAnthropic(
                api_key=key, base_url=address, http_client=http, max_retries=0, auth_token=None
            )
            provider = AnthropicProvider(anthropic_client=client)
            return AnthropicModel(definition.model, provider=provider)
        if spec.wire == "google":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            google = GoogleProvider(api_key=key, http_client=http, base_url=address)
            return GoogleModel(definition.model, provider=google)
        return _openai(definition, spec, key, http)

    async def efforts(self, definition: ModelDefinition, route: Route) -> bool:
        """Whether a model takes an effort of thinking; nobody is asked."""
        await asyncio.to_thread(load, definition.spec.wire)
        return takes_effort(self.model(definition, "", route))

    async def stream(
        self, definition: ModelDefinition, key: str, request: ModelRequest, route: Route
    ) -> AsyncIterator[ModelEvent]:
        """The parts of one call. Raises what pydantic-ai raises, and ModelError ``model.cut`` when
        the stream ended without its end."""
        model = self.model(definition, key, route)
        mapper = Mapper(
            definition.service, images=definition.images, short_ids=definition.provider == "mistral"
        )
        called = False
        opened = model_request_stream(
            model,
            mapper.request(request),
            model_settings=settings_for(model, definition, request),
            model_request_parameters=parameters(model, definition.name, request),
        )
        async with opened as stream:
            async with aclosing(cast(Any, aiter(stream))) as events:
                async for event in events:
                    if (part := mapper.event(event)) is not None:
                        called = called or isinstance(part, ToolCallPart)
                        yield part
                    await asyncio.sleep(0)  # other calls have their turn
            end = finish(stream, called=called)
        if end is None:
            raise ModelError("model.cut", retryable=True, model=definition.name)
        yield end

    async def list_models(
        self, definition: ModelDefinition, key: str, route: Route
    ) -> list[tuple[str, int | None]]:
        """Names of the models that the provider offers, with their window where it says it."""
        path, headers = _LISTS[definition.spec.wire]
        given = {name: value.format(key=key) for name, value in headers.items()} if key else {}
        answer = await self.http(route).get(
            definition.base.rstrip("/") + path, headers=given, timeout=LIST_SECONDS
        )
        try:
            body: Any = answer.json()
        except ValueError:
            body = None
        if answer.status_code >= 400:
            raise ModelHTTPError(answer.status_code, definition.name, body)
        if definition.spec.wire == "google":
            return _google_models(body)
        return [(name, window_of(entry)) for name, entry in model_entries(body).items()]


LIST_SECONDS = 15.0
# Where each format lists its models, and how the key is given (their API references).
_LISTS: dict[Wire, tuple[str, dict[str, str]]] = {
    "chat": ("/models", {"Authorization": "Bearer {key}"}),
    "responses": ("/models", {"Authorization": "Bearer {key}"}),
    "anthropic": (
        "/v1/models?limit=1000",
        {"x-api-key": "{key}", "anthropic-version": "2023-06-01"},
    ),
    "google": ("/v1beta/models?pageSize=1000", {"x-goog-api-key": "{key}"}),
}


def _google_models(body: Any) -> list[tuple[str, int | None]]:
    """``{"models": [{"name": "models/…", "inputTokenLimit", "supportedGenerationMethods"}]}``"""
    found = cast("dict[str, Any]", body).get("models") if isinstance(body, dict) else None
    made: list[tuple[str, int | None]] = []
    for entry in cast("list[Any]", found if isinstance(found, list) else []):
        fields = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        methods = fields.get("supportedGenerationMethods") or ["generateContent"]
        if (name := str(fields.get("name") or "")) and "generateContent" in methods:
            made.append((name.removeprefix("models/"), window_of(fields)))
    return made


def parameters(model: Model, name: str, request: ModelRequest) -> ModelRequestParameters:
    """Tools, and the schema of the answer. ModelError ``model.no_schema`` when the model is known
    to take none."""
    made = ModelRequestParameters(function_tools=tools(request.tools))
    if (shape := request.answer) is None:
        return made
    if not model.profile.get("supports_json_schema_output", False):
        raise ModelError("model.no_schema", model=name)
    wanted = OutputObjectDefinition(
        json_schema=shape.parameters, name=shape.name, description=shape.description
    )
    return replace(made, output_mode="native", output_object=wanted)


LEAST_BUDGET = 1_024  # tokens of thinking: Anthropic's documentation of ``budget_tokens``


def takes_effort(model: Model) -> bool:
    """Whether a model is known to take an effort: more than thinking that is on or off."""
    return _thinks(model) and model.profile.get("zai_supports_reasoning_effort", True) is True


def _thinks(model: Model) -> bool:
    profile = model.profile
    return bool(profile.get("supports_thinking") or profile.get("thinking_always_enabled"))


def settings_for(model: Model, definition: ModelDefinition, request: ModelRequest) -> ModelSettings:
    """How the call is made. Thinking is asked for only where the person chose an effort, for this
    call or for the model."""
    made: dict[str, Any] = {}
    limit = min(request.max_output or definition.max_output, definition.max_output)
    if limit > 0:
        made["max_tokens"] = limit
    if request.purpose == "reply":
        made.update(_thinking(model, definition, request.effort or definition.effort, limit))
    if definition.spec.wire == "anthropic":
        made["cache"] = True
    return cast(ModelSettings, made)


def _thinking(
    model: Model, definition: ModelDefinition, effort: Effort | None, limit: int
) -> dict[str, Any]:
    profile, wire = model.profile, definition.spec.wire
    if effort is None:
        return {}
    if not _thinks(model):
        # The person knows better what a model of their own server is.
        known = definition.effort is not None and wire in ("chat", "responses")
        return {"openai_reasoning_effort": effort} if known else {}
    if wire == "anthropic" and not profile.get("anthropic_supports_adaptive_thinking"):
        from pydantic_ai.profiles.anthropic import ANTHROPIC_THINKING_BUDGET_MAP

        # The budget is a part of the answer's length, and has to leave something of it.
        budget = min(ANTHROPIC_THINKING_BUDGET_MAP[effort], limit // 2)
        if budget < LEAST_BUDGET:
            return {}
        return {"anthropic_thinking": {"type": "enabled", "budget_tokens": budget}}
    return {"thinking": effort}


def _openai(
    definition: ModelDefinition, spec: Provider, key: str, http: httpx2.AsyncClient
) -> Model:
    """OpenAI itself and those that speak its language, each with its own habits."""
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(
        api_key=key, base_url=definition.base, http_client=cast(Any, http), max_retries=0
    )
    name = definition.model
    match spec.id:
        case "deepseek":
            from pydantic_ai.providers.deepseek import DeepSeekProvider

            return OpenAIChatModel(name, provider=DeepSeekProvider(openai_client=client))
        case "dashscope":
            from pydantic_ai.providers.alibaba import AlibabaProvider

            return OpenAIChatModel(name, provider=AlibabaProvider(openai_client=client))
        case "moonshot":
            from pydantic_ai.providers.moonshotai import MoonshotAIProvider

            return OpenAIChatModel(name, provider=MoonshotAIProvider(openai_client=client))
        case "zhipu":
            from pydantic_ai.models.zai import ZaiModel
            from pydantic_ai.providers.zai import ZaiProvider

            return ZaiModel(name, provider=ZaiProvider(openai_client=client))
        case "openrouter":
            from pydantic_ai.models.openrouter import OpenRouterModel
            from pydantic_ai.providers.openrouter import OpenRouterProvider

            return OpenRouterModel(name, provider=OpenRouterProvider(openai_client=client))
        case "ollama":
            from pydantic_ai.providers.ollama import OllamaProvider

            return OpenAIChatModel(name, provider=OllamaProvider(openai_client=client))
        case _:
            provider = OpenAIProvider(openai_client=client)
            if spec.wire == "responses":
                return OpenAIResponsesModel(name, provider=provider)
            return OpenAIChatModel(name, provider=provider)
