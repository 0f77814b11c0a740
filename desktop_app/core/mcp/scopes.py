"""Which declared servers a session has.

A and B: the flat list is everybody's. C: three scopes, workspace ``("", "")``, agent
``(agent, "")`` and session ``(agent, session)``; where two declare one name, the narrower counts. A
session whose list is there and empty has explicitly none, as AgentScope reads it.
"""

from __future__ import annotations

from typing import Literal

from desktop_app.core.workspaces.mcp_file import McpDeclaration, McpFile, Pair

Scope = Literal["workspace", "agent", "session"]


def pair_of(scope: Scope, agent_id: str, session_id: str, *, flat: bool) -> Pair:
    """Where a scope's declarations stand in the file."""
    if flat or scope == "workspace":
        return ("", "")
    return (agent_id, "") if scope == "agent" else (agent_id, session_id)


def scope_of(declared: McpDeclaration) -> Scope:
    if declared.session_id:
        return "session"
    return "agent" if declared.agent_id else "workspace"


def effective(
    file: McpFile, agent_id: str, session_id: str, *, shared: bool
) -> list[McpDeclaration]:
    """The declarations that count for one session, in the file's order, widest scope first; those
    that cannot be used are among them. ``shared`` as in ``McpFile.of``."""
    if file.flat:
        return file.of("", "", shared=shared)
    own = file.pairs.get((agent_id, session_id))
    if own is not None and not own:
        return []
    found: dict[str, McpDeclaration] = {}
    odd: list[McpDeclaration] = []
    for pair in dict.fromkeys([("", ""), (agent_id, ""), (agent_id, session_id)]):
        for declared in file.pairs.get(pair, ()):
            if declared.error is not None:
                odd.append(declared)
            else:
                found[declared.name] = declared
    return [*found.values(), *odd]
