"""Sentences in which a person sets a rule, found by their cue words, kept byte for byte.

A deterministic projection of what the person wrote, in English and Chinese: no model sees it on
the way. Over-finding costs a few tokens; a rule that is missed is still in the person's message.
"""

from __future__ import annotations

import re

_SENTENCE = re.compile(
    r"[^.!?。！？；;\n]*(?:[.!?;](?=[^\s\"')\]])[^.!?。！？；;\n]*)*[.!?。！？；;]*\n?"
)
_CUE = re.compile(
    r"\b(?:must|mustn't|never|always|only|do not|don't|don’t|does not|cannot|can't|should not"
    r"|shouldn't|avoid|keep|make sure|ensure|no more than|at most|at least|without|unless"
    r"|from now on|remember|important|forbidden|not allowed|required|require|except)\b"
    r"|必须|必需|不要|不得|不能|不可|不许|不准|不允许|不应|禁止|严禁|切勿|请勿|勿|只能|只准|只许|仅限|仅能"
    r"|务必|一定要|保持|保留|确保|从现在起|以后都|记住|牢记|注意|除非|至多|至少|不超过|不少于"
    r"|(?<![分特区级类个性判识差鉴告离辨有])别(?![的人名处墅样致扭])",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^(```|~~~)", re.MULTILINE)
PASTED = 40  # rules taken from one pasted text at most


def _outside_fences(text: str) -> list[str]:
    """The parts of ``text`` that are not fenced code; an unclosed fence runs to the end."""
    marks = [m.start() for m in _FENCE.finditer(text)]
    if not marks:
        return [text]
    parts, at = [text[: marks[0]]], 1
    while at < len(marks):
        end = text.find("\n", marks[at])
        close = len(text) if end < 0 else end
        stop = marks[at + 1] if at + 1 < len(marks) else len(text)
        parts.append(text[close:stop])
        at += 2
    return parts


def rules_in(text: str, *, pasted: bool = False) -> list[str]:
    """Sentences of ``text`` that set a rule, in order, each an exact piece of it without the space
    around it. ``pasted`` text yields at most ``PASTED``."""
    found: list[str] = []
    for part in _outside_fences(text):
        for match in _SENTENCE.finditer(part):
            sentence = match.group().strip()
            if sentence and sentence not in found and _CUE.search(sentence):
                found.append(sentence)
                if pasted and len(found) >= PASTED:
                    return found
    return found
