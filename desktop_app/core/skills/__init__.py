"""Skills: Markdown instruction sets that an agent may open by name."""

from .library import SkillLibrary
from .parse import parse_skill
from .skill import Skill, SkillSet

__all__ = ["Skill", "SkillLibrary", "SkillSet", "parse_skill"]
