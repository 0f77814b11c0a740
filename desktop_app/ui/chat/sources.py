"""What the chat page needs beside the conversation: names, models, files, tools, skills.

One object, made by whoever composes the window; everything slow is a coroutine.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from desktop_app.core.agent.groups import Group
from desktop_app.core.mcp.manager import McpManager
from desktop_app.core.models.base import ModelInfo
from desktop_app.core.workspaces.backend import Backend
from desktop_app.ui.i18n import tr


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A tool as a list shows it. ``group`` is empty for built-in ones, else the MCP server.
    ``enabled`` False: a person switched it off."""

    name: str
    description: str
    tokens: int
    group: str = ""
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class SkillEntry:
    """A skill. ``problem`` is a code with parameters when it cannot be loaded, ``warnings`` are
    codes of what may not be meant; ``folder`` is what it is switched by."""

    name: str
    description: str
    tokens: int
    problem: tuple[str, dict[str, Any]] | None = None
    folder: str = ""
    enabled: bool = True
    warnings: tuple[str, ...] = ()


def model_label(info: ModelInfo) -> str:
    """A model's name; what is no AI says so."""
    return info.name if info.is_ai else tr("{name} · offline, no AI", name=info.name)


async def _nothing() -> list[Any]:
    return []


async def _no_switch(name: str, enabled: bool) -> None:
    return None


@dataclass(slots=True)
class ChatSources:
    """``count`` estimates the tokens of a text (quick, for short texts). ``local`` says that the
    backend's paths are paths of this computer: then files can be opened and revealed.
    ``backend`` is None while the workspace is missing; ``missing`` says why, as a code. ``mcp`` are
    the session's servers, ``groups`` its tool groups, ``tools_off`` names of built-in tools that
    are switched off; ``writable`` whether it may change anything, ``scopes`` whether declarations
    can be for one agent or session."""

    workspace_name: str = ""
    workspace_kind: str = "local"
    backend: Backend | None = None
    local: bool = True
    missing: tuple[str, dict[str, Any]] | None = None
    agent: str = ""
    models: Callable[[], list[ModelInfo]] = list
    current_model: Callable[[], ModelInfo | None] = lambda: None
    count: Callable[[str], int] | None = None
    tools: Callable[[], Awaitable[list[ToolEntry]]] = _nothing
    skills: Callable[[], Awaitable[list[SkillEntry]]] = _nothing
    set_skill: Callable[[str, bool], Awaitable[None]] = _no_switch
    set_tool: Callable[[str, bool], Awaitable[None]] = _no_switch
    tools_off: Callable[[], Collection[str]] = tuple
    mcp: McpManager | None = None
    groups: Callable[[], Sequence[Group]] = tuple
    trusted: bool = True
    writable: bool = True
    scopes: bool = True

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


def tool_entries(tools: Iterable[Any], count: Callable[[str], int]) -> list[ToolEntry]:
    """Entries of tool objects; the tokens are those of the schema that the model sees."""
    made: list[ToolEntry] = []
    for tool in tools:
        schema = {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        }
        tokens = count(json.dumps(schema, ensure_ascii=False))
        group = str(getattr(tool, "server", "") or "")
        made.append(ToolEntry(tool.name, tool.description, tokens, group))
    return made


def skill_entries(
    skills: Iterable[Any], count: Callable[[str], int], off: Collection[str] = ()
) -> list[SkillEntry]:
    """Entries of ``core.skills.Skill`` objects; the tokens are those of the line in the prompt.
    ``off`` are the folders of those that are switched off."""
    return [
        SkillEntry(
            skill.name,
            skill.description,
            count(f"- {skill.name}: {skill.description}"),
            (skill.error, {"name": skill.name, **skill.params}) if skill.error else None,
            skill.folder,
            skill.folder not in off,
            tuple(skill.warnings),
        )
        for skill in skills
    ]


def first_sentence(text: str) -> str:
    """The first sentence of a description, for one line."""
    text = " ".join(text.split())
    for end in (". ", "。"):
        at = text.find(end)
        if at > 0:
            return text[: at + 1]
    return text


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
