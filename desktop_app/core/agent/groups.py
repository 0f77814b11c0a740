"""Tool groups: which tools the model sees now.

The tools of the program are the group ``basic``, always on. When the MCP servers bring more tools
than a request should carry, each server becomes a group of its own, off until the model asks for it
with ``reset_tools``. Which groups are on is part of the state (``tool_context.activated_groups``)
and comes with the journal's record of the call. Tools that the person switched off are in no group
(``off_tools``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from desktop_app.core.context.build import slipway
from desktop_app.core.errors import ToolFailure
from desktop_app.core.events import Effect
from desktop_app.core.mcp.names import short_name
from desktop_app.core.mcp.tools import McpTool
from desktop_app.core.models.base import ToolSchema
from desktop_app.core.state import AgentState
from desktop_app.core.tools.base import ExternalTool, Tool, ToolContext, ToolOutcome, Verdict

AnyTool = Tool | ExternalTool
BASIC = "basic"
MANY = 20  # more MCP tools than this, and their servers become groups
RESET = "reset_tools"


@dataclass(frozen=True, slots=True)
class Group:
    """``active``: its tools are in every request."""

    name: str
    tools: tuple[AnyTool, ...]
    active: bool


class ToolGroups:
    """The tools of one session. ``mcp()`` gives what its servers bring now, ``state()`` its state,
    which says what of it is on and what is switched off."""

    def __init__(
        self,
        builtin: Sequence[AnyTool],
        mcp: Callable[[], tuple[McpTool, ...]],
        state: Callable[[], AgentState],
    ) -> None:
        self._builtin = tuple(builtin)
        self._mcp = mcp
        self._state = state
        self._key: tuple[Any, ...] | None = None
        self._offered: dict[str, AnyTool] = {}
        self._schemas: tuple[ToolSchema, ...] = ()
        self._servers: dict[str, str] = {}
        self._groups: tuple[Group, ...] = ()

    def tools(self) -> dict[str, AnyTool]:
        """What the model may call now, by name, in a steady order."""
        self._refresh()
        return self._offered

    def groups(self) -> tuple[Group, ...]:
        """``basic`` first, then one for each server when there are many tools."""
        self._refresh()
        return self._groups

    def told(self) -> tuple[tuple[ToolSchema, ...], dict[str, str]]:
        """The offered tools as the model sees them, and the server of each that has one; the same
        objects while they are the same."""
        self._refresh()
        return self._schemas, self._servers

    def is_off(self, name: str) -> bool:
        """Whether the person switched the built-in tool ``name`` off."""
        return name in off_tools(self._state()) and any(t.name == name for t in self._builtin)

    def group_of(self, name: str) -> str | None:
        """The group that is off and has the tool ``name``."""
        for group in self.groups():
            if not group.active and any(t.name == name for t in group.tools):
                return group.name
        return None

    def _refresh(self) -> None:
        """Asked for several times in a step: who looks whether anything changed does little."""
        state = self._state()
        mcp, active, off = self._mcp(), state.tool_context.activated_groups, off_tools(state)
        if (mcp, active, off) == self._key:
            return
        self._key = (mcp, [*active], off)
        builtin = tuple(t for t in self._builtin if t.name not in off)
        if len(mcp) <= MANY:
            everything = (*builtin, *mcp)
            self._groups = (Group(BASIC, everything, True),)
        else:
            by_server: dict[str, list[AnyTool]] = {}
            for tool in mcp:
                by_server.setdefault(short_name(tool.server), []).append(tool)
            others = [Group(s, tuple(tools), s in active) for s, tools in by_server.items()]
            basic = (*builtin, ResetTools(others))
            self._groups = (Group(BASIC, basic, True), *others)
        self._offered = {t.name: t for g in self._groups if g.active for t in g.tools}
        offered = self._offered.values()
        self._schemas = tuple(ToolSchema(t.name, t.description, t.parameters) for t in offered)
        self._servers = {t.name: t.server for t in offered if isinstance(t, McpTool)}


def off_tools(state: AgentState) -> list[str]:
    """Built-in tools that the person switched off in this session, sorted."""
    names = slipway(state.middle_context).get("tools_off")
    return sorted(map(str, cast("list[Any]", names))) if isinstance(names, list) else []


class ResetTools:
    """The meta tool: says which groups are on from now."""

    name = RESET

    def __init__(self, groups: Sequence[Group]) -> None:
        self._groups = {group.name: group for group in groups}
        listed = "\n".join(f"- {g.name}: {_listing(g)}" for g in groups)
        self.description = (
            "Choose which groups of further tools you have. What you pass is the whole choice: a "
            "group that you leave out, or set to false, is switched off. Switch on what the work "
            f"needs; every tool costs room in the context. The groups:\n{listed}"
        )
        self.parameters: dict[str, Any] = {
            "type": "object",
            "properties": {
                name: {"type": "boolean", "description": f"The tools of {name}."}
                for name in self._groups
            },
            "additionalProperties": False,
        }

    def effect(self, args: dict[str, Any]) -> Effect:
        return "idempotent"

    def concurrency_safe(self, args: dict[str, Any]) -> bool:
        return False

    async def check(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        self._chosen(args)
        return Verdict("allow")

    async def preview(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        return {}

    async def run(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        """The choice travels in the result's metadata: the loop keeps it with the result."""
        chosen = self._chosen(args)
        lines = [f"- {name}: {_listing(self._groups[name], 60)}" for name in chosen]
        text = "From now you have the basic tools"
        text += " and these:\n" + "\n".join(lines) if lines else " alone."
        return ToolOutcome(text, metadata={"slipway": {"groups": chosen}})

    def _chosen(self, args: dict[str, Any]) -> list[str]:
        unknown = [name for name in args if name not in self._groups]
        if unknown or any(not isinstance(value, bool) for value in args.values()):
            known = ", ".join(self._groups)
            raise ToolFailure(
                "tool.bad_arguments",
                f"reset_tools takes true or false for each of: {known}.",
                tool=RESET,
                problems=", ".join(unknown)[:200] or "true or false",
            )
        return [name for name in self._groups if args.get(name)]


def _listing(group: Group, limit: int = 12) -> str:
    names = [cast(McpTool, t).remote.name for t in group.tools]
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{len(names)} tools: {', '.join(names[:limit])}{more}"
