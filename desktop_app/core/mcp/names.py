"""Names under which models call the tools of MCP servers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

LIMIT = 64  # OpenAI and Anthropic: ^[a-zA-Z0-9_-]{1,64}$
_GOOD = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BAD = re.compile(r"[^A-Za-z0-9_-]+")


def tool_name(server: str, tool: str) -> str:
    """``mcp__server__tool`` where that is a name providers take and can be read in one way only;
    else as much of it as fits, and eight digits of a hash over both names.

    The same pair has the same name always: it depends on no order and on no other server."""
    plain = f"mcp__{server}__{tool}"
    clear = "__" not in server and not server.endswith("_") and not tool.startswith("_")
    if clear and _GOOD.fullmatch(plain):
        return plain
    digest = hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_BAD.sub('_', plain)[: LIMIT - 9].rstrip('_')}_{digest}"


def short_name(server: str) -> str:
    """A server's name where providers take only what they take as a tool's name (Anthropic: the
    keys of a schema's properties): itself, or as much as fits and eight digits of a hash."""
    if _GOOD.fullmatch(server):
        return server
    digest = hashlib.sha256(server.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_BAD.sub('_', server)[: LIMIT - 9].strip('_') or 'server'}_{digest}"


def belongs(name: str, server: str) -> bool:
    """Whether ``name`` could be that of a tool of ``server``, whose tools are not known."""
    start = _BAD.sub("_", f"mcp__{server}__")
    if len(start) > LIMIT - 9:
        start = start[: LIMIT - 9].rstrip("_")
    return name.startswith(start)


_RUNNERS = ("npx", "node", "bunx", "bun", "deno", "pnpm", "yarn", "npm", "uvx", "uv", "pipx")
_SHELLS = ("python", "py", "docker", "podman", "cmd", "bash", "sh", "env")
_VERBS = ("run", "exec", "dlx", "tool", "x", "cmd")
_ANY = re.compile(r"(?:index|main|__main__|server|cli|app|dist|build|bin|src|lib|out|start)?")
_AROUND = re.compile(r"^(?:mcp[-_])?(?:server[-_])?|(?:[-_]mcp)?(?:[-_]server)?$")
_SUFFIX = re.compile(r"\.(?:py|js|mjs|cjs|ts|exe|cmd|bat|sh)$")
_SCOPED = re.compile(r"@([\w.-]+)/mcp(?=[@/]|$)")  # a maker whose package is just called "mcp"
_VERSION = re.compile(r"[\d.]+")


def proposed_name(words: Sequence[str], url: str = "") -> str:
    """What a server that is started by ``words``, or is at ``url``, could be called: its program or
    package without what all of them have in their names. Letters, digits and "-", 40 at most."""
    said = url.split("://")[-1].split("?")[0].split("/")[0] if url else _program(words)
    return "-".join(re.findall(r"[A-Za-z0-9]+", said))[:40]


def _program(words: Sequence[str]) -> str:
    if not words:
        return ""
    said = words[0]
    if _last(said).rstrip("0123456789.") in (*_RUNNERS, *_SHELLS):
        plain = [w for w in words[1:] if not w.startswith("-") and w not in _VERBS]
        plain = [w for w in plain if not _VERSION.fullmatch(w)]
        said = plain[0] if plain else said
        if _last(words[0]) in ("docker", "podman"):
            said = next((w for w in plain if "/" in w), said)
    return _last(said)


def _last(path: str) -> str:
    """The last part of a path that tells something, without version, kind and decoration."""
    path = _SCOPED.sub(r"\1", path)
    parts = [p for p in re.split(r"[/\\]", path) if p]
    found = ""
    for part in reversed(parts):
        part = part.split("@")[0] if not part.startswith("@") else part
        part = _SUFFIX.sub("", part.split(":")[0])
        found = found or part
        if not _ANY.fullmatch(part):
            return _AROUND.sub("", part) or part
    return found
