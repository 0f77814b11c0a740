"""Deny rules that a person's "must not" could also become, so that losing the text is not losing
the rule. They are offered, never added by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from desktop_app.core.state import Rule

from .entities import entities
from .rules import modality, rules_in
from .types import Evidence, LedgerItem

_READING = re.compile(r"\b(?:read|open|look|access|view|see|touch)\w*|读|看|打开|访问|碰", re.I)
_CHANGING = re.compile(
    r"\b(?:touch|change|modif|edit|writ|delet|remov|overwrit|renam|mov|alter|replac|creat|commit"
    r"|untouched|alone|frozen)\w*|改|写|删|动|碰|移",
    re.IGNORECASE,
)
_HOST = re.compile(
    r"(?:https?://)?((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,18}|localhost|\d{1,3}(?:\.\d{1,3}){3})"
    r"(?::\d+)?(?:/.*)?",
    re.IGNORECASE,
)
# What looks like a host and is a file much more often.
_FILES = frozenset(
    re.findall(
        r"\w+",
        "py js ts md txt csv json toml yaml yml html css rs go java c h cpp sh sql xml ini cfg log "
        "lock pdf png jpg svg env db ipynb tsx jsx rb php kt swift tex rst doc docx xls xlsx zip",
    )
)
CHANGE = ("Write", "Edit")
READ = ("Read", "Grep")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """``rule`` as a permission rule (behaviour deny), and the item and sentence that it is of."""

    rule: Rule
    item: str
    sentence: str


def deny_in(text: str, ref: str, tools: Sequence[str]) -> list[Suggestion]:
    """The same for what a person wrote in the message ``ref``."""
    items = [
        LedgerItem(
            id=f"constraint-{ref}-{n}",
            kind="constraint",
            text=sentence,
            modality=modality(sentence),
            origin="user",
            evidence=(Evidence(ref, sentence),),
        )
        for n, sentence in enumerate(rules_in(text))
    ]
    return deny_suggestions(items, tools)


def deny_suggestions(items: Iterable[LedgerItem], tools: Sequence[str]) -> list[Suggestion]:
    """Rules for the open "must not" items that name a tool of ``tools``, a path or a host."""
    found: list[Suggestion] = []
    seen: set[tuple[str, str | None]] = set()
    for item in items:
        if item.kind != "constraint" or item.modality != "must_not" or item.status != "open":
            continue
        for tool, content in _rules(item.text, tools):
            if (tool, content) not in seen:
                seen.add((tool, content))
                rule = Rule(tool_name=tool, rule_content=content, behavior="deny")
                found.append(Suggestion(rule, item.id, item.text))
    return found


def _rules(sentence: str, tools: Sequence[str]) -> list[tuple[str, str | None]]:
    named = [t for t in tools if re.search(rf"(?<![\w./-]){re.escape(t)}(?![\w/-]|\.\w)", sentence)]
    rules: list[tuple[str, str | None]] = []
    paths: list[str] = []
    for word in entities(sentence):
        host = _host(word)
        if host:
            rules.append(("*", f"host:{host}"))
        elif (path := _path(word)) and word not in tools:
            paths.append(path)
    for path in paths:
        own = [t for t in named if t in (*CHANGE, *READ)]
        meant = list(CHANGE)
        if _READING.search(sentence) and not _CHANGING.search(sentence):
            meant = [*READ, *CHANGE]
        rules += [(tool, path) for tool in own or meant]
    if not rules:
        rules = [(tool, None) for tool in named]
    return rules


def _host(word: str) -> str:
    if "@" in word:
        return ""
    match = _HOST.fullmatch(word)
    if match is None:
        return ""
    host = match.group(1).lower()
    is_file = host.rpartition(".")[2] in _FILES and "//" not in word
    return "" if is_file else host


def _path(word: str) -> str | None:
    """A path as a rule's content: what ends in a slash, or has no ending, with all below it."""
    word = word.removeprefix("./")
    if "://" in word or "@" in word or word.startswith("-") or "=" in word:
        return None
    name = word.rstrip("/").rpartition("/")[2]
    if "." in name.lstrip(".") or name.startswith("."):
        return word
    return f"{word.rstrip('/')}/**" if "/" in word else None
