"""One thing taken out of the prompt: a result or images because a person said so, and what a person
pasted that is longer than the window can hold.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Mapping, Sequence

from desktop_app.core.errors import ContextError
from desktop_app.core.messages import Base64Source, DataBlock, Msg, TextBlock, ToolResultBlock

from .clip import clip
from .images import data_tokens, image_size
from .ledger import is_pinned
from .masking import Mask, mask_of
from .pricing import Pricer
from .rules import rules_in

Count = Callable[[str], float]


def result_out(context: Sequence[Msg], place: int, at: int, pricer: Pricer, where: str) -> Mask:
    """The mask for one result. ContextError ``context.nothing_to_offload`` for one that is small,
    pinned or out already, and for what is no result."""
    mask = mask_of(context[place], place, at, pricer, where)
    if mask is None:
        raise ContextError("context.nothing_to_offload")
    return mask


def request_out(
    context: Sequence[Msg], place: int, pricer: Pricer, room: float, where: str
) -> list[Mask]:
    """Masks for the person's message ``place``, in ``room`` raw tokens altogether: of long texts
    their ends and the rules between them stay, of images the last. Empty where nothing is won by
    it, and for what is pinned."""
    msg = context[place]
    if msg.role != "user" or is_pinned(msg.metadata):
        return []
    texts = [(n, b) for n, b in enumerate(msg.content) if isinstance(b, TextBlock)]
    sizes = {n: pricer.texts.count(b.text) for n, b in texts}
    images = [(n, b) for n, b in enumerate(msg.content) if isinstance(b, DataBlock)]
    seen = float(sum(data_tokens(b) for _, b in images))
    told = sum(sizes.values())
    if told + seen <= room:
        return []
    words = min(told, max(room - seen, room / 2))
    masks = _clipped(place, texts, sizes, pricer, words, where)
    left = room - words
    for at, block in reversed(images):
        left -= (cost := float(data_tokens(block)))
        if left < 0:
            masks.append(Mask(place, at, _note(block, where), block, cost))
    return sorted(masks, key=lambda mask: mask.block)


def _clipped(
    place: int,
    texts: Sequence[tuple[int, TextBlock]],
    sizes: Mapping[int, float],
    pricer: Pricer,
    room: float,
    where: str,
) -> list[Mask]:
    """Masks for ``texts`` that are longer than their shares of ``room``."""
    count = pricer.texts.counter.count
    masks: list[Mask] = []
    for at, block in texts:
        share = room * sizes[at] / max(1.0, sum(sizes.values()))
        if sizes[at] <= share:
            continue
        rules = fitting(rules_in(block.text, pasted=True), share / 4, count)
        told = "\n".join([f"[… cut: the whole message is in {where}]", *rules])
        short = clip(block.text, max(60.0, share - count(told)), count, told)
        freed = sizes[at] - count(short)
        if freed > 0:
            masks.append(Mask(place, at, short, block, freed))
    return masks


def fitting(texts: Sequence[str], budget: float, count: Count) -> list[str]:
    """The first of ``texts`` that fit ``budget`` together, in order."""
    kept: list[str] = []
    for text in texts:
        budget -= count(text)
        if budget < 0:
            break
        kept.append(text)
    return kept


def images_out(
    context: Sequence[Msg], place: int, at: int | None, where: str, name: str = ""
) -> list[Mask]:
    """Masks for the images of message ``place``, or of its block ``at`` alone; ``name`` is the id
    of one of them. ContextError ``context.nothing_to_offload`` when there is none."""
    blocks = context[place].content
    masks: list[Mask] = []
    for number in range(len(blocks)) if at is None else (at,):
        block = blocks[number]
        if isinstance(block, DataBlock) and name in ("", block.id):
            masks.append(Mask(place, number, _note(block, where), block, float(data_tokens(block))))
        elif isinstance(block, ToolResultBlock) and not isinstance(block.output, str):
            inner = [
                n
                for n, part in enumerate(block.output)
                if isinstance(part, DataBlock) and name in ("", part.id)
            ]
            if inner:
                parts = [block.output[n] for n in inner]
                images = [p for p in parts if isinstance(p, DataBlock)]
                note = " ".join(_note(i, where) for i in images)
                freed = float(sum(map(data_tokens, images)))
                masks.append(Mask(place, number, note, block, freed, tuple(inner)))
    if not masks:
        raise ContextError("context.nothing_to_offload")
    return masks


def _note(block: DataBlock, where: str) -> str:
    """What stands in an image's place."""
    size = _size(block)
    pixels = f" {size[0]}×{size[1]}" if size else ""
    name = f" {block.name}" if block.name else ""
    return f"[image{name}{pixels}: taken out of the context; it is kept in {where}]"


def _size(block: DataBlock) -> tuple[int, int] | None:
    if not isinstance(block.source, Base64Source):
        return None
    head = block.source.data[: 64 << 10]
    try:
        return image_size(base64.b64decode(head[: len(head) - len(head) % 4]))
    except (binascii.Error, ValueError, struct.error):
        return None
