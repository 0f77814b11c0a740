"""Tools and skills as lists show them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A tool as a list shows it. ``group`` is empty for built-in ones, else the MCP server.
    ``enabled`` False: a person switched it off. ``fixed``: it comes and goes by itself."""

    name: str
    description: str
    tokens: int
    group: str = ""
    enabled: bool = True
    fixed: bool = False


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
