"""An answer of a given shape: by what each model takes, asked once for what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from desktop_app.core.errors import ModelError
from desktop_app.core.messages import Msg
from desktop_app.core.models.base import ChatModel, ModelRequest, ToolSchema
from desktop_app.core.models.network import Network
from desktop_app.core.models.process import ModelsProcess
from desktop_app.core.models.provider import Connections
from desktop_app.core.models.scripted import Say, ScriptedModel
from desktop_app.core.models.structured import Refusals, Structured, structured
from tests.core.models.test_provider_wire import model
from tests.helpers import providers as wire
from tests.helpers.providers import Server

SHAPE = ToolSchema(
    "harbour",
    "A harbour.",
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "berths": {"type": "integer"}},
        "required": ["name", "berths"],
        "additionalProperties": False,
    },
)
GOOD = {"name": "Dover", "berths": 3}
TEXT = json.dumps(GOOD)
REFUSED = wire.openai_error(400, "This response_format type is unavailable now", None, "invalid")


@pytest.fixture
def connections(models_process: ModelsProcess) -> Connections:
    return Connections(Network(stall=5), models_process)


async def ask(one: ChatModel, refusals: Refusals | None = None) -> Structured:
    request = ModelRequest("Be exact.", [Msg.user("Which harbour?")])
    return await structured(one, request, SHAPE, refusals or Refusals())


@pytest.mark.parametrize("provider", ["openai_chat", "openai", "google", "anthropic"])
async def test_a_provider_that_takes_a_schema_gets_it(
    connections: Connections, provider: str
) -> None:
    answer = {
        "openai_chat": wire.chat(TEXT),
        "openai": wire.responses(TEXT),
        "google": wire.google(TEXT),
        "anthropic": wire.anthropic(TEXT),
    }[provider]
    with Server(answer) as server:
        found = await ask(model(connections, server, provider))
        body = server.asked[0].body
    assert (found.value, found.way) == (GOOD, "native")
    assert found.usage is not None
    assert '"berths"' in json.dumps(body)
    assert not body.get("tools")


async def test_what_is_refused_is_asked_once_and_remembered(
    connections: Connections, tmp_path: Path
) -> None:
    kept = tmp_path / "refusals.json"
    call = wire.chat(calls=[("c1", "harbour", TEXT)])
    with Server(REFUSED, call, call, call) as server:
        one, refusals = model(connections, server), Refusals(kept)
        assert (await ask(one, refusals)).way == "tool"
        assert (await ask(one, refusals)).way == "tool"
        assert (await ask(one, Refusals(kept))).way == "tool", "a new start knows it too"
        schemas = ["response_format" in asked.body for asked in server.asked]
        forced = [asked.body.get("tool_choice", "auto") for asked in server.asked]
    assert schemas == [True, False, False, False]
    assert forced == ["auto"] * 4, "models that think refuse a forced call"


async def test_a_model_that_thinks_is_not_forced(connections: Connections) -> None:
    refused = wire.anthropic_error(400, "invalid_request_error", "output_format: not supported")
    call = wire.anthropic(thinking="Well.", signature="s", calls=[("c1", "harbour", TEXT)])
    with Server(refused, call) as server:
        found = await ask(model(connections, server, "anthropic", effort="high"))
        body = server.asked[1].body
    assert (found.value, found.way) == (GOOD, "tool")
    assert body.get("tool_choice", {"type": "auto"})["type"] == "auto"


async def test_without_schema_and_tools_it_is_read_from_the_text(connections: Connections) -> None:
    no_tools = wire.openai_error(400, "m does not support tools", None, "api_error")
    fenced = wire.chat(f"Here it is:\n```json\n{TEXT}\n```\n")
    with Server(REFUSED, no_tools, fenced) as server:
        refusals = Refusals()
        found = await ask(model(connections, server), refusals)
        system = str(server.asked[2].body["messages"][0]["content"])
    assert (found.value, found.way) == (GOOD, "prompted")
    assert "berths" in system
    assert system.startswith("Be exact.")
    assert refusals.ways("t") == ["prompted"]


async def test_a_server_that_heeds_no_schema_is_noticed(connections: Connections) -> None:
    """Many take the field and answer as they like: what does not fit is not handed on."""
    chatty = wire.chat("It is Dover.")
    with Server(chatty, chatty, wire.chat(f"Sure! {TEXT}")) as server:
        found = await ask(model(connections, server))
    assert (found.value, found.way) == (GOOD, "prompted")


async def test_an_answer_that_does_not_fit_is_asked_for_again() -> None:
    wrong = json.dumps({"name": "Dover", "berths": "three"})
    one = ScriptedModel([[Say(wrong)], [Say(TEXT)]])
    assert (await ask(one)).value == GOOD
    told = one.requests[1].messages[-1].text()
    assert "berths" in told
    assert "three" in told


@pytest.mark.parametrize("said", ["It is Dover.", "{", "[1]", '{"name": "Dover"}', "}{"])
async def test_no_answer_of_that_shape_is_an_error(said: str) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(ScriptedModel([[Say(said)]] * 2))
    assert caught.value.code == "model.shapeless"
    assert caught.value.params["detail"]


async def test_other_errors_are_not_taken_for_a_refusal(connections: Connections) -> None:
    with Server(wire.openai_error(401, "bad key", "invalid_api_key")) as server:
        refusals = Refusals()
        with pytest.raises(ModelError) as caught:
            await ask(model(connections, server), refusals)
    assert caught.value.code == "model.auth"
    assert refusals.ways("t") == ["native", "tool", "prompted"]


@pytest.mark.parametrize("content", ["{", "[]", '{"t": "native"}', '{"t": ["magic", 3]}'])
def test_a_file_that_says_nonsense_says_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "refusals.json"
    path.write_text(content)
    assert Refusals(path).ways("t") == ["native", "tool", "prompted"]


async def test_half_an_answer_is_no_answer(connections: Connections) -> None:
    half = wire.chat('{"name": "Do', finish="length")
    with Server(half) as server, pytest.raises(ModelError) as caught:
        await ask(model(connections, server))
    assert (caught.value.code, caught.value.retryable) == ("model.cut", True)
