"""The person's models: the file, the keys, lists, trials, servers on this computer."""

from __future__ import annotations

import asyncio
import json
import stat
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from desktop_app.core.errors import ModelError, SettingsError
from desktop_app.core.log import MASK, mask
from desktop_app.core.messages import Usage
from desktop_app.core.models.base import Price
from desktop_app.core.models.catalogue import look_up
from desktop_app.core.models.definitions import Definitions, ModelDefinition, from_json, to_json
from desktop_app.core.models.discovery import discover, probe
from desktop_app.core.models.library import ModelLibrary
from desktop_app.core.models.network import Network
from desktop_app.core.models.process import ModelsProcess
from desktop_app.core.models.provider import Connections
from desktop_app.core.models.providers import Wire
from desktop_app.core.models.registry import Models
from desktop_app.core.secrets import Secrets
from tests.helpers import providers as wire
from tests.helpers.providers import Answer, Server

KEY = "sk-test-0123456789abcdef"


class Ring:
    """A keyring in memory. ``broken`` makes every call fail."""

    def __init__(self, *, broken: bool = False) -> None:
        self.held: dict[tuple[str, str], str] = {}
        self.broken = broken

    def _try(self) -> None:
        if self.broken:
            raise RuntimeError("locked")

    def get_password(self, service: str, name: str) -> str | None:
        self._try()
        return self.held.get((service, name))

    def set_password(self, service: str, name: str, key: str) -> None:
        self._try()
        self.held[service, name] = key

    def delete_password(self, service: str, name: str) -> None:
        self._try()
        del self.held[service, name]


@pytest.fixture
async def library(tmp_path: Path, models_process: ModelsProcess) -> AsyncIterator[ModelLibrary]:
    ring = Ring()
    made = ModelLibrary(
        tmp_path / "config" / "models.json",
        Models(),
        secrets=Secrets(lambda: ring),
        connections=Connections(Network(stall=2.0), models_process),
        find=lambda: [],
    )
    made.ring = ring  # type: ignore[attr-defined]
    await made.load()
    yield made
    await made.close()


def entry(**more: Any) -> ModelDefinition:
    return ModelDefinition(
        **{"id": "", "provider": "openai", "model": "gpt-5", "name": "GPT", **more}
    )


async def test_a_model_is_added_found_again_and_removed(
    library: ModelLibrary, tmp_path: Path
) -> None:
    one, place = await library.put(entry(price=Price(1.0, 2.0)), KEY)
    assert (one.id, place) == ("openai:gpt-5", "keyring")
    again, _ = await library.put(entry(name="Second"))
    assert again.id == "openai:gpt-5#2"
    text = (tmp_path / "config" / "models.json").read_text()
    assert KEY not in text, "a key is in the keyring, nowhere else"
    assert [m.id for m in library._registry.list()] == ["guide", one.id, again.id]

    other = ModelLibrary(tmp_path / "config" / "models.json", Models(), secrets=library.secrets)
    await other.load()
    assert other.models == [one, again]
    assert await other.key_of(one) == KEY
    assert other._registry.info(one.id).price == Price(1.0, 2.0)

    await library.remove(again.id)
    assert await library.key_of(one) == KEY, "another model of the service still needs it"
    await library.remove(one.id)
    assert await library.key_of(one) == ""
    assert library.ring.held == {}  # type: ignore[attr-defined]
    assert [m.id for m in library._registry.list()] == ["guide"]


@pytest.mark.parametrize("find", [lambda: None, lambda: Ring(broken=True)])
async def test_without_a_keyring_a_key_lasts_until_the_end(find: Any) -> None:
    secrets = Secrets(find)
    assert await secrets.put("openai x", KEY) == "session"
    assert await secrets.get("openai x") == KEY
    assert await Secrets(find).get("openai x") == ""
    await secrets.remove("openai x")
    assert await secrets.get("openai x") == ""


async def test_a_keyring_that_refuses_keeps_what_it_had() -> None:
    ring = Ring()
    secrets = Secrets(lambda: ring)
    assert await secrets.put("a", "the-first-key") == "keyring"
    ring.set_password = lambda *_: None  # type: ignore[method-assign]  # denied without a word
    assert await secrets.put("a", "the-second-key") == "session"
    assert ring.held["slipway", "a"] == "the-first-key"
    assert await secrets.get("a") == "the-second-key"


async def test_keys_never_reach_the_log(library: ModelLibrary) -> None:
    odd = "neither-shape-nor-name-9"
    await library.put(entry(), odd)
    assert mask(f"sent {odd} there") == f"sent {MASK} there"


def test_definitions_survive_the_file() -> None:
    one = entry(
        id="x",
        address="http://127.0.0.1:9/v1",
        window=200_000,
        window_source="catalogue",
        max_output=9,
        price=Price(1, 2, 0.5, 1.5),
        images=True,
        effort="high",
        fallback="guide",
        extra={"later": [1]},
    )
    assert from_json(json.loads(json.dumps(to_json(one)))) == one


async def test_a_broken_file_is_kept_and_said(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    path.write_text("{not json")
    library = ModelLibrary(path, Models(), secrets=Secrets(lambda: None))
    await library.load()
    assert library.file.problem is not None
    assert path.read_text() == "{not json"
    await library.put(entry())
    kept = [p for p in tmp_path.iterdir() if ".broken-" in p.name]
    assert [p.read_text() for p in kept] == ["{not json"]
    assert Definitions.load(path).models[0].model == "gpt-5"


def test_entries_that_do_not_fit_are_reported_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    bad: list[Any] = [
        {"id": "a", "provider": "nobody", "model": "m"},
        {"id": "b", "provider": "compatible", "model": "m"},
        {"id": "c", "provider": "openai", "model": "m", "window": "big"},
        {"id": "guide", "provider": "openai", "model": "m"},
        7,
    ]
    good = to_json(entry(id="ok"))
    path.write_text(json.dumps({"models": [*bad, good], "mine": 1}))
    file = Definitions.load(path)
    assert [m.id for m in file.models] == ["ok"]
    assert [name for name, _ in file.invalid] == ["a", "b", "c", "guide", "#5"]
    file.save()
    value = json.loads(path.read_text())
    assert value["mine"] == 1
    assert [e for e in bad if e not in value["models"]] == []


async def test_a_file_that_cannot_be_written_changes_nothing(
    library: ModelLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = await library.put(entry())

    def fail(*_args: Any, **_more: Any) -> None:
        raise SettingsError("settings.unwritable", path="p", reason="full")

    monkeypatch.setattr(Definitions, "save", fail)
    with pytest.raises(SettingsError):
        await library.put(entry(name="another"))
    with pytest.raises(SettingsError):
        await library.remove(one.id)
    with pytest.raises(SettingsError):
        await library.set_discover(False)
    assert library.models == [one]
    assert library.file.discover
    assert [m.id for m in library._registry.list()] == ["guide", one.id]


async def test_a_change_that_fails_takes_nothing_of_another_with_it(
    library: ModelLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saving, go, save = threading.Event(), threading.Event(), Definitions.save
    outcomes = [SettingsError("settings.unwritable", path="p", reason="full"), None]

    def held(file: Definitions) -> Path | None:
        saving.set()
        assert go.wait(10)
        if (failure := outcomes.pop(0)) is not None:
            raise failure
        return save(file)

    monkeypatch.setattr(Definitions, "save", held)
    first = asyncio.ensure_future(library.put(entry(name="first")))
    await asyncio.to_thread(saving.wait, 10)
    second = asyncio.ensure_future(library.put(entry(name="second", model="gpt-5-mini")))
    await asyncio.sleep(0)
    go.set()
    with pytest.raises(SettingsError):
        await first
    kept, _ = await second
    assert library.models == [kept]
    assert Definitions.load(tmp_path / "config" / "models.json").models == [kept]


async def test_the_file_is_the_persons_alone(library: ModelLibrary, tmp_path: Path) -> None:
    await library.put(entry())
    assert stat.S_IMODE((tmp_path / "config" / "models.json").stat().st_mode) == 0o600


# -- the catalogue ----------------------------------------------------------------------------


def test_windows_and_prices_of_the_catalogue() -> None:
    known = look_up("openai", "gpt-5")
    assert known.window == 400_000
    assert known.price is not None
    assert (known.price.input, known.price.output, known.price.cache_read) == (1.25, 10.0, 0.125)
    assert look_up("anthropic", "claude-sonnet-5-5").window == 1_000_000
    assert look_up("google", "gemini-2.5-pro").window, (
        "found in another list when its own is silent"
    )
    assert look_up("openai", "no-such-model").price is None
    assert look_up("ollama", "llama3").window is None
    assert look_up("nobody", "x").window is None


def test_cached_tokens_cost_what_they_cost() -> None:
    usage = Usage(input_tokens=1000, output_tokens=10, cache_input_tokens=600)
    assert Price(2.0, 8.0, 0.2).cost(usage) == pytest.approx((400 * 2 + 600 * 0.2 + 80) / 1e6)
    assert Price(2.0, 8.0).cost(usage) == pytest.approx((1000 * 2 + 80) / 1e6)


# -- lists and trials -------------------------------------------------------------------------

LISTS: list[tuple[str, Any, str, str]] = [
    (
        "openai",
        {"data": [{"id": "m1", "object": "model"}, {"id": "m2"}]},
        "/v1/models",
        "authorization",
    ),
    (
        "anthropic",
        {"data": [{"id": "m1", "type": "model", "max_input_tokens": 200_000}, {"id": "m2"}]},
        "/v1/models?limit=1000",
        "x-api-key",
    ),
    (
        "google",
        {
            "models": [
                {
                    "name": "models/m1",
                    "inputTokenLimit": 200_000,
                    "supportedGenerationMethods": ["generateContent"],
                },
                {"name": "models/e", "supportedGenerationMethods": ["embedContent"]},
                {"name": "models/m2"},
            ]
        },
        "/v1beta/models?pageSize=1000",
        "x-goog-api-key",
    ),
]


@pytest.mark.parametrize(("kind", "body", "path", "header"), LISTS, ids=[x[0] for x in LISTS])
async def test_the_providers_own_list(
    library: ModelLibrary, kind: str, body: Any, path: str, header: str
) -> None:
    with Server(wire.json_answer(body)) as server:
        address = server.url + ("/v1" if kind == "openai" else "")
        listed = await library.list_models(entry(provider=kind, address=address), KEY)
        asked = server.asked[0]
    assert [m.name for m in listed] == ["m1", "m2"]
    assert listed[0].window == (None if kind == "openai" else 200_000)
    assert asked.path == path
    assert asked.headers[header].endswith(KEY)


async def test_a_list_that_is_refused(library: ModelLibrary) -> None:
    refusal = wire.openai_error(401, f"Incorrect API key: {KEY}", "invalid_api_key")
    with Server(refusal) as server, pytest.raises(ModelError) as caught:
        await library.list_models(entry(address=f"{server.url}/v1"), KEY)
    assert caught.value.code == "model.auth"
    assert KEY not in str(caught.value)
    with pytest.raises(ModelError) as caught:
        await library.list_models(entry())
    assert caught.value.code == "model.no_key"


async def test_a_trial_is_a_real_call(library: ModelLibrary) -> None:
    with Server(wire.responses("Hello there.")) as server:
        trial = await library.try_out(entry(address=f"{server.url}/v1"), KEY)
        assert server.asked[0].body["model"] == "gpt-5"
    assert trial.text == "Hello there."
    assert 0 < trial.first <= trial.seconds
    assert trial.usage is not None
    assert library.models == [], "trying keeps nothing"


async def test_a_trial_does_not_count_what_starts_with_the_first_call(
    library: ModelLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider is not slow because its SDK is read for the first time."""
    warm, clock = library.connections.warm, [100.0]

    async def slow(wanted: Wire) -> None:
        await warm(wanted)
        clock[0] += 30.0

    monkeypatch.setattr(library.connections, "warm", slow)
    watch = SimpleNamespace(monotonic=lambda: clock[0])
    monkeypatch.setattr("desktop_app.core.models.library.time", watch)
    with Server(wire.responses("Hello there.")) as server:
        trial = await library.try_out(entry(address=f"{server.url}/v1"), KEY)
    assert trial.text == "Hello there."
    assert trial.seconds == 0.0


# -- servers on this computer -----------------------------------------------------------------


def test_servers_are_found_and_told_apart() -> None:
    vllm = {"data": [{"id": "qwen", "owned_by": "vllm", "max_model_len": 32_768}]}
    llama = {"data": [{"id": "l.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8_192}}]}
    with (
        Server(wire.json_answer(vllm)) as one,
        Server(wire.json_answer(llama)) as two,
        Server(Answer([b"<html>a web site</html>"])) as site,
        Server(wire.json_answer({"data": "none"}, status=200)) as odd,
    ):
        found = discover(
            {"ollama": one.port, "vllm": two.port, "lmstudio": site.port, "llamacpp": odd.port}
        )
        assert [a.path for a in one.asked] == ["/v1/models"], "one request, no more"
    assert [(f.provider, f.models) for f in found] == [
        ("vllm", ("qwen",)),
        ("llamacpp", ("l.gguf",)),
    ]
    assert found[0].windows == {"qwen": 32_768}
    assert found[0].address == f"http://127.0.0.1:{one.port}/v1"


def test_a_port_that_is_silent_costs_a_moment() -> None:
    hold = threading.Event()
    with Server(lambda _asked: Answer([hold])) as server:
        assert probe("ollama", server.port) is None
        hold.set()


async def test_looking_can_be_switched_off(library: ModelLibrary, tmp_path: Path) -> None:
    asked: list[int] = []

    def find() -> list[Any]:
        asked.append(1)
        return []

    library._find = find
    await library.set_discover(False)
    assert await library.found() == []
    assert asked == []
    assert Definitions.load(tmp_path / "config" / "models.json").discover is False
    await library.set_discover(True)
    await library.found()
    assert asked == [1]
