"""What servers send is made well-formed before the SDK's strict models see it.

The SDK parses a listing or a result as a whole: one tool without a schema hides all others, one
content block of an unknown kind loses the result. Here the bad item is taken out and remembered, or
told as text; the rest goes through.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from .lines import flooded

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream
    from mcp.shared.message import SessionMessage

_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_BLOCK_CHARS = 20_000  # of a block that is told as text


class Sifted:
    """A read stream in front of the SDK's session. ``on_bad`` is told of each item taken out
    (name, a code), ``on_end`` once when the stream ends, ``on_flood`` why it is ended here."""

    def __init__(
        self,
        inner: ReadStream[SessionMessage | Exception],
        on_bad: Callable[[str, str], None],
        on_end: Callable[[], None],
        on_flood: Callable[[str], None],
    ) -> None:
        self._on_flood = on_flood
        self._inner = inner
        self._on_bad = on_bad
        self._on_end = on_end

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        import anyio

        try:
            item = await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._on_end()
            raise
        if self._flooded(item):
            raise anyio.EndOfStream
        self._sift(item)
        return item

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            item = await self._inner.__anext__()
        except StopAsyncIteration:
            self._on_end()
            raise
        if self._flooded(item):
            raise StopAsyncIteration
        self._sift(item)
        return item

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        self._on_end()
        return await self._inner.__aexit__(exc_type, exc_val, exc_tb)

    def _flooded(self, item: SessionMessage | Exception) -> bool:
        if why := flooded(item):
            self._on_flood(why)
            self._on_end()
        return bool(why)

    def _sift(self, item: SessionMessage | Exception) -> None:
        result = getattr(getattr(item, "message", None), "result", None)
        if isinstance(result, dict):
            sift_result(cast(dict[str, Any], result), self._on_bad)


def sift_result(result: dict[str, Any], on_bad: Callable[[str, str], None]) -> None:
    """Make a listing of tools or the result of a call well-formed, in place."""
    if isinstance(tools := result.get("tools"), list):
        kept = [t for raw in cast(list[Any], tools) if (t := _tool(raw, on_bad)) is not None]
        result["tools"] = kept
        if not isinstance(result.get("nextCursor"), str):
            result.pop("nextCursor", None)
    elif isinstance(content := result.get("content"), list):
        result["content"] = [_block(raw) for raw in cast(list[Any], content)]


def _tool(raw: Any, on_bad: Callable[[str, str], None]) -> dict[str, Any] | None:
    if not isinstance(raw, dict):
        on_bad("", "mcp.tool_not_object")
        return None
    tool = cast(dict[str, Any], raw)
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        on_bad(str(name or ""), "mcp.tool_no_name")
        return None
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict):
        on_bad(name, "mcp.tool_no_schema")
        return None
    schema = cast(dict[str, Any], schema)
    if schema.get("type", "object") != "object":
        on_bad(name, "mcp.tool_bad_schema")
        return None
    made: dict[str, Any] = {"name": name, "inputSchema": {"type": "object", **schema}}
    for key in ("title", "description"):
        if isinstance(tool.get(key), str):
            made[key] = tool[key]
    if isinstance(hints := tool.get("annotations"), dict):
        given = cast(dict[str, Any], hints)
        made["annotations"] = {k: given[k] for k in _HINTS if isinstance(given.get(k), bool)}
    return made


def _block(raw: Any) -> dict[str, Any]:
    block = cast(dict[str, Any], raw) if isinstance(raw, dict) else {}
    match block.get("type"):
        case "text":
            good = isinstance(block.get("text"), str)
        case "image" | "audio":
            good = isinstance(block.get("data"), str) and isinstance(block.get("mimeType"), str)
        case "resource":
            held: Any = block.get("resource")
            inner = cast(dict[str, Any], held) if isinstance(held, dict) else {}
            good = isinstance(inner.get("uri"), str) and (
                isinstance(inner.get("text"), str) or isinstance(inner.get("blob"), str)
            )
        case "resource_link":
            good = isinstance(block.get("uri"), str) and isinstance(block.get("name"), str)
        case _:
            good = False
    if good:
        return block
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
    return {"type": "text", "text": text[:_BLOCK_CHARS]}
