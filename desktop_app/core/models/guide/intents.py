"""From words to a request: which intent, with which slots; and several steps to several requests.

No learning and no statistics: patterns with weights (``lexicon``), mistyped keywords put right,
slots cut out of the original wording (``slots``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

from .fuzzy import correct
from .lexicon import VOCABULARY, rules
from .slots import slots_of
from .text import Lang, Masked, fold, mask

MOST = 2000  # characters that are looked at
THRESHOLD = 3  # a lone weak word is no request


@dataclass(frozen=True, slots=True)
class Request:
    """One understood request. ``intent`` "none" when the rules found nothing.

    Slots by intent (all optional): ``file``, ``files``, ``name``, ``path`` (a folder), ``glob``,
    ``exts``, ``query``, ``offset``, ``limit``, ``what`` (files, lines, words, occurrences),
    ``content``, ``topic``, ``append``, ``source``, ``dest``, ``by`` (type, date), ``refers``
    ("last" when it speaks of "it", "all" of "the results"), ``all`` and ``notes`` (several files).
    """

    intent: str
    lang: Lang
    text: str
    slots: dict[str, Any] = field(default_factory=dict[str, Any])
    steps: tuple[Request, ...] = ()
    score: int = 0

    def texts(self, slot: str) -> list[str]:
        """A slot that is a list of texts; empty when it is not there."""
        value = self.slots.get(slot)
        return [str(v) for v in cast(list[Any], value)] if isinstance(value, list) else []


def _scores(text: str, lang: Lang) -> dict[str, int]:
    found: dict[str, int] = {}
    # Words of the other language mix in freely ("grep 一下 TODO", "list 一下").
    for intent, weight, pattern in (*rules(lang), *rules("en" if lang == "zh" else "zh")):
        if pattern.search(text):
            found[intent] = found.get(intent, 0) + weight
    return found


def _pick(scores: dict[str, int]) -> tuple[str, int]:
    if not scores:
        return "none", 0
    intent, score = max(scores.items(), key=lambda item: item[1])
    return (intent, score) if score >= THRESHOLD else ("none", score)


def recognise_one(source: str, lang: Lang | None = None) -> Request:
    """The one request that ``source`` is, without looking for steps."""
    masked = mask(source)
    text, replaced = correct(masked.text, VOCABULARY)
    intent, score = _pick(_scores(text.lower(), masked.lang))
    lang = lang or masked.lang
    slots: dict[str, Any] = {}
    if intent != "none":
        corrected = Masked(source, text, masked.mentions, masked.lang)
        slots = slots_of(intent, masked, corrected, replaced)
    return Request(intent, lang, source, slots, (), score)


_NUMBERED = re.compile(
    r"(?:^|(?<=[\s:;,.。；：，]))(?:\(?\d{1,2}[.)、）:](?!\d)|(?:step|第) ?(?:\d{1,2}|one|"
    r"two|three|four|five|"
    r"[一二三四五六七八九十])步?[:：,，、]?)\s*",
    re.I,
)
_BREAKS = re.compile(
    r"\s*(?:[;；。\n]|\.(?=\s|$))+\s*(?:and )?(?:(?:then|next|finally|lastly|afterwards?|"
    r"after that)\b,?|"
    r"然后|接着|之后|随后|最后|再)?\s*"
    r"|(?:,|\s)\s*(?:and )?(?:then|after that|afterwards?|finally|next|lastly)\b,?\s*"
    r"|[,，]?\s*(?:然后|接着|随后|最后|而后|紧接着|[,，]之后)(?:再)?[,，]?\s*|"
    r"[,，]\s*(?:之后|再|并且?|同时)\s*",
    re.I,
)
# A comma or "and" only parts two steps when a verb of doing follows.
_VERBS = (
    r"(?:list|find|search|look|read|open|show|count|compare|summari[sz]e|write|save|store|"
    r"create|make|"
    r"add|append|put|rename|move|organi[sz]e|sort|tidy|group|draft)"
)
_SOFT = re.compile(
    rf"(?:,\s*|\s+)and (?={_VERBS}\b)|,\s*(?=(?:just |only |please )?{_VERBS}\b)"
    r"|(?:,\s*|\s+)(?:and |but )(?=(?:never|don't|do not)\b)"
    r"|,\s*(?=(?:never|don't|do not|without)\b)"
    r"|[,，]\s*(?:但是?)?(?=不要|别|禁止|不得|请勿|切勿)"
    r"|[,，]?\s*并(?:且)?(?=[把将保写存记读总统列比])|[,，]\s*(?=(?:只|就|只要|只需)?[读找列搜统总比数写存保把将])"
    r"|(?<=[\u4e00-\u9fff\ue000-\ue004])\s*并(?=[把将保写存记])",
    re.I,
)
_TOLD = re.compile(
    r"(?:\b(?:text|contents?|words?|says|saying|containing|(?:a|this|another) note|memo)"
    r"|内容(?:是|为)?|笔记|记下来?|写上|如下)\s*[::]\s*(?=\S)",
    re.I,
)
_LEAD = re.compile(
    r"^(?:please|just|only|first(?:ly)?|finally|lastly|next|then|and|now|"
    r"do these steps|follow these steps|"
    r"请|首先|先|再|然后|接着|最后|并且?|只要|只需|只|按步骤(?:做|来)|依次)[,:，：]?\s*",
    re.I,
)


def _cut(masked: Masked) -> list[str]:
    """The clauses of a request, in the original wording."""
    hidden = masked.text
    cuts: list[tuple[int, int]] = []
    numbered = [m.span() for m in _NUMBERED.finditer(hidden)]
    if len(numbered) >= 2:
        cuts = numbered
    cuts += [m.span() for m in _BREAKS.finditer(hidden) if m.group().strip()]
    cuts += [m.span() for m in _SOFT.finditer(hidden) if m.group().strip()]
    if told := _TOLD.search(hidden):  # what follows is text for a file, not steps
        cuts = [c for c in cuts if c[0] < told.start()]
    cuts.sort()
    clauses: list[str] = []
    at = 0
    for start, end in [*cuts, (len(hidden), len(hidden))]:
        if start > at:
            clauses.append(_original(masked, at, start))
        at = max(at, end)
    out: list[str] = []
    for clause in clauses:
        text = clause.strip(" ,;:，；：、\n")
        while (m := _LEAD.match(text)) and m.end() < len(text):
            text = text[m.end() :]
        if text:
            out.append(text)
    return out


def _original(masked: Masked, start: int, end: int) -> str:
    """The source text behind a span of the masked text, quotation marks included."""
    out: list[str] = []
    number = sum(c >= "\ue000" and c <= "\ue004" for c in masked.text[:start])
    for char in masked.text[start:end]:
        if "\ue000" <= char <= "\ue004":
            m = masked.mentions[number]
            out.append(masked.source[m.start : m.end])
            number += 1
        else:
            out.append(char)
    return "".join(out)


def _join(steps: list[Request]) -> list[Request]:
    """Clauses that are one request: "draft a report …" + "store it as …"."""
    out: list[Request] = []
    for step in steps:
        bare = out and out[-1].intent == "write" and not out[-1].slots.get("content")
        if bare and step.intent == "list" and out[-1].slots.get("file"):
            slots = {**out[-1].slots, "kind": "listing"}
            out[-1] = Request("write", step.lang, f"{out[-1].text} {step.text}", slots)
        elif out and step.intent == out[-1].intent == "write" and not out[-1].slots.get("file"):
            merged = {**step.slots, **out[-1].slots}
            for key in ("file", "append"):
                if step.slots.get(key):
                    merged[key] = step.slots[key]
            merged.pop("refers", None)
            out[-1] = Request("write", step.lang, f"{out[-1].text} {step.text}", merged)
        else:
            out.append(step)
    return out


# "Never touch …", "不要改 …" is a constraint, never a thing to do.
_NEGATED = re.compile(
    r"^(?:and |but |please )*(?:never|do not|don't|dont|no need to|avoid|without)\b"
    r"|^(?:但|而且|也|请|千万|绝对)*(?:不要|别|禁止|不得|请勿|切勿|不许|不能|不可|不用|勿)",
    re.I,
)


def recognise(source: str) -> Request:
    """What ``source`` asks for. Several steps become intent "plan" with ``steps``."""
    if len(source) > MOST:  # a long paste: its beginning says what to do
        head = recognise(source[:MOST])
        content = head.slots.get("content")
        if isinstance(content, str) and source[:MOST].rstrip().endswith(content.rstrip()):
            head.slots["content"] = content + source[MOST:]
        return head
    masked = mask(source)
    clauses = _cut(masked)
    asked = [c for c in clauses if not _NEGATED.match(fold(c))]
    whole = Request("none", masked.lang, source)
    if len(asked) == len(clauses):
        whole = recognise_one(source)
    elif len(asked) == 1:
        whole = recognise_one(asked[0], masked.lang)
    clauses = asked
    if len(clauses) >= 2 and whole.intent != "explain":
        steps = [recognise_one(clause, masked.lang) for clause in clauses]
        known = _join([s for s in steps if s.intent not in ("none", "explain")])
        if len(known) >= 2:
            slots = {"steps": [s.intent for s in known]}
            return Request("plan", masked.lang, source, slots, tuple(known), whole.score)
        if len(known) == 1 and sum(s.intent not in ("none", "explain") for s in steps) > 1:
            return known[0]  # two clauses of one request
    return whole
