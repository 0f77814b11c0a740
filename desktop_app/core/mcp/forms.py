"""Forms that servers ask people to fill in: read from their schema, checked before they are sent.

The schema is the flat subset of JSON Schema that MCP's elicitation allows (2025-11-25 and
2026-07-28): texts with lengths and formats, numbers, switches, one of several, several of several.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, cast
from urllib.parse import urlsplit

Kind = Literal["text", "number", "integer", "boolean", "choice", "choices"]
MAX_FIELDS = 100
MAX_TEXT = 100_000  # characters of one answer
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")


class BadForm(ValueError):
    """The schema asks for something that no form can hold."""


@dataclass(frozen=True, slots=True)
class Field:
    """One value. ``least`` and ``most`` bound a number, the length of a text, or how many options
    are chosen; ``options`` are (value, label)."""

    name: str
    kind: Kind
    title: str
    description: str = ""
    required: bool = False
    default: Any = None
    format: str = ""
    least: float | None = None
    most: float | None = None
    options: tuple[tuple[str, str], ...] = ()


def fields_of(schema: dict[str, Any]) -> tuple[Field, ...]:
    """The fields, in the schema's order. An optional value that no form can hold is left out;
    BadForm when a required one is, or when there are too many."""
    properties = _dict(schema.get("properties"))
    if len(properties) > MAX_FIELDS:
        raise BadForm(f"a form of {len(properties)} fields is too long")
    listed = schema.get("required")
    required = set(cast(list[Any], listed)) if isinstance(listed, list) else set[Any]()
    made: list[Field] = []
    for name, raw in properties.items():
        field = _field(name, _dict(raw), name in required)
        if field is not None:
            made.append(field)
        elif name in required:
            raise BadForm(f"the value {name!r} cannot be asked for in a form")
    return tuple(made)


def _field(name: str, raw: dict[str, Any], required: bool) -> Field | None:
    title, about = _text(raw.get("title")) or name, _text(raw.get("description"))
    default = raw.get("default")
    match raw.get("type"):
        case "boolean":
            on = default if isinstance(default, bool) else None
            return Field(name, "boolean", title, about, required, on)
        case "number" | "integer" as kind:
            least, most = _number(raw.get("minimum")), _number(raw.get("maximum"))
            start = _number(default)
            if kind == "integer" and start is not None:
                start = int(start)
            return Field(name, kind, title, about, required, start, "", least, most)
        case "string":
            return _string(name, raw, title, about, required)
        case "array":
            options = _options(_dict(raw.get("items")))
            if not options:
                return None
            least, most = _number(raw.get("minItems")), _number(raw.get("maxItems"))
            chosen = cast(list[Any], default) if isinstance(default, list) else []
            known = [v for v, _ in options if v in chosen]
            return Field(name, "choices", title, about, required, known, "", least, most, options)
        case _:
            return None


def _string(name: str, raw: dict[str, Any], title: str, about: str, required: bool) -> Field:
    default = raw.get("default")
    start = default if isinstance(default, str) else None
    if options := _options(raw):
        start = start if start in [v for v, _ in options] else None
        return Field(name, "choice", title, about, required, start, options=options)
    return Field(
        name,
        "text",
        title,
        about,
        required,
        start,
        _text(raw.get("format")),
        _number(raw.get("minLength")),
        _number(raw.get("maxLength")),
    )


def _options(raw: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Of ``enum`` with ``enumNames``, or of constants with titles."""
    if isinstance(values := raw.get("enum"), list):
        kept = [v for v in cast(list[Any], values) if isinstance(v, str)]
        names = raw.get("enumNames")
        labels = cast(list[Any], names) if isinstance(names, list) else []
        if len(labels) != len(kept) or not all(isinstance(n, str) for n in labels):
            labels = kept
        return tuple(zip(kept, cast(list[str], labels), strict=True))
    for key in ("oneOf", "anyOf"):
        if isinstance(listed := raw.get(key), list):
            given = [_dict(item) for item in cast(list[Any], listed)]
            return tuple(
                (item["const"], _text(item.get("title")) or item["const"])
                for item in given
                if isinstance(item.get("const"), str)
            )
    return ()


def check(field: Field, value: Any) -> tuple[str, dict[str, Any]] | None:
    """What is wrong with an answer (a code with parameters), or None. None is no answer."""
    if value is None or value == "" or value == []:
        return ("form.required", {}) if field.required and field.kind != "boolean" else None
    match field.kind:
        case "text":
            return _check_text(field, value)
        case "number" | "integer":
            return _check_number(field, value)
        case "choices":
            return _bounds(field, len(value), "form.too_few", "form.too_many")
        case _:
            return None


def _check_text(field: Field, value: str) -> tuple[str, dict[str, Any]] | None:
    if len(value) > MAX_TEXT:
        return "form.too_long", {"n": MAX_TEXT}
    if (wrong := _bounds(field, len(value), "form.too_short", "form.too_long")) is not None:
        return wrong
    good = True
    match field.format:
        case "email":
            good = _EMAIL.fullmatch(value) is not None
        case "uri":
            parts = _split(value)
            good = parts is not None and bool(parts.scheme)
        case "date":
            good = _parses(date.fromisoformat, value)
        case "date-time":
            good = _parses(datetime.fromisoformat, value) and "T" in value.upper()
        case _:
            pass
    return None if good else (f"form.not_{field.format.replace('-', '_')}", {})


def _check_number(field: Field, value: Any) -> tuple[str, dict[str, Any]] | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return "form.not_number", {}
    if field.kind == "integer" and value != int(value):
        return "form.not_integer", {}
    return _bounds(field, value, "form.too_small", "form.too_large")


def _bounds(field: Field, n: float, few: str, many: str) -> tuple[str, dict[str, Any]] | None:
    if field.least is not None and n < field.least:
        return few, {"n": f"{field.least:g}"}
    if field.most is not None and n > field.most:
        return many, {"n": f"{field.most:g}"}
    return None


def _split(value: str) -> Any:
    try:
        return urlsplit(value)
    except ValueError:
        return None


def _parses(parse: Any, value: str) -> bool:
    try:
        parse(value)
    except ValueError:
        return False
    return True


def _number(value: Any) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _text(value: Any) -> str:
    return value[:2000] if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
