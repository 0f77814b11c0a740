"""Providers' wire formats through their real SDKs, against a local server."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from contextlib import aclosing
from typing import Any

import pytest

from desktop_app.core.errors import ModelError
from desktop_app.core.messages import (
    Base64Source,
    DataBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from desktop_app.core.models.base import (
    Finish,
    ModelRequest,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolSchema,
)
from desktop_app.core.models.definitions import ModelDefinition
from desktop_app.core.models.network import Network
from desktop_app.core.models.process import ModelsProcess
from desktop_app.core.models.provider import Connections, ProviderModel
from desktop_app.core.models.providers import PROVIDERS
from tests.helpers import providers as wire
from tests.helpers.providers import Answer, Server

READ = ToolSchema(
    "Read",
    "Read a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
KINDS = ("openai_chat", "openai", "anthropic", "google")


@pytest.fixture
def connections(models_process: ModelsProcess) -> Connections:
    return Connections(Network(stall=1.0), models_process)


def model(
    connections: Connections, server: Server | str, provider: str = "openai_chat", **more: Any
) -> ProviderModel:
    address = server if isinstance(server, str) else server.url
    if provider not in ("anthropic", "google"):
        address += "/v1"

    async def key(_definition: ModelDefinition) -> str:
        return "sk-test-0123456789abcdef"

    known = {"openai": "gpt-5", "anthropic": "claude-sonnet-5-5", "openrouter": "o/m"}
    name = known.get(provider, "m")
    made = ModelDefinition("t", provider, name, "Model", address=address, **more)
    return ProviderModel(made, connections, key)


async def call(one: ProviderModel, request: ModelRequest) -> list[Any]:
    async with aclosing(one.stream(request)) as parts:  # type: ignore[type-var]
        return [part async for part in parts]


def ask(*messages: Msg, **more: Any) -> ModelRequest:
    return ModelRequest("Be exact.", messages or (Msg.user("hi"),), (READ,), **more)


def text_of(parts: list[Any]) -> str:
    return "".join(p.text for p in parts if isinstance(p, TextPart))


def thinking_of(parts: list[Any]) -> str:
    return "".join(p.text for p in parts if isinstance(p, ThinkingPart))


def calls_of(parts: list[Any]) -> list[tuple[str, str, str]]:
    """(id, name, arguments) by index."""
    made: dict[int, list[str]] = {}
    for part in parts:
        if isinstance(part, ToolCallPart):
            known = made.setdefault(part.index, ["", "", ""])
            known[0] = known[0] or part.call_id or ""
            known[1] += part.name or ""
            known[2] += part.arguments
    return [(a, b, c) for a, b, c in made.values()]


def answered(kind: str, *, calls: bool = False) -> Answer:
    """The same answer in every format: thinking, "Hello", and two calls when asked for."""
    two = [("call_a", "Read", '{"path":"a"}'), ("call_b", "Read", '{"path":"b"}')]
    wanted = two if calls else []
    match kind:
        case "openai_chat":
            return wire.chat("Hel", "lo", thinking=["hm", "m"], calls=wanted, usage=(100, 10, 40))
        case "openai":
            return wire.responses(
                "Hello", thinking="hmm", encrypted="ENC", calls=wanted, usage=(100, 10, 40)
            )
        case "anthropic":
            return wire.anthropic(
                "Hello", thinking="hmm", signature="SIG", calls=wanted, usage=(50, 10, 40, 10)
            )
        case _:
            some = [("Read", {"path": "a"}), ("Read", {"path": "b"})] if calls else []
            return wire.google(
                "Hello", thinking="hmm", calls=some, signature="c2ln", usage=(100, 10, 40)
            )


@pytest.mark.parametrize("kind", KINDS)
async def test_text_thinking_and_usage(connections: Connections, kind: str) -> None:
    with Server(answered(kind)) as server:
        parts = await call(model(connections, server, kind), ask())
    assert text_of(parts) == "Hello"
    assert thinking_of(parts) == "hmm"
    end = parts[-1]
    assert isinstance(end, Finish)
    assert end.reason == "stop"
    assert end.usage is not None
    usage = end.usage
    assert (usage.input_tokens, usage.output_tokens) == (100, 10), "cached tokens are input too"
    assert usage.cache_input_tokens == 40
    assert usage.cache_creation_input_tokens == (10 if kind == "anthropic" else 0)


CHATS = [p.id for p in PROVIDERS if p.wire == "chat"]


@pytest.mark.parametrize("provider", CHATS)
async def test_everyone_who_speaks_openais_language(
    connections: Connections, provider: str
) -> None:
    with Server(answered("openai_chat", calls=True), wire.chat("Bye")) as server:
        one = model(connections, server, provider)
        parts = await call(one, ask())
        again = await call(one, ask(*turn(parts)))
        auth = server.asked[0].headers["authorization"]
    assert (text_of(parts), parts[-1].reason) == ("Hello", "tool_calls")
    assert [c[2].replace(" ", "") for c in calls_of(parts)] == ['{"path":"a"}', '{"path":"b"}']
    assert (text_of(again), again[-1].reason) == ("Bye", "stop")
    assert auth == "Bearer sk-test-0123456789abcdef"


@pytest.mark.parametrize("kind", KINDS)
async def test_parallel_calls(connections: Connections, kind: str) -> None:
    with Server(answered(kind, calls=True)) as server:
        parts = await call(model(connections, server, kind), ask())
        sent = server.asked[0]
    calls = calls_of(parts)
    assert [(name, args.replace(" ", "")) for _, name, args in calls] == [
        ("Read", '{"path":"a"}'),
        ("Read", '{"path":"b"}'),
    ]
    assert calls[0][0] != calls[1][0], "each call has an id of its own"
    assert parts[-1].reason == "tool_calls"
    assert "Read a file." in str(sent.body["tools"])
    assert "Be exact." in str(sent.body)


def turn(parts: list[Any]) -> list[Msg]:
    """What the loop would keep of an answer with calls, and their results."""
    blocks: dict[tuple[type, int], Any] = {}
    for part in parts:
        if isinstance(part, Finish):
            continue
        key = (type(part), part.index)
        if key not in blocks:
            if isinstance(part, TextPart):
                blocks[key] = TextBlock()
            elif isinstance(part, ThinkingPart):
                blocks[key] = ThinkingBlock()
            else:
                blocks[key] = ToolCallBlock(id=part.call_id, name=part.name, input="")
        block = blocks[key]
        if isinstance(part, TextPart):
            block.text += part.text
        elif isinstance(part, ThinkingPart):
            block.thinking += part.text
        else:
            block.input += part.arguments
        for name, value in (part.extra or {}).items():
            setattr(block, name, value)
    said = Msg(name="a", role="assistant", content=list(blocks.values()))
    # Over the journal and back, as it will be.
    said = Msg.model_validate_json(said.to_json())
    results = [
        ToolResultBlock(id=c.id, name=c.name, output=f"content {n}")
        for n, c in enumerate(said.tool_calls())
    ]
    kept = Msg(name="slipway", role="user", content=list(results))
    return [Msg.user("read both"), said, kept]


@pytest.mark.parametrize("kind", KINDS)
async def test_the_second_call_sends_back_what_was_signed(
    connections: Connections, kind: str
) -> None:
    with Server(answered(kind, calls=True), answered(kind)) as server:
        one = model(connections, server, kind)
        messages = turn(await call(one, ask(Msg.user("read both"))))
        await call(one, ask(*messages))
        body = server.asked[1].body
    whole = str(body)
    assert "content 0" in whole
    assert "content 1" in whole
    match kind:
        case "openai_chat":
            said = next(m for m in body["messages"] if m["role"] == "assistant")
            assert said["reasoning_content"] == "hmm"
            assert [c["id"] for c in said["tool_calls"]] == ["call_a", "call_b"]
            assert [m["role"] for m in body["messages"]][-2:] == ["tool", "tool"]
        case "openai":
            kinds = [i.get("type", "message") for i in body["input"]]
            assert (
                kinds[-5:]
                == ["message", "function_call", "function_call"] + ["function_call_output"] * 2
            )
            reasoning = next(i for i in body["input"] if i.get("type") == "reasoning")
            assert (reasoning["id"], reasoning["encrypted_content"]) == ("rs_1", "ENC")
        case "anthropic":
            said = next(m for m in body["messages"] if m["role"] == "assistant")
            first = said["content"][0]
            assert (first["type"], first["thinking"]) == ("thinking", "hmm")
            assert first["signature"] == "SIG"
            results = body["messages"][-1]["content"]
            assert [r["tool_use_id"] for r in results] == ["call_a", "call_b"]
        case _:
            said = next(c for c in body["contents"] if c["role"] == "model")
            assert "c2ln" in str(said), "the signature of the call goes back"


@pytest.mark.parametrize("kind", KINDS)
async def test_thinking_of_another_service_stays_home(connections: Connections, kind: str) -> None:
    stranger = ThinkingBlock(thinking="a secret thought")
    stranger.wire = {"at": "anthropic elsewhere", "signature": "S", "provider": "anthropic"}
    said = Msg(name="a", role="assistant", content=[stranger, TextBlock(text="Yes.")])
    with Server(answered(kind)) as server:
        await call(model(connections, server, kind), ask(Msg.user("a"), said, Msg.user("b")))
        body = str(server.asked[0].body)
    assert "secret thought" not in body
    assert "Yes." in body


@pytest.mark.parametrize("kind", KINDS)
async def test_images_go_where_they_are_seen_and_are_named_elsewhere(
    connections: Connections, kind: str
) -> None:
    pixel = base64.b64encode(bytes(range(256))).decode()
    source = Base64Source(data=pixel, media_type="image/png")
    msg = Msg.user("look", blocks=[DataBlock(source=source, name="dot.png")])
    with Server(answered(kind), answered(kind)) as server:
        await call(model(connections, server, kind, images=True), ask(msg))
        await call(model(connections, server, kind), ask(msg))
        seen, blind = (str(a.body) for a in server.asked)
    web = pixel.translate(str.maketrans("+/", "-_"))  # Google's alphabet is another one
    assert pixel in seen or web in seen
    assert pixel not in blind
    assert "dot.png: not shown to this model" in blind


async def test_half_a_call_is_handed_over_as_it_came(connections: Connections) -> None:
    with Server(wire.chat(calls=[("c", "Read", '{"path": "a')], finish="length")) as server:
        parts = await call(model(connections, server), ask())
    assert calls_of(parts) == [("c", "Read", '{"path": "a')]
    assert parts[-1].reason == "length"


CUT = {
    "openai_chat": (wire.chat("Half of", finish="length"), "length"),
    "openai": (wire.responses("Half of", incomplete="max_output_tokens"), "length"),
    "anthropic": (wire.anthropic("Half of", stop="max_tokens"), "length"),
    "anthropic window": (
        wire.anthropic("Half of", stop="model_context_window_exceeded"),
        "window",
    ),
    "google": (wire.google("Half of", finish="MAX_TOKENS"), "length"),
}


@pytest.mark.parametrize("kind", CUT)
async def test_an_answer_that_was_too_long_is_not_taken_for_whole(
    connections: Connections, kind: str
) -> None:
    answer, reason = CUT[kind]
    with Server(answer) as server:
        parts = await call(model(connections, server, kind.split()[0]), ask())
    assert text_of(parts) == "Half of"
    assert isinstance(parts[-1], Finish)
    assert parts[-1].reason == reason
    assert parts[-1].usage is not None
    assert (parts[-1].usage.input_tokens, parts[-1].usage.output_tokens) == (100, 10)


async def test_what_a_provider_ran_itself_is_never_sent_back_by_half(
    connections: Connections,
) -> None:
    """A server that runs its own search in mid-answer: its call and its result are no calls of
    ours, and neither goes back without the other."""
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    plain = wire.anthropic("It is four.", usage=(50, 10, 40, 10))
    events = b"".join(p for p in plain.pieces if isinstance(p, bytes)).decode().split("\n\n")
    blocks = [
        piece
        for at, block in enumerate((search, found))
        for piece in (
            {"type": "content_block_start", "index": at, "content_block": block},
            {"type": "content_block_stop", "index": at},
        )
    ]
    rest = [json.loads(e.partition("data: ")[2]) for e in events if e]
    for event in rest:
        if "index" in event:
            event["index"] += 2
    with Server(wire.sse(rest[0], *blocks, *rest[1:]), plain) as server:
        one = model(connections, server, "anthropic")
        parts = await call(one, ask())
        assert text_of(parts) == "It is four."
        assert calls_of(parts) == []
        assert parts[-1].reason == "stop"
        said = Msg(name="a", role="assistant", content=[TextBlock(text=text_of(parts))])
        await call(one, ask(Msg.user("2 + 2?"), said, Msg.user("Sure?")))
        sent = json.dumps(server.asked[-1].body)
    assert "It is four." in sent
    assert "srvtoolu_1" not in sent
    assert "server_tool_use" not in sent


async def test_closing_the_iterator_hangs_up(connections: Connections) -> None:
    hold = threading.Event()
    answer = wire.sse(wire.chat_chunk({"content": "Hel"}), hold, wire.chat_chunk({"content": "x"}))
    with Server(answer) as server:
        async with aclosing(model(connections, server).stream(ask())) as parts:  # type: ignore[type-var]
            async for part in parts:
                assert isinstance(part, TextPart)
                break
        assert await asyncio.to_thread(server.gone.wait, 5), "the server saw the client leave"


async def test_long_answers_arrive_whole_and_in_few_batches(connections: Connections) -> None:
    words = [f"word{n} " for n in range(3000)]
    with Server(wire.chat(*words)) as server:
        parts = await call(model(connections, server), ask())
    assert text_of(parts) == "".join(words)
    assert len(parts) < 1500, "neighbours are put together on the way"


async def test_ids_that_a_provider_would_refuse_are_replaced_in_pairs(
    connections: Connections,
) -> None:
    odd = "reply:1:0/" + "x" * 60
    said = Msg(
        name="a",
        role="assistant",
        content=[ToolCallBlock(id=odd, name="Read", input='{"path":"a"}')],
    )
    result = Msg(
        name="s", role="user", content=[ToolResultBlock(id=odd, name="Read", output="text")]
    )
    with Server(answered("openai_chat"), wire.chat("ok")) as server:
        await call(model(connections, server), ask(Msg.user("a"), said, result))
        await call(model(connections, server, "mistral"), ask(Msg.user("a"), said, result))
        for asked, longest in zip(server.asked, (40, 9), strict=True):
            messages = asked.body["messages"]
            call_id = messages[-2]["tool_calls"][0]["id"]
            assert messages[-1]["tool_call_id"] == call_id
            assert len(call_id) <= longest
            assert call_id.replace("_", "").isalnum()


async def test_a_key_that_is_missing_is_said_before_anything_is_sent(
    connections: Connections,
) -> None:
    async def none(_definition: ModelDefinition) -> str:
        return ""

    with Server() as server:
        made = ModelDefinition("t", "openai", "m", "Model", address=server.url)
        with pytest.raises(ModelError) as caught:
            await call(ProviderModel(made, connections, none), ask())
        assert server.asked == []
    assert caught.value.code == "model.no_key"
