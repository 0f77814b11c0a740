"""A tool context over the real local backend."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from typing import Any

from desktop_app.core.ids import new_id
from desktop_app.core.tools.base import FileVersions, ToolContext
from desktop_app.core.workspaces.backend import Backend
from desktop_app.core.workspaces.local import LocalBackend


class WithoutRipgrep(LocalBackend):
    """A workspace that has no ``rg``."""

    def run(self, argv: list[str], **options: Any) -> Any:
        if argv[0] == "rg":
            argv = ["rg-is-not-here", *argv[1:]]
        return super().run(argv, **options)


def with_ripgrep(folder: Path) -> LocalBackend:
    """A workspace that has the ``rg`` that the environment of the tests pins."""
    programs = Path(sysconfig.get_path("scripts"))
    assert (programs / "rg").exists(), "ripgrep is missing: make test installs it"
    return LocalBackend(
        folder, env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    )


def make_context(folder: Path, *, backend: Backend | None = None, **options: Any) -> ToolContext:
    """A context whose working directory is ``folder``, its root ``folder/.slipway``. ``said``
    (added as ``options["said"]``) collects live output."""
    said: list[tuple[str, str]] = options.pop("said", [])
    return ToolContext(
        backend=backend or LocalBackend(folder),
        root=options.pop("root", str(folder / ".slipway")),
        session_id="s1",
        agent_id="a1",
        op_id=new_id(),  # names its processes, beside those of other tests
        files=FileVersions(),
        tasks=[],
        emit=lambda stream, text: said.append((stream, text)),
        **options,
    )
