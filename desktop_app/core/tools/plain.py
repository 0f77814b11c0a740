"""What our own tools have in common: arguments checked first, backend errors told to the model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, TypeVar, cast

from desktop_app.core.errors import ToolFailure, WorkspaceError
from desktop_app.core.events import Effect

from .args import validate
from .base import ToolContext, ToolOutcome, Verdict
from .paths import Ahead

T = TypeVar("T")


def closing(items: AsyncIterator[T]) -> aclosing[AsyncGenerator[T, None]]:
    """``aclosing`` for the streams of a backend, which are generators behind their protocol."""
    return aclosing(cast(AsyncGenerator[T, None], items))


# What a backend's error means, in the model's words; ``{path}`` as the model gave it.
_WORDS = {
    "file.missing": "There is no file or directory {path!r}.",
    "file.is_dir": "{path!r} is a directory, not a file. Use Glob to list it.",
    "file.not_dir": "{path!r} is not a directory (or something on the way to it is a file).",
    "file.exists": "{path!r} exists already.",
    "file.denied": "Permission denied: {path!r}.",
    "file.special": "{path!r} is a FIFO, device or socket; such files are never opened.",
    "file.too_large": "{path!r} is too large for this tool. Use Grep, or head or sed in Bash.",
    "file.changed": "{path!r} changed since it was read. Read it again, then repeat the change.",
    "file.loop": "{path!r} is a loop of links.",
    "disk.full": "The disk is full; nothing was written to {path!r}.",
    "disk.readonly": "The file system is read-only; nothing was written to {path!r}.",
    "backend.unreachable": "The workspace cannot be reached at the moment.",
    "exec.missing": "The program is not installed in this workspace: {program}.",
}


def failure_of(error: WorkspaceError, path: str = "") -> ToolFailure:
    """A backend's error as one that the model can read, with the same code and parameters."""
    params: dict[str, Any] = {"path": path, "program": "?", **error.params}
    if path:
        params["path"] = path
    words = _WORDS.get(error.code)
    message = words.format(**params) if words else f"The workspace reported {error}."
    return ToolFailure(error.code, message, retryable=error.retryable, **error.params)


def _named(args: dict[str, Any], error: WorkspaceError, ctx: ToolContext) -> str:
    """The path of an error as the model gave it, or relative to the working directory: absolute
    paths of a backend mean nothing to a model (a session can move to another one)."""
    given = args.get("file_path") or args.get("path")
    path = str(given or error.params.get("path") or "")
    cwd = ctx.backend.cwd.rstrip("/") + "/"
    return path.removeprefix(cwd) if given is None else path


class PlainTool:
    """Base of our tools: a subclass gives ``name``, ``description``, ``parameters``, ``do`` and,
    where it touches anything, ``look`` and ``show``."""

    name: str
    description: str
    parameters: dict[str, Any]
    kind: Effect = "read"

    def effect(self, args: dict[str, Any]) -> Effect:
        """What running this call may do."""
        return self.kind

    def concurrency_safe(self, args: dict[str, Any]) -> bool:
        """Readers run side by side."""
        return self.effect(args) == "read"

    def checked(self, args: dict[str, Any]) -> dict[str, Any]:
        """The arguments, validated; ToolFailure ``tool.bad_arguments``."""
        return validate(self.name, self.parameters, args)

    def ahead(self, args: dict[str, Any], ctx: ToolContext) -> Ahead | None:
        """Begin what ``check`` and ``run`` would wait for, where nobody could object; it goes into
        ``ctx.ahead`` of both."""
        return None

    async def check(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        """The tool's opinion before rules and mode."""
        args = self.checked(args)
        try:
            return await self.look(args, ctx)
        except WorkspaceError as error:
            raise failure_of(error, _named(args, error, ctx)) from error

    async def preview(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        """What the person is shown. A call that cannot work is shown with why."""
        args = self.checked(args)
        try:
            return await self.show(args, ctx)
        except WorkspaceError as error:
            return {"error": failure_of(error).message, "code": error.code}
        except ToolFailure as error:
            return {"error": error.message, "code": error.code}

    async def run(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        """Do it; ToolFailure with the reason when it cannot be done."""
        args = self.checked(args)
        try:
            return await self.do(args, ctx)
        except WorkspaceError as error:
            raise failure_of(error, _named(args, error, ctx)) from error

    async def look(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        """``check`` with valid arguments."""
        return Verdict("allow")

    async def show(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        """``preview`` with valid arguments."""
        return dict(args)

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        """``run`` with valid arguments."""
        raise NotImplementedError
