"""The peer: a Python with agentscope==2.0.11, named by SLIPWAY_PEER_PYTHON. Programs of npm: a node
of 22 or newer in SLIPWAY_NODE, and where ``packaging/npm`` is installed in SLIPWAY_NPM."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PEER = os.environ.get("SLIPWAY_PEER_PYTHON", "")
NODE, NPM = os.environ.get("SLIPWAY_NODE", ""), os.environ.get("SLIPWAY_NPM", "")
SCRIPT = Path(__file__).with_name("peer.py")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without a peer its tests are left out, and a line says so."""
    out = [item for item in items if item.get_closest_marker("interop") and _missing(item)]
    if not out:
        return
    items[:] = [item for item in items if item not in out]
    config.hook.pytest_deselected(items=out)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(
            f"interop: {len(out)} tests left out; SLIPWAY_PEER_PYTHON names no interpreter "
            "with agentscope==2.0.11, or SLIPWAY_NODE and SLIPWAY_NPM no node and no packages"
        )


def _missing(item: pytest.Item) -> bool:
    return not (NODE and NPM) if "npm" in getattr(item, "fixturenames", ()) else not PEER


@pytest.fixture
def npm() -> Callable[[str], tuple[str, str]]:
    """(node, script) of a package of npm, by the path of its script."""
    return lambda path: (NODE, str(Path(NPM) / "node_modules" / path))


@pytest.fixture
def peer() -> Callable[..., Any]:
    """Run a command of ``peer.py`` there; its JSON answer."""

    def run(*args: str | Path) -> Any:
        done = subprocess.run(
            [PEER, SCRIPT, *map(str, args)],
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run
