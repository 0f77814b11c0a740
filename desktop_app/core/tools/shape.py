"""A JSON value shortened by its structure: keys stay, long arrays, objects and strings do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

MAX_PARSE = 6 << 20  # characters; more is treated as text
MAX_DEPTH = 60
# (array items at the start, at the end, keys of an object, characters of a string), ever smaller
_STEPS = ((8, 2, 80, 400), (4, 1, 60, 200), (2, 1, 40, 120), (2, 1, 25, 60), (1, 0, 15, 30))


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

    def render(room: int) -> str:
        out = ""
        for step in _STEPS:
            for depth in (MAX_DEPTH, 6, 4, 3, 2):
                out = "\n".join(_lines(value, step, depth, ""))
                if len(out) <= room - 80:
                    return out
        return out

    return render


def _lines(value: Any, step: tuple[int, int, int, int], depth: int, indent: str) -> list[str]:
    """The value as lines of something that reads like JSON."""
    if isinstance(value, dict):
        return _object(cast(dict[str, Any], value), step, depth, indent)
    if isinstance(value, list):
        return _array(cast(list[Any], value), step, depth, indent)
    if isinstance(value, str):
        if len(value) > step[3]:
            return [f"{json.dumps(value[: step[3]], ensure_ascii=False)}… +{len(value) - step[3]}"]
        return [json.dumps(value, ensure_ascii=False)]
    text = json.dumps(value)
    return [text if len(text) <= 80 else text[:80] + "…"]


def _object(
    value: dict[str, Any], step: tuple[int, int, int, int], depth: int, indent: str
) -> list[str]:
    if not value:
        return ["{}"]
    if depth <= 0:
        return [f"{{… {len(value)} keys}}"]
    inner = indent + " "
    out = ["{"]
    for key in list(value)[: step[2]]:
        head, *rest = _lines(value[key], step, depth - 1, inner)
        name = key if len(key) <= 200 else key[:200] + "…"
        out += [f"{inner}{json.dumps(name, ensure_ascii=False)}: {head}", *rest]
    if len(value) > step[2]:
        out.append(f"{inner}… {len(value) - step[2]:,} more keys")
    return [*out, f"{indent}}}"]


def _array(value: list[Any], step: tuple[int, int, int, int], depth: int, indent: str) -> list[str]:
    if not value:
        return ["[]"]
    if depth <= 0:
        return [f"[… {len(value):,} items]"]
    inner = indent + " "
    head, tail = step[0], step[1]
    gap = len(value) - head - tail
    items = value if gap <= 0 else [*value[:head], *value[len(value) - tail :]]
    out = [f"[ {len(value):,} items" if gap > 0 else "["]
    for i, item in enumerate(items):
        if gap > 0 and i == head:
            out.append(f"{inner}… {gap:,} more")
        first, *rest = _lines(item, step, depth - 1, inner)
        out += [inner + first, *rest]
    if gap > 0 and not tail:
        out.append(f"{inner}… {gap:,} more")
    return [*out, f"{indent}]"]
