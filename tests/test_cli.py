"""The command, as a person types it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from desktop_app import __version__

ROOT = Path(__file__).resolve().parents[1]


def slipway(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Without a display, unless ``env`` brings one."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    kept = {k: v for k, v in os.environ.items() if k not in hidden}
    return subprocess.run(
        [sys.executable, "-m", "desktop_app", *args],
        cwd=ROOT,
        env={**kept, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_it_says_its_version_and_its_arguments() -> None:
    assert slipway("--version").stdout == f"slipway {__version__}\n"
    shown = slipway("--help").stdout
    assert "folder" in shown
    assert "--home" in shown
    assert "tour" in shown


def test_without_a_display_it_says_so_instead_of_aborting(tmp_path: Path) -> None:
    done = slipway("--home", str(tmp_path / "home"))
    assert done.returncode == 2
    assert "no display" in done.stderr
    assert "tour" in done.stderr
    assert not (tmp_path / "home").exists()  # nothing was begun


def test_a_wrong_argument_is_told() -> None:
    done = slipway("--colour")
    assert done.returncode == 2
    assert "--colour" in done.stderr


def test_asking_for_the_version_loads_no_window() -> None:
    code = (
        "import sys\n"
        "from desktop_app.cli import main\n"
        "try:\n"
        "    main(['--version'])\n"
        "finally:\n"
        "    heavy = {'PySide6', 'asyncio', 'pydantic'} & set(sys.modules)\n"
        "    print(sorted(heavy))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_tour_refuses_a_folder_of_a_person_s_own(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("mine")
    done = slipway("tour", "--out", str(tmp_path))
    assert done.returncode != 0
    assert "empty folder" in done.stderr
    assert (tmp_path / "letters.txt").read_text() == "mine"
