"""The beginning of a file, as it may be shown."""

from __future__ import annotations

from desktop_app.core.workspaces.backend import Backend
from desktop_app.ui.i18n import tr
from desktop_app.ui.widgets import figures

from .visible import visible

PREVIEW_BYTES = 64 << 10
PREVIEW_LINE = 4000  # a longer line is cut: one line of 500 MB must not be laid out


def preview_text(data: bytes, size: int) -> str | None:
    """The beginning of a file as text; None when it is binary."""
    if b"\0" in data[:8192]:
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    else:
        text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = [
        line if len(line) <= PREVIEW_LINE else line[:PREVIEW_LINE] + "…"
        for line in text.splitlines()
    ]
    shown = visible("\n".join(lines).replace("\t", "    "))[0]
    if size > len(data):
        shown += f"\n[{tr('{size} more', size=figures.size(size - len(data)))}]"
    return shown


async def read_start(backend: Backend, path: str, size: int) -> bytes:
    """The first ``PREVIEW_BYTES`` of a file."""
    data = b""
    async for piece in backend.read(path, length=min(size, PREVIEW_BYTES) or PREVIEW_BYTES):
        data += piece
        if len(data) >= PREVIEW_BYTES:
            break
    return data[:PREVIEW_BYTES]
