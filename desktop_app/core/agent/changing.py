"""What a person sets for a session: mode, rules, model, title."""

from __future__ import annotations

from typing import Any

from desktop_app.core import events as ev
from desktop_app.core.models.base import Effort
from desktop_app.core.sessions.base import NewRecord
from desktop_app.core.state import Mode, PermissionContext

from .groups import off_tools
from .opened import Opened
from .permissions import Permissions
from .policies import policy_body
from .policy import Policy


class Changing(Opened):
    """Each is durable when the call returns; all but the model may change while a turn runs."""

    async def set_mode(self, mode: Mode) -> None:
        context = self.permissions.model_copy(deep=True)
        context.mode = mode
        await self._save_permissions(context)

    async def add_rule(self, rule: dict[str, Any]) -> None:
        await self._add_rule(rule)

    async def remove_rule(self, rule: dict[str, Any]) -> None:
        context = self.permissions.model_copy(deep=True)
        Permissions(context).remove(rule)
        await self._save_permissions(context)

    async def _save_permissions(self, context: PermissionContext) -> None:
        body = {"permission_context": context.model_dump()}
        await self.log.append(NewRecord("permissions", body), draft=None)

    async def set_model(self, model_id: str) -> None:
        self._check_free()
        self._setting.models(model_id)
        await self.log.append(NewRecord("model", {"model": model_id}))
        self.room.trigger = "model_switch"
        self.room.drafts.drop("stale")
        self._stream.emit(ev.ContextChanged(await self.engine.breakdown()))

    async def set_effort(self, effort: Effort | None) -> None:
        """How hard the models of this session think; None: as each is set. The next call has it."""
        record = NewRecord("effort", {"effort": effort or ""}, ignorable=True)
        await self.log.append(record, draft=None)

    async def set_policy(self, policy: Policy | None) -> None:
        """What compaction does by itself in this session alone; None: as its agent is set."""
        body = {"policy": policy_body(policy) if policy is not None else None}
        await self.log.append(NewRecord("compaction.policy", body, ignorable=True), draft=None)
        self._stream.emit(ev.ContextChanged(await self.engine.breakdown()))

    async def set_tool(self, name: str, on: bool) -> None:
        """Switch a built-in tool for this session. What was called before stays as it is."""
        off = {*off_tools(self.state), name} if not on else {*off_tools(self.state)} - {name}
        await self.log.append(NewRecord("tools.off", {"off": sorted(off)}), draft=None)
        await self.recount()

    async def set_title(self, title: str) -> None:
        title = " ".join(title.split())[:200]
        if title:
            body = {"title": title, "by": "person"}
            await self.log.append(NewRecord("title", body), draft=None)
            self._stream.emit(ev.TitleChanged(title))
