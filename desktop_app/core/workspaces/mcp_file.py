"""The ``.mcp`` file of a workspace: what it declares, read without starting anything.

A and B hold a flat array; C an object ``{"version": 2, "mcps": {agent: {session: [entry]}}}``. An
entry that cannot be used is kept and listed with the reason; a file that does not parse is never
written over (invariant 14). ``env`` and ``headers`` are secrets in clear text: they stay out of
``repr`` and logs.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from desktop_app.core.errors import WorkspaceError

from .backend import Backend

NAME_CHARS = 200
Transport = Literal["stdio", "http", "sse", "unknown"]
Pair = tuple[str, str]  # agent id, session id; empty strings for none


@dataclass(frozen=True, slots=True)
class McpDeclaration:
    """One declared server. ``error`` is a code when it cannot be used. ``command`` is what would
    run, program first, for a stdio server."""

    name: str
    transport: Transport
    agent_id: str = ""
    session_id: str = ""
    command: tuple[str, ...] = ()
    url: str = ""
    error: str | None = None
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    raw: Any = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class McpFile:
    """What was read. ``flat``: an array, every entry under the pair ``("", "")``. ``error`` is a
    code for the file as a whole; then ``pairs`` is empty."""

    flat: bool = False
    pairs: dict[Pair, list[McpDeclaration]] = field(
        default_factory=dict[Pair, list[McpDeclaration]]
    )
    error: str | None = None
    params: dict[str, Any] = field(default_factory=dict[str, Any])

    def of(self, agent_id: str, session_id: str, *, shared: bool) -> list[McpDeclaration]:
        """Declarations of one session. A flat file is everybody's where it was written (A, B:
        ``shared``); a C program reads it for the pair of empty ids alone."""
        if self.flat and shared:
            return self.pairs.get(("", ""), [])
        return self.pairs.get((agent_id, session_id), [])

    def all(self) -> list[McpDeclaration]:
        return [declared for found in self.pairs.values() for declared in found]


async def read_mcp(backend: Backend, path: str) -> McpFile:
    """The file, or an empty one when there is none."""
    try:
        data = await backend.read_bytes(path, max_bytes=4 << 20)
    except WorkspaceError as error:
        if error.code == "file.missing":
            return McpFile()
        if error.retryable:
            raise
        return McpFile(error=error.code, params=error.params)
    return parse_mcp(data)


def parse_mcp(data: bytes) -> McpFile:
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        return McpFile(error="mcp.not_json", params={"line": error.lineno, "column": error.colno})
    except (ValueError, RecursionError):
        return McpFile(error="mcp.not_json", params={"line": 1, "column": 1})
    if isinstance(value, list):
        return McpFile(flat=True, pairs={("", ""): _entries(cast(list[Any], value), ("", ""))})
    mcps = cast(dict[str, Any], value).get("mcps") if isinstance(value, dict) else None
    if not isinstance(mcps, dict):
        return McpFile(error="mcp.bad_shape")
    pairs: dict[Pair, list[McpDeclaration]] = {}
    for agent_id, sessions in cast(dict[str, Any], mcps).items():
        if not isinstance(sessions, dict):
            continue
        for session_id, listed in cast(dict[str, Any], sessions).items():
            if isinstance(listed, list):
                pair = (agent_id, session_id)
                pairs[pair] = _entries(cast(list[Any], listed), pair)
    return McpFile(pairs=pairs)


def _entries(values: list[Any], pair: Pair) -> list[McpDeclaration]:
    seen: set[str] = set()
    found: list[McpDeclaration] = []
    for value in values:
        found.append(_entry(value, pair, seen))
        seen.add(found[-1].name)
    return found


def _entry(value: Any, pair: Pair, seen: set[str]) -> McpDeclaration:
    agent_id, session_id = pair

    def bad(code: str, label: str, **params: Any) -> McpDeclaration:
        return McpDeclaration(
            label, "unknown", agent_id, session_id, error=code, params=params, raw=value
        )

    if not isinstance(value, dict):
        return bad("mcp.entry_not_object", "")
    entry = cast(dict[str, Any], value)
    name = label_of(value)
    if not name.strip() or not name.isprintable() or len(name) > NAME_CHARS:
        return bad("mcp.bad_name", name[:NAME_CHARS], name=name[:NAME_CHARS])
    if name in seen:
        return bad("mcp.duplicate_name", name, name=name)
    config = entry.get("mcp_config")
    if not isinstance(config, dict):
        return bad("mcp.no_config", name)
    options = cast(dict[str, Any], config)
    match options.get("type"):
        case "stdio_mcp":
            program: Any = options.get("command")
            args = _args(options.get("args"))
            if not isinstance(program, str) or not program:
                return bad("mcp.no_command", name)
            if args is None:
                return bad("mcp.bad_args", name)
            if entry.get("is_stateful") is False:
                return bad("mcp.stdio_stateless", name)
            command = (program, *args)
            return McpDeclaration(name, "stdio", agent_id, session_id, command, raw=value)
        case "http_mcp":
            url = options.get("url")
            if not isinstance(url, str) or not url:
                return bad("mcp.no_url", name)
            if (transport := _transport(url)) == "unknown":
                return bad("mcp.bad_url", name)
            return McpDeclaration(name, transport, agent_id, session_id, url=url, raw=value)
        case other:
            return bad("mcp.bad_transport", name, type=str(other))


def label_of(entry: Any) -> str:
    """The name of an entry as it is meant: a number is text. AgentScope takes letters, digits,
    ``_`` and ``-`` alone; here a server may be called as its person likes."""
    name = cast("dict[str, Any]", entry).get("name") if isinstance(entry, dict) else None
    if isinstance(name, int | float) and not isinstance(name, bool):
        return str(name)
    return name if isinstance(name, str) else ""


def _args(value: Any) -> list[str] | None:
    """Arguments as they are meant: numbers are text, a line is its words. None when they are
    neither."""
    if isinstance(value, str):
        try:
            return shlex.split(value)
        except ValueError:
            return None
    listed = cast(list[Any], value or [])
    if not isinstance(value or [], list) or not all(
        isinstance(a, str | int | float) and not isinstance(a, bool) for a in listed
    ):
        return None
    return [str(a) for a in listed]


def _transport(url: str) -> Transport:
    """AgentScope has no type of its own for SSE: the end of the URL's path decides."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "unknown"
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return "unknown"
    return "sse" if parts.path.endswith(("/sse", "/messages/")) else "http"


async def forget_session(backend: Backend, path: str, agent_id: str, session_id: str) -> bool:
    """Take one session's declarations out of a C file, everything else kept as it stands; whether
    something was taken out. A file that does not parse, or is flat, is left alone."""
    try:
        before = await backend.stat(path)
        data = await backend.read_bytes(path, max_bytes=4 << 20)
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return False
    except WorkspaceError as error:
        if error.retryable:
            raise
        return False
    mcps = cast(dict[str, Any], value).get("mcps") if isinstance(value, dict) else None
    sessions = cast(dict[str, Any], mcps).get(agent_id) if isinstance(mcps, dict) else None
    if not isinstance(sessions, dict) or session_id not in sessions:
        return False
    del cast(dict[str, Any], sessions)[session_id]
    if not sessions:
        del cast(dict[str, Any], mcps)[agent_id]
    text = json.dumps(value, indent=2, ensure_ascii=False)
    await backend.write(path, text.encode("utf-8", "surrogatepass"), expect=before.version)
    return True
