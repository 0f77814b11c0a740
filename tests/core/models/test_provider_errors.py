"""What providers answer when something is wrong, as their documentation and users report it."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.context.limits import (
    output_from_error,
    window_beside_output,
    window_from_error,
)
from desktop_app.core.errors import ModelError
from desktop_app.core.models.base import TextPart
from desktop_app.core.models.definitions import ModelDefinition
from desktop_app.core.models.network import Network
from desktop_app.core.models.process import ModelsProcess
from desktop_app.core.models.provider import Connections, ProviderModel
from tests.core.models.test_provider_wire import ask, call, model
from tests.helpers import providers as wire
from tests.helpers.providers import Answer, Server


@pytest.fixture
def connections(models_process: ModelsProcess) -> Connections:
    return Connections(Network(stall=0.3), models_process)


async def failing(one: ProviderModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await call(one, ask())
    return caught.value


OVERFLOWS: list[tuple[str, Answer, int | None]] = [
    (
        "openai_chat",
        wire.openai_error(
            400,
            "This model's maximum context length is 8192 tokens. However, your messages resulted "
            "in 9001 tokens. Please reduce the length of the messages.",
            "context_length_exceeded",
            "invalid_request_error",
        ),
        8192,
    ),
    (
        "openai",
        wire.openai_error(
            400,
            "Your input exceeds the context window of this model. Please adjust your input and "
            "try again.",
            "context_length_exceeded",
            "invalid_request_error",
        ),
        None,
    ),
    (
        "anthropic",
        wire.anthropic_error(
            400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"
        ),
        200_000,
    ),
    (
        "google",
        wire.google_error(
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed "
            "(1048576).",
        ),
        1_048_576,
    ),
    (  # llama.cpp
        "llamacpp",
        wire.json_answer(
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size (4096 tokens), "
                    "try increasing it",
                    "type": "exceed_context_size_error",
                }
            },
            400,
        ),
        4096,
    ),
    (  # LM Studio
        "lmstudio",
        wire.json_answer(
            {
                "error": "Trying to keep the first 5000 tokens when context the overflows. "
                "However, the model is loaded with context length of only 4096 tokens"
            },
            400,
        ),
        4096,
    ),
    (  # vLLM
        "vllm",
        wire.json_answer(
            {
                "object": "error",
                "message": "This model's maximum context length is 32768 tokens. However, you "
                "requested 40000 tokens in the messages, Please reduce the length of the messages.",
                "type": "BadRequestError",
                "code": 400,
            },
            400,
        ),
        32_768,
    ),
    (
        "dashscope",
        wire.openai_error(
            400,
            "<400> InternalError.Algo.InvalidParameter: Range of input length should be "
            "[1, 129024]",
            "invalid_parameter_error",
            "invalid_request_error",
        ),
        None,
    ),
]


@pytest.mark.parametrize(("kind", "answer", "window"), OVERFLOWS, ids=[o[0] for o in OVERFLOWS])
async def test_overflow_in_each_providers_words(
    connections: Connections, kind: str, answer: Answer, window: int | None
) -> None:
    with Server(answer) as server:
        error = await failing(model(connections, server, kind))
    assert error.code == "model.overflow"
    assert not error.retryable
    assert window_from_error(error.params["detail"]) == window


# What providers say when the answer that was asked for is longer than they give: the longest that
# they allow, and the window where it is that which has no room.
ANSWERS: list[tuple[str, Answer, int | None, int | None]] = [
    (
        "openai_chat",
        wire.openai_error(
            400,
            "max_tokens is too large: 32768. This model supports at most 4096 completion tokens, "
            "whereas you provided 32768.",
            None,
            "invalid_request_error",
        ),
        4096,
        None,
    ),
    (
        "anthropic",
        wire.anthropic_error(
            400,
            "invalid_request_error",
            "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for "
            "claude-3-5-sonnet",
        ),
        8192,
        None,
    ),
    (
        "anthropic",
        wire.anthropic_error(
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease "
            "input length or `max_tokens` and try again",
        ),
        None,
        200_000,
    ),
    (
        "google",
        wire.google_error(
            400,
            "INVALID_ARGUMENT",
            "Unable to submit request because it has a maxOutputTokens value of 100000 but the "
            "supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try "
            "again.",
        ),
        65_536,
        None,
    ),
    (
        "deepseek",
        wire.openai_error(
            400,
            "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
            "invalid_request_error",
            "invalid_request_error",
        ),
        8192,
        None,
    ),
    (
        "compatible",
        wire.openai_error(
            400,
            "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` "
            "is less than the `context_window` for this model",
            None,
            "invalid_request_error",
        ),
        8192,
        None,
    ),
    (
        "vllm",
        wire.json_answer(
            {
                "object": "error",
                "message": "'max_tokens' or 'max_completion_tokens' is too large: 30000. This "
                "model's maximum context length is 32768 tokens and your request has 5000 input "
                "tokens (30000 > 32768 - 5000).",
                "type": "BadRequestError",
                "code": 400,
            },
            400,
        ),
        None,
        32_768,
    ),
]


@pytest.mark.parametrize(("kind", "answer", "longest", "window"), ANSWERS)
async def test_too_long_an_answer_in_each_providers_words(
    connections: Connections, kind: str, answer: Answer, longest: int | None, window: int | None
) -> None:
    with Server(answer) as server:
        error = await failing(model(connections, server, kind))
    assert (error.code, error.retryable) == ("model.max_output", False)
    assert output_from_error(error.params["detail"]) == longest
    assert window_beside_output(error.params["detail"]) == window


CASES: list[tuple[str, Answer, str, bool]] = [
    (
        "openai_chat",
        wire.openai_error(401, "Incorrect API key provided: sk-te***cdef.", "invalid_api_key"),
        "model.auth",
        False,
    ),
    (
        "anthropic",
        wire.anthropic_error(401, "authentication_error", "invalid x-api-key"),
        "model.auth",
        False,
    ),
    (
        "google",
        wire.google_error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid one."),
        "model.auth",
        False,
    ),
    (
        "openai_chat",
        wire.openai_error(
            429, "Rate limit reached for requests", "rate_limit_exceeded", "requests"
        ),
        "model.rate_limited",
        True,
    ),
    (
        "openai",
        wire.openai_error(
            429,
            "You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota",
            "insufficient_quota",
        ),
        "model.quota",
        False,
    ),
    ("deepseek", wire.openai_error(402, "Insufficient Balance"), "model.quota", False),
    (
        "anthropic",
        wire.anthropic_error(529, "overloaded_error", "Overloaded"),
        "model.overloaded",
        True,
    ),
    ("google", wire.google_error(503, "UNAVAILABLE", "The model is overloaded."), "", True),
    ("openai", wire.openai_error(500, "The server had an error"), "model.unavailable", True),
    (
        "openai_chat",
        wire.openai_error(404, "no such model", "model_not_found"),
        "model.not_found",
        False,
    ),
    (
        "openai_chat",
        wire.openai_error(400, "Unsupported parameter: 'max_tokens' is not supported with o9."),
        "model.rejected",
        False,
    ),
    ("compatible", Answer([b"<html>Bad Gateway</html>"], 502), "model.unavailable", True),
    ("compatible", Answer([b"<html>hello</html>"], 200, {"Content-Type": "text/html"}), "", False),
]


@pytest.mark.parametrize(
    ("kind", "answer", "code", "retryable"), CASES, ids=[f"{c[0]}-{c[2]}" for c in CASES]
)
async def test_errors_before_the_stream(
    connections: Connections, kind: str, answer: Answer, code: str, retryable: bool
) -> None:
    with Server(answer) as server:
        error = await failing(model(connections, server, kind))
        assert len(server.asked) == 1, "the SDK does not repeat by itself"
    known = (
        ("model.overloaded", "model.unavailable")
        if retryable
        else ("model.empty", "model.cut", "model.failed")
    )
    assert error.code == code or (not code and error.code in known)
    assert error.retryable == retryable or not code
    assert "sk-test-0123456789abcdef" not in str(error)


@pytest.mark.parametrize("kind", ["openai_chat", "anthropic", "openai"])
async def test_retry_after_is_heard(connections: Connections, kind: str) -> None:
    if kind == "anthropic":
        answer = wire.anthropic_error(429, "rate_limit_error", "slow down", retry_after="7")
    else:
        answer = wire.openai_error(429, "slow down", "rate_limit_exceeded", retry_after="7")
    with Server(answer) as server:
        error = await failing(model(connections, server, kind))
    assert (error.code, error.params["retry_after"]) == ("model.rate_limited", 7.0)


async def streaming(one: ProviderModel) -> tuple[str, ModelError]:
    """What arrived before the error."""
    said: list[str] = []
    with pytest.raises(ModelError) as caught:
        async for part in one.stream(ask()):
            if isinstance(part, TextPart):
                said.append(part.text)
    return "".join(said), caught.value


async def test_an_error_in_mid_stream_keeps_what_arrived(connections: Connections) -> None:
    events = [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ]
    with Server(wire.anthropic("Hello", last=events)) as server:
        said, error = await streaming(model(connections, server, "anthropic"))
    assert said == "Hello"
    assert error.code == "model.overloaded"

    broken = {"error": {"message": "upstream failed", "type": "server_error", "code": 500}}
    with Server(wire.sse(wire.chat_chunk({"content": "Hel"}), broken)) as server:
        said, error = await streaming(model(connections, server))
    assert said == "Hel"
    assert error.code in ("model.unavailable", "model.rejected", "model.failed")


async def test_a_connection_that_breaks_is_cut_not_finished(connections: Connections) -> None:
    with Server(wire.sse(wire.chat_chunk({"content": "Hel"}), cut=True)) as server:
        said, error = await streaming(model(connections, server))
    assert (said, error.code, error.retryable) == ("Hel", "model.cut", True)


@pytest.mark.parametrize("kind", ["openai_chat", "anthropic"])
async def test_a_stream_that_ends_without_its_end_is_cut(
    connections: Connections, kind: str
) -> None:
    answer = (
        wire.anthropic("Hello", last=[{"type": "ping"}])
        if kind == "anthropic"
        else wire.sse(wire.chat_chunk({"content": "Hello"}))
    )
    with Server(answer) as server:
        said, error = await streaming(model(connections, server, kind))
    assert (said, error.code) == ("Hello", "model.cut")


async def test_a_stream_that_stalls_is_ended(connections: Connections) -> None:
    hold = threading.Event()
    with Server(wire.sse(wire.chat_chunk({"content": "Hel"}), hold)) as server:
        said, error = await streaming(model(connections, server))
        hold.set()
    assert (said, error.code, error.retryable) == ("Hel", "model.stalled", True)


async def test_a_server_that_never_answers(connections: Connections) -> None:
    hold = threading.Event()
    with Server(lambda _asked: Answer([hold])) as server:
        error = await failing(model(connections, server))
        hold.set()
    assert (error.code, error.retryable) == ("model.timeout", True)


async def test_nobody_listens(connections: Connections) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for kind in ("openai_chat", "anthropic", "google"):
        error = await failing(model(connections, f"http://127.0.0.1:{port}", kind))
        assert (error.code, error.retryable) == ("model.unreachable", True)
        assert error.params["host"] == f"127.0.0.1:{port}"


async def test_a_proxy_that_refuses_is_named(
    connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", f"http://me:hidden-word@127.0.0.1:{port}")
    error = await failing(model(connections, "http://models.example"))
    assert (error.code, error.params["proxy"]) == ("model.proxy", f"127.0.0.1:{port}")
    assert "hidden-word" not in str(error)
    assert Network().route("http://127.0.0.1:11434/v1").proxy == "", (
        "this computer is asked directly"
    )
    monkeypatch.setenv("NO_PROXY", "models.example")
    assert Network().route("http://models.example").proxy == ""


async def test_loopback_goes_past_the_proxy(
    connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with Server(wire.chat("Hello")) as server:
        parts = await call(model(connections, server), ask())
    assert any(isinstance(p, TextPart) for p in parts)


@pytest.fixture
def strange_tls(tmp_path: Path) -> Any:
    """A TLS server whose certificate nobody vouches for."""
    key, cert = tmp_path / "k.pem", tmp_path / "c.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
         "-subj", "/CN=localhost", "-keyout", str(key), "-out", str(cert)],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def serve() -> None:
        listener.settimeout(0.05)
        while not stop.is_set():
            try:
                raw, _ = listener.accept()
            except TimeoutError:
                continue
            try:
                context.wrap_socket(raw, server_side=True).close()
            except OSError:
                raw.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    stop.set()
    thread.join()
    listener.close()


async def test_a_certificate_nobody_vouches_for(connections: Connections, strange_tls: int) -> None:
    error = await failing(model(connections, f"https://localhost:{strange_tls}"))
    assert error.code == "model.certificate"
    assert not error.retryable
    assert error.params["host"] == f"localhost:{strange_tls}"
    assert error.params["detail"]


async def test_a_filtered_answer_says_so(connections: Connections) -> None:
    with Server(wire.chat("Hel", finish="content_filter")) as server:
        parts = await call(model(connections, server), ask())
    assert parts[-1].reason == "filter"


async def test_a_worker_ends_with_calls_under_way() -> None:
    made = Connections()
    hold = threading.Event()
    with Server(wire.sse(wire.chat_chunk({"content": "Hel"}), hold)) as server:
        one = model(made, server)
        stream: Any = one.stream(ask())
        assert isinstance(await anext(stream), TextPart)
        await made.close()
        hold.set()
        assert await asyncio.to_thread(server.gone.wait, 5)
        with pytest.raises((ModelError, asyncio.CancelledError)):
            async for _ in stream:
                pass
    assert not [t for t in threading.enumerate() if t.name == "models"]


async def test_keys_of_the_environment_are_not_used(
    connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that lies about in the environment must not go to an address the person entered."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")

    async def none(_definition: ModelDefinition) -> str:
        return ""

    with Server(wire.chat("Hello")) as server:
        made = ModelDefinition("t", "compatible", "m", "M", address=f"{server.url}/v1")
        await call(ProviderModel(made, connections, none), ask())
        assert "environment" not in str(server.asked[0].headers)
