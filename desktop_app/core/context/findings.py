"""What the agent decided and found, in its own words: sentences that say something exact.

No model sees them on the way. What only announces the next call is left out: its exact words stand
in the call's arguments. What tools returned is not looked at, so that nothing from there is ever
carried on as somebody's word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .entities import entities, may_name, plain, words_of
from .redact import redact
from .rules import sentences
from .types import ItemKind

LONGEST = 400  # characters of one sentence; longer ones are no finding but prose or data
PER_MESSAGE = 12
_DECIDED = re.compile(
    r"\b(?:decision|decided?|deciding|(?:we|I)(?:'ll| will| shall| should) (?:use|go|take|keep)"
    r"|(?:go|goes|going|went) with|opt(?:ed|ing)? for|chose|chosen|choose|pick(?:ed)?|settled on"
    r"|wins|moves? to|switch(?:ed|ing)? to|uses? \S+ instead|(?:is|are|be) (?:now )?built on"
    r"|is what the|from (?:here|now) on|instead of|rather than|agreed|the plan is|drop(?:ped)?)\b"
    r"|决定|选择|选定|选用|采用|改用|换成|就用|定为|敲定|改为",
    re.IGNORECASE,
)
_DECIDED_WORDS = frozenset(
    re.findall(
        r"\w+",
        "decision decide decided deciding we i ll with opt opted opting chose chosen choose pick "
        "picked settled wins to instead built what on of than agreed plan drop dropped",
    )
)
_CHANGES = re.compile(
    r"\b(?:drop(?:ped|ping)?|instead|replac\w+|no longer|moves? to|moved|switch\w*|migrat\w+"
    r"|did(?: not|n't) (?:hold|work|scale)|rather than|revert\w*|abandon\w*|supersed\w+"
    r"|retire\w*|not \S+ any ?more)\b|改用|换成|不再|放弃|替换|改为|弃用",
    re.IGNORECASE,
)
_POSES = re.compile(
    r"^\W{0,4}(?:system|assistant|user|human|developer|tool)\s*:|<\|[\w ]{1,40}\|>"
    r"|</?(?:pinned|history|open-tasks|system|tool_calls?|function_calls?|invoke|system-reminder)\b"
    r"|(?:ignore|disregard|forget)\b.{0,30}\b(?:previous|prior|above|earlier|all)\b.{0,30}"
    r"(?:instruction|rule|prompt|message)"
    r"|(?:忽略|无视|忘记).{0,10}(?:以上|之前|先前|前面|所有).{0,10}(?:指令|指示|规则|要求)",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^(?:#{1,6}\s|\|)|[:：]$")
_BULLET = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
_BOX = re.compile(r"^\[[ xX✓✔~-]?\]")


def poses(text: str) -> bool:
    """Whether a text has the shape of a message, a tool call or an order to the model, which
    nothing that is carried on as history may have."""
    return _POSES.search(text) is not None


def decides(text: str) -> bool:
    """Whether a sentence tells a decision."""
    return _may_decide(text) and _DECIDED.search(text) is not None


def _may_decide(text: str) -> bool:
    """Whether some sentence of ``text`` may tell a decision; False is certain."""
    return not (text.isascii() and _DECIDED_WORDS.isdisjoint(words_of(text)))


def changes(text: str) -> bool:
    """Whether a sentence tells that something is used no more, or another thing in its place."""
    return _CHANGES.search(text) is not None


@dataclass(frozen=True, slots=True)
class Finding:
    kind: ItemKind  # decision or fact
    text: str
    quote: str  # as the agent wrote it


def findings(text: str, called: Sequence[str], *, last: bool) -> tuple[Finding, ...]:
    """Findings of one text of the agent. ``called`` are the arguments of the calls that it stands
    before; ``last`` when it ends a turn."""
    return _findings(text, " ".join(called), last)


@lru_cache(maxsize=8192)
def _findings(text: str, known: str, last: bool) -> tuple[Finding, ...]:
    found: list[Finding] = []
    if not (may_name(text) or _may_decide(text)):
        return ()
    for sentence in sentences(text):
        quote = _BULLET.sub("", sentence)
        exact = [e for e in entities(quote) if e not in known]
        decided = decides(quote)
        if not exact and not (decided and (last or len(quote) > 30)):
            continue
        if len(quote) > LONGEST or _HEADING.search(quote) or _BOX.match(quote) or poses(quote):
            continue
        if found and quote == found[-1].quote:
            continue
        if exact and not decided and _bare(quote, exact):
            continue
        found.append(Finding("decision" if decided else "fact", redact(quote), quote))
    return tuple(found[:PER_MESSAGE])


def _bare(quote: str, exact: Sequence[str]) -> bool:
    """Whether a line holds its exact words and nothing else: an entry of a listing says nothing."""
    for word in exact:
        quote = quote.replace(word, "")
    return not any(c.isalpha() for c in quote)


def shape(text: str) -> str:
    """What two items that say the same have in common: all but white space, case, a full stop."""
    return plain(text).casefold().rstrip(".。!")
