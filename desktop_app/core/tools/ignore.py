"""Which files a search looks at: ignore files, version control, what holds secrets.

``.gitignore`` simply, as git's documentation gives its patterns: comments, ``!``, a slash at the
end for directories, a slash within for anchoring, ``**``. A later line wins over an earlier one, a
deeper file over a shallower one; what lies below an ignored directory is never looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from desktop_app.core.errors import ToolFailure

from .globs import compile_glob
from .linear import Linear

ALWAYS = frozenset({".git", "node_modules", ".hg", ".svn"})  # names of directories never entered
MAX_IGNORE_BYTES = 256 << 10
MAX_RULES = 2_000
_ESCAPED = re.compile(r"\\(.)|\{")


@dataclass(frozen=True, slots=True)
class Rule:
    pattern: Linear
    keep: bool  # ``!pattern``
    dirs_only: bool
    by_name: bool  # matched against the name alone


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The rules of one ``.gitignore``; ``base`` is its directory, "" for the search's start."""

    base: str
    rules: tuple[Rule, ...]


def parse(data: bytes, base: str) -> IgnoreFile:
    """Read an ignore file; lines that cannot be used are passed over, as git does."""
    rules: list[Rule] = []
    for raw in data.decode("utf-8-sig", "replace").split("\n")[:MAX_RULES]:
        line = raw.rstrip()
        if line.endswith("\\") and len(line) < len(raw):
            line += " "  # a blank at the end that is meant
        if not line or line.startswith("#"):
            continue
        keep = line.startswith("!")
        line = line[1:] if keep else line
        dirs_only = line.endswith("/")
        body = line.strip("/")
        if not body:
            continue
        by_name = "/" not in line.rstrip("/")
        try:
            rules.append(Rule(compile_glob(_plain(body)), keep, dirs_only, by_name))
        except ToolFailure:
            continue
    return IgnoreFile(base, tuple(rules))


def _plain(pattern: str) -> str:
    """An ignore file's pattern in our dialect: a backslash takes the next character as it is, and
    braces mean themselves."""
    return _ESCAPED.sub(lambda found: _literal(found[1] or found[0]), pattern)


def _literal(character: str) -> str:
    return f"[{character}]" if character in "*?[{\\" else character


def ignored(files: tuple[IgnoreFile, ...], path: str, name: str, *, is_dir: bool) -> bool:
    """Whether ``path`` (relative to the start) is ignored by these files, shallowest first."""
    for file in reversed(files):
        inner = path[len(file.base) + 1 :] if file.base else path
        for rule in reversed(file.rules):
            if rule.dirs_only and not is_dir:
                continue
            if rule.pattern.matches(name if rule.by_name else inner):
                return not rule.keep
    return False
