"""What a person lets compaction do by itself, as the settings file keeps it for each agent, and a
journal for its session alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_args

from desktop_app.core.context.marks import CompactionSettings

from .policy import CompactionMode, Policy

MODES: tuple[CompactionMode, ...] = get_args(CompactionMode)


def policy_of(kept: Any, agent_id: str) -> Policy:
    """The policy of an agent from the value of the setting ``compaction``
    (``{agent id: {"mode", "at_danger", "marks", "notes"}}``). What does not fit falls back to the
    default."""
    agents: Mapping[str, Any] = cast("Any", kept) if isinstance(kept, Mapping) else {}
    return policy_from(agents.get(agent_id)) or Policy()


def policy_from(entry: Any) -> Policy | None:
    """The policy that ``policy_body`` wrote; None when it is none at all."""
    if entry is None or not isinstance(entry, Mapping):  # the usual case, and a dear check
        return None
    values = cast("Mapping[str, Any]", entry)
    mode, at_danger, notes = (values.get(name) for name in ("mode", "at_danger", "notes"))
    return Policy(
        mode if mode in MODES else "automatic",
        at_danger if isinstance(at_danger, bool) else True,
        CompactionSettings.from_json(values.get("marks")),
        notes if isinstance(notes, str) else "",
    )


def policy_body(policy: Policy) -> dict[str, Any]:
    return {
        "mode": policy.mode,
        "at_danger": policy.at_danger,
        "marks": policy.marks.to_json(),
        "notes": policy.notes,
    }


def with_policy(kept: Mapping[str, Any], agent_id: str, policy: Policy) -> dict[str, Any]:
    """The setting with an agent's policy put in; what else is kept for the agent stays."""
    entry: Any = kept.get(agent_id)
    former = dict(cast("Mapping[str, Any]", entry)) if isinstance(entry, Mapping) else {}
    return {**kept, agent_id: {**former, **policy_body(policy)}}
