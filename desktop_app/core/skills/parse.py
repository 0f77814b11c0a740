"""``SKILL.md``: YAML front matter with ``name`` and ``description``, then Markdown.

Tolerated: a byte order mark, CRLF, a number as a name, a list as a description. Anything else that
does not parse is refused with a reason (a restriction in a front matter that cannot be read must
not be lost silently), and the file is left as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, cast

from desktop_app.core.errors import SettingsError

FRONT_BYTES = 16 << 10  # a front matter is a few lines; YAML of any size would cost any time
_SIMPLE = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):[ ]+([A-Za-z\u4e00-\u9fff][^#:\r\n]*?)[ ]*\r?")
_NOT_TEXT = {"null", "true", "false", "yes", "no", "on", "off"}


@dataclass(frozen=True, slots=True)
class Parsed:
    name: str
    description: str
    warnings: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] | None = None


def _split(data: bytes) -> tuple[str, str]:
    """Front matter and body; SettingsError with the reason."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SettingsError("skill.encoding", encoding="UTF-16")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError("skill.encoding", encoding="", offset=error.start) from error
    first, newline, rest = text.partition("\n")
    if first.rstrip() != "---":
        raise SettingsError("skill.no_front_matter")
    closing = re.search(r"^(---|\.\.\.)[ \t]*\r?$", rest, re.MULTILINE) if newline else None
    if closing is None:
        raise SettingsError("skill.front_matter_open")
    front = rest[: closing.start()]
    if len(front) > FRONT_BYTES:
        raise SettingsError("skill.front_matter_large", size=len(front), limit=FRONT_BYTES)
    return front, rest[closing.end() :].lstrip("\r\n")


def body_of(data: bytes) -> str:
    """The Markdown after the front matter; SettingsError as ``parse_skill``."""
    return _split(data)[1]


def parse_skill(data: bytes) -> Parsed:
    """What a ``SKILL.md`` says of itself.

    SettingsError ``skill.encoding``, ``skill.no_front_matter``, ``skill.front_matter_open``,
    ``skill.front_matter_large``, ``skill.bad_yaml`` (with ``line``), ``skill.no_name``,
    ``skill.no_description``, ``skill.bad_tools``."""
    front, _ = _split(data)
    fields = _simple(front)
    if fields is None:
        fields = _yaml(front)
    warnings: list[str] = []
    name = _text(fields.get("name"), "name", warnings).strip()
    if not name:
        raise SettingsError("skill.no_name")
    description = _text(fields.get("description"), "description", warnings).strip()
    if not description:
        raise SettingsError("skill.no_description", name=name)
    if re.search(r"^description:[^'\"|>\n]* #", front, re.MULTILINE):
        warnings.append("skill.comment_in_description")
    if len(name) > 64:
        warnings.append("skill.long_name")
    return Parsed(name, description, tuple(warnings), _tools(fields))


def is_quick(data: bytes) -> bool:
    """Whether ``parse_skill`` takes no YAML parser, and so no time to speak of."""
    try:
        return len(data) < 1 << 16 and _simple(_split(data)[0]) is not None
    except SettingsError:
        return True


def _simple(front: str) -> dict[str, Any] | None:
    """Plain ``key: words`` lines, which nearly every skill has, without a YAML parser (its import
    alone costs more than a hundred skills); None for anything richer."""
    fields: dict[str, Any] = {}
    for line in front.split("\n"):
        if not line.strip():
            continue
        match = _SIMPLE.fullmatch(line)
        if match is None or match[1] in fields or match[2].lower() in _NOT_TEXT:
            return None
        fields[match[1]] = match[2]
    return fields


def _yaml(front: str) -> dict[str, Any]:
    from .yaml import YAMLError, line_of, load

    try:
        value = load(front)
    except YAMLError as error:
        raise SettingsError("skill.bad_yaml", line=line_of(error) + 2) from error
    except (RecursionError, ValueError, TypeError) as error:
        raise SettingsError("skill.bad_yaml", line=2) from error
    if not isinstance(value, dict):
        raise SettingsError("skill.bad_yaml", line=2)
    return {str(key): item for key, item in cast(dict[Any, Any], value).items()}


def _text(value: Any, key: str, warnings: list[str]) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool | int | float):
        return str(value)
    warnings.append(f"skill.{key}_not_text")
    if isinstance(value, list):
        return ", ".join(str(item) for item in cast(list[Any], value))
    return str(value)


def _tools(fields: dict[str, Any]) -> tuple[str, ...] | None:
    """``allowed-tools``: a list, or words between commas. What cannot be read refuses the skill."""
    value = fields.get("allowed-tools")
    if value is None:
        return None
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    if isinstance(value, list) and all(isinstance(v, str) for v in cast(list[Any], value)):
        return tuple(cast(list[str], value))
    raise SettingsError("skill.bad_tools")
