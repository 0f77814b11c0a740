"""The person's own words, as many of them as fit: whole messages, else their telling sentences.

Every piece is byte for byte what the person wrote. What carries exact words, wishes or rules is
kept before what is repeated, asked in passing or small talk; the rest is in the offload.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from desktop_app.core.messages import WireModel

from .clip import clip
from .entities import entities, plain
from .rules import binds, sentences, takes_back

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


class _Piece:
    __slots__ = ("at", "place", "score", "size", "text")

    def __init__(self, place: int, at: int, text: str, size: float) -> None:
        self.place, self.at, self.text, self.size = place, at, text, size
        self.score = 0.0


def _chosen(
    said: Sequence[Said], without: set[int], budget: float, count: Count, where: str
) -> dict[int, Said]:
    """The messages between, shortened to their best pieces that fit together."""
    pieces: list[_Piece] = []
    for place, one in enumerate(said):
        if place not in without:
            pieces += _pieces(place, one, count, where)
    _weigh(pieces, len(said))
    left = budget
    taken: dict[int, list[_Piece]] = {}
    for piece in sorted(pieces, key=lambda p: (-p.score, -p.place, p.at)):
        if piece.score > 0 and piece.size <= left:
            taken.setdefault(piece.place, []).append(piece)
            left -= piece.size
    out: dict[int, Said] = {}
    pieces_of = Counter(p.place for p in pieces)
    for place, own in taken.items():
        one, own = said[place], sorted(own, key=lambda p: p.at)
        whole = one.whole and not _pasted(one, count) and len(own) == pieces_of[place]
        whole = whole and len(plain(one.text)) <= sum(len(p.text) + 2 for p in own)
        text = one.text if whole else _joined(own)
        out[place] = Said(id=one.id, text=text, whole=whole, edited=one.edited)
    return out


def _joined(own: Sequence[_Piece]) -> str:
    text, before = "", -1
    for piece in own:
        text += "" if before < 0 and piece.at == 0 else GAP if piece.at != before + 1 else " "
        text, before = text + piece.text, piece.at
    return text.strip()


def _pieces(place: int, one: Said, count: Count, where: str) -> Iterable[_Piece]:
    size = count(one.text)
    if one.edited or (size <= SHORT and one.whole):
        return [_Piece(place, 0, one.text, size + 2)]
    if _pasted(one, count):
        short = _ends(one, HEAD_AND_TAIL, count, where)
        return [_Piece(place, 0, short.text, count(short.text) + 2)]
    parts = [s for part in one.text.split(GAP) for s in sentences(part)] or [one.text.strip()]
    return [_Piece(place, at, text, count(text) + 3) for at, text in enumerate(parts)]


@lru_cache(maxsize=65536)
def _worth(text: str) -> float:
    """What a piece says by itself: exact words, rules, wishes."""
    wishes = min(len(_WISH.findall(text)), 2)
    return min(len(entities(text)), 4) * 2.0 + (1.5 if binds(text) else 0) + wishes


@lru_cache(maxsize=65536)
def _shape(text: str) -> str:
    return plain(text).casefold()


def _weigh(pieces: Sequence[_Piece], messages: int) -> None:
    """Score pieces: by what they say exactly, then by what they wish; later ones a little more.
    What is said again later, and what was taken back, counts for nothing."""
    shapes = [_shape(p.text) for p in pieces]
    often = Counter(shapes)
    last = {shape: n for n, shape in enumerate(shapes)}
    taken_back: set[str] = set()
    for number in range(len(pieces) - 1, -1, -1):
        piece = pieces[number]
        if last[shapes[number]] != number or _NOTHING.fullmatch(piece.text.strip()):
            continue
        score = _worth(piece.text)
        score += 0.3 * piece.place / max(1, messages)
        score /= often[shapes[number]]
        if takes_back(piece.text):
            taken_back |= set(entities(piece.text))
            score += 4
        elif taken_back and taken_back.intersection(entities(piece.text)):
            score = 0.01
        piece.score = max(score, 0.02) / (1 + piece.size / 200)
