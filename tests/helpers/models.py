"""A loop as small as can be: drives a model over a folder with plain stand-ins of the tools."""

from __future__ import annotations

import fnmatch
import json
import re
import subprocess
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from desktop_app.core.messages import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from desktop_app.core.models.base import (
    ChatModel,
    Finish,
    ModelRequest,
    TextPart,
    ToolCallPart,
    ToolSchema,
)

NAMES = ("Glob", "Grep", "Read", "Write", "Edit", "Bash", "TaskCreate", "TaskUpdate", "AskUser")
SCHEMAS = tuple(ToolSchema(name, f"{name}.", {"type": "object"}) for name in NAMES)
Result = tuple[str, str]  # state, text


def _expand(pattern: str) -> list[str]:
    if m := re.search(r"\{([^{}]*)\}", pattern):
        head, tail = pattern[: m.start()], pattern[m.end() :]
        return [p for option in m.group(1).split(",") for p in _expand(head + option + tail)]
    return [pattern]


def _match(pattern: str, path: str) -> bool:
    """``**/`` crosses directories, ``*`` does not."""
    if "**/" in pattern:
        head, tail = pattern.split("**/", 1)
        if not path.startswith(head):
            return False
        rest = path[len(head) :]
        return any(
            _match(tail, rest[n:]) for n in [0, *[i + 1 for i, c in enumerate(rest) if c == "/"]]
        )
    parts, names = pattern.split("/"), path.split("/")
    return len(parts) == len(names) and all(map(fnmatch.fnmatchcase, names, parts))


@dataclass
class Folder:
    """The tools over one folder. ``refuse`` names calls that a person would decline."""

    root: Path
    answers: list[str] = field(default_factory=list)
    refuse: set[str] = field(default_factory=set)
    tasks: list[dict[str, Any]] = field(default_factory=list)
    fail: Callable[[str, dict[str, Any]], Result | None] = lambda name, args: None

    def files(self) -> list[str]:
        return sorted(
            p.relative_to(self.root).as_posix() for p in self.root.rglob("*") if p.is_file()
        )

    def run(self, name: str, args: dict[str, Any]) -> Result:
        if name in self.refuse:
            return "denied", "The person declined this call."
        if (planned := self.fail(name, args)) is not None:
            return planned
        return getattr(self, f"_{name.lower()}")(args)

    def _glob(self, args: dict[str, Any]) -> Result:
        found = [f for f in self.files() if any(_match(p, f) for p in _expand(args["pattern"]))]
        return "success", "\n".join(found[: args.get("head_limit", 250)]) or "No files found."

    def _grep(self, args: dict[str, Any]) -> Result:
        flags = re.I if args.get("-i") else 0
        out, per = [], {}
        base = args.get("path", "").rstrip("/")
        if base and not (self.root / base).exists():
            return "error", f"There is no file or directory {base!r}."
        for name in self.files():
            if base and name != base and not name.startswith(base + "/"):
                continue
            if (glob := args.get("glob")) and not any(
                _match(f"**/{g}", name) for g in _expand(glob)
            ):
                continue
            try:
                text = (self.root / name).read_text("utf-8")
            except UnicodeDecodeError:
                continue
            for n, line in enumerate(text.splitlines(), 1):
                if re.search(args["pattern"], line, flags):
                    out.append(f"{name}:{n}:{line}")
                    per[name] = per.get(name, 0) + 1
        mode = args.get("output_mode", "files_with_matches")
        if mode == "count":
            out = [f"{name}:{n}" for name, n in per.items()]
        elif mode == "files_with_matches":
            out = list(per)
        return "success", "\n".join(out[: args.get("head_limit", 250)]) or "No matches found."

    def _read(self, args: dict[str, Any]) -> Result:
        path = self.root / args["file_path"]
        if not path.is_file():
            return "error", f"There is no file or directory {args['file_path']!r}."
        lines = path.read_text("utf-8").splitlines()
        first = max(1, args.get("offset", 1))
        chosen = lines[first - 1 : first - 1 + args.get("limit", 2000)]
        return "success", "\n".join(f"{n:6}\t{t}" for n, t in enumerate(chosen, first))

    def _write(self, args: dict[str, Any]) -> Result:
        path = self.root / args["file_path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(args["content"], "utf-8")
        return "success", f"Wrote {args['file_path']}."

    def _bash(self, args: dict[str, Any]) -> Result:
        done = subprocess.run(
            ["sh", "-c", args["command"]],
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return "error", f"Exit code {done.returncode}.\nStdout:\n{done.stdout}{done.stderr}"
        return "success", done.stdout or "(no output)"

    def _taskcreate(self, args: dict[str, Any]) -> Result:
        self.tasks.append({"id": str(len(self.tasks) + 1), "status": "pending", **args})
        return "success", f"Created task {len(self.tasks)}: {args['subject']}"

    def _taskupdate(self, args: dict[str, Any]) -> Result:
        task = next(t for t in self.tasks if t["id"] == args["id"])
        task["status"] = args["status"]
        return "success", f"Updated task {args['id']}."

    def _askuser(self, args: dict[str, Any]) -> Result:
        question = args["questions"][0]
        answer = self.answers.pop(0)
        return "success", json.dumps(
            {"answers": [{"question": question["question"], "selected": [answer]}]},
            ensure_ascii=False,
        )


@dataclass
class Played:
    """What came of a turn: the final text, the calls, every message."""

    text: str
    calls: list[tuple[str, dict[str, Any]]]
    messages: list[Msg]
    finishes: list[Finish]

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


async def play(
    model: ChatModel,
    text: str,
    folder: Folder,
    *,
    before: list[Msg] | None = None,
    tools: tuple[ToolSchema, ...] = SCHEMAS,
    iterations: int = 24,
) -> Played:
    """One turn of ``model`` over ``folder``: calls are carried out until it answers."""
    messages = [*(before or []), Msg.user(text)]
    calls: list[tuple[str, dict[str, Any]]] = []
    finishes: list[Finish] = []
    for _ in range(iterations):
        said, wanted = "", {}
        async with aclosing(model.stream(ModelRequest("", messages, tools))) as stream:
            async for part in stream:
                if isinstance(part, TextPart):
                    said += part.text
                elif isinstance(part, ToolCallPart):
                    call = wanted.setdefault(part.index, ["", "", ""])
                    call[0] = part.call_id or call[0]
                    call[1] = part.name or call[1]
                    call[2] += part.arguments
                elif isinstance(part, Finish):
                    finishes.append(part)
        blocks = [TextBlock(text=said)] if said else []
        asked = [ToolCallBlock(id=c[0], name=c[1], input=c[2]) for c in wanted.values()]
        messages.append(Msg(name="guide", role="assistant", content=[*blocks, *asked]))
        if not asked:
            return Played(said, calls, messages, finishes)
        results = []
        for block in asked:
            args = json.loads(block.input)
            calls.append((block.name, args))
            state, output = folder.run(block.name, args)
            results.append(
                ToolResultBlock(id=block.id, name=block.name, output=output, state=state)
            )
        messages.append(
            Msg(
                name="slipway",
                role="user",
                content=results,
                metadata={"slipway": {"kind": "tool_results"}},
            )
        )
    raise AssertionError(f"no answer after {iterations} steps: {calls}")
