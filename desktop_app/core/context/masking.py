"""Tier 1: old tool results give way to a line that says what they were and where they are.

Long arguments of old calls do too, a file that was written above all. What stays of them is a JSON
object of the same shape: short values as they are, of long texts the beginning and the lines that
name files, so that the ledger still reads from it what the call touched.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, cast

from desktop_app.core.messages import AnyBlock, Msg, ToolCallBlock, ToolResultBlock
from desktop_app.core.tools.bounds import bound, safe_cut

from .artifacts import patched_lines
from .atoms import Atom
from .build import slipway
from .classes import estimate
from .ledger import is_pinned
from .pricing import Pricer
from .reading import arguments_of
from .todos import is_list
from .types import Limits

EXEMPT = frozenset({"TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "AskUser", "Skill"})
WORTH = 200  # raw tokens: a smaller result is not worth a mask
GLIMPSE = 80  # raw tokens of a masked result that stay: its ends and its telling lines
LONG = 400  # raw tokens of a call's arguments: fewer are not worth a mask
LONG_TEXT = 600  # characters of one value in them
HEAD = 200  # characters of it that stay
LINES = 20  # that name files, of one value
NEWEST = 0.2  # of W: this much of the newest results stays


@dataclass(frozen=True, slots=True)
class Mask:
    """A result, an image or a call's arguments to replace: its place in the state's context, its
    new text, what that frees. ``inner``: only these parts of a result's output, which are images.
    """

    message: int
    block: int
    text: str
    former: AnyBlock
    freed: float
    inner: tuple[int, ...] = ()


def mask_of(
    msg: Msg, place: int, at: int, pricer: Pricer, where: str, keep: float = GLIMPSE
) -> Mask | None:
    """The mask for block ``at``, or None when it is no result, is small, pinned or masked."""
    block = msg.content[at]
    if not isinstance(block, ToolResultBlock) or block.name in EXEMPT:
        return None
    ours = slipway(block.metadata)
    if is_pinned(block.metadata) or ours.get("masked"):
        return None
    text = block.text()
    raw = pricer.texts.count(text)
    if raw < max(WORTH, 1.5 * keep):
        return None
    file = ours.get("offload") or where
    short = bound(text, max_tokens=int(keep), count=_rough).text
    short = f"{short}\n[cut from the context; the whole result is in {file}]"
    freed = raw - pricer.texts.counter.count(short)
    return Mask(place, at, short, block, freed) if freed > 0 else None


def call_mask(msg: Msg, place: int, at: int, pricer: Pricer, where: str) -> Mask | None:
    """The mask for the arguments of block ``at``; None when it is no call, keeps a list, or has
    no long text in it."""
    block = msg.content[at]
    if not isinstance(block, ToolCallBlock) or len(block.input) <= LONG_TEXT:
        return None
    if block.name in EXEMPT or is_list(block.name) or pricer.texts.count(block.input) < LONG:
        return None
    short = json.dumps(_short(arguments_of(block), where), ensure_ascii=False)
    freed = pricer.texts.count(block.input) - pricer.texts.counter.count(short)
    return Mask(place, at, short, block, freed) if freed >= LONG / 2 and short != "{}" else None


def _short(value: Any, where: str) -> Any:
    if isinstance(value, dict):
        return {k: _short(v, where) for k, v in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [_short(v, where) for v in cast(list[Any], value)]
    if not isinstance(value, str) or len(value) <= LONG_TEXT:
        return value
    head = value[: safe_cut(value, HEAD)]
    named = [line for line in patched_lines(value) if line not in head][:LINES]
    cut = (
        f"[{len(value) - len(head)} more characters cut from the context; all of it is in {where}]"
    )
    return "\n".join([head, *named, cut])


def _rough(text: str) -> int:
    """The estimator and not the exact counter: many lengths are tried for each result."""
    return ceil(estimate(text))


def old_masks(
    context: Sequence[Msg], found: Sequence[Atom], limits: Limits, pricer: Pricer, where: str
) -> list[Mask]:
    """Masks for all old results and long arguments, in one batch: not the open turn, not the
    newest ``NEWEST`` of W, not task tools. Empty when the batch would free too little to be worth
    a changed prompt."""
    last = max((n for n, a in enumerate(found) if a.person), default=0)
    left = NEWEST * limits.usable
    masks: list[Mask] = []
    for atom in reversed(found[:last]):
        if atom.person or left > 0:
            left -= 0 if atom.person else atom.raw
            continue
        msg = context[atom.message]
        for at in range(atom.start, atom.end):
            mask = mask_of(msg, atom.message, at, pricer, where)
            if mask is None and not atom.loop:  # what led to signed thinking stays as it was
                mask = call_mask(msg, atom.message, at, pricer, where)
            if mask is not None:
                masks.append(mask)
    worth = max(0.05 * limits.usable, min(4000, 0.2 * limits.usable))
    return masks[::-1] if sum(m.freed for m in masks) >= worth else []


def squeeze(
    context: Sequence[Msg],
    atom: Atom,
    pricer: Pricer,
    where: str,
    budget: float,
) -> list[Mask]:
    """Masks that bring one step into ``budget`` raw tokens by shortening its results alike, and
    where that is not enough the long arguments of its calls too; none when that cannot be done.
    Arguments of a call that waits stay, since it is done with them; so does what led to signed
    thinking."""
    msg = context[atom.message]
    places = range(atom.start, atom.end)
    masks = _alike(msg, atom, pricer, where, budget, 0.0)
    if masks or atom.open or atom.loop:
        return masks
    calls = [call_mask(msg, atom.message, at, pricer, where) for at in places]
    shortened = [mask for mask in calls if mask is not None]
    freed = sum(m.freed for m in shortened)
    if atom.raw - freed > budget:
        results = _alike(msg, atom, pricer, where, budget, freed) if shortened else []
        return sorted([*shortened, *results], key=lambda m: m.block) if results else []
    return shortened


def _alike(
    msg: Msg, atom: Atom, pricer: Pricer, where: str, budget: float, freed: float
) -> list[Mask]:
    """Masks of a step's results, all as long, when ``freed`` tokens are saved elsewhere."""
    blocks = enumerate(msg.content[atom.start : atom.end], atom.start)
    results = {at: b.text() for at, b in blocks if isinstance(b, ToolResultBlock)}
    if not results:
        return []
    fixed = atom.raw - freed - sum(map(pricer.texts.count, results.values()))
    each = (budget - fixed) / len(results) - 60  # the marker's own size
    if each < GLIMPSE:
        return []
    found = [mask_of(msg, atom.message, at, pricer, where, keep=each) for at in results]
    masks = [mask for mask in found if mask is not None]
    return masks if atom.raw - freed - sum(m.freed for m in masks) <= budget else []
