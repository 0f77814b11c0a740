"""Confinement: which file a path names, and whether a tool may touch it.

A path from a model is taken relative to the working directory, its links are resolved by the
backend, and every later step uses the resolved path, so that what was checked is what is used.
File tools stay inside the working directory, the workspace's root and ``extra_dirs``; names that
hold secrets or run code when something else reads them are asked for even inside.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from fnmatch import translate
from typing import Any, Literal

from desktop_app.core.crew import Begun
from desktop_app.core.errors import ToolFailure
from desktop_app.core.workspaces.backend import Looked

from .base import ToolContext, Verdict

Zone = Literal["cwd", "root", "extra", "outside"]
Access = Literal["read", "write"]
MAX_PATH = 4096

# Secrets: asked for on reading and writing. Compared case-folded; file systems may fold case.
_SECRET_DIRS = {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".gcloud"}
_SECRET_FILES = (
    ".env",
    ".env.*",
    ".envrc",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".htpasswd",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.keystore",
    "*.kdbx",
)
_HARMLESS = {".env.example", ".env.sample", ".env.template", ".env.dist"}
# Read by other programs, which then run what they say: asked for on writing.
_CODE_DIRS = {".git", ".vscode", ".idea", ".husky", ".devcontainer"}
_CODE_FILES = (
    ".gitconfig",
    ".gitmodules",
    ".gitattributes",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".profile",
    ".mcp",
    ".mcp.json",
    ".ripgreprc",
)
_SECRET_NAME, _CODE_NAME = (
    re.compile("|".join(map(translate, names))) for names in (_SECRET_FILES, _CODE_FILES)
)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A path after resolving. ``real`` is what is opened; ``shown`` is relative to the working
    directory where it is inside it, else ``real``; ``inside`` is relative to its zone; ``kept``:
    the program itself keeps it (sessions and offloads)."""

    given: str
    real: str
    shown: str
    zone: Zone
    inside: str
    kept: bool = False


def absolute(cwd: str, given: str, *, windows: bool = False) -> str:
    """``given`` under ``cwd``, absolute and without ``.`` and ``..``; links are not looked at.

    Raises ToolFailure ``path.bad`` for what cannot be a path.
    """
    if windows:
        given = given.replace("\\", "/")
    if not given or "\0" in given or len(given) > MAX_PATH:
        raise ToolFailure("path.bad", f"{given[:80]!r} is not a usable path.", path=given[:200])
    if given == "~" or given.startswith("~/"):
        raise ToolFailure(
            "path.bad",
            "'~' is not expanded here. Give a path relative to the working directory, "
            "or an absolute one.",
            path=given[:200],
        )
    drive = windows and len(given) > 1 and given[1] == ":"
    joined = given if drive else posixpath.join(cwd, given)
    path = posixpath.normpath(joined)
    return path[1:] if path.startswith("//") else path


def within(base: str, path: str) -> bool:
    """Whether ``path`` is ``base`` or below it; both absolute and normal."""
    return path == base or base == "/" or path.startswith(base.rstrip("/") + "/")


def below(base: str, path: str) -> str:
    """``path``, which is ``within`` ``base``, relative to it; ``.`` for itself."""
    return path[len(base) :].lstrip("/") or "."


async def resolve(ctx: ToolContext, given: str) -> Resolved:
    """Where ``given`` leads, links resolved as far as the path exists."""
    if ctx.ahead is not None and (found := await ctx.ahead.found()) is not None:
        return found[0]
    backend = ctx.backend
    path = absolute(backend.cwd, given, windows=backend.os_name == "nt")
    real, *bases = await backend.realpaths([path, *_bases(ctx)])
    return _placed(given, real, bases)


async def look(ctx: ToolContext, given: str, *, head: int) -> tuple[Resolved, Looked]:
    """Where ``given`` leads, and the file there, in one go: whole as far as tools take files
    whole, else its first ``head`` bytes."""
    if ctx.ahead is not None and (known := await ctx.ahead.found()) is not None:
        return known
    backend = ctx.backend
    path = absolute(backend.cwd, given, windows=backend.os_name == "nt")
    found = await backend.look(path, whole=ctx.max_read_bytes, head=head, beside=_bases(ctx))
    return _placed(given, found.info.path, found.beside), found


class Ahead:
    """A file inside the working directory that is being looked at before a call is planned, which
    asks for it by ``given`` to read it: whether the program keeps it is not known."""

    def __init__(self, given: str, begun: Looked | Begun[Looked | None]) -> None:
        self._given = given
        self._begun = begun
        self._known: tuple[Resolved, Looked] | None = None

    async def found(self) -> tuple[Resolved, Looked] | None:
        """As ``look`` has it; None where that must be asked."""
        if self._known is None:
            begun = self._begun
            found = begun if isinstance(begun, Looked) else await begun.result()
            if found is not None:
                self._known = _placed(self._given, found.info.path, found.beside), found
        return self._known


def ahead(ctx: ToolContext, given: str, *, whole: int) -> Ahead | None:
    """Begin to look at a small file that reading needs no question for, by its name alone: inside
    the working directory and no secret. Where a link leads elsewhere it is not opened, and comes
    to nothing. None where the backend has no such way, or the name says too little."""
    begin: Any = getattr(ctx.backend, "look_ahead", None)
    if begin is None or ctx.backend.os_name == "nt":
        return None
    try:
        path = absolute(ctx.backend.cwd, given)
    except ToolFailure:
        return None
    if not within(ctx.backend.cwd, path) or secret(below(ctx.backend.cwd, path)):
        return None
    return Ahead(given, begin(path, whole=whole, beside=[ctx.backend.cwd]))


def _bases(ctx: ToolContext) -> list[str]:
    return [ctx.backend.cwd, ctx.root, *ctx.extra_dirs]


def _placed(given: str, real: str, real_bases: list[str]) -> Resolved:
    zones: list[Zone] = ["cwd", "root"]
    kept = len(real_bases) > 1 and _kept(real, real_bases[0], real_bases[1])
    for i, base in enumerate(real_bases):
        if within(base, real):
            inside = below(base, real)
            shown = inside if i == 0 else real
            if i and within(real_bases[0], real):
                shown = below(real_bases[0], real)
            return Resolved(given, real, shown, zones[i] if i < 2 else "extra", inside, kept)
    return Resolved(given, real, real, "outside", real.lstrip("/"))


def secret(inside: str) -> bool:
    """Whether a path (relative to its zone) names something that holds secrets."""
    parts = [p.casefold() for p in inside.split("/") if p]
    if not parts or parts[-1] in _HARMLESS:
        return False
    if any(p in _SECRET_DIRS for p in parts):
        return True
    if ".git" in parts and parts[-1] == "config":  # may hold a token in a remote's address
        return True
    return _SECRET_NAME.match(parts[-1]) is not None


def runs_code(inside: str) -> bool:
    """Whether writing there may make another program run something later."""
    parts = [p.casefold() for p in inside.split("/") if p]
    if not parts:
        return False
    return any(p in _CODE_DIRS for p in parts) or _CODE_NAME.match(parts[-1]) is not None


def _kept(real: str, cwd: str, root: str) -> bool:
    """Whether the program itself keeps it. Where the root is the working directory (a workspace
    of AgentScope's), only sessions: ``data`` and ``skills`` may be what the work is about."""
    if not within(root, real):
        return False
    first = below(root, real).split("/", 1)[0]
    return first == "sessions" or (root != cwd and first in ("data", "skills"))


def verdict(tool: str, resolved: Resolved, access: Access) -> Verdict:
    """What a file tool thinks of touching ``resolved``: reading inside is allowed, writing inside
    is asked for (a mode or rule may allow it), all else is asked for with the reason."""
    params: dict[str, Any] = {"path": resolved.shown}
    subjects = (resolved.shown,)
    reasons: list[tuple[str, dict[str, Any]]] = []
    if secret(resolved.inside):
        reasons.append(("path.secret", params))
    if access == "write" and runs_code(resolved.inside):
        reasons.append(("path.runs_code", params))
    if access == "write" and resolved.kept:
        reasons.append(("path.kept_by_program", params))
    safety = bool(reasons) or (access == "write" and resolved.zone == "outside")
    if resolved.zone == "outside":
        reasons.append(("path.outside", params))
    elif access == "write":
        reasons.append(("file.write", params))
    if not reasons:
        return Verdict("allow", subjects=subjects)
    rule = None if safety else _rule(tool, resolved, access)
    return Verdict("ask", tuple(reasons), safety, rule, subjects)


def _rule(tool: str, resolved: Resolved, access: Access) -> dict[str, Any] | None:
    """The narrowest rule for calls like this: for a search the directory, for reading the file's
    directory unless that is near the top of the disk, for writing the file itself."""
    target, below = resolved.shown, False
    if tool in ("Grep", "Glob"):
        below = True
    elif access == "read" and posixpath.dirname(target).count("/") >= 2:
        target, below = posixpath.dirname(target), True
    if target == "/":
        return None
    content = "".join(f"[{c}]" if c in "*?[{" else c for c in target)
    return {
        "tool_name": tool,
        "rule_content": f"{content}/**" if below else content,
        "behavior": "allow",
        "source": "suggested",
    }
