"""Which files a call touched and how, from its name and arguments alone, whatever tool it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, cast

Action = Literal["read", "written", "edited", "deleted"]
_PATH_KEYS = (
    "file_path",
    "path",
    "filepath",
    "filename",
    "file",
    "notebook_path",
    "target_file",
    "target",
    "dest",
    "destination",
    "output_path",
    "output",
    "new_path",
    "uri",
)
_MANY_KEYS = ("paths", "files", "file_paths", "edits", "changes")
_BODY = re.compile(r"content|body|text|data|old_?str|new_?str|replacement|insert_text|source|code")
_VERBS: tuple[tuple[Action, re.Pattern[str]], ...] = (
    ("deleted", re.compile(r"delete|remove|unlink|(?<![a-z])rm(?![a-z])", re.IGNORECASE)),
    ("edited", re.compile(r"edit|replace|patch|update|insert|append|modify|apply|change", re.I)),
    ("written", re.compile(r"write|create|save|put|upload|export|generate|move|rename|copy", re.I)),
    ("read", re.compile(r"read|view|cat|open|get|load|show|fetch|head|tail", re.IGNORECASE)),
)
_PATCHED = re.compile(
    r"^(?:\*\*\* (Update|Add|Delete) File: |\+\+\+ (?:b/)?)(\S.*?)\s*$", re.MULTILINE
)
_PATH = re.compile(r"(?:file://|workspace://)?[^\s<>|*?\"'`\n]{1,400}")
_LOOKING = re.compile(r"grep|search|find|glob|list|^ls$|tree|bash|shell|exec|run", re.IGNORECASE)


def _path(value: object) -> str | None:
    """``value`` when it looks like the path of a file."""
    if not isinstance(value, str) or not _PATH.fullmatch(value) or "://" in value[8:]:
        return None
    if re.match(r"https?:|data:|[\w.+-]+@", value):
        return None
    name = value.rstrip("/").rpartition("/")[2]
    return value if "/" in value or re.search(r".\.[A-Za-z0-9]{1,8}$", name) else None


def touched(tool: str, arguments: Mapping[str, Any]) -> list[tuple[str, Action]]:
    """(path, action) of a call, in order. Searches touch nothing."""
    for value in arguments.values():
        if isinstance(value, str) and (found := _patched(value)):
            return found
    if tool == "Read":
        action: Action | None = "read"
    elif _LOOKING.search(tool) and not any(v.search(tool) for _, v in _VERBS[:3]):
        return []
    else:
        action = _action(tool, arguments)
    if action is None:
        return []
    paths = [p for k in _PATH_KEYS if (p := _path(arguments.get(k)))]
    for key in _MANY_KEYS:
        several = arguments.get(key)
        for entry in cast(list[Any], several) if isinstance(several, list) else []:
            if isinstance(entry, dict):
                paths += [p for k in _PATH_KEYS if (p := _path(cast(Any, entry).get(k)))]
            elif path := _path(entry):
                paths.append(path)
    return [(path, action) for path in dict.fromkeys(paths)]


def _action(tool: str, arguments: Mapping[str, Any]) -> Action | None:
    command = arguments.get("command", arguments.get("action", ""))
    named = f"{tool} {command}" if isinstance(command, str) and len(command) < 40 else tool
    bodies = [k for k in arguments if _BODY.search(k) and isinstance(arguments[k], str)]
    for action, verb in _VERBS[:3]:
        if verb.search(named):
            return action
    if bodies:
        return "edited" if any("old" in k for k in bodies) else "written"
    return "read" if _VERBS[3][1].search(named) else None


def patched_lines(text: str) -> list[str]:
    """The lines of a patch that name its files."""
    if "*** " not in text and "+++ " not in text:
        return []
    return [match.group().rstrip() for match in _PATCHED.finditer(text)]


def _patched(text: str) -> list[tuple[str, Action]]:
    if "*** " not in text and "+++ " not in text:
        return []
    kinds: dict[str, Action] = {"Add": "written", "Delete": "deleted"}
    return [
        (path, kinds.get(kind, "edited"))
        for kind, path in _PATCHED.findall(text)
        if path != "/dev/null"
    ]
