from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from desktop_app.core.tools.base import ToolContext
from tests.helpers.tools import WithoutRipgrep, make_context, with_ripgrep


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


@pytest.fixture(params=[with_ripgrep, WithoutRipgrep], ids=["rg", "own"])
async def searching(folder: Path, request: pytest.FixtureRequest) -> AsyncIterator[ToolContext]:
    """With ripgrep and without."""
    context = make_context(folder, backend=request.param(folder))
    yield context
    await context.backend.close()
