"""Arguments of tool calls, as a model wrote them: parsed, checked, gently repaired.

Models send arguments cut short, numbers as strings, JSON inside a string. What is harmless is
accepted; everything else becomes one ToolFailure ``tool.bad_arguments`` whose message tells the
model exactly what to change. The schema language is the part of JSON Schema our tools use:
type, properties, required, enum, minimum, maximum, minItems, maxItems, minLength, items.
"""

from __future__ import annotations

import difflib
import json
from typing import Any, NoReturn, cast

from desktop_app.core.errors import ToolFailure

MAX_PROBLEMS = 5
_NAMES = {"str": "string", "bool": "boolean", "int": "integer", "float": "number", "list": "array"}


def schema(properties: dict[str, Any], *, required: list[str] | None = None) -> dict[str, Any]:
    """A JSON schema of type object, as tools declare their parameters."""
    return {"type": "object", "properties": properties, "required": required or []}


def bad(tool: str, *problems: str) -> NoReturn:
    """Raise ``tool.bad_arguments`` with these problems."""
    listed = "\n".join(f"- {p}" for p in problems[:MAX_PROBLEMS])
    raise ToolFailure(
        "tool.bad_arguments",
        f"The arguments of {tool} are not right:\n{listed}\nSend the whole call again.",
        tool=tool,
        problems=list(problems[:MAX_PROBLEMS]),
    )


def parse_arguments(tool: str, raw: str) -> dict[str, Any]:
    """The arguments of a call from its raw JSON text. Raises ToolFailure ``tool.bad_arguments``."""
    text = raw.strip()
    if not text:
        return {}
    try:
        # strict=False: a raw newline inside a string is plain enough to accept
        value: Any = json.loads(text, strict=False, parse_constant=_no_constant)
        if isinstance(value, str):  # JSON packed into a JSON string
            value = json.loads(value, strict=False, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        bad(tool, _explain(error))
    except (ValueError, RecursionError) as error:
        bad(tool, f"not valid JSON: {error}")
    if not isinstance(value, dict):
        bad(tool, f"a JSON object is needed, got {_type_name(value)}")
    return cast(dict[str, Any], value)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _explain(error: json.JSONDecodeError) -> str:
    doc, pos = error.doc, error.pos
    near = doc[max(0, pos - 30) : pos + 10]
    cut = error.msg.startswith("Unterminated") or pos >= len(doc.rstrip())
    where = f"line {error.lineno} column {error.colno}, near {near!r}"
    if cut:
        return f"the JSON ends in the middle ({len(doc)} characters; {where}): it was cut short"
    return f"not valid JSON: {error.msg} at {where}"


def _type_name(value: Any) -> str:
    return "null" if value is None else _NAMES.get(type(cast(object, value)).__name__, "object")


def validate(tool: str, schema: dict[str, Any], args: dict[str, Any]) -> dict[str, Any]:
    """``args`` as the schema wants them, harmless coercions made; a new dict.

    A null for an optional parameter counts as absent. Raises ToolFailure ``tool.bad_arguments``
    naming every problem (at most five).
    """
    problems: list[str] = []
    out = _object(schema, args, "", problems)
    if problems:
        bad(tool, *problems)
    return out


def _object(
    schema: dict[str, Any], value: dict[str, Any], where: str, problems: list[str]
) -> dict[str, Any]:
    known: dict[str, dict[str, Any]] = schema.get("properties", {})
    required: list[str] = schema.get("required", [])
    out: dict[str, Any] = {}
    for name, item in value.items():
        if name not in known:
            if known:
                problems.append(_unknown(f"{where}{name}", name, list(known)))
            else:
                out[name] = item
        elif item is not None:
            out[name] = _value(known[name], item, f"{where}{name}", problems)
        elif name in required:
            problems.append(f"{where}{name} is null, but it is required")
    problems.extend(f"{where}{n} is missing" for n in required if n not in value)
    return out


def _unknown(shown: str, name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, 1, 0.5)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
    return f"there is no parameter {shown!r}; {hint}"


def _value(schema: dict[str, Any], value: Any, where: str, problems: list[str]) -> Any:
    kind = schema.get("type")
    if isinstance(kind, str):
        ok, value = _coerce(kind, value)
        if not ok:
            article = "an" if kind[0] in "aeiou" else "a"
            problems.append(f"{where} must be {article} {kind}, got {_type_name(value)}")
            return value
    if "enum" in schema and value not in schema["enum"]:
        problems.append(f"{where} must be one of {', '.join(map(str, schema['enum']))}")
    problems.extend(_limits(schema, value, where))
    if kind == "object":
        return _object(schema, value, f"{where}.", problems)
    if kind == "array" and "items" in schema:
        items = cast(list[Any], value)
        return [
            _value(schema["items"], item, f"{where}[{i}]", problems) for i, item in enumerate(items)
        ]
    return value


def _coerce(kind: str, value: Any) -> tuple[bool, Any]:
    """(fits, value) after harmless coercions."""
    match kind:
        case "string":
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return True, str(value)
            return isinstance(value, str), value
        case "integer" | "number":
            return _number(kind, value)
        case "boolean":
            word = value.strip().lower() if isinstance(value, str) else None
            if word in ("true", "false"):
                return True, word == "true"
            return isinstance(value, bool), value
        case "array":
            if isinstance(value, str):
                parsed = _maybe_json(value)
                return True, cast(Any, parsed) if isinstance(parsed, list) else [value]
            return isinstance(value, list), value
        case _:
            if isinstance(value, str):
                value = _maybe_json(value)
            return isinstance(value, dict), value


def _number(kind: str, value: Any) -> tuple[bool, Any]:
    number: Any = value
    if isinstance(value, str):
        try:
            number = float(value) if kind == "number" else int(value.strip())
        except ValueError:
            return False, value
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return False, value
    if kind == "integer" and isinstance(number, float):
        return (True, int(number)) if number.is_integer() else (False, value)
    return True, number


def _maybe_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _limits(schema: dict[str, Any], value: Any, where: str) -> list[str]:
    out: list[str] = []
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if "minimum" in schema and value < schema["minimum"]:
            out.append(f"{where} must be at least {schema['minimum']}, got {value}")
        if "maximum" in schema and value > schema["maximum"]:
            out.append(f"{where} must be at most {schema['maximum']}, got {value}")
    elif isinstance(value, str) and len(value) < schema.get("minLength", 0):
        out.append(f"{where} must not be empty")
    elif isinstance(value, list):
        count = len(cast(list[Any], value))
        low, high = schema.get("minItems", 0), schema.get("maxItems", count)
        if not low <= count <= high:
            out.append(f"{where} must have {low} to {high} entries, got {count}")
    return out
