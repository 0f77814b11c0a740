"""The person's own words, as many of them as fit: whole messages, else their telling sentences.

Every piece is byte for byte what the person wrote. What carries exact words, wishes or rules is
kept before what is repeated, asked in passing or small talk; the rest is in the offload.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from desktop_app.core.messages import WireModel

from .clip import clip
from .entities import entities, may_name, plain
from .rules import binds, may_bind, may_take_back, sentences, takes_back

PASTED = 2000  # tokens: longer messages are kept by their ends, the task excepted
HEAD_AND_TAIL = 500
SHORT = 40  # tokens: a message of this size is one piece
GAP = " […] "
Count = Callable[[str], float]
_WISH = re.compile(
    r"\b(?:I|we) (?:want|need|wish|would like|expect|count|use|keep|like)\b"
    r"|\bplease\b|\blet(?:'s| us)|\bshould\b|\bwants?\b|\bstays?\b|\bleave\b|\buntouched\b"
    r"|\bfrozen\b|\bsettled\b|\bbelongs?\b"
    r"|\binstead\b|\buse\b|\btake\b|请|要|用|让|希望|冻结|绕开|单位|归",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"(?:(?:ok(?:ay)?|yes|no|sure|thanks?(?: you)?|go on|carry on|continue|next(?: one)?"
    r"|sounds good|please|great|fine|good|好的?|继续|谢谢|下一步|可以|行|嗯)(?:\W+|$))+",
    re.IGNORECASE,
)


class Said(WireModel):
    """A message of the person. ``whole`` False: pieces of it; the rest is in the offload.
    ``edited`` when a person changed it by hand."""

    id: str
    text: str
    whole: bool = True
    edited: bool = False


def fit(said: Sequence[Said], budget: float, count: Count, where: str) -> tuple[list[Said], int]:
    """``said`` within ``budget`` tokens, in order, and how many messages are left out wholly. The
    first (the task) and the last are whole while they fit half of it each."""
    if sum(count(s.text) for s in said) <= budget and not any(
        _pasted(s, count) for s in said[1:-1]
    ):
        return list(said), 0
    kept: dict[int, Said] = {}
    left = budget
    for place in dict.fromkeys((0, len(said) - 1)):
        one = said[place]
        if count(one.text) > budget / 2 and not one.edited:
            one = _ends(one, max(60.0, min(HEAD_AND_TAIL, left / 2)), count, where)
        kept[place] = one
        left -= count(one.text)
    pieces = _chosen(said, {0, len(said) - 1}, left, count, where)
    for place in range(1, len(said) - 1):
        if place in pieces:
            kept[place] = pieces[place]
    return [kept[n] for n in sorted(kept)], len(said) - len(kept)


def _pasted(one: Said, count: Count) -> bool:
    return one.whole and not one.edited and len(one.text) > PASTED and count(one.text) > PASTED


def _ends(one: Said, budget: float, count: Count, where: str) -> Said:
    text = clip(one.text, budget, count, f"[… the whole message is in {where}]")
    return Said(id=one.id, text=text, whole=False)


NOTHING, BACK, NAMED = 1, 2, 4  # "go on" · takes something back · holds exact words


class _Parts(NamedTuple):
    """Pieces of a text and what each says by itself, as columns: so many small objects would keep
    the collector busy."""

    texts: tuple[str, ...]
    shapes: tuple[str, ...]  # what two pieces that say the same have in common
    worth: tuple[float, ...]  # exact words, rules, wishes
    flags: tuple[int, ...]


@lru_cache(maxsize=16384)
def _whole(text: str) -> _Parts:
    """``text`` as one piece."""
    return _parts((text,), text)


@lru_cache(maxsize=16384)
def _parted(text: str) -> _Parts:
    """The sentences of ``text``."""
    found = [s for part in text.split(GAP) for s in sentences(part)] or [text.strip()]
    return _parts(tuple(found), text)


def _parts(texts: tuple[str, ...], text: str) -> _Parts:
    """What none of ``texts``, pieces of ``text``, can have is looked for once."""
    bind, back = may_bind(text), may_take_back(text)
    wishes, name = _WISH.search(text) is not None, may_name(text)
    worth: list[float] = []
    flags: list[int] = []
    for one in texts:
        named = len(entities(one)) if name else 0
        wished = min(len(_WISH.findall(one)), 2) if wishes else 0
        worth.append(min(named, 4) * 2.0 + (1.5 if bind and binds(one) else 0) + wished)
        flag = NOTHING if _NOTHING.fullmatch(one.strip()) else 0
        flag |= BACK if back and takes_back(one) else 0
        flags.append(flag | (NAMED if named else 0))
    shapes = [plain(one).casefold() for one in texts]
    return _Parts(texts, tuple(shapes), tuple(worth), tuple(flags))


class _Pieces:
    """The pieces of all messages, in order."""

    __slots__ = ("at", "flags", "place", "shapes", "sizes", "texts", "worth")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.shapes: list[str] = []
        self.worth: list[float] = []
        self.flags: list[int] = []
        self.sizes: list[float] = []  # tokens
        self.place: list[int] = []  # of the message
        self.at: list[int] = []  # in the message

    def add(self, place: int, parts: _Parts, sizes: Sequence[float]) -> range:
        """Add those of a message; where they stand."""
        start = len(self.texts)
        self.texts += parts.texts
        self.shapes += parts.shapes
        self.worth += parts.worth
        self.flags += parts.flags
        self.sizes += sizes
        self.place += [place] * len(sizes)
        self.at += range(len(sizes))
        return range(start, len(self.texts))


def _chosen(
    said: Sequence[Said], without: set[int], budget: float, count: Count, where: str
) -> dict[int, Said]:
    """The messages between, shortened to their best pieces that fit together."""
    pieces = _Pieces()
    starts: list[range] = []
    for place, one in enumerate(said):
        if place not in without:
            starts.append(pieces.add(place, *_pieces(one, count, where)))
    scores = _weigh(pieces, len(said))
    # Best first; of the same score the newest message first, its pieces in their order.
    order = [n for own in reversed(starts) for n in own if scores[n] < 0]
    order.sort(key=scores.__getitem__)
    left, sizes = budget, pieces.sizes
    taken: dict[int, list[int]] = {}
    for number in order:
        if sizes[number] <= left:
            taken.setdefault(pieces.place[number], []).append(number)
            left -= sizes[number]
    out: dict[int, Said] = {}
    pieces_of = Counter(pieces.place)
    for place, own in taken.items():
        one, own = said[place], sorted(own)
        texts = [pieces.texts[n] for n in own]
        whole = one.whole and not _pasted(one, count) and len(own) == pieces_of[place]
        whole = whole and len(plain(one.text)) <= sum(len(t) + 2 for t in texts)
        text = one.text if whole else _joined(texts, [pieces.at[n] for n in own])
        out[place] = Said(id=one.id, text=text, whole=whole, edited=one.edited)
    return out


def _joined(texts: Sequence[str], places: Sequence[int]) -> str:
    text, before = "", -1
    for piece, at in zip(texts, places, strict=True):
        text += "" if before < 0 and at == 0 else GAP if at != before + 1 else " "
        text, before = text + piece, at
    return text.strip()


def _pieces(one: Said, count: Count, where: str) -> tuple[_Parts, Sequence[float]]:
    """The pieces of a message, and their sizes with what sets them apart."""
    size = count(one.text)
    if one.edited or (size <= SHORT and one.whole):
        return _whole(one.text), (size + 2,)
    if _pasted(one, count):
        short = _ends(one, HEAD_AND_TAIL, count, where)
        return _whole(short.text), (count(short.text) + 2,)
    parts = _parted(one.text)
    return parts, [count(text) + 3 for text in parts.texts]


def _weigh(pieces: _Pieces, messages: int) -> list[float]:
    """Scores below 0, the lowest the best: by what pieces say exactly, then by what they wish;
    later ones a little more. What is said again later, and what was taken back, counts for
    nothing."""
    shapes, flags = pieces.shapes, pieces.flags
    often = Counter(shapes)
    last = {shape: n for n, shape in enumerate(shapes)}
    scores = [0.0] * len(shapes)
    later = 0.3 / max(1, messages)
    taken_back: set[str] = set()
    for number in range(len(shapes) - 1, -1, -1):
        flag, shape = flags[number], shapes[number]
        if flag & NOTHING or last[shape] != number:
            continue
        score = (pieces.worth[number] + later * pieces.place[number]) / often[shape]
        if flag & BACK:
            taken_back |= set(entities(pieces.texts[number]))
            score += 4
        elif (
            taken_back and flag & NAMED and taken_back.intersection(entities(pieces.texts[number]))
        ):
            score = 0.0
        scores[number] = -max(score, 0.02) / (1 + pieces.sizes[number] / 200)
    return scores
