"""An answer of a given shape, by the way that the model takes.

Three ways, the strictest first: ``native`` (the provider holds the model to the JSON schema),
``tool`` (the answer is the call of a tool; it is never forced, which models that think refuse), and
``prompted`` (the schema is in the request, JSON is read from the text). What a model refused is
remembered, so that it is asked once. Whatever comes is checked here: a server that takes a schema
and heeds it not is no rarity.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from desktop_app.core.errors import ModelError, SettingsError
from desktop_app.core.messages import Msg, TextBlock, Usage
from desktop_app.core.settings.jsonfile import read_object, write_object

from .base import (
    CUT,
    ChatModel,
    Finish,
    ModelEvent,
    ModelRequest,
    TextPart,
    ToolCallPart,
    ToolSchema,
)

Way = Literal["native", "tool", "prompted"]
WAYS: tuple[Way, ...] = ("native", "tool", "prompted")
_REFUSED = frozenset({"model.rejected", "model.no_schema"})
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Structured:
    """``value`` fits the schema; ``usage`` is of all calls that it took, None when unmeasured."""

    value: Any
    way: Way
    usage: Usage | None


class Refusals:
    """Ways that models refused, by model; in a file of ``path``, in memory without one. A file that
    cannot be read says nothing and is replaced: it holds nobody's words."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        raw = read_object(path)[0] if path is not None else {}
        self._known = {
            name: [w for w in cast("list[Any]", ways) if w in WAYS]
            for name, ways in raw.items()
            if isinstance(ways, list)
        }

    def ways(self, model: str) -> list[Way]:
        """What is left to try; ``prompted`` always is."""
        gone = self._known.get(model, [])
        return [w for w in WAYS if w == "prompted" or w not in gone]

    def forget(self, model: str) -> None:
        """The model of that id is another one now."""
        self._known.pop(model, None)

    async def note(self, model: str, way: Way) -> None:
        """A model refused a way."""
        known = self._known.setdefault(model, [])
        if way not in known:
            known.append(way)
        if self._path is not None:
            try:
                await asyncio.to_thread(write_object, self._path, dict(self._known))
            except SettingsError as error:
                logger.warning("what models refuse is not kept: %s", error)


async def structured(
    model: ChatModel, request: ModelRequest, shape: ToolSchema, refusals: Refusals
) -> Structured:
    """Ask for an answer of ``shape`` (name, what it is, JSON schema of an object). ``request`` has
    no tools. Raises ModelError: what the call raises, ``model.shapeless`` when no way gave one."""
    info = model.info
    ways = refusals.ways(info.id) if info.schemas else ["prompted"]
    spent: list[Usage] = []
    why = ""
    for way in ways:
        asked = _asked(request, shape, cast(Way, way))
        for _ in range(2 if way == "prompted" else 1):
            try:
                text, calls = await _ask(model, asked, spent)
            except ModelError as error:
                if way == "prompted" or error.code not in _REFUSED:
                    raise
                logger.info("%s takes no answer by %s: %s", info.id, way, error)
                await refusals.note(info.id, cast(Way, way))
                break
            said = calls.get(shape.name) or text
            value, why = await asyncio.to_thread(_checked, said, shape.parameters)
            if not why:
                return Structured(value, cast(Way, way), _sum(spent))
            asked = _again(asked, said, why)
    raise ModelError("model.shapeless", model=info.name, detail=why)


def _asked(request: ModelRequest, shape: ToolSchema, way: Way) -> ModelRequest:
    if way == "native":
        return replace(request, answer=shape)
    if way == "tool":
        order = f"Answer by calling the tool {shape.name}, once, and say nothing else."
        return replace(request, tools=(shape,), system=f"{request.system}\n\n{order}".strip())
    schema = json.dumps(shape.parameters, ensure_ascii=False)
    order = (
        f"{shape.description}\nAnswer with one JSON object that fits this JSON schema, and with "
        f"nothing else:\n{schema}"
    )
    return replace(request, system=f"{request.system}\n\n{order}".strip())


def _again(asked: ModelRequest, said: str, why: str) -> ModelRequest:
    answer = Msg(name="assistant", role="assistant", content=[TextBlock(text=said or "(nothing)")])
    told = Msg.user(f"That does not fit: {why}. Answer again, with the JSON object only.")
    return replace(asked, messages=[*asked.messages, answer, told])


async def _ask(
    model: ChatModel, request: ModelRequest, spent: list[Usage]
) -> tuple[str, dict[str, str]]:
    """Text, and arguments by tool. ModelError ``model.cut`` when the answer has no end."""
    said: list[str] = []
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    finish: Finish | None = None
    parts: AsyncIterator[ModelEvent] = model.stream(request)
    async with aclosing(cast(Any, parts)) as stream:
        async for part in stream:
            if isinstance(part, TextPart):
                said.append(part.text)
            elif isinstance(part, ToolCallPart):
                names[part.index] = names.get(part.index, "") + (part.name or "")
                arguments[part.index] = arguments.get(part.index, "") + part.arguments
            elif isinstance(part, Finish):
                finish = part
    if finish is not None and finish.usage is not None:
        spent.append(finish.usage)
    if finish is None or finish.reason in CUT:
        raise ModelError("model.cut", retryable=True, model=model.info.name)
    return "".join(said), {name: arguments[index] for index, name in names.items()}


def _checked(said: str, schema: dict[str, Any]) -> tuple[Any, str]:
    """The value, and why it does not fit (empty when it does). In a thread: the checker is slow to
    import."""
    from jsonschema import Draft202012Validator

    try:
        value = _json_of(said)
    except (ValueError, RecursionError):
        return None, "it is not JSON"
    wrong = next(iter(Draft202012Validator(schema).iter_errors(value)), None)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType, reportUnknownVariableType]
    return value, "" if wrong is None else f"{wrong.json_path}: {wrong.message}"[:300]


def _json_of(said: str) -> Any:
    """The JSON in an answer: all of it, or what is fenced, or from the first brace to the last."""
    text = said.strip()
    if (fenced := _FENCE.search(text)) is not None:
        text = fenced.group(1).strip()
    if not text.startswith("{"):
        text = text[text.index("{") : text.rindex("}") + 1]
    return json.loads(text)


def _sum(spent: list[Usage]) -> Usage | None:
    if not spent:
        return None
    fields = Usage.model_fields
    return Usage(**{name: sum(getattr(u, name) for u in spent) for name in fields})
