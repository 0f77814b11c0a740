"""The person's own words, as many of them as fit: whole messages, else their telling sentences.

Every piece is byte for byte what the person wrote. What carries exact words, wishes or rules is
kept before what is repeated, asked in passing or small talk; the rest is in the offload.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from desktop_app.core.messages import WireModel

from .clip import clip
from .entities import entities, may_name, plain, words_of
from .rules import binds, may_bind, may_take_back, sentences, takes_back
from .tokens import CountCache

PASTED = 2000  # tokens: longer messages are kept by their ends, the task excepted
HEAD_AND_TAIL = 500
SHORT = 40  # tokens: a message of this size is one piece
GAP = " […] "
Count = Callable[[str], float]
WISH = re.compile(
    r"\b(?:I|we) (?:want|need|wish|would like|expect|count|use|keep|like)\b"
    r"|\bplease\b|\blet(?:'s| us)|\bshould\b|\bwants?\b|\bstays?\b|\bleave\b|\buntouched\b"
    r"|\bfrozen\b|\bsettled\b|\bbelongs?\b"
    r"|\binstead\b|\buse\b|\btake\b|请|要|用|让|希望|冻结|绕开|单位|归",
    re.IGNORECASE,
)
_ODD_SPACE = re.compile(r"[\t\r\x0b\x0c\x1c-\x1f]")
# A word of each English wish above: a text without any of them has none.
_WISH_WORDS = frozenset(
    re.findall(
        r"\w+",
        "want wants need wish like expect count use keep please let should stay stays leave "
        "untouched frozen settled belong belongs instead take",
    )
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
    whole = sum([count(s.text) for s in said])
    if whole <= budget and not any(_pasted(s, count) for s in said[1:-1]):
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
    return len(one.text) > PASTED and one.whole and not one.edited and count(one.text) > PASTED


def _ends(one: Said, budget: float, count: Count, where: str) -> Said:
    text = clip(one.text, budget, count, f"[… the whole message is in {where}]")
    return Said(id=one.id, text=text, whole=False)


NOTHING, BACK, NAMED = 1, 2, 4  # "go on" · takes something back · holds exact words
LEAST = 8.0  # tokens: pieces are not looked for to fill less room
LOWEST = 0.02
ALONE, APART = 2.0, 3.0  # tokens that set a whole message apart from others, a piece of one


class _Pieces(NamedTuple):
    """A message cut into pieces and what each says by itself, as columns: so many small objects
    would keep the collector busy. ``plain`` are the places of those that say nothing exact, wish
    nothing and rule nothing; ``sound`` whether the pieces are all of the message."""

    texts: tuple[str, ...]
    shapes: tuple[str, ...]  # what two pieces that say the same have in common
    worth: tuple[float, ...]  # exact words, rules, wishes
    flags: tuple[int, ...]
    sizes: tuple[float, ...]  # tokens, with what sets them apart
    telling: tuple[tuple[int, ...], ...]  # places, each alone
    told: tuple[tuple[float, float], ...]  # of these: worth, and what it is divided by
    told_sizes: tuple[float, ...]
    plain: tuple[int, ...]
    plain_size: float
    special: bool  # some piece has a flag that depends on others, or is left out by its flag
    sound: bool
    counts: tuple[float, ...]  # of the pieces' own tokens
    ascii: bool
    digits: tuple[bool, ...]  # whether it begins with one


def _cut(texts: tuple[str, ...], text: str, counts: Sequence[float], more: float) -> _Pieces:
    """What none of ``texts``, pieces of ``text``, can have is looked for once."""
    bind, back = may_bind(text), may_take_back(text)
    wishes, name = may_wish(text), may_name(text)
    worth: list[float] = []
    flags: list[int] = []
    for one in texts:
        named = len(entities(one)) if name else 0
        wished = min(len(WISH.findall(one)), 2) if wishes else 0
        worth.append(min(named, 4) * 2.0 + (1.5 if bind and binds(one) else 0) + wished)
        flag = NOTHING if _NOTHING.fullmatch(one.strip()) else 0
        flag |= BACK if back and takes_back(one) else 0
        flags.append(flag | (NAMED if named else 0))
    sound = len(plain(text)) <= sum(len(t) + 2 for t in texts)
    return _columns(text, texts, tuple(worth), tuple(flags), counts, more, sound)


def _columns(
    text: str,
    texts: tuple[str, ...],
    worth: tuple[float, ...],
    flags: tuple[int, ...],
    counts: Sequence[float],
    more: float,
    sound: bool,
) -> _Pieces:
    """``more`` tokens set a piece apart from the others."""
    sizes = tuple([c + more for c in counts])
    shapes = shapes_of(texts)
    telling = [n for n, w in enumerate(worth) if w > 0]
    rest = tuple([n for n, w in enumerate(worth) if not w > 0])
    special = any(f & (NOTHING | BACK) for f in flags) or len(set(shapes)) < len(shapes)
    return _Pieces(
        texts,
        shapes,
        worth,
        flags,
        sizes,
        tuple([(n,) for n in telling]),
        tuple([(worth[n], 1 + sizes[n] / 200) for n in telling]),
        tuple([sizes[n] for n in telling]),
        rest,
        sum(sizes[n] for n in rest),
        special,
        sound,
        tuple(counts),
        text.isascii(),
        tuple([one[:1].isdigit() for one in texts]),
    )


def shapes_of(texts: tuple[str, ...]) -> tuple[str, ...]:
    """What two pieces that say the same have in common: made of all at once where none has a line
    end in it."""
    whole = "\n".join(texts)
    same = whole.isascii() and whole.count("\n") == len(texts) - 1 and whole == whole.strip()
    if same and not (_ODD_SPACE.search(whole) or any(two in whole for two in ("  ", " \n", "\n "))):
        return tuple(whole.casefold().split("\n"))
    return tuple([plain(one).casefold() for one in texts])


def may_wish(text: str) -> bool:
    """Whether some piece of ``text`` may say a wish; False is certain."""
    return not (text.isascii() and _WISH_WORDS.isdisjoint(words_of(text)))


def pieces_of(one: Said, count: Count, where: str) -> _Pieces:
    """The pieces of a message, read once for a counter that remembers."""
    if not isinstance(count, CountCache) or _pasted(one, count):
        return _pieces(one, count, where)
    text = one.text  # by itself for most: no key need be made to look it up
    key = text if one.whole and not one.edited else (text, one.edited, one.whole)
    known = count.memo.get(key)
    if not isinstance(known, _Pieces):
        known = count.memo[key] = _pieces(one, count, where)
    return known


def cut_of(one: Said, count: CountCache) -> list[Any] | None:
    """The pieces of a message, where they were looked for, as JSON that ``put_cut`` reads."""
    known = count.memo.get(one.text)
    if not isinstance(known, _Pieces):
        return None
    at, spans = 0, list[Any]()
    more = APART if known.sizes[0] == known.counts[0] + APART else ALONE
    for text in known.texts:
        place = one.text.find(text, at)
        spans.append(text if place < 0 else [place, len(text)])
        at = max(at, place)
    return [spans, known.counts, more, known.worth, known.flags, known.sound]


def put_cut(one: Said, cut: list[Any], count: CountCache) -> None:
    """Remember what ``cut_of`` gave."""
    spans, counts, more, worth, flags, sound = cut
    text = one.text
    texts = tuple([s if isinstance(s, str) else text[s[0] : s[0] + s[1]] for s in spans])
    count.keep_all(texts, counts)
    flag = tuple(flags)
    count.memo[text] = _columns(text, texts, tuple(worth), flag, counts, more, bool(sound))


def _pieces(one: Said, count: Count, where: str) -> _Pieces:
    size = count(one.text)
    if one.edited or (size <= SHORT and one.whole):
        return _cut((one.text,), one.text, (size,), ALONE)
    if _pasted(one, count):
        short = _ends(one, HEAD_AND_TAIL, count, where)
        return _cut((short.text,), one.text, (count(short.text),), ALONE)
    found = [s for part in one.text.split(GAP) for s in sentences(part)] or [one.text.strip()]
    return _cut(tuple(found), one.text, [count(text) for text in found], APART)


class _Choice:
    """Pieces that may be taken together, as columns: a telling one alone, the plain ones of a
    message together. Scores are below 0, the lowest the best."""

    __slots__ = ("own", "places", "scores", "sizes")

    def __init__(self) -> None:
        self.places: list[int] = []  # of the message
        self.own: list[tuple[int, ...]] = []  # of its pieces
        self.sizes: list[float] = []
        self.scores: list[float] = []

    def add(self, place: int, own: tuple[int, ...], size: float, score: float) -> None:
        self.places.append(place)
        self.own.append(own)
        self.sizes.append(size)
        self.scores.append(score)


def _chosen(
    said: Sequence[Said], without: set[int], budget: float, count: Count, where: str
) -> dict[int, Said]:
    """The messages between, shortened to their best pieces that fit together."""
    pieces = {n: pieces_of(s, count, where) for n, s in enumerate(said) if n not in without}
    choice = _weighed(pieces, len(said))
    # Of the same score the newest message first, its pieces in their order.
    left, sizes, places, owns = budget, choice.sizes, choice.places, choice.own
    least = min([min(p.sizes, default=0.0) for p in pieces.values()], default=0.0)
    taken: dict[int, list[int]] = {}
    for number in sorted(range(len(sizes)), key=choice.scores.__getitem__):
        if left < least:
            break
        place, own, size = places[number], owns[number], sizes[number]
        if size <= left:
            if (mine := taken.get(place)) is None:
                taken[place] = [*own]
            else:
                mine += own
            left -= size
        elif len(own) > 1 and left > LEAST:
            for n in own:
                if (size := pieces[place].sizes[n]) <= left:
                    taken.setdefault(place, []).append(n)
                    left -= size
    return {p: _made(said[p], pieces[p], own, count) for p, own in taken.items()}


def _made(one: Said, pieces: _Pieces, own: list[int], count: Count) -> Said:
    """A message of these of its pieces."""
    own.sort()
    if len(own) == len(pieces.texts) and (pieces.sound or not one.whole):
        return one
    texts = pieces.texts
    first = before = own[0]
    text, gaps = (f"{GAP}{texts[first]}", 1) if first else (texts[0], 0)
    for at in own[1:]:
        if at == before + 1:
            text += f" {texts[at]}"
        else:
            text, gaps = text + GAP + texts[at], gaps + 1
        before = at
    text = text.strip()
    if pieces.ascii and isinstance(count, CountCache):
        digits, counts = pieces.digits, pieces.counts
        spaced = sum([digits[n] for n in own]) - (digits[0] if not first else 0)
        count.keep_joined(text, [counts[n] for n in own], gaps, spaced)
    return Said(id=one.id, text=text, whole=False, edited=one.edited)


def _weighed(pieces: Mapping[int, _Pieces], messages: int) -> _Choice:
    """What may be taken, newest message first: by what pieces say exactly, then by what they wish;
    later ones a little more. What is said again later, and what was taken back, counts for
    nothing."""
    often = _often(pieces.values())
    later = 0.3 / max(1, messages)
    seen: set[str] = set()
    back: set[str] = set()  # exact words of what took something back
    choice = _Choice()
    for place in sorted(pieces, reverse=True):
        own = pieces[place]
        if own.special or back or (often and not often.keys().isdisjoint(own.shapes)):
            _closely(choice, place, own, often, seen, back, later * place)
            continue
        newer = later * place
        if own.telling:
            choice.places += [place] * len(own.telling)
            choice.own += own.telling
            choice.sizes += own.told_sizes
            choice.scores += [-(worth + newer) / by for worth, by in own.told]
        if own.plain:
            choice.add(place, own.plain, own.plain_size, -max(newer, LOWEST))
    return choice


def _often(pieces: Iterable[_Pieces]) -> dict[str, int]:
    """How often what is said in several messages, or twice in one, is said."""
    pieces = list(pieces)
    seen: set[str] = set()
    again: set[str] = set()
    for own in pieces:
        if not seen.isdisjoint(own.shapes):
            again |= seen.intersection(own.shapes)
        seen.update(own.shapes)
    times = Counter(
        shape
        for own in pieces
        if own.special or (again and not again.isdisjoint(own.shapes))
        for shape in own.shapes
    )
    return {shape: n for shape, n in times.items() if n > 1}


def _closely(
    choice: _Choice,
    place: int,
    own: _Pieces,
    often: Mapping[str, int],
    seen: set[str],
    back: set[str],
    later: float,
) -> None:
    """A message in which something depends on what was said after it (``seen``: shapes of pieces,
    ``back``: what was taken back)."""
    rest: list[int] = []
    for n in range(len(own.texts) - 1, -1, -1):
        flag, shape, size = own.flags[n], own.shapes[n], own.sizes[n]
        known = shape in seen
        if shape in often:
            seen.add(shape)
        if flag & NOTHING or known:
            continue
        score = (own.worth[n] + later) / often.get(shape, 1)
        if flag & BACK:
            back |= set(entities(own.texts[n]))
            score += 4
        elif back and flag & NAMED and back.intersection(entities(own.texts[n])):
            choice.add(place, (n,), size, -LOWEST / (1 + size / 200))
            continue
        elif not own.worth[n] > 0:
            rest.append(n)
            continue
        choice.add(place, (n,), size, -max(score, LOWEST) / (1 + size / 200))
    if rest:
        rest.reverse()
        size = sum(own.sizes[n] for n in rest)
        choice.add(place, tuple(rest), size, -max(later, LOWEST))
