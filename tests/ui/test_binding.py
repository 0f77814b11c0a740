"""Imports after PySide6 are Python's own: no module's source is read."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import linecache, sys
from desktop_app.app import make_application
make_application()
before = len(linecache.cache)
import desktop_app.ui.frame
assert "desktop_app.ui.widgets.gauge" in sys.modules
assert len(linecache.cache) == before, sorted(linecache.cache)
"""


def test_no_source_is_read_when_modules_are_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
