"""Settings: what a person wrote is never lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from desktop_app.core.errors import SettingsError
from desktop_app.core.settings.settings import DEFAULTS, Settings, load


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.json"


def test_defaults_without_a_file_and_nothing_is_written(path: Path) -> None:
    settings = load(path)
    assert settings.get("font_size") == 100
    assert settings.problem is None
    assert not path.parent.exists()


def test_saved_values_come_back_and_unknown_keys_stay(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"scheme": "dark", "from_the_future": [1]}')
    settings = load(path)
    settings.set("language", "zh_CN")
    assert settings.save() is None
    again = json.loads(path.read_text())
    assert again == {"scheme": "dark", "from_the_future": [1], "language": "zh_CN"}


def test_a_broken_file_is_set_aside_byte_for_byte(path: Path) -> None:
    path.parent.mkdir()
    broken = b'{"scheme": "dark", // mine\n'
    path.write_bytes(broken)
    settings = load(path)
    assert settings.problem is not None
    assert settings.problem.code == "settings.unreadable"
    assert "1:20" in settings.problem.params["reason"]
    assert path.read_bytes() == broken, "reading changes nothing"
    kept = settings.save()
    assert kept is not None
    assert kept.read_bytes() == broken
    assert json.loads(path.read_text()) == {}
    assert settings.problem is None
    assert settings.save() is None, "set aside once"


def test_a_value_that_does_not_fit_falls_back_and_the_file_is_kept(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"scheme": "pink", "font_size": 125}')
    settings = load(path)
    assert settings.invalid == ["scheme"]
    assert settings.get("scheme") == "system"
    assert settings.get("font_size") == 125
    kept = settings.save()
    assert kept is not None
    assert "pink" in kept.read_text()


@pytest.mark.parametrize(
    ("name", "value"),
    [("scheme", "pink"), ("font_size", True), ("font_size", 5000), ("keys", {"a": 1}), ("no", 1)],
)
def test_wrong_values_are_refused(path: Path, name: str, value: object) -> None:
    settings = Settings(path)
    with pytest.raises(SettingsError) as caught:
        settings.set(name, value)
    assert caught.value.code == "settings.invalid"
    assert settings.values == {}


def test_a_failed_save_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(path)
    settings.set("scheme", "dark")
    settings.save()
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    settings.set("scheme", "light")
    with pytest.raises(SettingsError) as caught:
        settings.save()
    assert caught.value.code == "settings.unwritable"
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["settings.json"], "no scraps left"


@given(st.binary(max_size=200))
@example(b"\x1c")  # blank to Python, not to JSON
@example("\N{NO-BREAK SPACE}".encode())
@example(b"\xef\xbb\xbf ")
def test_no_content_makes_loading_fail_or_loses_it(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "settings.json"
        path.write_bytes(content)
        settings = load(path)
        assert all(settings.get(name) is not None for name in DEFAULTS)
        settings.save()
        kept = [p.read_bytes() for p in Path(folder).iterdir()]
        assert not settings.values or content in kept or json.loads(content.decode("utf-8-sig"))
        if settings.values == {} and content.strip() not in (b"", b"{}"):
            blank = content.decode("utf-8-sig", "replace").strip(" \t\r\n") or "{}"
            assert content in kept or json.loads(blank) == {}
