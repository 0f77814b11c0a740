"""A JSON value shortened by its structure: keys stay, long arrays, objects and strings do not; of a
long array its ends and the items that are unlike the others (``odd``)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from .odd import odd_ones

MAX_PARSE = 6 << 20  # characters; more is treated as text
MAX_DEPTH = 60
ODD_TEXT = 200  # characters of a string in an odd item, at least


@dataclass(frozen=True, slots=True)
class _Step:
    """Array items at the start, at the end and odd ones between; keys of an object; characters of
    a string. ``odd`` are the places of odd items by array, found out once for all steps."""

    head: int
    tail: int
    most: int
    keys: int
    text: int
    odd: dict[int, list[int]] = field(default_factory=dict[int, list[int]])


_STEPS = (  # ever smaller
    _Step(8, 2, 8, 80, 400),
    _Step(4, 1, 6, 60, 200),
    _Step(2, 1, 4, 40, 120),
    _Step(2, 1, 3, 25, 60),
    _Step(1, 0, 2, 15, 30),
)


def json_shape(text: str) -> Callable[[int], str] | None:
    """A function from characters to a shortened rendering, when ``text`` is a JSON object or
    array; None when it is not. The rendering may be longer than asked when nothing fits."""
    stripped = text.strip()
    if len(stripped) > MAX_PARSE or stripped[:1] + stripped[-1:] not in ("{}", "[]"):
        return None
    try:
        value: Any = json.loads(stripped)
    except (ValueError, RecursionError):
        return None

    odd: dict[int, list[int]] = {}

    def render(room: int) -> str:
        out = ""
        for step in (replace(s, odd=odd) for s in _STEPS):
            for depth in (MAX_DEPTH, 6, 4, 3, 2):
                out = "\n".join(_lines(value, step, depth, ""))
                if len(out) <= room - 80:
                    return out
        return out

    return render


def _lines(value: Any, step: _Step, depth: int, indent: str) -> list[str]:
    """The value as lines of something that reads like JSON."""
    if isinstance(value, dict):
        return _object(cast(dict[str, Any], value), step, depth, indent)
    if isinstance(value, list):
        return _array(cast(list[Any], value), step, depth, indent)
    if isinstance(value, str):
        if len(value) > step.text:
            return [
                f"{json.dumps(value[: step.text], ensure_ascii=False)}… +{len(value) - step.text}"
            ]
        return [json.dumps(value, ensure_ascii=False)]
    text = json.dumps(value)
    return [text if len(text) <= 80 else text[:80] + "…"]


def _object(value: dict[str, Any], step: _Step, depth: int, indent: str) -> list[str]:
    if not value:
        return ["{}"]
    if depth <= 0:
        return [f"{{… {len(value)} keys}}"]
    inner = indent + " "
    out = ["{"]
    for key in list(value)[: step.keys]:
        head, *rest = _lines(value[key], step, depth - 1, inner)
        name = key if len(key) <= 200 else key[:200] + "…"
        out += [f"{inner}{json.dumps(name, ensure_ascii=False)}: {head}", *rest]
    if len(value) > step.keys:
        out.append(f"{inner}… {len(value) - step.keys:,} more keys")
    return [*out, f"{indent}}}"]


def _array(value: list[Any], step: _Step, depth: int, indent: str) -> list[str]:
    if not value:
        return ["[]"]
    if depth <= 0:
        return [f"[… {len(value):,} items]"]
    inner = indent + " "
    gap = len(value) - step.head - step.tail
    odd = _odd(value, step) if gap > 0 else []
    ends = range(len(value)) if gap <= 0 else [*range(step.head), *_last(value, step.tail)]
    wider = replace(step, text=max(step.text, ODD_TEXT))
    out = [f"[ {len(value):,} items" if gap > 0 else "["]
    before = -1
    for place in sorted({*ends, *odd}):
        if place > before + 1:
            out.append(f"{inner}… {place - before - 1:,} more")
        first, *rest = _lines(value[place], wider if place in odd else step, depth - 1, inner)
        out += [inner + first, *rest]
        before = place
    if before + 1 < len(value):
        out.append(f"{inner}… {len(value) - before - 1:,} more")
    return [*out, f"{indent}]"]


def _last(value: list[Any], tail: int) -> range:
    return range(len(value) - tail, len(value))


def _odd(value: list[Any], step: _Step) -> list[int]:
    """Odd items that the ends of ``value`` do not show."""
    if id(value) not in step.odd:
        step.odd[id(value)] = odd_ones(value, 1, len(value), _STEPS[0].most + _STEPS[0].head)
    hidden = range(step.head, len(value) - step.tail)
    return [n for n in step.odd[id(value)] if n in hidden][: step.most]
