"""Path patterns: one matcher for Glob, Grep's ``glob``, ignore files and permission rules.

``*`` and ``?`` stay within a name, ``**`` as a whole name crosses directories, ``[a-z]`` ``[!a]``
are classes, ``{a,b}`` alternatives (nested up to a bound). Compiled for the linear-time engine, so
that a pattern like ``*a*a*a*b`` is as cheap as any.
"""

from __future__ import annotations

import re
from functools import lru_cache

from desktop_app.core.errors import ToolFailure

from .linear import BadPattern, Linear

MAX_PATTERN = 1000
MAX_ALTERNATIVES = 256


def bad_pattern(pattern: str, why: str) -> ToolFailure:
    """A pattern that cannot be used."""
    return ToolFailure(
        "search.bad_pattern",
        f"The pattern {pattern[:200]!r} is not usable: {why}",
        pattern=pattern[:200],
        detail=why,
    )


def expand(pattern: str) -> list[str]:
    """``a{b,c}`` as ``["ab", "ac"]``. A brace without a comma or a partner stands for itself."""
    if len(pattern) > MAX_PATTERN:
        failure = bad_pattern(pattern, f"longer than {MAX_PATTERN} characters")
        raise failure
    done: list[str] = []
    todo = [pattern]
    while todo:
        text = todo.pop()
        found = _first_braces(text)
        if found is None:
            done.append(text)
        else:
            start, end, options = found
            todo.extend(text[:start] + o + text[end:] for o in reversed(options))
        if len(done) + len(todo) > MAX_ALTERNATIVES:
            failure = bad_pattern(pattern, f"more than {MAX_ALTERNATIVES} alternatives")
            raise failure
    return done


def _first_braces(text: str) -> tuple[int, int, list[str]] | None:
    """The first ``{…,…}`` with its end and its options."""
    start = text.find("{")
    while start >= 0:
        depth, last, options = 0, start + 1, list[str]()
        for i in range(start, len(text)):
            c = text[i]
            if c == "{":
                depth += 1
            elif c == "," and depth == 1:
                options.append(text[last:i])
                last = i + 1
            elif c == "}":
                depth -= 1
                if depth == 0:
                    if options:
                        return start, i + 1, [*options, text[last:i]]
                    break
        start = text.find("{", start + 1)
    return None


@lru_cache(maxsize=512)
def compile_glob(pattern: str) -> Linear:
    """A compiled pattern for whole relative paths; ToolFailure ``search.bad_pattern``."""
    parts = "|".join(_one(p) for p in expand(pattern))
    try:
        return Linear(rf"(?s)\A(?:{parts})\z")
    except BadPattern as error:
        failure = bad_pattern(pattern, str(error))
        raise failure from error


def _one(pattern: str) -> str:
    names = [n for n in pattern.split("/") if n != "."]
    out: list[str] = []
    collapsed: list[str] = []
    for name in names:
        if name == "**" and collapsed and collapsed[-1] == "**":
            continue
        collapsed.append(name)
    last = len(collapsed) - 1
    for i, name in enumerate(collapsed):
        if name == "**":
            out.append("(?:[^/]+(?:/[^/]+)*)" if i == last else "(?:[^/]+/)*")
        else:
            out.append(_name(name) + ("" if i == last else "/"))
    return "".join(out)


def _name(name: str) -> str:
    """One path name as a regular expression; runs of stars count as one."""
    out: list[str] = []
    i = 0
    while i < len(name):
        c = name[i]
        i += 1
        if c == "*":
            while i < len(name) and name[i] == "*":
                i += 1
            out.append("[^/]*")
        elif c == "?":
            out.append("[^/]")
        elif c == "[" and (end := _class_end(name, i)) > 0:
            body = name[i:end]
            negated = body[0] in "!^"
            body = re.sub(r"[\\\[\]&~|^]", r"\\\g<0>", body[1:] if negated else body)
            out.append(f"[^/{body}]" if negated else f"[{body}&&[^/]]")
            i = end + 1
        else:
            out.append(re.escape(c))
    return "".join(out)


def _class_end(name: str, start: int) -> int:
    """Index of the ``]`` that closes the class opened before ``start``, or -1."""
    i = start + 1 if name[start : start + 1] in ("!", "^") else start
    return name.find("]", i + 1)


def matches(pattern: str, path: str) -> bool:
    """Whether a relative path matches a pattern whole."""
    return compile_glob(pattern).matches(path)


def matches_anywhere(pattern: str, path: str) -> bool:
    """As ignore files and ripgrep's ``--glob`` see it: a pattern without a slash matches a name at
    any depth, one with a slash is anchored."""
    if "/" not in pattern.rstrip("/"):
        return compile_glob(pattern.rstrip("/")).matches(path.rsplit("/", 1)[-1])
    return compile_glob(pattern.lstrip("/")).matches(path)


def for_ripgrep(pattern: str) -> list[str]:
    """The same patterns as values of ripgrep's ``--glob``, whose dialect differs in backslashes,
    lone braces, unclosed classes and comments; ToolFailure ``search.bad_pattern``."""
    return [_as_ripgrep(p) for p in expand(pattern)]


def _as_ripgrep(pattern: str) -> str:
    names = [n for n in pattern.rstrip("/").split("/") if n != "."]
    return "/".join(n if n == "**" else _name_as_ripgrep(n) for n in names)


def _name_as_ripgrep(name: str) -> str:
    out: list[str] = []
    i = 0
    while i < len(name):
        c = name[i]
        i += 1
        if c == "[" and (end := _class_end(name, i)) > 0:
            out.append(name[i - 1 : end + 1])
            i = end + 1
        elif c == "*":
            if out[-1:] != ["*"]:
                out.append(c)
        else:
            out.append(f"[{c}]" if c in "[{}\\# " else c)
    return "".join(out)


def static_prefix(pattern: str) -> tuple[str, str]:
    """(directory, rest): the leading names without wildcards, and what is left to match."""
    names = pattern.split("/")
    fixed = 0
    while fixed < len(names) - 1 and not any(c in "*?[{" for c in names[fixed]):
        fixed += 1
    prefix = "/".join(names[:fixed])
    if not prefix and pattern.startswith("/"):
        prefix = "/"
    return prefix, "/".join(names[fixed:])
