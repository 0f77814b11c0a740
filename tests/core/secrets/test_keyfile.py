"""The encrypted file of keys: what it gives back, what it refuses, what it never loses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop_app.core.errors import SecretsError
from desktop_app.core.log import MASK, mask
from desktop_app.core.secrets.keyfile import KeyFile
from desktop_app.core.secrets.sealed import (
    Cost,
    Sealed,
    empty,
    from_text,
    opened,
    read,
    to_text,
    with_key,
)

CHEAP = Cost(n=1 << 4)  # what a key costs is not what is tried here
WORDS = "correct horse battery"
KEY = "sk-a-key-of-the-tests-0123456789"


def file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "data" / "keys.json", CHEAP)


def code(work: Any, *args: Any) -> str:
    with pytest.raises(SecretsError) as caught:
        work(*args)
    return caught.value.code


def test_keys_are_there_again_with_the_passphrase_and_nowhere_in_clear(tmp_path: Path) -> None:
    keys = file(tmp_path)
    assert keys.state() == "none"
    keys.create(WORDS, {"openai api.openai.com": KEY})
    keys.put("e2b", "e2b_secret_key_77")
    keys.put("e2b", "e2b_secret_key_78")
    again = file(tmp_path)  # the next run
    assert again.state() == "locked"
    assert (again.has("e2b"), again.has("another"), again.count()) == (True, False, 2)
    assert code(again.get, "e2b") == "secrets.locked"
    again.unlock(WORDS)
    assert again.state() == "open"
    assert again.get("openai api.openai.com") == KEY
    assert again.get("e2b") == "e2b_secret_key_78"
    assert again.get("another") == ""
    assert mask(f"sent {KEY}") == f"sent {MASK}", "the log does not show what came out of it"
    for path in (keys.path, keys.backup):
        text = path.read_text()
        assert not [word for word in (KEY, "e2b", "openai", WORDS) if word in text]
        if os.name == "posix":
            assert path.stat().st_mode & 0o777 == 0o600
    again.lock()
    assert code(again.get, "e2b") == "secrets.locked"


def test_a_wrong_passphrase_is_told_and_changes_nothing(tmp_path: Path) -> None:
    keys = file(tmp_path)
    keys.create(WORDS, {"a": KEY})
    before = keys.path.read_bytes(), keys.path.stat().st_mtime_ns
    again = file(tmp_path)
    assert code(again.unlock, WORDS + " ") == "secrets.passphrase"
    assert code(again.change, "not it at all", "something else") == "secrets.passphrase"
    assert code(again.put, "b", "x") == "secrets.locked"
    assert code(again.create, WORDS) == "secrets.exists"
    assert (keys.path.read_bytes(), keys.path.stat().st_mtime_ns) == before
    again.unlock(WORDS)
    assert again.get("a") == KEY


def test_a_passphrase_is_one_however_it_was_typed_and_not_too_short(tmp_path: Path) -> None:
    keys = file(tmp_path)
    assert code(keys.create, "seven77") == "secrets.short"
    assert not keys.path.exists()
    keys.create("Schl\u00fcssel \u53e3\u4ee4", {"a": KEY})  # composed, as Linux types it
    again = file(tmp_path)
    again.unlock("Schlu\u0308ssel \u53e3\u4ee4")  # decomposed, as macOS may
    assert again.get("a") == KEY


def test_another_passphrase_opens_the_same_keys_and_the_former_opens_nothing(
    tmp_path: Path,
) -> None:
    keys = file(tmp_path)
    keys.create(WORDS, {"a": KEY, "b": "another-key"})
    keys.put("c", "third-key")
    other = file(tmp_path)  # another window, open with the former one
    other.unlock(WORDS)
    assert code(keys.change, WORDS, "short") == "secrets.short"
    keys.change(WORDS, "a wholly new one")
    assert keys.get("b") == "another-key", "it stays open"
    assert other.state() == "locked", "the other window is told that its passphrase is the former"
    assert code(other.put, "d", "x") == "secrets.locked"
    fresh = file(tmp_path)
    assert code(fresh.unlock, WORDS) == "secrets.passphrase"
    fresh.unlock("a wholly new one")
    assert fresh.everything() == {"a": KEY, "b": "another-key", "c": "third-key"}
    with pytest.raises(SecretsError):
        opened(from_text(keys.backup.read_text()), WORDS)  # nor does the backup open with it


def test_taking_a_key_out_needs_no_passphrase_and_forgetting_leaves_nothing(
    tmp_path: Path,
) -> None:
    keys = file(tmp_path)
    keys.create(WORDS, {"a": KEY, "b": "another-key"})
    again = file(tmp_path)
    again.remove("a")
    again.remove("never there")
    assert not again.has("a")
    assert keys.get("a") == "", "the open window sees it"
    assert keys.get("b") == "another-key"
    again.forget()
    assert keys.state() == "none"
    assert keys.get("b") == ""
    assert code(keys.put, "b", "x") == "secrets.gone", "nothing is made anew behind the person"
    assert sorted(p.name for p in keys.path.parent.iterdir()) == ["keys.json.lock"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"\0" * len(data),
        lambda data: data.replace(b'"salt": "', b'"salt": "A'),
        lambda data: data.replace(b'"version": 1', b'"version": 0'),
        lambda data: b"[" * 100_000,
        lambda data: b"\xff" + data,
    ],
    ids=["half", "empty", "zeroed", "salt", "version", "deep", "no text"],
)
def test_a_damaged_file_is_put_aside_and_its_backup_takes_its_place(
    tmp_path: Path, spoil: Any
) -> None:
    keys = file(tmp_path)
    keys.create(WORDS, {"a": KEY})
    keys.put("b", "the-last-change")
    broken = spoil(keys.path.read_bytes())
    keys.path.write_bytes(broken)
    again = file(tmp_path)
    assert again.state() == "locked", "there is something to open"
    assert again.put_aside is None, "and looking moves nothing"
    assert code(again.unlock, "a wrong one") == "secrets.passphrase"
    assert keys.path.read_bytes() == broken
    again.unlock(WORDS)
    assert again.get("a") == KEY
    assert not again.has("b"), "the backup is from before the last change"
    assert again.put_aside is not None
    assert again.put_aside.read_bytes() == broken, "the damaged one is kept"
    assert file(tmp_path).state() == "locked"
    assert from_text(keys.path.read_text()).keys


def test_a_damaged_file_without_a_backup_is_told_and_kept_aside_by_a_new_one(
    tmp_path: Path,
) -> None:
    keys = file(tmp_path)
    keys.create(WORDS, {"a": KEY})
    keys.path.write_bytes(b"{}")
    again = file(tmp_path)
    assert again.state() == "damaged"
    assert code(again.unlock, WORDS) == "secrets.damaged"
    assert code(again.put, "b", "x") == "secrets.damaged"
    assert keys.path.read_bytes() == b"{}", "never written over"
    again.create("a wholly new one")
    assert again.put_aside is not None
    assert again.put_aside.read_bytes() == b"{}"
    assert again.state() == "open"


def test_a_file_of_a_later_version_and_one_that_asks_for_too_much_are_left_alone(
    tmp_path: Path,
) -> None:
    keys = file(tmp_path)
    keys.create(WORDS)
    held = json.loads(keys.path.read_text())
    keys.path.write_text(json.dumps({**held, "version": 2}))
    assert keys.state() == "newer"
    for work, args in ((keys.unlock, (WORDS,)), (keys.create, (WORDS,)), (keys.put, ("a", "b"))):
        assert code(work, *args) == "secrets.newer"
    greedy = to_text(Sealed(b"0" * 16, Cost(n=1 << 30), empty(WORDS, CHEAP)[0].check))
    with pytest.raises(ValueError, match="parameters"):
        from_text(greedy)


def test_a_seal_moved_to_another_place_opens_nothing(tmp_path: Path) -> None:
    keys = file(tmp_path)
    keys.create(WORDS, {"cheap": "a-cheap-key", "dear": "a-dear-key"})
    sealed = from_text(keys.path.read_text())
    cheap, dear = sealed.id("cheap"), sealed.id("dear")
    swapped = {cheap: sealed.keys[dear], dear: sealed.keys[cheap]}
    keys.path.write_text(to_text(Sealed(sealed.salt, sealed.cost, sealed.check, swapped)))
    assert (keys.get("cheap"), keys.get("dear")) == ("", "")


def test_a_write_that_fails_half_way_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = file(tmp_path)
    keys.create(WORDS, {"a": KEY})

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as m:
        m.setattr(os, "fsync", full)
        with pytest.raises(SecretsError) as caught:
            keys.put("b", "x")
    assert caught.value.code == "secrets.unwritable"
    assert caught.value.params["reason"] == "No space left on device"
    again = file(tmp_path)
    again.unlock(WORDS)
    assert again.everything() == {"a": KEY}
    assert not [p for p in keys.path.parent.iterdir() if p.name.startswith(".")]


CHILD = """
import sys
from pathlib import Path
from desktop_app.core.secrets.keyfile import KeyFile
keys = KeyFile(Path(sys.argv[1]))
keys.unlock(sys.argv[2])
print("open", flush=True)
sys.stdin.readline()
for n in range(15):
    keys.put(f"{sys.argv[3]} {n}", f"the key {n} of {sys.argv[3]}")
"""


def test_several_processes_write_into_it_and_none_loses_what_another_wrote(
    tmp_path: Path,
) -> None:
    keys = file(tmp_path)
    keys.create(WORDS)
    command = [sys.executable, "-c", CHILD, str(keys.path), WORDS]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    children = [subprocess.Popen([*command, name], **pipes) for name in ("one", "two")]
    try:
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "open\n"
        for child in children:
            child.communicate("go\n", timeout=60)
            assert child.returncode == 0
    finally:
        for child in children:
            child.kill()
            child.wait()
    wanted = {f"{who} {n}": f"the key {n} of {who}" for who in ("one", "two") for n in range(15)}
    assert keys.everything() == wanted


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@given(st.dictionaries(TEXT, TEXT, max_size=5), TEXT)
@settings(max_examples=25, deadline=None)
def test_whatever_is_kept_comes_back(keys: dict[str, str], passphrase: str) -> None:
    sealed, key = empty("a b c d " + passphrase, CHEAP)
    for name, value in keys.items():
        sealed = with_key(sealed, key, name, value)
    again = from_text(to_text(sealed))
    assert again == sealed
    assert opened(again, "a b c d " + passphrase) == key
    assert dict(filter(None, (read(again, key, place) for place in again.keys))) == keys
