"""Bash: one command line in the workspace."""

from __future__ import annotations

import asyncio
from typing import Any

from desktop_app.core.errors import WorkspaceError
from desktop_app.core.events import Effect
from desktop_app.core.workspaces.backend import OutputChunk, ProcessExit

from .args import bad, schema
from .background import Wanted
from .base import ToolContext, ToolOutcome, Verdict
from .plain import PlainTool, closing
from .shell_background import commands_of, report
from .shell_git import GIT_ENV, GIT_WRAPPER
from .shell_judge import judge
from .shell_output import Kept, Live, readable
from .shell_table import reading

SHELLS = ("/bin/bash", "/bin/sh")
DEFAULT_MS, MAX_MS = 120_000, 600_000
# Nobody is at the keyboard: no colours, no pagers, no password prompts.
ENV = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "PYTHONUNBUFFERED": "1",
}
# For lines that run without asking: no functions, options or files from the environment (``bash
# -p``), no settings from elsewhere, and no program out of the folder itself.
LISTED_ENV = {"CDPATH": "", "RIPGREP_CONFIG_PATH": "", "GREP_OPTIONS": "", **GIT_ENV}
_OWN_PATH = (
    'set -f; IFS=:; _p=; for _d in $PATH; do case "$_d/" in "$PWD"/*) ;; /*) _p="$_p:$_d";; esac;'
    ' done; PATH="${_p#:}"; unset _p _d IFS; set +f\n'
)


class Bash(PlainTool):
    name: str = "Bash"
    description: str = (
        "Run a command line with bash in the working directory. Each call starts there afresh: "
        "`cd` and variables do not carry over, so join steps with `&&`. There is no terminal and "
        "no input. Output and exit code come back; very long output is shortened and kept in a "
        "file. Prefer Read, Grep, Glob, Edit and Write to cat, grep, find and sed. Renaming and "
        "moving files is done here with mv. What runs for long (a server, a watcher, a long build) "
        "goes into the background: you get an id at once, BashOutput shows what it prints, "
        "BashStop ends it, and with your next step you are told of its end."
    )
    parameters: dict[str, Any] = schema(
        {
            "command": {
                "type": "string",
                "minLength": 1,
                "description": "The command line. Paths relative to the working directory.",
            },
            "description": {
                "type": "string",
                "description": "What it does, in five to ten words, for the person.",
            },
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_MS,
                "description": (
                    f"Milliseconds after which it is killed (default {DEFAULT_MS}; in the "
                    "background: no limit)."
                ),
            },
            "run_in_background": {
                "type": "boolean",
                "description": "Do not wait for its end; it ends with the session at the latest.",
            },
        },
        required=["command"],
    )

    def effect(self, args: dict[str, Any]) -> Effect:
        return "read" if reading(str(args.get("command", ""))) else "unsafe"

    def checked(self, args: dict[str, Any]) -> dict[str, Any]:
        args = super().checked(args)
        if not args["command"].strip():
            bad(self.name, "command is empty")
        if "\0" in args["command"]:
            bad(self.name, "command holds a NUL character")
        return args

    async def look(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        return await judge(args["command"], ctx)

    async def show(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        return {
            "command": args["command"],
            "description": args.get("description", ""),
            "cwd": ctx.backend.cwd,
            "timeout": args.get("timeout", 0 if background(args) else DEFAULT_MS),
            "background": background(args),
        }

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        if background(args):
            return await self._start(args, ctx)
        kept = {"stdout": Kept(), "stderr": Kept()}
        ended = await self._run(args, ctx, kept)
        out, err = kept["stdout"].bytes(), kept["stderr"].bytes()
        (out_text, out_same), (err_text, err_same) = await asyncio.to_thread(
            lambda: (readable(out), readable(err))
        )
        text, state = compose(out_text, err_text, ended)
        raw = None if out_same and err_same else _raw(out, err)
        note = {
            "exit": ended.code,
            "seconds": round(ended.seconds, 3),
            "timed_out": ended.timed_out,
            "stdout_bytes": kept["stdout"].total,
            "stderr_bytes": kept["stderr"].total,
            "dropped_bytes": kept["stdout"].dropped + kept["stderr"].dropped,
        }
        return ToolOutcome(text, state, metadata={"slipway": note}, raw=raw)

    async def _start(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        """In the background: a result at once, the command goes on."""
        argvs, env = await asyncio.to_thread(_lines, args["command"])
        limit = args.get("timeout")
        command = await commands_of(ctx).start(
            Wanted(
                ctx.op_id,
                args["command"],
                argvs,
                env,
                limit / 1000 if limit else None,
            )
        )
        if command.ended is not None:  # a typing error, a port that is taken: known at once
            outcome = await report(ctx, command)
            outcome.state = "success" if command.ended.code == 0 else "error"
            return outcome
        return await report(ctx, command, "It runs in the background.")

    async def _run(
        self, args: dict[str, Any], ctx: ToolContext, kept: dict[str, Kept]
    ) -> ProcessExit:
        argvs, env = await asyncio.to_thread(_lines, args["command"])
        live = Live(ctx.emit)
        seconds = args.get("timeout", DEFAULT_MS) / 1000
        missing: WorkspaceError | None = None
        # Found by it if we die while it runs. A machine's helper ends all that it started itself.
        mark = ctx.op_id if ctx.backend.kind == "local" else None
        for argv in argvs:
            stream = ctx.backend.run(argv, env=env, timeout=seconds, mark=mark)
            try:
                async with closing(stream) as events:
                    async for event in events:
                        if isinstance(event, OutputChunk):
                            kept[event.stream].add(event.data)
                            live.add(event.stream, event.data)
                        else:
                            return event
            except WorkspaceError as error:
                if error.code != "exec.missing":
                    raise
                missing = error
            finally:
                live.flush()
        raise missing or WorkspaceError("exec.missing", program=SHELLS[0])


def background(args: dict[str, Any]) -> bool:
    return bool(args.get("run_in_background"))


def _lines(command: str) -> tuple[tuple[list[str], ...], dict[str, str]]:
    """What to run, one argv for each shell that may be there, and the environment. Blocking: the
    command is parsed."""
    known = reading(command)
    env = ENV if known is None else {**ENV, **LISTED_ENV}
    before = "" if known is None else _OWN_PATH + (GIT_WRAPPER if known.git else "")
    argvs: list[list[str]] = []
    for shell in SHELLS:
        plain = ["-p"] if known is not None and shell.endswith("bash") else []
        argvs.append([shell, *plain, "-c", before + command])
    return tuple(argvs), env


def compose(out: str, err: str, ended: ProcessExit) -> tuple[str, Any]:
    """(text, state) of a finished command."""
    parts: list[str] = []
    failed = ended.timed_out or ended.code != 0
    if ended.timed_out:
        parts.append(
            f"Timed out after {ended.seconds:.1f} s; the command and its children were killed."
        )
    elif ended.code < 0:
        parts.append(f"Killed by signal {-ended.code} after {ended.seconds:.1f} s.")
    elif failed:
        parts.append(f"Exit code {ended.code} after {ended.seconds:.1f} s.")
    if failed:
        parts.append(f"Stdout:\n{out}" if out else "Stdout: (empty)")
        parts.append(f"Stderr:\n{err}" if err else "Stderr: (empty)")
    elif out or err:
        if out:
            parts.append(out)
        if err:
            parts.append(f"Stderr:\n{err}")
    else:
        parts.append("(no output)")
    return "\n".join(p.rstrip("\n") for p in parts), "error" if failed else "success"


def _raw(out: bytes, err: bytes) -> bytes:
    return b"\n".join([out, b"Stderr:", err]) if err else out
