"""What the chat page needs beside the conversation: names, models, files, tools, skills.

One object, made by whoever composes the window; everything slow is a coroutine.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_app.core.models.base import ModelInfo
from desktop_app.core.workspaces.backend import Backend
from desktop_app.ui.i18n import tr
from desktop_app.ui.tools.entries import SkillEntry, ToolEntry
from desktop_app.ui.tools.source import ServerSource


def model_label(info: ModelInfo) -> str:
    """A model's name; what is no AI says so."""
    return info.name if info.is_ai else tr("{name} · offline, no AI", name=info.name)


async def _nothing() -> list[Any]:
    return []


async def _no_switch(name: str, enabled: bool) -> None:
    return None


async def _no_skill(folder: Path) -> None:
    return None


@dataclass(slots=True)
class ChatSources(ServerSource):
    """``local`` says that the backend's paths are paths of this computer: then files can be opened
    and revealed. ``backend`` is None while the workspace is missing; ``missing`` says why, as a
    code. ``tools_off`` are names of built-in tools that are switched off."""

    workspace_name: str = ""
    workspace_kind: str = "local"
    backend: Backend | None = None
    local: bool = True
    missing: tuple[str, dict[str, Any]] | None = None
    agent: str = ""
    models: Callable[[], list[ModelInfo]] = list
    current_model: Callable[[], ModelInfo | None] = lambda: None
    tools: Callable[[], Awaitable[list[ToolEntry]]] = _nothing
    skills: Callable[[], Awaitable[list[SkillEntry]]] = _nothing
    set_skill: Callable[[str, bool], Awaitable[None]] = _no_switch
    add_skill: Callable[[Path], Awaitable[None]] = _no_skill
    set_tool: Callable[[str, bool], Awaitable[None]] = _no_switch
    tools_off: Callable[[], Collection[str]] = tuple

    def model_label(self, model: str) -> str:
        """A model's name by its id (or its name), with what a person must know of it."""
        for info in self.models():
            if model in (info.id, info.name):
                return model_label(info)
        return model

    @property
    def cwd(self) -> str | None:
        """The working folder as a path of this computer; None on remote backends."""
        return self.backend.cwd if self.backend is not None and self.local else None


def example_prompts(names: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """Which three examples fit a folder with these entries (folders end in "/"); ids with the
    names they speak of. The page has the words."""
    files = [n for n in names if not n.endswith("/") and not n.startswith(".")]
    folders = [n for n in names if n.endswith("/") and not n.startswith(".")]
    texts = [n for n in files if n.lower().endswith((".md", ".txt", ".rst"))]
    tables = [n for n in files if n.lower().endswith((".csv", ".tsv"))]
    chosen: list[tuple[str, dict[str, str]]] = []
    if tables:
        chosen.append(("summarise_table", {"name": tables[0]}))
    if texts:
        chosen.append(("summarise_text", {"name": texts[0]}))
    if folders:
        chosen.append(("explore_folder", {"name": folders[0].rstrip("/")}))
    if len(files) > 3:
        chosen.append(("organise", {}))
    for fallback in ("overview", "find_word", "write_readme"):
        chosen.append((fallback, {}))
    return chosen[:3]
