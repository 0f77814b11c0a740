"""Sentences in which a person sets a rule, or takes one back, kept byte for byte.

A deterministic projection of what the person wrote, in English and Chinese: no model sees it on
the way. Over-finding costs a few tokens; a rule that is missed is still in the person's message.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache

from .entities import entities, words_of
from .types import Modality

_SENTENCE = re.compile(
    r"[^.!?。！？；;\n]*(?:[.!?;](?=[^\s\"')\]])[^.!?。！？；;\n]*)*[.!?。！？；;]*\n?"
)
_CUE = re.compile(
    r"\b(?:must|mustn't|never|always|only|do not|don't|don’t|does not|cannot|can't|should not"
    r"|shouldn't|avoid|keep|make sure|ensure|no more than|at most|at least|without|unless"
    r"|from now on|remember|important|forbidden|not allowed|required|require|except|prefer"
    r"|hands off|off[- ]limits|(?:leave|let) \S+(?: \S+){0,3} alone|leave it alone|stick to"
    r"|insist|no longer|under no circumstances|instead of)\b"
    r"|必须|必需|不要|不得|不能|不可|不许|不准|不允许|不应|禁止|严禁|切勿|请勿|勿|只能|只准|只许|仅限|仅能"
    r"|务必|一定要|保持|保留|确保|从现在起|以后都|记住|牢记|注意|除非|至多|至少|不超过|不少于|尽量|最好|优先"
    r"|(?<![分特区级类个性判识差鉴告离辨有])别(?![的人名处墅样致扭家])",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\bforget (?:what|that|about|the|my)\b|\b(?:is|are|was|were) (?:now )?(?:lifted|withdrawn"
    r"|cancell?ed|void|over|obsolete)\b|\bno longer (?:holds?|applies|apply|needed|necessary"
    r"|required|valid)\b|\bnever ?mind\b|\bscratch that\b|\bI take (?:that|it|this) back\b"
    r"|\b(?:you|we) (?:may|can) (?:now|again)\b|\b(?:drop|lift|cancel|ignore) (?:the|that|this|my)"
    r"(?: \S+){0,2} (?:rule|restriction|requirement|ban|limit|instruction)"
    r"|取消了?|作废|不再需要|不用(?:管|再)|解除|收回|不算数|不作数|失效",
    re.IGNORECASE,
)
_MUST_NOT = re.compile(
    r"\b(?:must ?n[o']t|mustn't|never|do not|don't|don’t|cannot|can't|should not|shouldn't"
    r"|forbidden|not allowed|hands off|off[- ]limits|alone|no longer|under no circumstances)\b"
    r"|不要|不得|不能|不可|不许|不准|不允许|不应|禁止|严禁|切勿|请勿|勿"
    r"|(?<![分特区级类个性判识差鉴告离辨有])别(?![的人名处墅样致扭家])",
    re.IGNORECASE,
)
_SHOULD = re.compile(r"\b(?:prefer|avoid|remember|important|keep)\b|尽量|最好|优先|注意", re.I)
_MUST = re.compile(
    r"\b(?:must|always|only|make sure|ensure|required?|from now on|insist|no more than|at most"
    r"|at least|unless|stick to)\b|必须|必需|只能|只准|只许|仅限|仅能|务必|一定要|确保"
    r"|从现在起|以后都",
    re.IGNORECASE,
)
_OF_RULES = re.compile(
    r"\b(?:rules?|restrictions?|requirements?|bans?|limits?|instructions?|constraints?)\b"
    r"|规则|规定|限制|要求|禁令|约束",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"\b(?:must|mustn't|never|always|do not|don't|don’t|shall|make sure|ensure|from now on|remember"
    r"|forbidden|not allowed|hands off|under no circumstances|new rule|your task|important)\b"
    r"|必须|不要|不得|不许|不准|禁止|严禁|切勿|请勿|务必|一定要|从现在起|以后都|记住|牢记",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^(```|~~~)", re.MULTILINE)
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "the and for that this with what said about rule restriction from into not you your are "
        "was its any all never always must only please forget over lifted longer mind",
    )
)
# A word of each English cue above: a text without any of them has no cue.
_CUE_WORDS = frozenset(
    re.findall(
        r"\w+",
        "must mustn never always only not t cannot avoid keep sure ensure more most least without "
        "unless now remember important forbidden required require except prefer off alone stick "
        "insist longer circumstances instead don shouldn",
    )
)
_BACK_WORDS = frozenset(
    re.findall(
        r"\w+",
        "forget lifted withdrawn canceled cancelled void over obsolete longer mind nevermind "
        "scratch back now again rule restriction requirement ban limit instruction",
    )
)
PASTED = 40  # rules taken from one pasted text at most


def _outside_fences(text: str) -> list[str]:
    """The parts of ``text`` that are not fenced code; an unclosed fence runs to the end."""
    if "```" not in text and "~~~" not in text:
        return [text]
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


@lru_cache(maxsize=8192)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of ``text`` outside fenced code, each an exact piece of it without the space
    around it. The last texts are remembered: a plan is made in rounds."""
    found: list[str] = []
    for part in _outside_fences(text):
        found += [s for m in _SENTENCE.finditer(part) if (s := m.group().strip())]
    return tuple(found)


@lru_cache(maxsize=8192)
def _rules(text: str, most: int) -> tuple[str, ...]:
    found: list[str] = []
    if not (may_bind(text) or may_take_back(text)):
        return ()
    for sentence in sentences(text):
        if (binds(sentence) or takes_back(sentence)) and sentence not in found:
            found.append(sentence)
            if len(found) >= most:
                break
    return tuple(found)


def rules_in(text: str, *, pasted: bool = False) -> list[str]:
    """Sentences of ``text`` that set a rule or take one back, in order, each once. ``pasted`` text
    yields at most ``PASTED``."""
    return list(_rules(text, PASTED if pasted else sys.maxsize))


def may_bind(text: str) -> bool:
    """Whether some sentence of ``text`` may read like a rule; False is certain."""
    return not (text.isascii() and _CUE_WORDS.isdisjoint(words_of(text)))


def may_take_back(text: str) -> bool:
    """Whether some sentence of ``text`` may take something back; False is certain."""
    return not (text.isascii() and _BACK_WORDS.isdisjoint(words_of(text)))


def binds(text: str) -> bool:
    """Whether a text reads like a rule."""
    return may_bind(text) and _CUE.search(text) is not None


def orders(text: str) -> bool:
    """Whether a text tells its reader what to do, as a fact hardly ever does."""
    return _ORDERS.search(text) is not None


def takes_back(sentence: str) -> bool:
    """Whether a sentence says that something said before does not hold any more."""
    return may_take_back(sentence) and _BACK.search(sentence) is not None


def speaks_of_rules(sentence: str) -> bool:
    """Whether a sentence names rules as such: taking one back in words that fit none of them is
    still about one, while "forget the PDF" is a change of mind."""
    return _OF_RULES.search(sentence) is not None


def modality(sentence: str) -> Modality:
    """How a rule binds. What takes a rule back is ``info``."""
    if takes_back(sentence):
        return "info"
    if _MUST_NOT.search(sentence):
        return "must_not"
    if _MUST.search(sentence):
        return "must"
    return "should" if _SHOULD.search(sentence) else "info"


def about_the_same(taking: str, rule: str) -> bool:
    """Whether what takes a rule back means ``rule``: they share an exact word, or, where the
    sentence has none, most of its own words."""
    named = set(entities(taking))
    if named:
        return not named.isdisjoint(entities(rule))
    own = {w[:5] for w in re.findall(r"[a-z]{3,}", taking.lower()) if w not in _COMMON}
    other = {w[:5] for w in re.findall(r"[a-z]{3,}", rule.lower())}
    return len(own) >= 2 and 2 * len(own & other) > len(own)
