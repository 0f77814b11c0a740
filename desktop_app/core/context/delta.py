"""What a model says about what leaves the context, read leniently and believed item by item.

Asked for is one JSON object: ``{"items": [{"kind", "text", "quote"}], "narrative"}``. A small model
that writes plain lines under headings is understood too. Every item needs evidence: words that
stand in what the model was shown. What is not proven is dropped with its reason, the rest is kept:

    unreadable     no text in it                      too_long   over ``LONGEST`` characters
    no_evidence    quote missing, or found nowhere    mismatch   number, path, host … not beside it
    unlike         says something else than its quote modality   must, may or not turned around
    not_theirs     a rule that the person did not set order      repeats an order out of tool text
    poses          looks like a message or a call     secret     holds a key or a password
    no_room        beyond the allowance               echo       repeats what the model was told

Tasks, pending things and files are kept by rules and not taken from a model. A rule is taken as the
person's own sentence, never in the model's words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from desktop_app.core.messages import Usage

from .entities import entities, holds, plain
from .findings import poses, shape
from .glimpses import is_data
from .redact import redact
from .rules import orders, sentences
from .sources import Found, Source, sentence_of
from .types import Evidence, ItemKind

LONGEST = 400  # characters of an item
NARRATIVE = 800  # characters
MOST = 120  # items of one answer
QUOTE = 6  # characters: a shorter quote proves nothing
LIKE, LIKE_WITHOUT = (
    0.25,
    0.6,
)  # share of an item's words in its evidence, with and without entities
Count = Callable[[str], float]

_KINDS: tuple[tuple[ItemKind, re.Pattern[str]], ...] = (
    ("constraint", re.compile(r"constraint|rule|preference|must|约束|规则|要求", re.IGNORECASE)),
    ("decision", re.compile(r"deci|chose|决定|决策", re.IGNORECASE)),
    ("pending", re.compile(r"pending|todo|to-do|open|next|task|goal|待|未决|下一步|目标", re.I)),
    ("artifact", re.compile(r"file|artifact|文件", re.IGNORECASE)),
    ("fact", re.compile(r"fact|found|finding|done|discover|error|result|发现|完成|事实", re.I)),
)
_BY_RULES = ("pending", "artifact")
_NOT = re.compile(
    r"\b(?:not|no|never|none|without|cannot|\w+n['’]t)\b|不|没|无|未|勿|禁止|别", re.IGNORECASE
)
_STRICT = re.compile(
    r"\b(?:must|always|never|only|shall|required|mandatory|forbidden)\b|必须|只能|不得|禁止|务必",
    re.I,
)
_LOOSE = re.compile(
    r"\b(?:may|might|could|optional(?:ly)?|possibly)\b|可以|可能|也许", re.IGNORECASE
)
_HEADING = re.compile(r"^\W*([^:：]{2,30})[:：]\s*(.*)$")
_BULLET = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a model wrote, not yet believed. ``kind`` as it named it."""

    kind: str
    text: str
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proven:
    """An item that holds, with its evidence."""

    kind: ItemKind
    text: str
    evidence: Evidence


@dataclass(slots=True)
class Delta:
    """What is accepted of an answer. ``rejected`` are (text, reason)."""

    items: list[Proven] = field(default_factory=list[Proven])
    narrative: str = ""
    rejected: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    usage: Usage | None = None


def read(answer: str) -> tuple[list[Claim], str]:
    """The claims and the narrative of an answer. Nothing of it is believed yet."""
    text = re.sub(r"^\s*```\w*\s*$", "", answer.strip(), flags=re.MULTILINE).strip()
    value = _json(text)
    if value is None:
        return _lines(text)
    if isinstance(value, list):
        body: dict[str, Any] = {"items": value}
    else:
        body = cast(dict[str, Any], value)
    claims: list[Claim] = []
    for key in ("items", "add", "notes", "facts", "decisions", "constraints"):
        listed = body.get(key)
        for entry in cast(list[Any], listed) if isinstance(listed, list) else []:
            kind = key if key.endswith("s") and key not in ("items", "notes") else "fact"
            claims.append(_claim(entry, kind))
    narrative = body.get("narrative")
    return claims, narrative.strip() if isinstance(narrative, str) else ""


def _json(text: str) -> Any:
    """The JSON in a text, with one repair of commas and ends; JSON by the line; else None."""
    start = min((n for n in (text.find("{"), text.find("[")) if n >= 0), default=-1)
    if start < 0 or (start > 0 and start > 200):
        return None
    tries = [text[start:], text[start : max(text.rfind("}"), text.rfind("]")) + 1]]
    tries.append(re.sub(r",\s*([}\]])", r"\1", tries[1]))
    tries += [tries[2] + end for end in ("]}", "}", "}]}")]
    for candidate in tries:
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict | list):
            return cast(Any, value)
    entries: list[Any] = []
    for line in text.splitlines():
        try:
            entries.append(json.loads(line.strip().rstrip(",")))
        except (ValueError, RecursionError):
            continue
    return [e for e in entries if isinstance(e, dict)] or None


def _claim(entry: Any, kind: str) -> Claim:
    if isinstance(entry, str):
        return Claim(kind, entry.strip())
    if not isinstance(entry, dict):
        return Claim(kind, "")
    fields = cast(dict[str, Any], entry)
    quotes: list[str] = []
    for key in ("quote", "quotes", "evidence", "source"):
        given = fields.get(key)
        for one in cast(list[Any], given) if isinstance(given, list) else [given]:
            if isinstance(one, dict):
                one = cast(dict[str, Any], one).get("quote")
            if isinstance(one, str) and one.strip():
                quotes.append(one.strip())
    text = fields.get("text") or fields.get("content") or fields.get("fact") or ""
    name = fields.get("kind") or fields.get("type") or kind
    return Claim(str(name), text.strip() if isinstance(text, str) else "", tuple(quotes))


def _lines(text: str) -> tuple[list[Claim], str]:
    """Plain notes: lines under headings, "Kind: text" lines, bullets."""
    claims: list[Claim] = []
    kind = "fact"
    for line in text.splitlines():
        line = line.strip()
        bare = _BULLET.sub("", line)
        if line.startswith("#"):
            kind = line.strip("# ").lower() or kind
            continue
        match = _HEADING.match(bare)
        if match and bare == line and any(p.search(match.group(1)) for _, p in _KINDS):
            kind, bare = match.group(1), match.group(2)
        if len(bare) > 1 and bare not in ("–", "-"):
            claims.append(Claim(kind, bare))
    return claims, ""


def kind_of_claim(name: str) -> ItemKind:
    """The kind that a model means by ``name``; a fact when it is none of ours."""
    for kind, pattern in _KINDS:
        if pattern.search(name):
            return kind
    return "fact"


class Verifier:
    """Believes what one source proves."""

    def __init__(self, source: Source, echoes: frozenset[str] = frozenset()) -> None:
        self._source = source
        self._echoes = echoes

    def check(self, claim: Claim) -> Proven | str | None:
        """The proven item, the reason why it is none, or None where rules keep it already."""
        kind, text = kind_of_claim(claim.kind), claim.text
        if not text:
            return "unreadable"
        if kind in _BY_RULES:
            return None
        if poses(text):
            return "poses"
        if len(text) > LONGEST:
            return "too_long"
        if redact(text) != text or any(s in text for s in self._source.secrets):
            return "secret"
        reason = "no_evidence"
        for found in self._evidence(claim):
            verdict = self._proves(kind, text, found)
            if verdict is None or isinstance(verdict, Proven):
                return verdict
            reason = verdict
        return reason

    def _evidence(self, claim: Claim) -> Sequence[Found]:
        quotes = [q for q in claim.quotes if len(plain(q)) >= QUOTE]
        if claim.quotes:
            return [f for q in quotes for f in self._source.find(q)][:20]
        if len(plain(claim.text)) >= QUOTE and (whole := self._source.find(claim.text)):
            return whole
        named = entities(claim.text)
        if not named:
            return []
        lines = self._source.with_all(named)
        return [found for _, found in zip(range(20), lines, strict=False)]

    def _proves(self, kind: ItemKind, text: str, found: Found) -> Proven | str | None:
        role = found.passage.role
        if kind == "constraint" and role == "record":
            return None  # it was carried on already
        if kind == "constraint":
            sentence = sentence_of(found) if role == "user" else ""
            if not sentence:
                return "not_theirs"
            return Proven(kind, sentence, Evidence(ref=found.passage.ref, quote=sentence))
        if role == "tool" and not (is_data(found.context) and is_data(text)):
            return "order"
        if role == "record" and orders(text) and not orders(found.quote):
            return "order"
        named = entities(text)
        if not all(holds(found.context, word) for word in named):
            return "mismatch"
        if _turned(text, found.quote):
            return "modality"
        if not _alike(text, found.context, named):
            return "unlike"
        quote = found.quote if len(found.quote) <= LONGEST else found.quote[:LONGEST]
        return Proven(kind, text, Evidence(ref=found.passage.ref, quote=redact(quote)))

    def narrative(self, text: str) -> tuple[str, list[tuple[str, str]]]:
        """The sentences of a narrative that name nothing unknown and order nothing."""
        kept: list[str] = []
        rejected: list[tuple[str, str]] = []
        for sentence in sentences(text):
            reason = self._told(sentence)
            if not reason and len(" ".join([*kept, sentence])) > NARRATIVE:
                reason = "too_long"
            if reason:
                rejected.append((sentence[:200], reason))
            else:
                kept.append(sentence)
        return " ".join(kept), rejected

    def _told(self, sentence: str) -> str:
        if shape(sentence) in self._echoes:
            return "echo"
        if poses(sentence):
            return "poses"
        if not is_data(sentence):
            return "order"
        if redact(sentence) != sentence or any(s in sentence for s in self._source.secrets):
            return "secret"
        known = all(self._source.holds(word) for word in entities(sentence))
        return "" if known else "mismatch"


def _turned(text: str, quote: str) -> bool:
    """Whether what binds, or is denied, in one is not in the other."""
    for pattern in (_NOT, _STRICT, _LOOSE):
        if bool(pattern.search(text)) != bool(pattern.search(quote)):
            return True
    return False


def _words(text: str) -> set[str]:
    words = {w[:5] for w in re.findall(r"[^\W\d_]{3,}", text.casefold()) if w.isascii()}
    for run in re.findall(r"[\u3400-\u9fff]+", text):
        words |= {run[n : n + 2] for n in range(max(1, len(run) - 1))}
    return words


def _alike(text: str, context: str, named: Sequence[str]) -> bool:
    own, other = _words(text), _words(context)
    if not own:
        return bool(named) or plain(text) in context
    if (
        named
        and all(ord(c) > 127 for w in own for c in w[:1])
        and not re.search("[㐀-鿿]", context)
    ):
        return True  # told in another language: its exact words prove it
    return len(own & other) >= (LIKE if named else LIKE_WITHOUT) * len(own)


def verify(
    answer: str,
    source: Source,
    count: Count,
    allowance: float,
    known: Iterable[str] = (),
    asked: Sequence[str] = (),
) -> Delta:
    """What of ``answer`` is proven by ``source`` and not ``known``, as far as it fits ``allowance``
    tokens. ``asked`` are the texts that the model was instructed with: to repeat them is no note.
    """
    claims, narrative = read(answer)
    echoes = frozenset(shape(s) for text in asked for s in sentences(text))
    verifier, delta = Verifier(source, echoes), Delta()
    told: list[str] = []
    left, had = allowance, {shape(k) for k in known}
    for claim in claims[:MOST]:
        result = verifier.check(claim)
        if result == "no_evidence" and not claim.quotes and not entities(claim.text):
            told.append(claim.text)  # a plain line that names nothing: narrative, if anything
        elif isinstance(result, str):
            delta.rejected.append((claim.text[:200], result))
        elif result is not None and shape(result.text) not in had:
            had.add(shape(result.text))
            left -= count(result.text) + 2
            if left < 0:
                delta.rejected.append((claim.text[:200], "no_room"))
            else:
                delta.items.append(result)
    delta.rejected += [(c.text[:200], "no_room") for c in claims[MOST:]]
    told_text = "\n".join([*([narrative] if narrative else []), *told])
    delta.narrative, refused = verifier.narrative(told_text)
    delta.rejected += refused
    if delta.narrative and count(delta.narrative) > max(left, 0):
        delta.rejected.append((delta.narrative[:200], "no_room"))
        delta.narrative = ""
    return delta
