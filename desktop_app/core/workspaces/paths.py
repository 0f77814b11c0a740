"""Names and paths inside a workspace, so that nothing reaches out of it (invariant 10).

Every path here is POSIX, as the backend sees it. Ids and names may come from a model, a file or
the network; only these functions turn them into paths.
"""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote, urlsplit

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.ids import check_id, safe_name

from .backend import Backend

DATA_NAME = re.compile(r"[0-9a-f]{64}(\.[A-Za-z0-9]{1,16})?")


def join(*parts: str) -> str:
    return posixpath.join(*parts)


def is_component(name: str) -> bool:
    """Whether ``name`` is one directory entry: no separator, no step up."""
    return name not in ("", ".", "..") and not any(c in name for c in "/\\\0")


def component(kind: str, name: str) -> str:
    """``name`` as one existing directory entry. Foreign programs allow more in an id than we write
    (spaces, colons), never a separator or a step up: those are ``id.unsafe``."""
    return name if is_component(name) else check_id(kind, name)


def relative(path: str, base: str) -> str:
    """``path`` below ``base`` as the agent sees it, ``.`` for the base itself."""
    return posixpath.relpath(path, base)


def session_dir(root: str, session_id: str) -> str:
    """Where we write what leaves a session's context; injective in the id."""
    return join(root, "sessions", safe_name(session_id))


def context_path(root: str, session_id: str) -> str:
    return join(session_dir(root, session_id), "context.jsonl")


def tool_result_path(root: str, session_id: str, call_id: str, n: int = 0) -> str:
    """AgentScope's name: ``tool_result-<id>.txt``, then ``(1)``, ``(2)`` before the ending."""
    suffix = f"({n})" if n else ""
    return join(session_dir(root, session_id), f"tool_result-{safe_name(call_id)}{suffix}.txt")


def command_path(root: str, session_id: str, command_id: str) -> str:
    """What a background command prints."""
    return join(session_dir(root, session_id), f"command-{safe_name(command_id)}.txt")


def is_inside(path: str, root: str) -> bool:
    """Whether ``path`` is ``root`` or below it; both resolved already."""
    path, root = posixpath.normpath(path), posixpath.normpath(root)
    return path == root or path.startswith(root.rstrip("/") + "/")


async def require_inside(backend: Backend, path: str, root: str) -> str:
    """``path`` resolved; WorkspaceError ``path.outside`` when a link leads out of ``root``."""
    real = await backend.realpath(path)
    if not is_inside(real.replace("\\", "/"), (await backend.realpath(root)).replace("\\", "/")):
        raise WorkspaceError("path.outside", path=path)
    return real


def resolve_url(url: str, root: str) -> str | None:
    """The path of a payload's URL under ``root``, or None when it is not a payload of ours.

    ``workspace:///data/<name>`` is relative to the root (generations B and C).
    ``file:///<anything>/data/<sha256><ext>`` (generation A) names the directory where the workspace
    was when it was written, so only its last two parts count. Anything else, and anything with a
    step up, has no path. The caller checks links with ``require_inside``.
    """
    try:
        parts = urlsplit(url)
        path = unquote(parts.path, errors="strict")
    except ValueError:
        return None
    if parts.netloc or "\\" in path or "\0" in path:
        return None
    steps = [step for step in path.split("/") if step]
    if not steps or any(step in (".", "..") for step in steps):
        return None
    if parts.scheme == "workspace":
        return join(root, *steps) if len(steps) > 1 and steps[0] == "data" else None
    if parts.scheme == "file":
        known = len(steps) > 1 and steps[-2] == "data" and DATA_NAME.fullmatch(steps[-1])
        return join(root, "data", steps[-1]) if known else None
    return None
