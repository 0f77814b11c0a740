"""Files that come with a message. Models see pictures; anything else is put into the workspace and
named by its path, so that the agent reads it as it reads every file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from desktop_app.core.messages import DataBlock, TextBlock
from desktop_app.core.sessions.base import NewRecord
from desktop_app.core.workspaces.outbox import Outbox

from .base import Attachment

READY_SECONDS = 3.0  # that a first call waits for the files; a workspace that is away takes longer


def note_of(name: str, path: str) -> TextBlock:
    """The line that names a file of the workspace."""
    note = f"<attachment name={name!r} path={path!r}/>"
    return TextBlock.model_validate({"text": note, "slipway": "attachment"})


def attachment_blocks(attachments: Sequence[Attachment]) -> list[Any]:
    blocks: list[Any] = []
    for item in attachments:
        if item.data is not None:
            blocks.append(item.data)
        elif item.path is not None:
            blocks.append(note_of(item.name, item.path))
    return blocks


async def placed(
    blocks: Sequence[Any], outbox: Outbox, session_id: str
) -> tuple[list[Any], list[NewRecord]]:
    """The blocks with notes in place of files that are no pictures, and the records that promise
    those files to the workspace. WorkspaceError ``data.not_base64``, SessionError ``disk.*``."""
    made: list[Any] = []
    records: list[NewRecord] = []
    for block in blocks:
        staged = None
        if isinstance(block, DataBlock) and not block.source.media_type.startswith("image/"):
            staged = await outbox.stage_data(session_id, block)
        if staged is None:
            made.append(block)
        else:
            records += staged.records
            made.append(note_of(block.name or block.source.media_type, staged.path))
    return made, records


async def delivered(outbox: Outbox) -> None:
    """Give the files a moment to arrive before the model is asked about them."""
    with suppress(TimeoutError):
        async with asyncio.timeout(READY_SECONDS):
            await outbox.deliver()
