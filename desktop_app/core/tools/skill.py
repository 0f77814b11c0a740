"""Skill: the instructions of one skill, read when they are needed."""

from __future__ import annotations

import difflib
from typing import Any

from desktop_app.core.errors import SettingsError, ToolFailure

from .args import schema
from .base import ToolContext, ToolOutcome
from .plain import PlainTool

# Once is enough while it can be read above; changed or compacted away, it is sent anew.
_LOADED = (
    "Skill {name} is loaded already and has not changed: its instructions are in an earlier result "
    "above. Its directory is {dir}"
)


class SkillTool(PlainTool):
    name: str = "Skill"
    description: str = (
        "Open a skill: written instructions for a kind of work, made for this workspace. The "
        "system prompt lists the names. Open one before work that it covers, then follow it; its "
        "own files are relative to the directory that is named with it."
    )
    parameters: dict[str, Any] = schema(
        {"skill": {"type": "string", "minLength": 1, "description": "The skill's name."}},
        required=["skill"],
    )

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        name = args["skill"].strip().removeprefix("/")
        skills = ctx.skills
        if skills is None:
            raise ToolFailure("skill.unknown", "This agent has no skills.", name=name[:80])
        try:
            skill = skills.get(name)
            body = await skills.body(name)
        except SettingsError as error:
            failure = _failure(error, name, [s.name for s in skills.usable])
            raise failure from error
        text = f"Skill {skill.name}, its directory is {skill.dir}\n\n{body}"
        metadata = {"slipway": {"skill": skill.name, "dir": skill.dir}}
        if ctx.holds is not None and ctx.holds(self.name, text):
            return ToolOutcome(_LOADED.format(name=skill.name, dir=skill.dir), metadata=metadata)
        return ToolOutcome(text, metadata=metadata)


def _failure(error: SettingsError, name: str, known: list[str]) -> ToolFailure:
    if error.code != "skill.unknown":
        message = f"The skill {name!r} cannot be loaded: {error}."
        return ToolFailure(error.code, message, **error.params)
    close = difflib.get_close_matches(name, known, 3, 0.5)
    listed = ", ".join(close or known[:20]) or "none"
    message = f"There is no skill {name[:80]!r}. {'Similar' if close else 'Known'}: {listed}."
    return ToolFailure(error.code, message, **error.params)
