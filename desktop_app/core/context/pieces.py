"""A message of the person cut into pieces, each byte for byte what the person wrote, and what each
piece says by itself: read once, when the message comes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
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
NOTHING, BACK, NAMED = 1, 2, 4  # "go on" · takes something back · holds exact words
ALONE, APART = 2.0, 3.0  # tokens that set a whole message apart from others, a piece of one
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

    @classmethod
    def part(cls, of: Said, text: str) -> Said:
        """Pieces of a message, at a quarter of what a model's own checks cost."""
        made = object.__new__(_Bare)
        own = vars(made)
        own["id"], own["text"], own["whole"], own["edited"] = of.id, text, False, of.edited
        return made

    @staticmethod
    def finish(made: Said) -> None:
        """What a model has beside its fields."""
        put = object.__setattr__
        put(made, "__pydantic_fields_set__", _FIELDS)
        put(made, "__pydantic_extra__", _NO_MORE)
        put(made, "__pydantic_private__", None)


class _Bare(Said):
    """One of which somebody may ask for what a model has beside its fields: it gets that then."""

    def __getattr__(self, name: str) -> Any:
        object.__setattr__(self, "__class__", Said)
        Said.finish(self)
        return getattr(self, name)

    def __eq__(self, other: object) -> bool:
        self.__getattr__("id")
        return self == other

    __hash__ = None  # pyright: ignore[reportAssignmentType]


_FIELDS = {"id", "text", "whole", "edited"}  # nobody changes these
_NO_MORE: dict[str, Any] = {}


class Pieces(NamedTuple):
    """As columns: so many small objects would keep the collector busy. ``telling`` and ``plain``
    are the places of pieces that say something exact, wish or rule, and of those that do not;
    ``sound`` whether the pieces are all of the message. ``best`` is the telling ones together."""

    texts: tuple[str, ...]
    keys: tuple[int, ...]  # equal of two pieces that say the same
    worth: tuple[float, ...]  # exact words, rules, wishes
    flags: tuple[int, ...]
    sizes: tuple[float, ...]  # tokens, with what sets them apart
    counts: tuple[float, ...]  # of the pieces' own tokens
    telling: tuple[int, ...]
    plain: tuple[int, ...]
    plain_size: float
    special: bool  # some piece has a flag that depends on others, or is left out by its flag
    sound: bool
    ascii: bool
    digits: tuple[bool, ...]  # whether it begins with one
    best: str


def pasted(one: Said, count: Count) -> bool:
    """Whether a message is kept by its ends alone where it does not stay whole."""
    return len(one.text) > PASTED and one.whole and not one.edited and count(one.text) > PASTED


def ends(one: Said, budget: float, count: Count, where: str) -> Said:
    """A message by its ends."""
    text = clip(one.text, budget, count, f"[… the whole message is in {where}]")
    return Said(id=one.id, text=text, whole=False)


def pieces_of(one: Said, count: Count, where: str) -> Pieces:
    """The pieces of a message, read once for a counter that remembers."""
    if not isinstance(count, CountCache) or pasted(one, count):
        return _pieces(one, count, where)
    text = one.text  # by itself for most: no key need be made to look it up
    key = text if one.whole and not one.edited else (text, one.edited, one.whole)
    known = count.memo.get(key)
    if not isinstance(known, Pieces):
        known = count.memo[key] = _pieces(one, count, where)
    return known


def cut_of(one: Said, count: CountCache) -> list[Any] | None:
    """The pieces of a message, where they were looked for, as JSON that ``put_cut`` reads."""
    known = count.memo.get(one.text)
    if not isinstance(known, Pieces):
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
    count.memo[text] = _columns(text, texts, tuple(worth), flag, counts, more, bool(sound), count)


def joined(pieces: Pieces, own: Sequence[int], count: Count) -> str:
    """These of the pieces, in order, as one text."""
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
    return text


def _pieces(one: Said, count: Count, where: str) -> Pieces:
    size = count(one.text)
    if one.edited or (size <= SHORT and one.whole):
        return _cut((one.text,), one.text, (size,), ALONE, count)
    if pasted(one, count):
        short = ends(one, HEAD_AND_TAIL, count, where)
        return _cut((short.text,), one.text, (count(short.text),), ALONE, count)
    found = [s for part in one.text.split(GAP) for s in sentences(part)] or [one.text.strip()]
    return _cut(tuple(found), one.text, [count(text) for text in found], APART, count)


def _cut(
    texts: tuple[str, ...], text: str, counts: Sequence[float], more: float, count: Count
) -> Pieces:
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
    return _columns(text, texts, tuple(worth), tuple(flags), counts, more, sound, count)


def _columns(
    text: str,
    texts: tuple[str, ...],
    worth: tuple[float, ...],
    flags: tuple[int, ...],
    counts: Sequence[float],
    more: float,
    sound: bool,
    count: Count,
) -> Pieces:
    """``more`` tokens set a piece apart from the others."""
    sizes = tuple([c + more for c in counts])
    keys = tuple([key_of(shape) for shape in shapes_of(texts)])
    rest = tuple([n for n, w in enumerate(worth) if not w > 0])
    made = Pieces(
        texts,
        keys,
        worth,
        flags,
        sizes,
        tuple(counts),
        tuple([n for n, w in enumerate(worth) if w > 0]),
        rest,
        sum(sizes[n] for n in rest),
        any(f & (NOTHING | BACK) for f in flags) or len(set(keys)) < len(keys),
        sound,
        text.isascii(),
        tuple([one[:1].isdigit() for one in texts]),
        "",
    )
    return made._replace(best=joined(made, made.telling, count)) if made.telling else made


def key_of(shape: str) -> int:
    """What stands for a text where texts are compared. 64 bits: of a million pieces no two are
    taken for the same by chance."""
    digest = blake2b(shape.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


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
