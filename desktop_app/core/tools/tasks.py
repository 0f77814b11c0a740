"""The agent's task list: TaskCreate, TaskGet, TaskList, TaskUpdate. It lives in the session."""

from __future__ import annotations

from typing import Any

from desktop_app.core.errors import ToolFailure
from desktop_app.core.events import Effect
from desktop_app.core.state import Task

from .args import schema
from .base import ToolContext, ToolOutcome
from .plain import PlainTool

_ID = {"type": "string", "minLength": 1, "description": 'The task\'s number, such as "1".'}
_IDS = {"type": "array", "items": {"type": "string"}}
_STATES = ("pending", "in_progress", "completed")


def find(tasks: list[Task], task_id: str) -> Task:
    """The task with this id; ToolFailure ``task.unknown``."""
    wanted = task_id.strip().lstrip("#")
    for task in tasks:
        if task.id == wanted:
            return task
    known = ", ".join(t.id for t in tasks) or "none"
    raise ToolFailure(
        "task.unknown", f"There is no task {task_id!r}. Tasks: {known}.", id=task_id[:80]
    )


def line(task: Task) -> str:
    """A task on one line."""
    blockers = f" (blocked by {', '.join(task.blocked_by)})" if task.blocked_by else ""
    owner = f" [{task.owner}]" if task.owner else ""
    return f"#{task.id} {task.state}: {task.subject}{owner}{blockers}"


class _TaskTool(PlainTool):
    """Task tools change nothing but the session's own list."""

    kind: Effect = "idempotent"

    def concurrency_safe(self, args: dict[str, Any]) -> bool:
        return False  # ids are given in order


class TaskCreate(_TaskTool):
    name: str = "TaskCreate"
    description: str = (
        "Add a task to your task list, which the person sees. Use it for work of three steps or "
        "more, one task a step; not for trivial work."
    )
    parameters: dict[str, Any] = schema(
        {
            "subject": {
                "type": "string",
                "minLength": 1,
                "description": "What is to be done, short, as a command.",
            },
            "description": {"type": "string", "description": "Details, and when it is done."},
            "metadata": {"type": "object", "description": "Anything to keep with the task."},
        },
        required=["subject"],
    )
    kind: Effect = "compensable"

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        number = max((int(t.id) for t in ctx.tasks if t.id.isdecimal()), default=0) + 1
        task = Task(
            id=str(number),
            subject=args["subject"],
            description=args.get("description", ""),
            metadata=args.get("metadata", {}),
        )
        ctx.tasks.append(task)
        return ToolOutcome(f"Created task {line(task)}")


class TaskGet(_TaskTool):
    name: str = "TaskGet"
    description: str = "Show one task of your list with its description."
    parameters: dict[str, Any] = schema(
        {"id": _ID},
        required=["id"],
    )
    kind: Effect = "read"

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        task = find(ctx.tasks, args["id"])
        parts = [line(task)]
        if task.description:
            parts.append(task.description)
        if task.blocks:
            parts.append(f"Blocks: {', '.join(task.blocks)}")
        return ToolOutcome("\n".join(parts))


class TaskList(_TaskTool):
    name: str = "TaskList"
    description: str = "Show your whole task list."
    parameters: dict[str, Any] = schema({})
    kind: Effect = "read"

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        if not ctx.tasks:
            return ToolOutcome("The task list is empty.")
        return ToolOutcome("\n".join(map(line, ctx.tasks)))


class TaskUpdate(_TaskTool):
    name: str = "TaskUpdate"
    description: str = (
        "Change a task of your list. Set it in_progress before you begin and completed as soon as "
        "it is done; deleted removes it."
    )
    parameters: dict[str, Any] = schema(
        {
            "id": _ID,
            "status": {"type": "string", "enum": [*_STATES, "deleted"]},
            "subject": {"type": "string", "minLength": 1},
            "description": {"type": "string"},
            "owner": {"type": "string", "description": "Who does it; empty for nobody."},
            "add_blocks": {**_IDS, "description": "Tasks that wait for this one."},
            "add_blocked_by": {**_IDS, "description": "Tasks that this one waits for."},
        },
        required=["id"],
    )

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        task = find(ctx.tasks, args["id"])
        if args.get("status") == "deleted":
            ctx.tasks.remove(task)
            for other in ctx.tasks:
                other.blocks = [i for i in other.blocks if i != task.id]
                other.blocked_by = [i for i in other.blocked_by if i != task.id]
            return ToolOutcome(f"Deleted task #{task.id}.")
        blocks = [find(ctx.tasks, i) for i in args.get("add_blocks", [])]
        blockers = [find(ctx.tasks, i) for i in args.get("add_blocked_by", [])]
        if task in blocks or task in blockers:
            raise ToolFailure("task.cycle", "A task cannot wait for itself.", id=task.id)
        for other in blocks:
            _link(task, other)
        for other in blockers:
            _link(other, task)
        if "status" in args:
            task.state = args["status"]
        task.subject = args.get("subject", task.subject)
        task.description = args.get("description", task.description)
        if "owner" in args:
            task.owner = args["owner"] or None
        return ToolOutcome(f"Updated task {line(task)}")


def _link(first: Task, then: Task) -> None:
    """``then`` waits for ``first``."""
    if then.id not in first.blocks:
        first.blocks = [*first.blocks, then.id]
    if first.id not in then.blocked_by:
        then.blocked_by = [*then.blocked_by, first.id]
