"""One skill, and the set of an agent's skills as the prompt and the Skill tool see it."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from desktop_app.core.errors import SettingsError, WorkspaceError

if TYPE_CHECKING:
    from desktop_app.core.workspaces.backend import Backend

MAX_BYTES = 1 << 20
PROMPT_CHARS = 24_000  # about 6,000 tokens: names and descriptions of all skills together


@dataclass(frozen=True, slots=True)
class Skill:
    """A directory with a ``SKILL.md``.

    ``name`` is what the agent calls it by (the directory's name when it cannot be read), ``path``
    the file as the backend sees it, ``dir`` the directory relative to the working directory.
    ``error`` is a code when it cannot be loaded, ``params`` belong to it; ``warnings`` are codes of
    what was understood but may not be meant.
    """

    name: str
    description: str
    path: str
    dir: str
    error: str | None = None
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    warnings: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] | None = None
    size: int = 0

    @property
    def folder(self) -> str:
        """The name of its directory: steady, whatever the file says."""
        return posixpath.basename(posixpath.dirname(self.path))


@dataclass(frozen=True, slots=True)
class SkillSet:
    """The skills an agent may use; those with an error are in ``skills`` for the window and nowhere
    else."""

    skills: tuple[Skill, ...] = ()
    backend: Backend | None = None

    @property
    def usable(self) -> tuple[Skill, ...]:
        return tuple(skill for skill in self.skills if skill.error is None)

    def prompt(self, max_chars: int = PROMPT_CHARS) -> str:
        """Names and descriptions for the system prompt; empty without a skill.

        A large set stays within ``max_chars``: descriptions get shorter first, then names alone
        are listed, then a count stands for the rest (the Skill tool still opens them)."""
        return prompt_text(self.usable, max_chars)

    def get(self, name: str) -> Skill:
        """SettingsError ``skill.unknown``, or the code of why it cannot be loaded."""
        broken: Skill | None = None
        for skill in self.skills:
            if skill.name == name:
                if skill.error is None:
                    return skill
                broken = skill
        if broken is not None:
            raise SettingsError("skill.not_loaded", name=name, reason=broken.error)
        raise SettingsError("skill.unknown", name=name)

    async def body(self, name: str) -> str:
        """The Markdown after the front matter, read now."""
        from .parse import body_of

        skill = self.get(name)
        if self.backend is None:
            raise SettingsError("skill.unknown", name=name)
        try:
            data = await self.backend.read_bytes(skill.path, max_bytes=MAX_BYTES)
        except WorkspaceError as error:
            if error.retryable:
                raise
            raise SettingsError("skill.not_loaded", name=name, reason=error.code) from error
        return body_of(data)


def prompt_text(skills: Sequence[Skill], max_chars: int) -> str:
    if not skills:
        return ""
    head = "Skills you may open with the Skill tool, by name:\n"
    room = max_chars - len(head)
    full = [f"- {s.name}: {_one_line(s.description)}" for s in skills]
    if sum(map(len, full)) + len(full) <= room:
        return head + "\n".join(full)
    names = sum(len(s.name) + 5 for s in skills)
    each = (room - names) // len(skills)
    if each >= 24:
        lines = [f"- {s.name}: {_cut(_one_line(s.description), each)}" for s in skills]
        return head + "\n".join(lines)
    lines: list[str] = []
    room -= 60
    for skill in skills:
        room -= len(skill.name) + 3
        if room < 0:
            break
        lines.append(f"- {skill.name}")
    if len(lines) < len(skills):
        lines.append(f"… and {len(skills) - len(lines)} more")
    return head + "\n".join(lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1].rstrip() + "…"
