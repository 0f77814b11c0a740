"""Where a key goes: the keyring, the encrypted file, this run; and a keyring that is in trouble."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.errors import ModelError, SecretsError, WorkspaceError
from desktop_app.core.mcp.oauth import Storage
from desktop_app.core.models.definitions import ModelDefinition
from desktop_app.core.models.library import ModelLibrary
from desktop_app.core.models.registry import Models
from desktop_app.core.paths import paths
from desktop_app.core.places import Places
from desktop_app.core.secrets import KeyFile, Secrets
from desktop_app.core.secrets import system as module
from desktop_app.core.secrets.sealed import Cost

CHEAP = Cost(n=1 << 4)
WORDS = "correct horse battery"
KEY = "sk-a-key-of-the-tests-0123456789"
NAME = "openai api.openai.com"


class Person:
    """What a person answers: a passphrase for the locked file, and where a new key goes."""

    def __init__(self, secrets: Secrets, *, opens: str = "", makes: str = "") -> None:
        self.secrets, self.opens, self.makes = secrets, opens, makes
        self.asked: list[str] = []
        secrets.asks = self

    async def unlock(self) -> bool:
        self.asked.append("unlock")
        if self.opens:
            await self.secrets.unlock_file(self.opens)
        return bool(self.opens)

    async def choose(self) -> bool:
        self.asked.append("choose")
        if self.makes:
            await self.secrets.make_file(self.makes)
        return bool(self.makes)


class Plain:
    """A keyring that works. ``longest``: it raises for a longer value; ``seconds`` it takes;
    ``denied``: its person does not let us in."""

    def __init__(self, longest: int = 1 << 30, seconds: float = 0.0) -> None:
        self.held: dict[str, str] = {}
        self.longest, self.seconds, self.denied = longest, seconds, False
        self.calls = 0
        self.fails = 0

    def _come_in(self) -> None:
        self.calls += 1
        time.sleep(self.seconds)
        if self.fails:
            self.fails -= 1
            raise OSError("the connection was lost")
        if self.denied:
            raise PermissionError("the prompt was dismissed")

    def get_password(self, service: str, name: str) -> str | None:
        assert service == "slipway"
        self._come_in()
        return self.held.get(name)

    def set_password(self, service: str, name: str, key: str) -> None:
        self._come_in()
        if len(key) > self.longest:
            raise ValueError("the stub received bad data")
        self.held[name] = key

    def delete_password(self, service: str, name: str) -> None:
        self._come_in()
        del self.held[name]


def secrets(tmp_path: Path, ring: Any = None) -> Secrets:
    file = KeyFile(tmp_path / "data" / "keys.json", CHEAP)
    return Secrets(lambda: ring, tmp_path / "key-variables.json", file)


def definition(**more: Any) -> ModelDefinition:
    return ModelDefinition(id="one", provider="openai", model="gpt-5", name="GPT", **more)


def library(tmp_path: Path, kept: Secrets) -> ModelLibrary:
    return ModelLibrary(tmp_path / "models.json", Models(), secrets=kept, find=lambda: [])


# -- no keyring: an explicit choice --------------------------------------------------------------


async def test_without_a_keyring_the_person_chooses_and_the_file_keeps_the_key(
    tmp_path: Path,
) -> None:
    kept = secrets(tmp_path)
    person = Person(kept, makes=WORDS)
    assert await kept.place() == "session"
    models = library(tmp_path, kept)
    one, place = await models.put(definition(), KEY)
    assert (place, person.asked) == ("file", ["choose"])
    assert await kept.lies(one.service) == "file"
    assert await kept.place() == "file", "the next key goes there without a question"
    assert await kept.put("another", "key-0123456789") == "file"
    assert person.asked == ["choose"]
    await models.close()

    again = secrets(tmp_path)  # the next run
    person = Person(again, opens=WORDS)
    models = library(tmp_path, again)
    assert await again.lies(one.service) == "file"
    assert person.asked == [], "to look needs no passphrase"
    assert await asyncio.gather(*(models.key_of(one) for _ in range(3))) == [KEY] * 3
    assert await again.get("another") == "key-0123456789"
    assert set(person.asked) == {"unlock"}
    assert len(person.asked) <= 3
    await models.close()


async def test_this_run_only_is_a_choice_and_is_asked_once(tmp_path: Path) -> None:
    kept = secrets(tmp_path)
    person = Person(kept)
    assert await kept.put(NAME, KEY) == "session"
    assert await kept.put("another", "key-0123456789") == "session"
    assert person.asked == ["choose"]
    assert await kept.get(NAME) == KEY
    assert not (tmp_path / "data").exists(), "nothing was written"
    assert await secrets(tmp_path).get(NAME) == ""
    await kept.make_file(WORDS)  # the person thinks better of it, in the settings
    assert await kept.lies(NAME) == "file", "what this run knew is kept then"
    again = secrets(tmp_path)
    await again.unlock_file(WORDS)
    assert await again.get(NAME) == KEY
    assert await again.get("another") == "key-0123456789"


async def test_models_without_a_key_ask_for_nothing(tmp_path: Path) -> None:
    kept = secrets(tmp_path)
    await kept.make_file(WORDS)
    await kept.put(NAME, KEY)
    await kept.lock_file()
    person = Person(kept)
    models = library(tmp_path, kept)
    local = ModelDefinition("l", "ollama", "llama", "Llama", address="http://127.0.0.1:11434/v1")
    assert await models.key_of(local) == ""
    assert person.asked == [], "a local model needs no key, and no passphrase"
    await models.close()


async def test_a_person_who_does_not_unlock_is_told_what_is_locked_and_not_asked_again(
    tmp_path: Path,
) -> None:
    kept = secrets(tmp_path)
    await kept.make_file(WORDS)
    one, _ = await library(tmp_path, kept).put(definition(), KEY)
    await kept.lock_file()
    person = Person(kept)
    models = library(tmp_path, kept)
    for _ in range(2):
        with pytest.raises(ModelError) as caught:
            await models.key_of(one)
        assert caught.value.code == "model.keys_locked"
        assert caught.value.params == {"model": "GPT"}
    assert person.asked == ["unlock"]
    assert await kept.put("another", "for this run") == "session"
    assert kept.trouble is not None
    assert kept.trouble.code == "secrets.locked"
    await kept.unlock_file(WORDS)  # by the card's button
    assert await models.key_of(one) == KEY
    await kept.lock_file()
    person.opens = WORDS
    assert await models.key_of(one) == KEY, "locked by hand, it is asked for when it is needed"
    assert person.asked == ["unlock", "unlock"]
    await models.close()


async def test_a_workspace_does_not_run_without_the_variables_that_are_locked(
    tmp_path: Path,
) -> None:
    kept = secrets(tmp_path)
    await kept.make_file(WORDS)
    places = Places(paths(tmp_path), kept, list)
    await places.keep_environment("w1", {"TOKEN": "t-0123456789"})
    await kept.lock_file()
    with pytest.raises(WorkspaceError) as caught:
        await places.environment("w1", "Data room")
    assert (caught.value.code, caught.value.params["name"]) == (
        "workspace.keys_locked",
        "Data room",
    )
    assert await places.environment("w2", "Bare") == {}, "one without any opens"
    await kept.unlock_file(WORDS)
    assert await places.environment("w1") == {"TOKEN": "t-0123456789"}
    await places.keep_environment("w1", {})
    assert await kept.lies("workspace w1 environment") is None


async def test_a_locked_keyring_leads_to_the_choice_too_and_what_it_holds_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = Plain()
    ring.held[NAME] = "the-stored-value"
    ring.denied = True
    kept = secrets(tmp_path, ring)
    person = Person(kept, makes=WORDS)
    assert await kept.put(NAME, KEY) == "file"
    assert person.asked == ["choose"]
    ring.denied = False
    assert ring.held == {NAME: "the-stored-value"}
    assert await kept.get(NAME) == KEY, "the newer one counts"
    await kept.remove(NAME)
    assert await kept.get(NAME) == ""
    assert ring.held == {}


async def test_keys_move_from_the_file_into_a_keyring_all_or_none(tmp_path: Path) -> None:
    ring = Plain()
    ring.denied = True
    kept = secrets(tmp_path, ring)
    await kept.make_file(WORDS)
    await kept.put("a", "key-a-0123456789")
    await kept.put("b", "key-b-0123456789")
    assert not await kept.file_to_keyring()
    assert await kept.file_state() == "open", "a keyring that refuses costs nothing"
    ring.denied = False
    assert await kept.file_to_keyring()
    assert ring.held == {"a": "key-a-0123456789", "b": "key-b-0123456789"}
    assert await kept.file_state() == "none"
    assert await kept.place() == "keyring"
    assert await kept.get("b") == "key-b-0123456789"


async def test_a_disk_that_is_full_keeps_the_key_for_this_run_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = secrets(tmp_path)
    await kept.make_file(WORDS)

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as m:
        m.setattr("os.fsync", full)
        assert await kept.put("a", KEY) == "session"
    assert isinstance(kept.trouble, SecretsError)
    assert kept.trouble.code == "secrets.unwritable"
    assert await kept.get("a") == KEY
    assert await kept.put("a", KEY) == "file"
    assert kept.trouble is None


# -- a keyring in trouble ------------------------------------------------------------------------


async def test_tokens_longer_than_a_keyring_takes_are_kept_in_parts(tmp_path: Path) -> None:
    ring = Plain(longest=1_280)  # characters: Windows' 2,560 bytes
    kept = secrets(tmp_path, ring)
    tokens = {f"mcp https://{n}.example/mcp": f"{n} " + "t0ken" * 900 for n in range(10)}
    for name, value in tokens.items():
        assert await kept.put(name, value) == "keyring"
    assert all(len(v) <= 1_280 for v in ring.held.values())
    again = secrets(tmp_path, ring)
    for name, value in tokens.items():
        assert await again.get(name) == value
    first = next(iter(tokens))
    before = len(ring.held)
    assert await again.put(first, "another " + "t0ken" * 900) == "keyring"
    assert len(ring.held) == before, "parts of the former value are not left lying"
    assert await secrets(tmp_path, ring).get(first) == "another " + "t0ken" * 900
    assert await again.put(first, "short-0123456789") == "keyring"
    assert await again.get(first) == "short-0123456789"
    for name in tokens:
        await again.remove(name)
    assert ring.held == {}


async def test_a_part_that_is_missing_is_no_key_and_not_half_of_one(tmp_path: Path) -> None:
    ring = Plain(longest=1_280)
    kept = secrets(tmp_path, ring)
    await kept.put("a", "t0ken" * 900)
    del ring.held[next(n for n in ring.held if n != "a")]
    again = secrets(tmp_path, ring)
    assert await again.get("a") == ""
    assert again.silent("a"), "nobody knows it: it is not as if there were none"


async def test_ten_servers_behind_a_slow_keyring_all_get_their_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS", 1.0)  # without a sign of life
    ring = Plain(seconds=0.13)
    ring.held = {f"mcp {n}": f"tokens-of-{n}" for n in range(10)}
    kept = secrets(tmp_path, ring)
    found = await asyncio.gather(*(kept.get(f"mcp {n}") for n in range(10)))
    assert found == [f"tokens-of-{n}" for n in range(10)], "the last waits as long as it takes"
    calls = ring.calls
    assert await asyncio.gather(*(kept.get(f"mcp {n}") for n in range(10))) == found
    assert ring.calls == calls, "and is not asked twice"


async def test_a_reading_that_fails_is_tried_again_and_never_taken_for_no_key(
    tmp_path: Path,
) -> None:
    ring = Plain()
    ring.held[NAME] = KEY
    ring.fails = 1
    kept = secrets(tmp_path, ring)
    assert await kept.get(NAME) == KEY
    again = secrets(tmp_path, ring)
    ring.fails = 2
    models = library(tmp_path, again)
    with pytest.raises(ModelError) as caught:
        await models.key_of(definition())
    assert caught.value.code == "model.keyring", "not: enter a key"
    assert await models.key_of(definition()) == KEY
    await models.close()


async def test_a_denied_prompt_overwrites_nothing(tmp_path: Path) -> None:
    ring = Plain()
    ring.held[NAME] = KEY
    kept = secrets(tmp_path, ring)
    models = library(tmp_path, kept)
    ring.denied = True
    one, place = await models.put(definition())  # another field is saved, no key is typed
    assert place is None
    assert await kept.put(NAME, "typed-0123456789") == "session"
    await kept.remove("something else")
    ring.denied = False
    assert ring.held == {NAME: KEY}
    assert await secrets(tmp_path, ring).get(NAME) == KEY, "the next run has the stored one"
    assert one.service == NAME
    await models.close()


async def test_a_server_s_tokens_are_not_written_over_by_what_could_not_be_read(
    tmp_path: Path,
) -> None:
    kept = secrets(tmp_path)
    await kept.make_file(WORDS)
    whole = Storage(kept, "mcp a")
    await whole.save(tokens={"access_token": "t"}, client={"client_id": "c"})
    await kept.lock_file()
    storage = Storage(kept, "mcp a")
    await storage.load()
    assert (storage.kept.tokens, storage.unread) == (None, "mcp.keys_locked")
    await kept.unlock_file(WORDS)
    await storage.save(client={"client_id": "another"})
    again = Storage(kept, "mcp a")
    await again.load()
    assert again.kept.tokens == {"access_token": "t"}
    assert again.kept.client == {"client_id": "another"}
    assert again.place == "file"


async def test_a_locked_keyring_is_waited_for_by_a_server_and_not_signed_out(
    tmp_path: Path,
) -> None:
    ring = Plain()
    ring.held["mcp a"] = '{"tokens": {"access_token": "t"}}'
    ring.denied = True
    storage = Storage(secrets(tmp_path, ring), "mcp a")
    await storage.load()
    assert storage.unread == "mcp.keyring"
    ring.denied = False
    await storage.load()
    assert (storage.unread, storage.kept.tokens) == ("", {"access_token": "t"})


async def test_no_call_to_the_keyring_holds_the_file_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.2)
    stuck = threading.Event()

    class Stuck(Plain):
        def _come_in(self) -> None:
            stuck.wait(30)

    kept = secrets(tmp_path, Stuck())
    await kept.make_file(WORDS)
    await kept.put(NAME, KEY)
    waiting = asyncio.ensure_future(kept.get("something else"))
    async with asyncio.timeout(5):
        assert await kept.get(NAME) == KEY
        assert await waiting == ""
    stuck.set()
