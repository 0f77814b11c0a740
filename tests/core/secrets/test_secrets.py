"""Keys: a name of a variable instead of a key, and a keyring that is slow, locked or silent."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.errors import ModelError, SettingsError
from desktop_app.core.log import MASK, mask
from desktop_app.core.models.definitions import ModelDefinition
from desktop_app.core.models.library import ModelLibrary
from desktop_app.core.models.registry import Models
from desktop_app.core.secrets import Secrets
from desktop_app.core.secrets import system as module

KEY = "sk-a-key-of-the-tests-0123456789"


class Locked:
    """A keyring that answers nothing until it is unlocked, as one that shows a password window."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.held: dict[str, str] = {"openai api.openai.com": KEY}

    def get_password(self, service: str, name: str) -> str | None:
        self.open.wait(60)
        return self.held.get(name)

    def set_password(self, service: str, name: str, key: str) -> None:
        self.open.wait(60)
        self.held[name] = key

    def delete_password(self, service: str, name: str) -> None:
        self.open.wait(60)
        del self.held[name]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "key-variables.json"


def entry() -> ModelDefinition:
    return ModelDefinition(id="one", provider="openai", model="gpt-5", name="GPT")


async def test_a_variable_is_kept_by_its_name_and_read_whenever_it_is_needed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = Locked()
    ring.open.set()
    secrets = Secrets(lambda: ring, file)
    name = "openai api.openai.com"
    monkeypatch.setenv("SLIPWAY_TEST_KEY", "the-first-value")
    assert await secrets.put(name, " ${SLIPWAY_TEST_KEY} ") == "environment"
    assert await secrets.get(name) == "the-first-value"
    assert ring.held == {}, "the key that it replaces is not left lying"
    monkeypatch.setenv("SLIPWAY_TEST_KEY", "the-second-value")
    assert await secrets.get(name) == "the-second-value"
    assert mask("sent the-second-value") == f"sent {MASK}"
    assert "value" not in file.read_text()
    again = Secrets(lambda: None, file)  # the next start, of a system without a keyring
    assert await again.variable(name) == "SLIPWAY_TEST_KEY"
    assert await again.get(name) == "the-second-value"
    assert await again.put(name, KEY) == "session"
    assert await again.variable(name) == ""
    assert await again.get(name) == KEY
    await secrets.remove(name)
    assert await secrets.get(name) == ""


@pytest.mark.parametrize("text", ["$HOME", "${HOME}x", "${}", "${1A}", "a ${HOME}", "${HOME} b"])
async def test_what_is_no_plain_reference_is_a_key(text: str) -> None:
    secrets = Secrets(lambda: None)
    assert await secrets.put("a", text) == "session"
    assert await secrets.get("a") == text


async def test_a_variable_that_is_not_set_is_named(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLIPWAY_TEST_KEY", raising=False)
    library = ModelLibrary(
        tmp_path / "models.json", Models(), secrets=Secrets(lambda: None, file), find=lambda: []
    )
    one, place = await library.put(entry(), "${SLIPWAY_TEST_KEY}")
    assert place == "environment"
    with pytest.raises(ModelError) as caught:
        await library.key_of(one)
    assert caught.value.code == "model.no_variable"
    assert caught.value.params == {"model": "GPT", "variable": "SLIPWAY_TEST_KEY"}
    monkeypatch.setenv("SLIPWAY_TEST_KEY", "set-meanwhile")
    assert await library.key_of(one) == "set-meanwhile"
    await library.close()


async def test_a_name_that_cannot_be_saved_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    secrets = Secrets(lambda: None, tmp_path / "file" / "below")
    with pytest.raises(SettingsError):
        await secrets.put("a", "${HOME}")
    assert await secrets.get("a") == ""


async def test_a_locked_keyring_holds_nothing_up_and_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.3)
    monkeypatch.setattr(module, "SLOW_SECONDS", 0.05)
    ring = Locked()
    secrets = Secrets(lambda: ring)
    told: list[bool] = []
    secrets.keyring.on_wait = told.append
    library = ModelLibrary(tmp_path / "models.json", Models(), secrets=secrets, find=lambda: [])
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    turning = asyncio.create_task(turn())
    one = entry()

    async def ask() -> str:
        with pytest.raises(ModelError) as caught:
            await library.key_of(one)
        return caught.value.code

    # More at once than the loop's own pool has threads: nothing else of the program waits for them.
    assert set(await asyncio.gather(*(ask() for _ in range(40)))) == {"model.keyring"}
    assert await asyncio.to_thread(lambda: 7) == 7
    assert turns > 10, "the window goes on meanwhile"
    # On a busy machine not all of them wait at the same time.
    assert told[0] is True, "and says that it waits"
    assert told[-1] is False, "as long as it does"
    ring.open.set()
    monkeypatch.setattr(module, "SECONDS", 60.0)
    assert await library.key_of(one) == KEY, "unlocked, it is asked again"
    assert not secrets.silent(one.service)
    turning.cancel()
    await library.close()


async def test_a_keyring_that_cannot_be_found_in_time_is_looked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ring = Locked()
    unlocked = threading.Event()

    def find() -> Any:
        unlocked.wait(60)
        return ring

    monkeypatch.setattr(module, "SECONDS", 0.1)
    secrets = Secrets(find)
    assert await secrets.place() == "session"
    assert await secrets.get("openai api.openai.com") == ""
    assert secrets.silent("openai api.openai.com")
    unlocked.set()
    ring.open.set()
    monkeypatch.setattr(module, "SECONDS", 60.0)
    assert await secrets.place() == "keyring"
    assert await secrets.get("openai api.openai.com") == KEY
