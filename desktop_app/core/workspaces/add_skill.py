"""Bringing a skill of this computer into a workspace."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from desktop_app.core.errors import SettingsError
from desktop_app.core.skills.library import FILE
from desktop_app.core.skills.parse import parse_skill
from desktop_app.core.skills.skill import MAX_BYTES

from .oserrors import raise_os
from .paths import join
from .remote.tree_tar import Moved
from .transfer import upload_tree, weigh

if TYPE_CHECKING:
    from .local_workspace import LocalWorkspace

MOST_BYTES = 256 << 20
MOST_FILES = 10_000


async def add_skill(workspace: LocalWorkspace, source: Path) -> Moved:
    """Copy the folder ``source``, which has a ``SKILL.md``, to ``skills/`` below the workspace's
    root, where every agent has it: whole, or not at all. Nothing that is there is replaced.

    SettingsError ``skill.no_file``, ``skill.too_large``, ``skill.folder_large`` and those of
    ``parse_skill``; WorkspaceError ``file.exists`` and those of ``upload_tree``."""
    await asyncio.to_thread(_check, source)
    weight = await weigh(source)
    if weight.bytes > MOST_BYTES or weight.files > MOST_FILES:
        raise SettingsError("skill.folder_large", size=weight.bytes, files=weight.files)
    await workspace.make_ready()
    backend = workspace.get_backend()
    place = join(workspace.info.root, "skills")
    await backend.mkdir(place)
    return await upload_tree(workspace, source, join(place, source.name), lambda _moved: None)


def _check(source: Path) -> None:
    """Only what can be loaded is brought."""
    file = source / FILE
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise SettingsError("skill.no_file", name=source.name) from None
    except OSError as error:
        raise_os(error, str(file))
    if len(data) > MAX_BYTES:
        raise SettingsError("skill.too_large", size=len(data))
    parse_skill(data)
