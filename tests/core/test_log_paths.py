"""The log holds no secret; files lie where the person said."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_app.core import log
from desktop_app.core.paths import paths


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    level = logging.getLogger().level
    yield
    log.stop()
    logging.getLogger().setLevel(level)


@pytest.mark.parametrize(
    ("line", "gone", "stays"),
    [
        ("key sk-abcdefghijklmnop1234 used", "abcdefghijklmnop", "used"),
        ("Authorization: Bearer abc.def-ghi", "abc.def", "Authorization"),
        ('{"api_key": "hunter2hunter2", "n": 3}', "hunter2", '"n": 3'),
        ("password=correcthorse&x=1", "correcthorse", "x=1"),
        ("https://person:pa55word@host/x", "pa55word", "host/x"),
        ("a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc b", "eyJhbGci", "a "),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE", ""),
    ],
)
def test_masks(line: str, gone: str, stays: str) -> None:
    masked = log.mask(line)
    assert gone not in masked
    assert stays in masked
    assert log.MASK in masked


@pytest.mark.parametrize(
    "line", ["86100 tokens used", "token count: 12", "risk-free tasks", "opened /home/x/sk.txt"]
)
def test_ordinary_lines_stay(line: str) -> None:
    assert log.mask(line) == line


def test_file_and_ring_hold_no_secret_even_in_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "state" / "slipway.log"
    ring = log.start(path)
    log.hide("my-managed-secret")
    try:
        raise ValueError("refused my-managed-secret")
    except ValueError:
        logging.getLogger("x").exception("call with %s", "sk-abcdefghijklmnop1234")
    text = path.read_text("utf-8")
    assert "ValueError" in text
    assert "managed" not in text
    assert "abcdefgh" not in text
    assert "managed" not in ring.lines[-1]
    assert path.stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_made_costs_only_the_file(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    ring = log.start(blocked / "x" / "slipway.log")
    logging.getLogger("x").info("still here")
    assert "no log file" in ring.lines[0]
    assert "still here" in ring.lines[1]


def test_home_moves_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPWAY_HOME", str(tmp_path))
    found = paths()
    assert {found.data, found.config, found.state, found.cache} == {
        tmp_path / "data",
        tmp_path / "config",
        tmp_path / "state",
        tmp_path / "cache",
    }
    assert found.settings.parent == found.config
    assert list(tmp_path.iterdir()) == [], "asking makes nothing"
    assert paths(tmp_path / "b").data == tmp_path / "b" / "data"
