"""Read: a window of a text file, the text of a PDF, or a picture."""

from __future__ import annotations

import asyncio
import base64
import posixpath
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from desktop_app.core.errors import ToolFailure, WorkspaceError
from desktop_app.core.messages import Base64Source, DataBlock
from desktop_app.core.workspaces.backend import FileInfo, Looked

from . import paths, pdf, textfile
from .args import schema
from .base import ToolContext, ToolOutcome, Verdict
from .images import MEDIA, kind_of, size_of
from .plain import PlainTool, closing
from .textfile import Encoding
from .window import Window

LIMIT, MAX_LIMIT = 2_000, 20_000
COUNT_BYTES = 64 << 20  # bytes read on, showing nothing, to know how many lines there are
IMAGE_HEAD = 1 << 18  # JPEG may carry a preview picture before its size
AT_ONCE = 1 << 15  # bytes of text that are handled without a thread: well under a millisecond
MAX_IMAGE = 5 << 20  # what providers take in one picture


P = ParamSpec("P")
R = TypeVar("R")


class Read(PlainTool):
    name: str = "Read"
    description: str = (
        "Read a text file or the text of a PDF, or look at a picture (png, jpeg, gif, webp). Lines "
        "come numbered, as "
        "`cat -n` prints them: the number and a tab are not part of the file. At most `limit` "
        "lines come back, from line `offset` on; longer lines than 2,000 characters are cut. A "
        "file must be read before Edit or Write may change it."
    )
    parameters: dict[str, Any] = schema(
        {
            "file_path": {
                "type": "string",
                "minLength": 1,
                "description": "The file, relative to the working directory or absolute.",
            },
            "offset": {
                "type": "integer",
                "minimum": 0,
                "description": "Number of the first line to read, from 1 (default 1).",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_LIMIT,
                "description": f"How many lines to read (default {LIMIT}).",
            },
            "pages": {
                "type": "string",
                "description": f"Pages of a PDF, such as 3, 1-5 or 2,4-6: at most {pdf.MAX_PAGES}. "
                f"Needed when it has more than {pdf.WHOLE} pages.",
            },
        },
        required=["file_path"],
    )

    def ahead(self, args: dict[str, Any], ctx: ToolContext) -> paths.Ahead | None:
        given = args.get("file_path")
        return paths.ahead(ctx, given, whole=AT_ONCE) if isinstance(given, str) else None

    async def look(self, args: dict[str, Any], ctx: ToolContext) -> Verdict:
        return paths.verdict(self.name, await paths.resolve(ctx, args["file_path"]), "read")

    async def show(self, args: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
        resolved = await paths.resolve(ctx, args["file_path"])
        return {"path": resolved.shown}

    async def do(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutcome:
        resolved, found = await paths.look(ctx, args["file_path"], head=textfile.SNIFF)
        kind = kind_of(found.data)
        if kind == "pdf":
            return await self._pdf(ctx, resolved, found, args.get("pages"))
        if kind is not None:
            return await self._image(ctx, resolved, found, kind)
        if textfile.is_binary(found.data):
            failure = textfile.binary(resolved.shown)
            raise failure
        first, count = max(args.get("offset", 1), 1) - 1, args.get("limit", LIMIT)
        if found.whole:
            window, encoding = await _off(found.data, _small, found.data, first, count)
        else:
            window, encoding = await self._window(ctx, resolved, found.info, first, count)
        return await _off(found.data, _outcome, ctx, resolved, found.info, window, encoding)

    async def _window(
        self, ctx: ToolContext, resolved: paths.Resolved, info: FileInfo, first: int, count: int
    ) -> tuple[Window, Encoding]:
        """Lines of a file that is too large to be read whole."""
        window: Window | None = None
        encoding = Encoding()
        idle = 0
        pieces = ctx.backend.read(resolved.real)
        async with closing(pieces) as stream:
            async for piece in stream:
                data = piece
                if window is None:
                    encoding = textfile.sniff(data, whole=False)
                    window = Window(encoding, first, count)
                    data = data[len(encoding.bom) :]
                idle = idle + len(data) if window.idle else 0
                if idle > COUNT_BYTES or (window.full and info.size > 4 * COUNT_BYTES):
                    window.unfinished()
                    return window, encoding
                if len(data) > 1 << 16:
                    await asyncio.to_thread(window.feed, data)
                else:
                    window.feed(data)
        if window is None:
            window = Window(encoding, first, count)
        window.close()
        return window, encoding

    async def _pdf(
        self, ctx: ToolContext, resolved: paths.Resolved, found: Looked, pages: str | None
    ) -> ToolOutcome:
        info = found.info
        if info.size > pdf.MAX_BYTES:
            raise ToolFailure(
                "read.pdf_too_large",
                f"{resolved.shown!r} has {info.size:,} bytes; PDFs are read up to "
                f"{pdf.MAX_BYTES >> 20} MB. Take out the pages that matter first.",
                path=resolved.shown,
                bytes=info.size,
            )
        data = found.data
        if not found.whole:
            data = await ctx.backend.read_bytes(resolved.real, max_bytes=pdf.MAX_BYTES)
        got = await pdf.read_pdf(data, pages, resolved.shown)
        numbers = [number for number, _ in got.pages]
        note = {"pdf": {"pages": numbers, "total": got.total}, "bytes": info.size}
        text = await asyncio.to_thread(pdf.page_text, got)
        return ToolOutcome(text, metadata={"slipway": note})

    async def _image(
        self, ctx: ToolContext, resolved: paths.Resolved, found: Looked, kind: str
    ) -> ToolOutcome:
        info = found.info
        media, name = MEDIA[kind], posixpath.basename(resolved.real)
        head = found.data[:IMAGE_HEAD]
        if not found.whole:
            head = await head_of(ctx, resolved.real, IMAGE_HEAD)
        size = size_of(head, kind)
        pixels = f"{size[0]} x {size[1]} pixels, " if size else ""
        about = f"{resolved.shown}: {media}, {pixels}{info.size:,} bytes"
        note: dict[str, Any] = {"image": {"media_type": media, "size": size, "bytes": info.size}}
        if not ctx.images:
            text = f"{about}. The model in use does not take pictures, so it is only described."
            return ToolOutcome(text, metadata={"slipway": note})
        if info.size > MAX_IMAGE:
            raise ToolFailure(
                "read.image_too_large",
                f"{about}: too large to be shown to a model, which takes {MAX_IMAGE >> 20} MB. "
                "Make a smaller copy first.",
                path=resolved.shown,
                bytes=info.size,
            )
        data = found.data
        if not found.whole:
            data = await ctx.backend.read_bytes(resolved.real, max_bytes=MAX_IMAGE)
        encoded = (await asyncio.to_thread(base64.b64encode, data)).decode("ascii")
        block = DataBlock(source=Base64Source(data=encoded, media_type=media), name=name)
        return ToolOutcome(about, data=[block], metadata={"slipway": note})


async def _off(data: bytes, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """``work`` on ``data``: in a thread, where that takes longer than getting there."""
    if len(data) <= AT_ONCE:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)


async def regular(ctx: ToolContext, resolved: paths.Resolved) -> FileInfo:
    """The file's stat; ToolFailure for a directory or a special file."""
    info = await ctx.backend.stat(resolved.real)
    if info.kind == "dir":
        raise WorkspaceError("file.is_dir", path=resolved.shown)
    if info.kind != "file":
        raise WorkspaceError("file.special", path=resolved.shown)
    return info


async def head_of(ctx: ToolContext, path: str, length: int = textfile.SNIFF) -> bytes:
    """The first bytes of a file, as many as tell text from binary."""
    out = bytearray()
    pieces = ctx.backend.read(path, length=length)
    async with closing(pieces) as stream:
        async for piece in stream:
            out += piece
    return bytes(out)


def _small(data: bytes, first: int, count: int) -> tuple[Window, Encoding]:
    encoding = textfile.sniff(data)
    return Window.of(data[len(encoding.bom) :], encoding, first, count), encoding


def _outcome(
    ctx: ToolContext, resolved: paths.Resolved, info: FileInfo, window: Window, encoding: Encoding
) -> ToolOutcome:
    """The numbered lines, a note where there are more, and the version that was read."""
    lines = window.lines()
    total = window.total if window.complete else None
    first = window.first + 1
    if not lines and window.complete and window.first:
        raise ToolFailure(
            "read.past_end",
            f"{resolved.shown!r} has {window.total} lines; line {first} is past its end.",
            path=resolved.shown,
            total=window.total,
        )
    last = window.first + len(lines)
    text = "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(lines, first))
    if not lines:
        text = "(the file is empty)"
    elif total is not None and last < total:
        text += f"\n[lines {first}-{last} of {total}; read on with offset={last + 1}]"
    elif total is None:
        text += f"\n[lines {first}-{last} of a file of {info.size:,} bytes; there is more]"
    ctx.files.seen[resolved.real] = info.version
    note: dict[str, Any] = {
        "read": {resolved.real: info.version},
        "lines": {"from": first if lines else 0, "to": last, "total": total},
        "bytes": info.size,
        **encoding.note(),
    }
    return ToolOutcome(text, metadata={"slipway": note})
