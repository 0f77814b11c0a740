"""What a person's answers and additions become: records, rules, blocks."""

from __future__ import annotations

import ast
import mimetypes
import re
from collections.abc import Sequence
from typing import Any

from desktop_app.core.messages import DataBlock, Msg, TextBlock
from desktop_app.core.sessions.base import NewRecord, OpUpdate
from desktop_app.core.state import PermissionContext

from .base import Attachment, Decision
from .folded import Folded
from .permissions import Permissions
from .toolbox import approval_from, arguments_text


def decided(
    now: Folded, reply_id: str, decisions: Sequence[Decision]
) -> tuple[list[NewRecord], list[OpUpdate]]:
    """Records and operations of decisions on approvals that wait; "always" changes the rules in the
    same transaction."""
    records: list[NewRecord] = []
    ops: list[OpUpdate] = []
    former = context = now.state.permission_context
    for decision in decisions:
        approval = approval_from(now.waiting[decision.op_id].approval or {})
        changed = decision.arguments
        body: dict[str, Any] = {
            "reply_id": reply_id,
            "op_id": decision.op_id,
            "allowed": decision.allowed,
            "by": "person",
            "arguments": arguments_text(changed) if changed is not None else None,
            "rule": approval.rule if decision.always else None,
        }
        records.append(NewRecord("approval.decided", body))
        state = "approved" if decision.allowed else "cancelled"
        ops.append(OpUpdate(decision.op_id, state, approval.name, approval.call_id))
        if decision.always and decision.allowed and approval.rule is not None:
            context = with_rule(context, approval.rule)
    if context is not former:
        records.append(NewRecord("permissions", {"permission_context": context.model_dump()}))
    return records, ops


def with_rule(context: PermissionContext, rule: dict[str, Any]) -> PermissionContext:
    """A copy of ``context`` with one rule more."""
    copy = context.model_copy(deep=True)
    Permissions(copy).add(rule)
    return copy


_NOTE = re.compile(r"<attachment name=(.+) path=(.+)/>", re.DOTALL)


def said(msg: Msg) -> tuple[str, list[Attachment]]:
    """What a person wrote and attached, as ``send`` took it."""
    texts: list[str] = []
    attachments: list[Attachment] = []
    for block in msg.content:
        if isinstance(block, DataBlock):
            name = block.name or block.source.media_type
            attachments.append(Attachment(name, block.source.media_type, data=block))
        elif isinstance(block, TextBlock):
            noted = (block.model_extra or {}).get("slipway") == "attachment"
            found = _NOTE.fullmatch(block.text) if noted else None
            if found is None:
                texts.append(block.text)
            else:
                name, path = (str(ast.literal_eval(found[n])) for n in (1, 2))
                kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
                attachments.append(Attachment(name, kind, path))
    return "\n".join(texts), attachments
