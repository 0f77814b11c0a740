"""A service of its own for each test; containers that a test made are removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.paths import paths
from desktop_app.core.service import Slipway
from tests.helpers.docker import remove_leftovers


@pytest.fixture
def service(
    run: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Slipway]:
    monkeypatch.setenv("SLIPWAY_KEYRING", "none")
    monkeypatch.delenv("E2B_API_KEY", raising=False)
    made = run(Slipway.open(paths(home)))
    yield made
    ids = [row.id for row in run(made.db.workspaces(forgotten=True)) if row.backend == "docker"]
    ids += [row.id for row in run(made.db.workspaces()) if row.backend == "docker"]
    assert run(made.close(), 30_000) == []
    for workspace_id in ids:
        remove_leftovers(workspace_id)
