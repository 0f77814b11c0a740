"""The gateway's client: requests, what they mean, how they fail.

Works with ours and with AgentScope's (2.0.11 and older: tool listings in snake_case or camelCase).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol, cast
from urllib.parse import quote, urlencode

from desktop_app.core.errors import WorkspaceError

ANSWER_SECONDS = 30.0
BODY_BYTES = 64 << 20  # of one answer
LONG = 1 << 18  # bytes of an answer that is read beside the loop
LINES = "application/x-ndjson"


class Way(Protocol):
    """How requests reach a gateway."""

    def http(
        self,
        method: str,
        path: str,
        *,
        headers: dict[str, str],
        body: bytes,
        timeout: float | None,
    ) -> AsyncGenerator[tuple[int, dict[str, str]] | bytes]:
        """Status and headers, then the body in pieces. WorkspaceError ``http.failed``,
        ``http.timeout``, ``backend.unreachable``, all retryable."""
        ...


@dataclass(eq=False, slots=True)
class GatewayError(Exception):
    """An answer that says no. ``status`` is HTTP's; 404: no such server or tool, 409: the name is
    taken, 401: not our token, 502: it is no answer of a gateway, 503: the server is down, 504: it
    took too long."""

    status: int
    detail: str


@dataclass(frozen=True, slots=True)
class Called:
    """What a call gave: ``chunk`` as AgentScope has it, ``result`` the MCP result when the gateway
    is ours."""

    chunk: dict[str, Any]
    result: dict[str, Any] | None


Progress = Callable[[float, float | None, str | None], None]


class GatewayClient:
    """Requests of one (agent, session) to a gateway. ``token`` may be empty."""

    def __init__(self, way: Way, token: str, agent_id: str = "", session_id: str = "") -> None:
        self._way = way
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._query = urlencode({"agent_id": agent_id, "session_id": session_id})

    async def health(self) -> str:
        """The instance's nonce, empty when it has none. GatewayError, WorkspaceError."""
        status, body = await self._request("GET", "/health", timeout=5.0)
        if status != 200:
            raise GatewayError(status, body.decode("utf-8", "replace")[:500])
        try:
            return str(json.loads(body).get("instance_nonce", ""))
        except (ValueError, AttributeError):
            return ""

    async def servers(self) -> list[dict[str, Any]]:
        """The declarations it has."""
        return cast(list[dict[str, Any]], await self._json("GET", "/mcps"))

    async def add(self, declared: dict[str, Any], *, keep: bool = False) -> None:
        """Add a server; with ``keep`` ours supervises it whether or not it starts, else it is
        connected first. GatewayError 409 when the name is taken, 500 when it does not start."""
        more = {"keep": "1"} if keep else {}
        await self._json("POST", "/mcps", declared, more, timeout=None)

    async def remove(self, name: str) -> None:
        await self._json("DELETE", f"/mcps/{quote(name, safe='')}")

    async def set_headers(self, name: str, headers: dict[str, str]) -> None:
        """Other HTTP headers for a server from now on."""
        await self._json(
            "PUT", f"/mcps/{quote(name, safe='')}/runtime-headers", {"headers": headers}
        )

    async def tools(self, name: str) -> list[dict[str, Any]]:
        """The tools as the server lists them, in the wire's spelling (``inputSchema``)."""
        listed = await self._json("GET", f"/mcps/{quote(name, safe='')}/tools")
        found = cast(list[Any], listed) if isinstance(listed, list) else []
        return [camel(cast(dict[str, Any], one)) for one in found if isinstance(one, dict)]

    async def status(self, name: str) -> dict[str, Any]:
        """Ours alone: ``state``, ``detail``, ``version``, ``restarts``, ``stderr``."""
        return cast(dict[str, Any], await self._json("GET", f"/mcps/{quote(name, safe='')}/status"))

    async def watch(self, name: str) -> AsyncGenerator[dict[str, Any]]:
        """Ours alone: ``status`` with the ``listed`` tools, now and at each change. GatewayError,
        WorkspaceError."""
        path = f"/mcps/{quote(name, safe='')}/watch?{self._query}"
        parts = self._way.http("GET", path, headers=self._headers, body=b"", timeout=None)
        async with aclosing(parts) as pieces:
            status, _ = await _head(pieces)
            if status != 200:
                _answer(status, await _body(pieces))
            async with aclosing(_items(pieces)) as items:
                async for item in items:
                    yield item

    async def restart(self, name: str) -> None:
        await self._json("POST", f"/mcps/{quote(name, safe='')}/restart", {})

    async def call(
        self,
        name: str,
        tool: str,
        arguments: dict[str, Any],
        *,
        seconds: float,
        progress: Progress | None = None,
    ) -> Called:
        """One call, at most ``seconds`` long. Cancelled here, it is cancelled at the server.
        GatewayError, WorkspaceError."""
        path = f"/mcps/{quote(name, safe='')}/tools/{quote(tool, safe='')}"
        body = json.dumps({"arguments": arguments, "timeout": seconds}).encode()
        headers = {**self._headers, "Accept": f"{LINES}, application/json"}
        parts = self._way.http(
            "POST", f"{path}?{self._query}", headers=headers, body=body, timeout=None
        )
        try:
            async with asyncio.timeout(seconds + ANSWER_SECONDS), aclosing(parts) as pieces:
                status, kind = await _head(pieces)
                if LINES in kind:
                    return await _lines(pieces, progress)
                raw = await _body(pieces)
        except TimeoutError:
            raise GatewayError(504, f"no answer within {seconds:g} seconds") from None
        answer = _answer(status, raw)
        return Called(cast(dict[str, Any], answer.get("chunk") or {}), None)

    async def _request(
        self,
        method: str,
        path: str,
        body: Any = None,
        more: dict[str, str] | None = None,
        *,
        timeout: float | None = ANSWER_SECONDS,
    ) -> tuple[int, bytes]:
        query = f"{self._query}&{urlencode(more)}" if more else self._query
        data = b"" if body is None else json.dumps(body).encode()
        parts = self._way.http(
            method, f"{path}?{query}", headers=self._headers, body=data, timeout=timeout
        )
        async with aclosing(parts) as pieces:
            status, _ = await _head(pieces)
            return status, await _body(pieces)

    async def _json(
        self,
        method: str,
        path: str,
        body: Any = None,
        more: dict[str, str] | None = None,
        *,
        timeout: float | None = ANSWER_SECONDS,
    ) -> Any:
        return _answer(*await self._request(method, path, body, more, timeout=timeout))


Pieces = AsyncGenerator[tuple[int, dict[str, str]] | bytes]


async def _head(pieces: Pieces) -> tuple[int, str]:
    first = await anext(pieces)
    assert isinstance(first, tuple)
    return first[0], {k.lower(): v for k, v in first[1].items()}.get("content-type", "")


async def _body(pieces: Pieces) -> bytes:
    found = bytearray()
    async for piece in pieces:
        assert isinstance(piece, bytes)
        found += piece
        if len(found) > BODY_BYTES:
            raise _too_long()
    return bytes(found)


def _too_long() -> GatewayError:
    return GatewayError(502, f"an answer of more than {BODY_BYTES >> 20} MB")


async def _items(pieces: Pieces) -> AsyncGenerator[dict[str, Any]]:
    """Lines of JSON as they come. GatewayError 502 for what is none: whoever is at home in the
    machine may have put something else in the gateway's place."""
    waiting, seen = bytearray(), 0
    async for piece in pieces:
        assert isinstance(piece, bytes)
        waiting += piece
        if len(waiting) > BODY_BYTES:
            raise _too_long()
        while (end := waiting.find(b"\n", seen)) >= 0:
            line, seen = bytes(waiting[:end]), 0
            del waiting[: end + 1]
            yield _object(line) if len(line) < LONG else await asyncio.to_thread(_object, line)
        seen = len(waiting)


def _object(line: bytes) -> dict[str, Any]:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise GatewayError(502, "an answer that is none of a gateway")
    return cast(dict[str, Any], found)


async def _lines(pieces: Pieces, progress: Progress | None) -> Called:
    async with aclosing(_items(pieces)) as items:
        async for item in items:
            if isinstance(done := item.get("progress"), list):
                if progress is not None:
                    progress(*_progress(cast(list[Any], done)))
            elif "error" in item:
                raise GatewayError(int(item.get("status") or 500), str(item["error"]))
            elif isinstance(chunk := item.get("chunk"), dict):
                result: Any = item.get("result")
                kept = cast(dict[str, Any], result) if isinstance(result, dict) else None
                return Called(cast(dict[str, Any], chunk), kept)
            else:
                raise GatewayError(502, "an answer that is none of a gateway")
    raise WorkspaceError("http.failed", retryable=True, port=0, detail="the answer was cut")


def _progress(told: list[Any]) -> tuple[float, float | None, str | None]:
    done, total, message = [*told, None, None, None][:3]
    numbers = [float(n) if isinstance(n, int | float) else None for n in (done, total)]
    return numbers[0] or 0.0, numbers[1], message if isinstance(message, str) else None


def _answer(status: int, raw: bytes) -> Any:
    """What an answer says; GatewayError when it says no, in JSON (``detail``) or in text."""
    text = raw.decode("utf-8", "replace")
    try:
        found: Any = json.loads(text) if text.strip() else {}
    except ValueError:
        found = text
    if 200 <= status < 300:
        return found
    detail: Any = cast(dict[str, Any], found).get("detail") if isinstance(found, dict) else found
    raise GatewayError(status, str(detail or f"HTTP {status}")[:1000])


_SNAKE = {"input_schema": "inputSchema", "output_schema": "outputSchema", "meta": "_meta"}
_HINTS = {
    "read_only_hint": "readOnlyHint",
    "destructive_hint": "destructiveHint",
    "idempotent_hint": "idempotentHint",
    "open_world_hint": "openWorldHint",
}


def camel(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool in the wire's spelling, whichever it came in."""
    made = {_SNAKE.get(key, key): value for key, value in tool.items()}
    hints = made.get("annotations")
    if isinstance(hints, dict):
        given = cast(dict[str, Any], hints)
        made["annotations"] = {_HINTS.get(key, key): value for key, value in given.items()}
    return made
