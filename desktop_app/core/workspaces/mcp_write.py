"""Changing the declarations in ``.mcp``, and nothing else in it.

The file is read, one entry changed in what was read, and written back only if it is still the
same file: unknown keys, the order, entries that cannot be used and the generation stay. One that
does not parse is never written over (invariant 14). AgentScope writes UTF-8 JSON, indented by two,
without a final newline; so do we.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from desktop_app.core.errors import SettingsError, WorkspaceError

from .backend import Backend
from .mcp_file import Pair, label_of, parse_mcp

TRIES = 5
Kind = Literal["stdio", "http"]
Change = Callable[[list[Any]], None]


@dataclass(frozen=True, slots=True)
class NewServer:
    """A declaration to be added. ``env`` and ``headers`` stay out of ``repr``."""

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    env: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    headers: dict[str, str] = field(default_factory=dict[str, str], repr=False)

    def entry(self) -> dict[str, Any]:
        """As AgentScope 2.0.11 writes it."""
        config: dict[str, Any]
        if self.url:
            headers = self.headers or None
            config = {"type": "http_mcp", "url": self.url, "headers": headers, "timeout": 30.0}
        else:
            config = {
                "type": "stdio_mcp",
                "command": self.command[0] if self.command else "",
                "args": list(self.command[1:]),
                "env": self.env or None,
                "cwd": None,
                "encoding_error_handler": "strict",
            }
        return {
            "name": self.name,
            "is_stateful": True,
            "mcp_config": config,
            "enable_tools": None,
            "disable_tools": None,
            "execution_timeout": None,
            "stream_progress": False,
        }


def split_line(command: Sequence[str]) -> tuple[str, ...]:
    """The words of a command that may be a whole line, as a shell reads them; the command as it is
    when it has arguments of its own or a quotation mark is left open."""
    if len(command) != 1:
        return tuple(command)
    try:
        return tuple(shlex.split(command[0])) or tuple(command)
    except ValueError:
        return tuple(command)


class McpWriter:
    """Writes one workspace's file. ``flat`` says what a file that is not there yet becomes:
    a list for generations A and B, else an object by agent and session. ``prepare`` makes the place
    and raises where nothing may be written."""

    def __init__(
        self,
        backend: Backend,
        path: str,
        *,
        flat: bool,
        prepare: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._backend = backend
        self._path = path
        self._flat = flat
        self._prepare = prepare

    async def add(self, pair: Pair, server: NewServer) -> None:
        """SettingsError ``mcp.duplicate_name``, or the code of what is wrong with ``server``."""
        entry = server.entry()
        declared = parse_mcp(json.dumps([entry]).encode()).all()[0]
        plain = re.fullmatch(r"[A-Za-z0-9_-]+", server.name)  # AgentScope reads no other name
        if reason := declared.error or (None if plain else "mcp.bad_name"):
            raise SettingsError("mcp.not_added", name=server.name, reason=reason)

        def change(entries: list[Any]) -> None:
            if any(label_of(e) == server.name for e in entries):
                raise SettingsError("mcp.duplicate_name", name=server.name)
            entries.append(entry)

        await self._write(pair, change)

    async def remove(self, pair: Pair, name: str) -> None:
        """SettingsError ``mcp.unknown_server`` when it is not declared."""
        await self._write(pair, lambda entries: entries.remove(_find(entries, name)))

    async def split_command(self, pair: Pair, name: str) -> None:
        """Put a whole line in ``command`` apart into program and arguments, as other programs need
        it; what is not such a line stays."""

        def change(entries: list[Any]) -> None:
            config = _find(entries, name).get("mcp_config")
            if isinstance(config, dict):
                options = cast(dict[str, Any], config)
                parts = split_line((str(options.get("command")),))
                if len(parts) > 1 and not options.get("args"):
                    options["command"], options["args"] = parts[0], list(parts[1:])

        await self._write(pair, change)

    async def enable(self, pair: Pair, name: str, enabled: bool) -> None:
        """Switch a server on or off. Off is ``"disabled": true`` in its entry, which AgentScope
        ignores."""

        def change(entries: list[Any]) -> None:
            entry = _find(entries, name)
            if enabled:
                entry.pop("disabled", None)
            else:
                entry["disabled"] = True

        await self._write(pair, change)

    async def enable_tool(self, pair: Pair, name: str, tool: str, enabled: bool) -> None:
        """Let one tool through or not, by ``enable_tools`` and ``disable_tools``."""

        def change(entries: list[Any]) -> None:
            entry = _find(entries, name)
            off, only = _names(entry.get("disable_tools")), entry.get("enable_tools")
            if enabled:
                off = [n for n in off if n != tool]
            elif tool not in off:
                off.append(tool)
            entry["disable_tools"] = off or None
            if enabled and isinstance(only, list) and tool not in only:
                entry["enable_tools"] = [*cast(list[Any], only), tool]

        await self._write(pair, change)

    async def _write(self, pair: Pair, change: Change) -> None:
        """Read, change, write if nobody wrote meanwhile; else begin anew."""
        for _ in range(TRIES):
            version, value = await self._read()
            change(self._entries(value, pair))
            if self._prepare is not None:
                await self._prepare()
            text = json.dumps(value, indent=2, ensure_ascii=False)
            data = text.encode("utf-8", "surrogatepass")
            try:
                if version is None:
                    await self._backend.write(self._path, data, create=True)
                else:
                    await self._backend.write(self._path, data, expect=version)
                return
            except WorkspaceError as error:
                if error.code not in ("file.changed", "file.exists"):
                    raise
        raise SettingsError("mcp.busy", retryable=True, path=self._path)

    async def _read(self) -> tuple[str | None, Any]:
        try:
            info = await self._backend.stat(self._path)
            data = await self._backend.read_bytes(self._path, max_bytes=4 << 20)
        except WorkspaceError as error:
            if error.code != "file.missing":
                raise
            return None, [] if self._flat else {"version": 2, "mcps": {}}
        parsed = parse_mcp(data)
        if parsed.error is not None:
            raise SettingsError("mcp.not_written", path=self._path, reason=parsed.error)
        return info.version, json.loads(data.decode("utf-8-sig"))

    def _entries(self, value: Any, pair: Pair) -> list[Any]:
        """The list of the pair, made when it is not there."""
        if isinstance(value, list):
            return cast(list[Any], value)
        agent_id, session_id = pair
        sessions: Any = value["mcps"].setdefault(agent_id, {})
        if not isinstance(sessions, dict):
            raise SettingsError("mcp.not_written", path=self._path, reason="mcp.bad_shape")
        entries: Any = cast(dict[str, Any], sessions).setdefault(session_id, [])
        if not isinstance(entries, list):
            raise SettingsError("mcp.not_written", path=self._path, reason="mcp.bad_shape")
        return cast(list[Any], entries)


def _find(entries: list[Any], name: str) -> dict[str, Any]:
    """The first entry of that name: a second one cannot be used and is listed as such."""
    for entry in entries:
        if label_of(entry) == name:
            return entry
    raise SettingsError("mcp.unknown_server", name=name)


def _names(value: Any) -> list[str]:
    listed = cast(list[Any], value) if isinstance(value, list) else []
    return [name for name in listed if isinstance(name, str)]
