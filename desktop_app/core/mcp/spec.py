"""What a declaration says beyond name and command: environment, headers, limits, switches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from desktop_app.core.workspaces.mcp_file import McpDeclaration

HTTP_SECONDS = 30.0  # AgentScope's default


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server to connect to. ``env`` and ``headers`` may be secrets: never in ``repr``, logs or
    errors. ``call_seconds`` is the person's limit for one call, None for ours."""

    name: str
    transport: str
    command: tuple[str, ...] = ()
    url: str = field(default="", repr=False)
    env: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    headers: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None
    errors: str = "strict"
    http_seconds: float = HTTP_SECONDS
    call_seconds: float | None = None
    enabled: bool = True
    enable_tools: frozenset[str] | None = None
    disable_tools: frozenset[str] = frozenset()

    @classmethod
    def of(cls, declared: McpDeclaration) -> ServerSpec:
        """Read leniently: a field of the wrong kind is as if it were not there, numbers in ``env``
        and ``headers`` are text."""
        entry = _dict(declared.raw)
        config = _dict(entry.get("mcp_config"))
        errors = config.get("encoding_error_handler")
        only = entry.get("enable_tools")
        return cls(
            declared.name,
            declared.transport,
            declared.command,
            declared.url,
            _texts(config.get("env")),
            _texts(config.get("headers")),
            cwd if isinstance(cwd := config.get("cwd"), str) and cwd else None,
            errors if errors in ("strict", "ignore", "replace") else "strict",
            _seconds(config.get("timeout")) or HTTP_SECONDS,
            _seconds(entry.get("execution_timeout")),
            entry.get("disabled") is not True,
            _names(only) if isinstance(only, list) else None,
            _names(entry.get("disable_tools")),
        )

    def offers(self, tool: str) -> bool:
        """Whether the declaration lets this tool through."""
        if tool in self.disable_tools:
            return False
        return self.enable_tools is None or tool in self.enable_tools

    def same_connection(self, other: ServerSpec) -> bool:
        """Whether a running connection for ``other`` serves this one too."""
        mine = (self.command, self.url, self.env, self.headers, self.cwd, self.http_seconds)
        return mine == (
            other.command,
            other.url,
            other.env,
            other.headers,
            other.cwd,
            other.http_seconds,
        )


def _dict(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _texts(value: Any) -> dict[str, str]:
    kept = {k: v for k, v in _dict(value).items() if isinstance(v, str | int | float)}
    return {k: v if isinstance(v, str) else str(v).lower() if isinstance(v, bool) else str(v)
            for k, v in kept.items()}  # fmt: skip


def _names(value: Any) -> frozenset[str]:
    listed = cast(list[Any], value) if isinstance(value, list) else []
    return frozenset(name for name in listed if isinstance(name, str))


def _seconds(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e7:
        return None
    return float(value)
