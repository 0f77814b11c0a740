"""How hard a model thinks: who takes an effort, and how it is asked for on the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.messages import Msg
from desktop_app.core.models.base import Effort, ModelRequest
from desktop_app.core.models.definitions import ModelDefinition
from desktop_app.core.models.efforts import Efforts
from desktop_app.core.models.library import ModelLibrary
from desktop_app.core.models.network import Network
from desktop_app.core.models.process import ModelsProcess
from desktop_app.core.models.provider import Connections, ProviderModel
from desktop_app.core.models.registry import Models
from desktop_app.core.secrets import Secrets
from tests.helpers import providers as wire
from tests.helpers.providers import Answer, Server

ANSWERS: dict[str, Answer] = {
    "openai": wire.responses("Hello"),
    "anthropic": wire.anthropic("Hello"),
    "google": wire.google("Hello"),
}


@pytest.fixture
def connections(models_process: ModelsProcess) -> Connections:
    return Connections(Network(stall=5.0), models_process)


def defined(provider: str, model: str, address: str = "", **more: Any) -> ModelDefinition:
    return ModelDefinition(f"{provider}:{model}", provider, model, model, address=address, **more)


async def asked(
    connections: Connections,
    provider: str,
    model: str,
    chosen: Effort | None,
    *,
    purpose: Any = "reply",
    **more: Any,
) -> dict[str, Any]:
    """The body of one call's request."""

    async def key(_one: ModelDefinition) -> str:
        return "sk-test-0123456789abcdef"

    with Server(ANSWERS.get(provider, wire.chat("Hello"))) as server:
        plain = provider in ("anthropic", "google")
        address = server.url if plain else f"{server.url}/v1"
        one = ProviderModel(defined(provider, model, address, **more), connections, key)
        request = ModelRequest("", [Msg.user("hi")], purpose=purpose, effort=chosen)
        async for _part in one.stream(request):
            pass
        return server.asked[0].body


@pytest.mark.parametrize("effort", ["low", "high"])
async def test_an_effort_goes_out_as_each_format_has_it(
    connections: Connections, effort: Effort
) -> None:
    body = await asked(connections, "openai", "gpt-5", effort)
    assert body["reasoning"]["effort"] == effort
    body = await asked(connections, "openai_chat", "gpt-5", effort)
    assert body["reasoning_effort"] == effort
    body = await asked(connections, "anthropic", "claude-sonnet-5-5", effort)
    assert body["thinking"] == {"type": "adaptive"}
    assert body["output_config"]["effort"] == effort
    body = await asked(connections, "google", "gemini-3.8-flash", effort)
    assert body["generationConfig"]["thinkingConfig"]["thinking_level"] == effort.upper()


async def test_the_sessions_effort_goes_before_the_models(connections: Connections) -> None:
    body = await asked(connections, "openai_chat", "gpt-5", "high", effort="low")
    assert body["reasoning_effort"] == "high"
    body = await asked(connections, "openai_chat", "gpt-5", None, effort="low")
    assert body["reasoning_effort"] == "low"


async def test_nothing_is_asked_for_that_nobody_chose(connections: Connections) -> None:
    body = await asked(connections, "openai_chat", "gpt-5", None)
    assert "reasoning_effort" not in body
    body = await asked(connections, "openai_chat", "gpt-5", "high", purpose="summary")
    assert "reasoning_effort" not in body, "a summary is no answer"
    body = await asked(connections, "openai_chat", "gpt-4.1", "high")
    assert "reasoning_effort" not in body, "this one refuses it"


async def test_a_model_of_ones_own_server_takes_what_its_settings_say(
    connections: Connections,
) -> None:
    body = await asked(connections, "compatible", "gpt-oss-20b", None, effort="medium")
    assert body["reasoning_effort"] == "medium"
    body = await asked(connections, "compatible", "gpt-oss-20b", "low", effort="medium")
    assert body["reasoning_effort"] == "low"
    body = await asked(connections, "compatible", "gpt-oss-20b", "low")
    assert "reasoning_effort" not in body, "nobody said that it takes one"


@pytest.mark.parametrize(
    ("max_output", "budget"), [(16_384, 8_192), (64_000, 16_384), (1_500, None)]
)
async def test_a_budget_of_thinking_leaves_room_for_the_answer(
    connections: Connections, max_output: int, budget: int | None
) -> None:
    body = await asked(
        connections, "anthropic", "claude-opus-4-1", "high", window=200_000, max_output=max_output
    )
    assert body["max_tokens"] == max_output
    wanted = {"type": "enabled", "budget_tokens": budget}
    assert body.get("thinking") == (wanted if budget is not None else None)


def library(path: Path, process: ModelsProcess | None) -> ModelLibrary:
    return ModelLibrary(
        path / "models.json",
        Models(),
        secrets=Secrets(lambda: None),
        connections=Connections(Network(), process),
        find=lambda: [],
        efforts=path / "model-efforts.json",
    )


def takes(of: ModelLibrary) -> dict[str, bool]:
    return {m.id: m.efforts for m in of._registry.list() if m.id != "guide"}


async def test_who_takes_an_effort_is_found_out_once(
    tmp_path: Path, models_process: ModelsProcess
) -> None:
    first = library(tmp_path, models_process)
    await first.load()
    local = "http://127.0.0.1:9/v1"
    for one in (
        defined("openai", "gpt-5"),
        defined("openai", "gpt-4.1"),
        defined("zhipu", "glm-5.3"),
        defined("zhipu", "glm-4.6"),  # thinking is on or off there, no more
        defined("compatible", "gpt-oss-20b", local),
        defined("compatible", "told", local, effort="low"),
    ):
        await first.put(one)
    known = {"compatible:told": True}
    assert takes(first) == dict.fromkeys(takes(first), False) | known
    assert await first.learn(), "the list is another one now"
    assert not await first.learn(), "and stays that"
    found = takes(first)
    assert [name for name, yes in found.items() if yes] == [
        "openai:gpt-5",
        "zhipu:glm-5.3",
        "compatible:told",
    ]
    assert "efforts" not in (tmp_path / "models.json").read_text(), "that file is the person's"

    again = library(tmp_path, None)  # asks nobody
    await again.load()
    assert takes(again) == found
    assert not await again.learn()
    await again.close()


async def test_what_an_older_version_knew_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, one = tmp_path / "efforts.json", defined("openai", "gpt-5")
    await Efforts(path).note([(one, False)])
    assert Efforts(path).known(one) is False
    monkeypatch.setattr("desktop_app.core.models.efforts.version", lambda _name: "0.0.1")
    assert Efforts(path).known(one) is None
    path.write_text("{broken")
    assert Efforts(path).known(one) is None
