from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop_app.core.tools.base import ToolContext
from tests.helpers.tools import WithoutRipgrep, make_context


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    return path


@pytest.fixture
async def ctx(folder: Path) -> AsyncIterator[ToolContext]:
    context = make_context(folder)
    yield context
    await context.backend.close()


@pytest.fixture(params=["rg", "own"] if shutil.which("rg") else ["own"])
async def searching(folder: Path, request: pytest.FixtureRequest) -> AsyncIterator[ToolContext]:
    """With ripgrep, where this machine has it, and without."""
    backend = WithoutRipgrep(folder) if request.param == "own" else None
    context = make_context(folder, backend=backend)
    yield context
    await context.backend.close()
